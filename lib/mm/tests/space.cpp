// SPDX-License-Identifier: GPL-2.0-only
//
// The page-map model and its comparison, see space.h.
#include "lib/mm/tests/space.h"

#include <cstdio>

namespace kmirror::mm_tests {

namespace {

int add_pages(const vm_area_struct *vma, void *arg)
{
    auto &pages = *static_cast<Pages *>(arg);
    for (unsigned long at = vma->vm_start; at < vma->vm_end; at += kPage) {
        const unsigned long offset = vma->vm_file ? vma->vm_pgoff + (at - vma->vm_start) / kPage : 0;
        pages[at] = Page{vma->vm_flags & kSeen, vma->vm_file, offset, vma->policy};
    }
    return 0;
}

struct LineRange {
    unsigned long from, to;
    std::string text;
};

int add_line(const vm_area_struct *vma, void *arg)
{
    auto &range = *static_cast<LineRange *>(arg);
    if (vma->vm_start < range.from || vma->vm_start >= range.to)
        return 0;
    char line[80];
    const unsigned long flags = vma->vm_flags;
    std::snprintf(line, sizeof(line), "%s%lx-%lx %c%c%c%c", range.text.empty() ? "" : "; ", vma->vm_start,
                  vma->vm_end, flags & VM_READ ? 'r' : '-', flags & VM_WRITE ? 'w' : '-',
                  flags & VM_EXEC ? 'x' : '-', flags & VM_MAYSHARE ? 's' : 'p');
    range.text += line;
    return 0;
}

std::string text_of(const Pages &pages, unsigned long at)
{
    const auto found = pages.find(at);
    if (found == pages.end())
        return "nothing";
    char text[120];
    std::snprintf(text, sizeof(text), "flags %lx, file %s, offset %lx, policy %u", found->second.flags,
                  found->second.file ? found->second.file->name : "none", found->second.offset,
                  found->second.policy);
    return text;
}

} // namespace

Pages pages_of(mm_struct *mm)
{
    Pages pages;
    mm_for_each(mm, add_pages, &pages);
    return pages;
}

std::string lines_of(mm_struct *mm, unsigned long from, unsigned long to)
{
    LineRange range{from, to, {}};
    mm_for_each(mm, add_line, &range);
    return range.text;
}

std::string difference(const Pages &expected, const Pages &seen)
{
    if (expected == seen)
        return {};
    for (const Pages *side : {&expected, &seen})
        for (const auto &[at, page] : *side) {
            const std::string want = text_of(expected, at);
            const std::string got = text_of(seen, at);
            char where[32];
            std::snprintf(where, sizeof(where), "page %lx: ", at);
            if (want != got)
                return where + want + " expected, " + got + " seen";
        }
    return "files differ";
}

unsigned long Space::map(unsigned long page, unsigned long count, unsigned long prot, unsigned long flags,
                         mm_file *file, unsigned long offset_pages)
{
    const unsigned long got =
        vm_mmap(mm, file, at(page), count * kPage, prot, flags | MAP_FIXED, offset_pages * kPage);
    EXPECT_EQ(got, at(page));
    unsigned long vm_flags = prot; // PROT_ and VM_ bits are the same
    if ((flags & MAP_SHARED) == MAP_SHARED)
        vm_flags |= VM_MAYSHARE | (!file || (file->flags & MM_FILE_WRITE) ? VM_SHARED : 0);
    for (unsigned long i = 0; i < count; i++)
        model[at(page + i)] = Page{vm_flags, file, file ? offset_pages + i : 0, 0};
    EXPECT_TRUE(agrees());
    return got;
}

void Space::unmap(unsigned long page, unsigned long count)
{
    EXPECT_EQ(vm_munmap(mm, at(page), count * kPage), 0);
    model.erase(model.lower_bound(at(page)), model.lower_bound(at(page + count)));
    EXPECT_TRUE(agrees());
}

void Space::protect(unsigned long page, unsigned long count, unsigned long prot)
{
    EXPECT_EQ(vm_mprotect(mm, at(page), count * kPage, prot, -1), 0);
    for (unsigned long i = 0; i < count; i++) {
        unsigned long &flags = model.at(at(page + i)).flags;
        flags = (flags & ~VM_ACCESS_FLAGS) | prot;
    }
    EXPECT_TRUE(agrees());
}

::testing::AssertionResult Space::agrees() const
{
    const std::string differs = difference(model, pages_of(mm));
    if (!differs.empty())
        return ::testing::AssertionFailure() << differs << "\n" << lines();
    if (mm_validate(mm) != 0)
        return ::testing::AssertionFailure() << "mm_validate(), see the log\n" << lines();
    return ::testing::AssertionSuccess();
}

} // namespace kmirror::mm_tests
