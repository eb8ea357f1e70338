// SPDX-License-Identifier: GPL-2.0-only
//
// Address spaces as pages, and their comparison; see pages.h.
#include "lib/mm/tests/pages.h"

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

} // namespace kmirror::mm_tests
