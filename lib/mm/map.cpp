// SPDX-License-Identifier: GPL-2.0-only
//
// New mappings: mmap, brk, and what exec puts in place.
//
//   vm_mmap       checks, flags              -> get_unmapped_area
//     map_region  gather what is in the way  -> limits -> merge, or a new mapping -> free what was in the way
//   vm_brk        the heap's end up or down
//
// Locking  mmap_lock for writing.
// Fails    before anything is stored; what was in the way of a fixed mapping is attached again.
#include "lib/mm/vma.h"

#include <linux/err.h>

namespace kmirror::mm {

namespace {

constexpr unsigned long kMapTypes = MAP_SHARED | MAP_PRIVATE | MAP_SHARED_VALIDATE | MAP_DROPPABLE;

// What a call asks for, as far as it is known.
struct Region {
    mm_struct *mm;
    mm_file *file; // of the caller, or of shared anonymous memory
    unsigned long addr;
    unsigned long len;
    unsigned long flags;
    unsigned long pgoff;
};

unsigned long prot_bits(unsigned long prot)
{
    return (prot & PROT_READ ? VM_READ : 0) | (prot & PROT_WRITE ? VM_WRITE : 0) |
           (prot & PROT_EXEC ? VM_EXEC : 0);
}

unsigned long flag_bits(unsigned long flags)
{
    return (flags & MAP_GROWSDOWN ? VM_GROWSDOWN : 0) | (flags & MAP_LOCKED ? VM_LOCKED : 0) |
           (flags & MAP_SYNC ? VM_SYNC : 0) | (mm_sysctl.thp && (flags & MAP_STACK) ? VM_NOHUGEPAGE : 0);
}

int shared_file_flags(const mm_file *file, unsigned long prot, unsigned long &vm_flags)
{
    if ((prot & PROT_WRITE) && !(file->flags & MM_FILE_WRITE))
        return -EACCES;
    vm_flags |= VM_SHARED | VM_MAYSHARE;
    if (!(file->flags & MM_FILE_WRITE))
        vm_flags &= ~(VM_MAYWRITE | VM_SHARED);
    return 0;
}

int file_flags(const mm_file *file, unsigned long prot, unsigned long flags, unsigned long &vm_flags)
{
    const unsigned long type = flags & kMapTypes;
    if (type != MAP_SHARED && type != MAP_SHARED_VALIDATE && type != MAP_PRIVATE)
        return -EINVAL;
    if (type != MAP_PRIVATE) {
        const int error = shared_file_flags(file, prot, vm_flags);
        if (error)
            return error;
    }
    if (!(file->flags & MM_FILE_READ))
        return -EACCES;
    if (file->flags & MM_FILE_NOEXEC) {
        if (vm_flags & VM_EXEC)
            return -EPERM;
        vm_flags &= ~VM_MAYEXEC;
    }
    if (vm_flags & VM_GROWSDOWN)
        return -EINVAL;
    if (file->flags & MM_FILE_HUGETLB)
        vm_flags |= VM_HUGETLB | VM_DONTEXPAND;
    if (file->flags & MM_FILE_DEVICE)
        vm_flags |= VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;
    return 0;
}

int anonymous_flags(unsigned long flags, unsigned long &vm_flags)
{
    const bool grows = vm_flags & VM_GROWSDOWN;
    switch (flags & kMapTypes) {
    case MAP_SHARED: vm_flags |= VM_SHARED | VM_MAYSHARE; return grows ? -EINVAL : 0;
    case MAP_DROPPABLE:
        vm_flags |= VM_DROPPABLE | VM_NORESERVE | VM_WIPEONFORK | VM_DONTDUMP;
        return grows || (flags & (MAP_LOCKED | MAP_HUGETLB)) ? -EINVAL : 0;
    case MAP_PRIVATE: return 0;
    default: return -EINVAL;
    }
}

// vm_flags of a mapping with these arguments, or an error.
int region_flags(Region &region, unsigned long prot, unsigned long flags)
{
    region.flags =
        prot_bits(prot) | flag_bits(flags) | region.mm->def_flags | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC;
    const int error = region.file ? file_flags(region.file, prot, flags, region.flags)
                                  : anonymous_flags(flags, region.flags);
    if (error)
        return error;
    if ((flags & MAP_NORESERVE) && (mm_sysctl.overcommit_memory != 2 || (region.flags & VM_HUGETLB)))
        region.flags |= VM_NORESERVE;
    return 0;
}

// Length, offset, hint; then the place.
int place(Region &region, unsigned long flags)
{
    if (!region.len)
        return -EINVAL;
    if (flags & MAP_FIXED_NOREPLACE)
        flags |= MAP_FIXED;
    if (!(flags & MAP_FIXED)) {
        region.addr &= PAGE_MASK;
        if (region.addr && region.addr < mm_sysctl.mmap_min_addr)
            region.addr = page_align(mm_sysctl.mmap_min_addr);
    }
    const unsigned long bytes =
        region.file && (region.file->flags & MM_FILE_HUGETLB) ? MM_PMD_SIZE : PAGE_SIZE;
    region.len = (region.len + bytes - 1) & ~(bytes - 1);
    if (!region.len)
        return -ENOMEM;
    if (region.pgoff + (region.len >> PAGE_SHIFT) < region.pgoff)
        return -EOVERFLOW;
    if (region.mm->map_count > mm_sysctl.max_map_count)
        return -ENOMEM;
    const unsigned long addr =
        get_unmapped_area(region.mm, region.file, region.addr, region.len, region.pgoff, flags);
    if (IS_ERR_VALUE(addr))
        return static_cast<int>(addr);
    region.addr = addr;
    if ((flags & MAP_FIXED_NOREPLACE) && find_intersection(region.mm, addr, addr + region.len))
        return -EEXIST;
    return 0;
}

// Where it goes and what it may do, before anything is mapped.
int plan_region(Region &region, unsigned long prot, unsigned long flags)
{
    const int error = place(region, flags);
    return error ? error : region_flags(region, prot, flags);
}

bool is_accountable(const Region &region)
{
    return (region.flags & (VM_WRITE | VM_NORESERVE | VM_SHARED | VM_HUGETLB)) == VM_WRITE;
}

// Room under the limits, counting what the detached mappings give back. Commits the difference: `charged`.
int charge(Region &region, const Detached &out, unsigned long &charged)
{
    const unsigned long pages = region.len >> PAGE_SHIFT;
    if (!may_expand_vm(region.mm, region.flags, pages - out.pages))
        return -ENOMEM;
    if (!is_accountable(region))
        return 0;
    if (!vm_enough_memory(pages - out.accounted))
        return -ENOMEM;
    charged = pages - out.accounted;
    region.flags |= VM_ACCOUNT;
    return 0;
}

vm_area_struct *map_new_vma(VmaIterator &it, const Region &region)
{
    vm_area_struct *vma = vm_area_alloc(region.mm);
    if (!vma)
        return nullptr;
    vma_set_range(vma, region.addr, region.addr + region.len, region.pgoff, region.addr >> PAGE_SHIFT);
    vma->vm_flags = region.flags;
    vma->vm_file = mm_file_get(region.file);
    it.config(vma->vm_start, vma->vm_end);
    if (it.prealloc(vma)) {
        vm_area_free(vma);
        return nullptr;
    }
    it.store(vma);
    region.mm->map_count++;
    return vma;
}

vm_area_struct *merge_or_map(VmaIterator &it, const Region &region, const Detached &out)
{
    MergeRequest request =
        merge_request_new(it, region.addr, region.addr + region.len, region.flags, region.pgoff, region.file);
    request.prev = out.prev;
    request.next = out.next;
    if (vm_area_struct *merged = vma_merge_new_range(request))
        return merged;
    return map_new_vma(it, region);
}

unsigned long map_region(Region &region)
{
    VmaIterator it(region.mm, region.addr);
    Detached out(region.mm);
    const unsigned long end = region.addr + region.len;
    unsigned long charged = 0;

    if (vm_area_struct *first = it.find(end)) {
        const int error = gather(it, first, region.addr, end, out);
        if (error)
            return error;
    } else {
        out.next = it.next_rewind(&out.prev);
    }
    int error = charge(region, out, charged);
    if (!error && !merge_or_map(it, region, out)) {
        vm_unacct_memory(charged);
        error = -ENOMEM;
    }
    if (error) {
        reattach(out);
        return error;
    }
    if (region.flags & VM_ACCOUNT)
        out.accounted = 0; // the new mapping took their charge over
    complete_unmap(region.mm, out);
    vm_stat_account(region.mm, region.flags, static_cast<long>(region.len >> PAGE_SHIFT));
    if (region.flags & VM_LOCKED)
        region.mm->locked_vm += region.len >> PAGE_SHIFT;
    return region.addr;
}

} // namespace

// ---- brk

namespace {

constexpr unsigned long kHeapFlags = VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC | VM_ACCOUNT;

vm_area_struct *heap_vma(VmaIterator &it, unsigned long addr, unsigned long len, unsigned long flags)
{
    vm_area_struct *vma = vm_area_alloc(it.mm);
    if (!vma)
        return nullptr;
    vma_set_range(vma, addr, addr + len, addr >> PAGE_SHIFT, addr >> PAGE_SHIFT);
    vma->vm_flags = flags;
    if (it.store_gfp(vma, GFP_KERNEL)) {
        vm_area_free(vma);
        return nullptr;
    }
    it.mm->map_count++;
    return vma;
}

int heap_grow(VmaIterator &it, vm_area_struct *prev, unsigned long addr, unsigned long len)
{
    mm_struct *mm = it.mm;
    const unsigned long pages = len >> PAGE_SHIFT;
    const unsigned long flags = kHeapFlags | mm->def_flags;

    if (!may_expand_vm(mm, flags, pages) || mm->map_count > mm_sysctl.max_map_count ||
        !vm_enough_memory(pages))
        return -ENOMEM;
    MergeRequest request = merge_request_new(it, addr, addr + len, flags, addr >> PAGE_SHIFT, nullptr);
    request.prev = prev;
    request.just_expand = true;
    const bool expanded = prev && prev->vm_end == addr && vma_merge_new_range(request);
    if (!expanded && (request.state == MergeState::NoMemory || !heap_vma(it, addr, len, flags))) {
        vm_unacct_memory(pages);
        return -ENOMEM;
    }
    vm_stat_account(mm, flags, static_cast<long>(pages));
    if (flags & VM_LOCKED)
        mm->locked_vm += pages;
    return 0;
}

int heap_shrink(mm_struct *mm, unsigned long from, unsigned long to)
{
    VmaIterator it(mm, to);
    vm_area_struct *vma = it.find(from);
    if (!vma || vma->vm_start >= from)
        return -EINVAL;
    return do_munmap_at(it, vma, to, from);
}

int heap_expand(mm_struct *mm, unsigned long from, unsigned long to)
{
    if (to > TASK_SIZE_MM || to < from)
        return -ENOMEM;
    VmaIterator it(mm, from);
    const vm_area_struct *next = it.find(to + PAGE_SIZE + mm_sysctl.stack_guard_gap);
    if (next && to + PAGE_SIZE > vm_start_gap(next))
        return -ENOMEM;
    it.set(from);
    vm_area_struct *prev = VmaIterator::as_vma(mas_prev(&it.mas, mm->start_brk));
    return heap_grow(it, prev, from, to - from);
}

bool beyond_data_limit(const mm_struct *mm, unsigned long brk)
{
    return mm->limits.data != ULONG_MAX &&
           brk - mm->start_brk + (mm->end_data - mm->start_data) > mm->limits.data;
}

} // namespace

} // namespace kmirror::mm

using namespace kmirror::mm;

unsigned long vm_mmap(mm_struct *mm, mm_file *file, unsigned long addr, unsigned long len, unsigned long prot,
                      unsigned long flags, unsigned long offset)
{
    if (is_unaligned(offset))
        return -EINVAL;
    WriteLock lock(mm);
    Region region = {mm, file, addr, len, 0, offset >> PAGE_SHIFT};
    const int error = plan_region(region, prot, flags);
    if (error)
        return error;
    if (file)
        return map_region(region);
    if (!(region.flags & VM_SHARED)) {
        region.pgoff = region.addr >> PAGE_SHIFT;
        return map_region(region);
    }
    // Shared anonymous memory is a file that nobody can open.
    region.pgoff = 0;
    region.file = mm_file_open("/dev/zero (deleted)", MM_FILE_READ | MM_FILE_WRITE | MM_FILE_SHMEM);
    if (!region.file)
        return -ENOMEM;
    const unsigned long mapped = map_region(region);
    mm_file_put(region.file);
    return mapped;
}

unsigned long vm_predict(mm_struct *mm, mm_file *file, unsigned long addr, unsigned long len,
                         unsigned long prot, unsigned long flags, unsigned long offset)
{
    if (is_unaligned(offset))
        return -EINVAL;
    WriteLock lock(mm);
    Region region = {mm, file, addr, len, 0, offset >> PAGE_SHIFT};
    const int error = plan_region(region, prot, flags);
    return error ? static_cast<unsigned long>(error) : region.addr;
}

unsigned long vm_brk(mm_struct *mm, unsigned long brk)
{
    WriteLock lock(mm);
    const unsigned long old_brk = mm->brk;
    if (brk < mm->start_brk || beyond_data_limit(mm, brk))
        return old_brk;
    const unsigned long to = page_align(brk);
    const unsigned long from = page_align(old_brk);
    int error = 0;
    if (to != from)
        error = brk <= old_brk ? heap_shrink(mm, from, to) : heap_expand(mm, from, to);
    if (error)
        return old_brk;
    mm->brk = brk;
    return brk;
}

int mm_install(mm_struct *mm, unsigned long start, unsigned long end, unsigned long vm_flags,
               unsigned long pgoff, mm_file *file, mm_file *name)
{
    if (start >= end || is_unaligned(start) || is_unaligned(end))
        return -EINVAL;
    WriteLock lock(mm);
    if (find_intersection(mm, start, end))
        return -EEXIST;
    vm_area_struct *vma = vm_area_alloc(mm);
    if (!vma)
        return -ENOMEM;
    vma_set_range(vma, start, end, file ? pgoff : start >> PAGE_SHIFT, start >> PAGE_SHIFT);
    vma->vm_flags = vm_flags;
    vma->vm_file = mm_file_get(file);
    vma->anon_name = mm_file_get(name);
    const bool committed = vm_flags & VM_ACCOUNT;
    VmaIterator it(mm, start);
    if (committed && !vm_enough_memory(vma_pages(vma))) {
        vm_area_free(vma);
        return -ENOMEM;
    }
    if (it.store_gfp(vma, GFP_KERNEL)) {
        if (committed)
            vm_unacct_memory(vma_pages(vma));
        vm_area_free(vma);
        return -ENOMEM;
    }
    mm->map_count++;
    vm_stat_account(mm, vm_flags, static_cast<long>(vma_pages(vma)));
    return 0;
}
