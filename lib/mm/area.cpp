// SPDX-License-Identifier: GPL-2.0-only
//
// Where a new mapping goes: the highest gap below mmap_base that holds it (the lowest one above
// mmap_legacy_base for MAP_32BIT and when nothing is left), with the stack's guard gap kept free, and
// anonymous memory and files of some file systems aligned to huge pages once they are as long as one.
//
// Owns     nothing; only looks.
// Locking  mmap_lock, for writing when a mapping follows.
// Fails    with -ENOMEM as an address.
#include "lib/mm/vma.h"

#include <linux/err.h>

namespace kmirror::mm {

namespace {

constexpr unsigned long kNoPlace = -ENOMEM;
constexpr unsigned long k32BitBegin = 0x40000000;
constexpr unsigned long k32BitEnd = 0x80000000;
constexpr unsigned long k4GiB = 1UL << 32;

// A gap of `length` bytes in [low, high) with (address & align_mask) == (align_offset & align_mask).
struct Wish {
    unsigned long length;
    unsigned long low;
    unsigned long high;
    unsigned long align_mask;
    unsigned long align_offset;

    unsigned long search_length() const { return length + align_mask; }
};

unsigned long at_least_min(unsigned long low)
{
    return low < mm_sysctl.mmap_min_addr ? mm_sysctl.mmap_min_addr : low;
}

unsigned long search_up(mm_struct *mm, const Wish &wish)
{
    unsigned long low = at_least_min(wish.low);
    const unsigned long search = wish.search_length();
    VmaIterator it(mm, 0);

    while (search >= wish.length && !mas_empty_area(&it.mas, low, wish.high - 1, search)) {
        const unsigned long gap = it.addr() + ((wish.align_offset - it.addr()) & wish.align_mask);
        const vm_area_struct *above = it.next();
        if (!above || vm_start_gap(above) >= gap + search - 1 || !(above->vm_flags & VM_GROWSDOWN))
            return gap;
        low = above->vm_end;
        mas_reset(&it.mas);
    }
    return kNoPlace;
}

unsigned long search_down(mm_struct *mm, const Wish &wish)
{
    const unsigned long low = at_least_min(wish.low);
    unsigned long high = wish.high;
    const unsigned long search = wish.search_length();
    VmaIterator it(mm, 0);

    while (search >= wish.length && high > low && !mas_empty_area_rev(&it.mas, low, high - 1, search)) {
        const unsigned long gap_end = it.end();
        unsigned long gap = gap_end - wish.length;
        gap -= (gap - wish.align_offset) & wish.align_mask;
        const vm_area_struct *above = it.next();
        if (!above || !(above->vm_flags & VM_GROWSDOWN) || vm_start_gap(above) >= gap_end)
            return gap;
        high = vm_start_gap(above);
        mas_reset(&it.mas);
    }
    return kNoPlace;
}

// Is the caller's wish for `addr` to be granted?
bool hint_fits(mm_struct *mm, unsigned long addr, unsigned long len)
{
    const vm_area_struct *vma = find_vma(mm, addr);
    return !vma || addr + len <= vm_start_gap(vma);
}

bool is_hugetlb(const mm_file *file)
{
    return file && (file->flags & MM_FILE_HUGETLB);
}

unsigned long area_bottomup(mm_struct *mm, const mm_file *file, unsigned long addr, unsigned long len,
                            unsigned long pgoff, unsigned long flags)
{
    const unsigned long begin = flags & MAP_32BIT ? k32BitBegin : mm->mmap_legacy_base;
    const unsigned long end = flags & MAP_32BIT ? k32BitEnd : TASK_SIZE_MM;

    if (len > end)
        return kNoPlace;
    if (addr) {
        addr = page_align(addr);
        if (end - len >= addr && hint_fits(mm, addr, len))
            return addr;
    }
    const Wish wish = {len, begin, end, is_hugetlb(file) ? MM_PMD_SIZE - 1 : 0, pgoff << PAGE_SHIFT};
    return search_up(mm, wish);
}

unsigned long area_topdown(mm_struct *mm, const mm_file *file, unsigned long addr, unsigned long len,
                           unsigned long pgoff, unsigned long flags)
{
    if (flags & MAP_32BIT)
        return area_bottomup(mm, file, addr, len, pgoff, flags);
    addr &= PAGE_MASK;
    if (addr && TASK_SIZE_MM - len >= addr && hint_fits(mm, addr, len))
        return addr;
    const bool huge = is_hugetlb(file);
    const Wish wish = {len, flags & MAP_ABOVE4G ? k4GiB : PAGE_SIZE, mm->mmap_base,
                       huge ? MM_PMD_SIZE - 1 : 0, huge ? 0 : pgoff << PAGE_SHIFT};
    const unsigned long found = search_down(mm, wish);
    return IS_ERR_VALUE(found) ? area_bottomup(mm, file, 0, len, pgoff, flags) : found;
}

unsigned long area_plain(mm_struct *mm, const mm_file *file, unsigned long addr, unsigned long len,
                         unsigned long pgoff, unsigned long flags)
{
    if (len > TASK_SIZE_MM)
        return kNoPlace;
    return mm->topdown ? area_topdown(mm, file, addr, len, pgoff, flags)
                       : area_bottomup(mm, file, addr, len, pgoff, flags);
}

// A place whose offset within a huge page is the file's; 0 if there is none or it would not help.
unsigned long area_thp(mm_struct *mm, const mm_file *file, unsigned long addr, unsigned long len,
                       unsigned long pgoff, unsigned long flags)
{
    const unsigned long offset = pgoff << PAGE_SHIFT;
    const unsigned long first_huge = (offset + MM_PMD_SIZE - 1) & ~(MM_PMD_SIZE - 1);
    const unsigned long padded = len + MM_PMD_SIZE;

    if (offset + len <= first_huge || offset + len - first_huge < MM_PMD_SIZE)
        return 0;
    if (padded < len || offset + padded < offset)
        return 0;
    const unsigned long found = area_plain(mm, file, addr, padded, pgoff, flags);
    if (IS_ERR_VALUE(found))
        return 0;
    if (addr && found == addr)
        return addr;
    const unsigned long shift = (offset - found) & (MM_PMD_SIZE - 1);
    return mm->topdown && !shift ? found + MM_PMD_SIZE : found + shift;
}

// Does the kernel try a huge page's alignment for this mapping?
bool wants_thp(const mm_file *file, unsigned long addr, unsigned long len, unsigned long flags)
{
    if (!mm_sysctl.thp)
        return false;
    if (file)
        return file->flags & MM_FILE_THP_ALIGN;
    return !(flags & MAP_SHARED) && !addr && len % MM_PMD_SIZE == 0;
}

} // namespace

unsigned long get_unmapped_area(mm_struct *mm, const mm_file *file, unsigned long addr, unsigned long len,
                                unsigned long pgoff, unsigned long flags)
{
    if (len > TASK_SIZE_MM)
        return kNoPlace;
    if (!file)
        pgoff = 0;
    if (!(flags & MAP_FIXED)) {
        const unsigned long aligned =
            wants_thp(file, addr, len, flags) ? area_thp(mm, file, addr, len, pgoff, flags) : 0;
        addr = aligned ? aligned : area_plain(mm, file, addr, len, pgoff, flags);
        if (IS_ERR_VALUE(addr))
            return addr;
    }
    if (addr > TASK_SIZE_MM - len)
        return kNoPlace;
    return is_unaligned(addr) ? static_cast<unsigned long>(-EINVAL) : addr;
}

vm_area_struct *find_intersection(mm_struct *mm, unsigned long start, unsigned long end)
{
    unsigned long index = start;
    return VmaIterator::as_vma(mt_find(&mm->mm_mt, &index, end - 1));
}

} // namespace kmirror::mm

vm_area_struct *find_vma(mm_struct *mm, unsigned long addr)
{
    unsigned long index = addr;
    return kmirror::mm::VmaIterator::as_vma(mt_find(&mm->mm_mt, &index, ULONG_MAX));
}
