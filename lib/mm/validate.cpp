// SPDX-License-Identifier: GPL-2.0-only
//
// The checker of an address space: the numbered rules of lib/mm/vma.h, then the tree's own.
//
// Locking  mmap_lock for writing, since mt_validate() wants the tree's lock.
// Fails    never; each violation is said once in the log with its number, and counted.
#include "lib/mm/vma.h"

#include <linux/printk.h>

namespace kmirror::mm {

namespace {

struct Check {
    mm_struct *mm;
    unsigned int violations = 0;

    void rule(int number, bool holds, const vm_area_struct *vma)
    {
        if (holds)
            return;
        if (violations++ == 0)
            pr_err("mm %p: rule V%d is broken at %lx-%lx\n", static_cast<void *>(mm), number,
                   vma ? vma->vm_start : 0, vma ? vma->vm_end : 0);
    }

    void vma(const VmaIterator &it, const vm_area_struct *vma)
    {
        rule(1, vma->vm_start == it.addr() && vma->vm_end == it.end() && vma->vm_start < vma->vm_end, vma);
        rule(1, !is_unaligned(vma->vm_start | vma->vm_end), vma);
        rule(2, vma->vm_mm == mm && vma->attached, vma);
        const bool unfaulted = !vma->vm_file && !vma->anon_vma && !(vma->vm_flags & VM_SHARED);
        rule(4, !unfaulted || vma->vm_pgoff == vma->vm_start >> PAGE_SHIFT, vma);
        rule(4, vma->vm_file || !(vma->vm_flags & VM_SHARED), vma);
    }

    void tree()
    {
        const int run = atomic_read(&maple_tree_tests_run);
        const int passed = atomic_read(&maple_tree_tests_passed);
        mt_validate(&mm->mm_mt);
        violations += static_cast<unsigned>((atomic_read(&maple_tree_tests_run) - run) -
                                            (atomic_read(&maple_tree_tests_passed) - passed));
    }
};

} // namespace

} // namespace kmirror::mm

using namespace kmirror::mm;

unsigned int mm_validate(mm_struct *mm)
{
    WriteLock lock(mm);
    Check check = {mm};
    mm_struct sums = {};
    VmaIterator it(mm, 0);
    while (const vm_area_struct *vma = it.next()) {
        check.vma(it, vma);
        sums.map_count++;
        vm_stat_account(&sums, vma->vm_flags, static_cast<long>(vma_pages(vma)));
        if (vma->vm_flags & VM_LOCKED)
            sums.locked_vm += vma_pages(vma);
    }
    check.rule(2, sums.map_count == mm->map_count, nullptr);
    check.rule(3, sums.total_vm == mm->total_vm && sums.data_vm == mm->data_vm, nullptr);
    check.rule(3, sums.exec_vm == mm->exec_vm && sums.stack_vm == mm->stack_vm, nullptr);
    check.rule(3, sums.locked_vm == mm->locked_vm, nullptr);
    check.tree();
    return check.violations;
}
