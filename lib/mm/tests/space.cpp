// SPDX-License-Identifier: GPL-2.0-only
//
// Fixed mappings beside the page-map model, see space.h.
#include "lib/mm/tests/space.h"

namespace kmirror::mm_tests {

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
