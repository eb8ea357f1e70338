// SPDX-License-Identifier: GPL-2.0-only
//
// What a page fault changes: a private mapping gets its anon_vma, a stack grows.
//
// An anon_vma is a number here. Neighbours that mprotect could make equal share one, unless theirs came
// from a fork.
//
// Locking  mmap_lock for writing; numbers are drawn atomically.
// Fails    -ENOMEM when a stack may not grow; nothing has changed then.
#include "lib/mm/vma.h"

namespace kmirror::mm {

unsigned long new_anon_vma()
{
    static unsigned long last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

namespace {

// Equal but for what mprotect can change.
bool could_be_one(const vm_area_struct *below, const vm_area_struct *above)
{
    const unsigned long differing = below->vm_flags ^ above->vm_flags;
    return below->vm_end == above->vm_start && below->policy == above->policy &&
           below->vm_file == above->vm_file && !(differing & ~VM_ACCESS_FLAGS) &&
           below->vm_pgoff + vma_pages(below) == above->vm_pgoff &&
           below->vm_anon_pgoff + vma_pages(below) == above->vm_anon_pgoff;
}

unsigned long neighbours_anon_vma(vm_area_struct *vma)
{
    VmaIterator it(vma->vm_mm, vma->vm_start);
    it.load();
    const vm_area_struct *above = it.next();
    if (above && above->anon_vma && !above->anon_forked && could_be_one(vma, above))
        return above->anon_vma;
    it.set(vma->vm_start);
    it.load();
    const vm_area_struct *below = it.prev();
    if (below && below->anon_vma && !below->anon_forked && could_be_one(below, vma))
        return below->anon_vma;
    return 0;
}

} // namespace

void anon_vma_prepare(vm_area_struct *vma)
{
    if (vma->anon_vma || (vma->vm_flags & VM_SHARED) || !is_cow(vma->vm_flags) || (vma->vm_flags & VM_PFNMAP))
        return;
    const unsigned long shared = neighbours_anon_vma(vma);
    vma->anon_vma = shared ? shared : new_anon_vma();
    vma->anon_forked = false;
}

int expand_downwards(VmaIterator &it, vm_area_struct *vma, unsigned long address)
{
    mm_struct *mm = vma->vm_mm;
    address &= PAGE_MASK;
    if (address < mm_sysctl.mmap_min_addr)
        return -EPERM;
    it.set(vma->vm_start);
    it.load();
    const vm_area_struct *prev = it.prev();
    if (prev && !(prev->vm_flags & VM_GROWSDOWN) && vma_is_accessible(prev) &&
        address - prev->vm_end < mm_sysctl.stack_guard_gap)
        return -ENOMEM;
    const unsigned long grow = (vma->vm_start - address) >> PAGE_SHIFT;
    if (grow > vma->vm_pgoff || vma->vm_end - address > mm->limits.stack ||
        !may_expand_vm(mm, vma->vm_flags, grow))
        return -ENOMEM;
    it.config(address, vma->vm_end);
    if (it.prealloc(vma))
        return -ENOMEM;
    if (!vm_enough_memory(grow)) {
        it.release();
        return -ENOMEM;
    }
    anon_vma_prepare(vma);
    if (vma->vm_flags & VM_LOCKED)
        mm->locked_vm += grow;
    vm_stat_account(mm, vma->vm_flags, static_cast<long>(grow));
    if (!(vma->vm_flags & VM_ACCOUNT))
        vm_unacct_memory(grow);
    vma_set_range(vma, address, vma->vm_end, vma->vm_pgoff - grow, vma->vm_anon_pgoff - grow);
    it.store(vma);
    return 0;
}

} // namespace kmirror::mm

using namespace kmirror::mm;

int vm_fault(mm_struct *mm, unsigned long addr)
{
    WriteLock lock(mm);
    vm_area_struct *vma = find_vma(mm, addr);
    if (!vma)
        return -EFAULT;
    if (vma->vm_start > addr) {
        if (!(vma->vm_flags & VM_GROWSDOWN))
            return -EFAULT;
        VmaIterator it(mm, vma->vm_start);
        const int error = expand_downwards(it, vma, addr);
        if (error)
            return error;
    }
    anon_vma_prepare(vma);
    return 0;
}

void vm_fault_all(mm_struct *mm, unsigned long start, unsigned long end)
{
    WriteLock lock(mm);
    VmaIterator it(mm, start);
    while (vm_area_struct *vma = start < end ? it.find(end) : nullptr)
        if (vma->vm_flags & VM_WRITE)
            anon_vma_prepare(vma);
}
