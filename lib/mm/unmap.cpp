// SPDX-License-Identifier: GPL-2.0-only
//
// Taking mappings away: cut at both ends, move what lies between into a tree of its own, clear the range
// in one store, free what was taken out. Until the store everything can be put back.
//
// Owns     the detached mappings between gather() and complete_unmap() or reattach().
// Locking  mmap_lock for writing.
// Fails    -ENOMEM, -EPERM for a sealed mapping; then every mapping is attached again. A cut stays: two
//          mappings that could be one show the same pages.
#include "lib/mm/vma.h"

namespace kmirror::mm {

Detached::Detached(mm_struct *mm)
{
    mt_init_flags(&tree, mm->mm_mt.ma_flags & MT_FLAGS_LOCK_MASK);
    mt_on_stack(tree);
    mas_init(&mas, &tree, 0);
}

namespace {

int cut_start(VmaIterator &it, vm_area_struct *vma, unsigned long start, unsigned long end)
{
    if (start <= vma->vm_start)
        return 0;
    // A hole in the middle of a mapping makes one mapping more than there were.
    if (end < vma->vm_end && it.mm->map_count >= mm_sysctl.max_map_count)
        return -ENOMEM;
    if (vma->vm_flags & VM_SEALED)
        return -EPERM;
    return split_vma_uncounted(it, vma, start, true);
}

int detach(VmaIterator &it, vm_area_struct *vma, unsigned long end, Detached &out)
{
    if (vma->vm_flags & VM_SEALED)
        return -EPERM;
    if (vma->vm_end > end) {
        const int error = split_vma_uncounted(it, vma, end, false);
        if (error)
            return error;
    }
    mas_set(&out.mas, out.count);
    const int error = mas_store_gfp(&out.mas, vma, GFP_KERNEL);
    if (error)
        return error;
    out.count++;
    vma->attached = false;
    out.pages += vma_pages(vma);
    if (vma->vm_flags & VM_ACCOUNT)
        out.accounted += vma_pages(vma);
    return 0;
}

} // namespace

int gather(VmaIterator &it, vm_area_struct *first, unsigned long start, unsigned long end, Detached &out)
{
    int error = cut_start(it, first, start, end);
    if (error)
        return error;
    out.prev = it.prev();
    while (vm_area_struct *vma = it.find(end)) {
        error = detach(it, vma, end, out);
        if (error) {
            reattach(out);
            return error;
        }
    }
    out.next = it.next();
    while (it.addr() > start)
        it.prev_range();
    return 0;
}

void reattach(Detached &out)
{
    mas_set(&out.mas, 0);
    while (vm_area_struct *vma = VmaIterator::as_vma(mas_find(&out.mas, ULONG_MAX)))
        vma->attached = true;
    __mt_destroy(&out.tree);
    out.count = out.pages = out.accounted = 0;
}

void complete_unmap(mm_struct *mm, Detached &out)
{
    mm->map_count -= static_cast<int>(out.count);
    mas_set(&out.mas, 0);
    while (vm_area_struct *vma = VmaIterator::as_vma(mas_find(&out.mas, ULONG_MAX))) {
        const long pages = static_cast<long>(vma_pages(vma));
        vm_stat_account(mm, vma->vm_flags, -pages);
        if (vma->vm_flags & VM_LOCKED)
            mm->locked_vm -= pages;
        vm_area_free(vma);
    }
    vm_unacct_memory(out.accounted);
    __mt_destroy(&out.tree);
}

int do_munmap_at(VmaIterator &it, vm_area_struct *vma, unsigned long start, unsigned long end)
{
    Detached out(it.mm);
    int error = gather(it, vma, start, end, out);
    if (error)
        return error;
    error = it.clear_gfp(start, end, GFP_KERNEL);
    if (error) {
        reattach(out);
        return error;
    }
    complete_unmap(it.mm, out);
    return 0;
}

int do_munmap(VmaIterator &it, unsigned long start, unsigned long len)
{
    if (is_unaligned(start) || start > TASK_SIZE_MM || len > TASK_SIZE_MM - start)
        return -EINVAL;
    const unsigned long end = start + page_align(len);
    if (end == start)
        return -EINVAL;
    vm_area_struct *vma = it.find(end);
    return vma ? do_munmap_at(it, vma, start, end) : 0;
}

} // namespace kmirror::mm

using namespace kmirror::mm;

int vm_munmap(mm_struct *mm, unsigned long start, unsigned long len)
{
    WriteLock lock(mm);
    VmaIterator it(mm, start);
    return do_munmap(it, start, len);
}
