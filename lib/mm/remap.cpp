// SPDX-License-Identifier: GPL-2.0-only
//
// mremap: shrink in place, grow in place, or copy the mapping to another place and unmap the old one.
//
//   vm_mremap     checks
//     remap_at    no new address asked for: shrink | grow in place | move
//     remap_to    MREMAP_FIXED, _DONTUNMAP: clear the target, shrink, move
//     remap_many  fixed move of several mappings, each with its own remap_to
//       move      copy (perhaps merged with the target's neighbours), then unmap the source
//
// Locking  mmap_lock for writing.
// Fails    before the copy nothing has changed, except that a fixed target was cleared, as in the kernel.
#include "lib/mm/vma.h"

#include <linux/err.h>

namespace kmirror::mm {

namespace {

struct Remap {
    mm_struct *mm;
    unsigned long addr;
    unsigned long old_len;
    unsigned long new_len;
    unsigned long flags;
    unsigned long new_addr;
    vm_area_struct *vma;

    bool keeps_source() const { return flags & MREMAP_DONTUNMAP; }
    bool names_target() const { return flags & (MREMAP_FIXED | MREMAP_DONTUNMAP); }
    bool shrinks() const { return new_len < old_len; }
    bool grows() const { return new_len > old_len; }
    unsigned long added() const { return grows() ? new_len - old_len : 0; }
};

vm_area_struct *vma_at(mm_struct *mm, unsigned long addr)
{
    vm_area_struct *vma = find_vma(mm, addr);
    return vma && vma->vm_start <= addr ? vma : nullptr;
}

int check_arguments(const Remap &remap)
{
    if ((remap.flags & ~(MREMAP_FIXED | MREMAP_MAYMOVE | MREMAP_DONTUNMAP)) || is_unaligned(remap.addr) ||
        !remap.new_len || remap.new_len > TASK_SIZE_MM)
        return -EINVAL;
    if (!remap.names_target())
        return 0;
    if (!(remap.flags & MREMAP_MAYMOVE) || is_unaligned(remap.new_addr) ||
        remap.new_addr > TASK_SIZE_MM - remap.new_len)
        return -EINVAL;
    if (remap.keeps_source() && remap.old_len != remap.new_len)
        return -EINVAL;
    const bool overlap =
        remap.addr + remap.old_len > remap.new_addr && remap.new_addr + remap.new_len > remap.addr;
    return overlap ? -EINVAL : 0;
}

int check_vma(const Remap &remap)
{
    const vm_area_struct *vma = remap.vma;
    if (!vma)
        return -EFAULT;
    if (vma->vm_flags & VM_SEALED)
        return -EPERM;
    if (!remap.grows() && !remap.names_target())
        return 0;
    const bool fixed_size = vma->vm_flags & (VM_DONTEXPAND | VM_PFNMAP);
    if (!remap.old_len && !(vma->vm_flags & (VM_SHARED | VM_MAYSHARE)))
        return -EINVAL;
    if (remap.keeps_source() && fixed_size)
        return -EINVAL;
    const unsigned long kept = remap.shrinks() ? remap.new_len : remap.old_len;
    if (kept > vma->vm_end - remap.addr)
        return -EFAULT;
    if (remap.new_len == kept)
        return 0;
    const unsigned long pgoff = vma->vm_pgoff + ((remap.addr - vma->vm_start) >> PAGE_SHIFT);
    if (pgoff + (remap.new_len >> PAGE_SHIFT) < pgoff)
        return -EINVAL;
    if (fixed_size)
        return -EFAULT;
    return may_expand_vm(remap.mm, vma->vm_flags, remap.added() >> PAGE_SHIFT) ? 0 : -ENOMEM;
}

// ---- moving

// A mapping of the new range: a neighbour that grew over it, or a copy. NULL: no memory.
vm_area_struct *copy_to(const Remap &remap)
{
    vm_area_struct *vma = remap.vma;
    VmaIterator it(remap.mm, remap.new_addr);
    MergeRequest request = merge_request(it, nullptr, vma, remap.addr, remap.addr + remap.old_len);
    bool may_merge_self = false;

    request.start = remap.new_addr;
    request.end = remap.new_addr + remap.new_len;
    if (!vma->anon_vma) {
        request.anon_pgoff = remap.new_addr >> PAGE_SHIFT;
        may_merge_self = vma_is_anonymous(vma);
        if (may_merge_self)
            request.pgoff = request.anon_pgoff;
    }
    request.middle = nullptr;
    request.copied_from = vma;
    request.next = it.next_rewind(&request.prev);
    if (may_merge_self && remap.keeps_source()) {
        request.prev = request.prev == vma ? nullptr : request.prev;
        request.next = request.next == vma ? nullptr : request.next;
    }
    if (vm_area_struct *merged = vma_merge_new_range(request))
        return merged;
    vm_area_struct *copy = vm_area_dup(vma);
    if (!copy)
        return nullptr;
    vma_set_range(copy, remap.new_addr, remap.new_addr + remap.new_len, request.pgoff, request.anon_pgoff);
    it.set(copy->vm_start);
    if (it.store_gfp(copy, GFP_KERNEL)) {
        vm_area_free(copy);
        return nullptr;
    }
    remap.mm->map_count++;
    return copy;
}

// MREMAP_DONTUNMAP: the source stays, empty and unlocked.
void empty_source(const Remap &remap)
{
    vm_area_struct *vma = vma_at(remap.mm, remap.addr);
    if (vma->vm_flags & VM_LOCKED)
        remap.mm->locked_vm -= vma_pages(vma);
    vma->vm_flags &= ~VM_LOCKED_MASK;
    if (remap.addr != vma->vm_start || remap.addr + remap.old_len != vma->vm_end)
        return;
    vma->anon_vma = 0;
    vma->anon_forked = false;
    vma->vm_anon_pgoff = vma->vm_start >> PAGE_SHIFT;
    if (vma_is_anonymous(vma))
        vma->vm_pgoff = vma->vm_anon_pgoff;
}

// The charge moves to the copy, so that unmapping the source must not give it back.
void unmap_source(const Remap &remap)
{
    const unsigned long end = remap.addr + remap.old_len;
    vm_area_struct *vma = vma_at(remap.mm, remap.addr);
    const bool accounted = vma->vm_flags & VM_ACCOUNT;
    const unsigned long old_start = vma->vm_start;
    const unsigned long old_end = vma->vm_end;

    if (!remap.old_len)
        return;
    vma->vm_flags &= ~VM_ACCOUNT;
    VmaIterator it(remap.mm, remap.addr);
    const int error = do_munmap(it, remap.addr, remap.old_len);
    if (!accounted)
        return;
    if (error) {
        // Both stay; the source is charged anew, past any limit.
        vm_area_struct *kept = vma_at(remap.mm, remap.addr);
        kept->vm_flags |= VM_ACCOUNT;
        vm_acct_memory(remap.old_len >> PAGE_SHIFT);
    }
    if (old_start < remap.addr)
        vma_at(remap.mm, remap.addr - 1)->vm_flags |= VM_ACCOUNT;
    if (old_end > end)
        vma_at(remap.mm, end)->vm_flags |= VM_ACCOUNT;
}

unsigned long move(Remap &remap)
{
    mm_struct *mm = remap.mm;
    vm_area_struct *vma = remap.vma;
    const unsigned long flags = vma->vm_flags;
    const bool keep = remap.keeps_source();

    if (mm->map_count + 2 + (keep && (flags & VM_LOCKED)) > mm_sysctl.max_map_count)
        return -ENOMEM;
    if (keep && (flags & VM_LOCKED)) {
        VmaIterator it(mm, remap.addr);
        vma = it.load();
        int error = vma->vm_start < remap.addr ? split_vma(it, vma, remap.addr, true) : 0;
        if (!error && vma->vm_end > remap.addr + remap.old_len)
            error = split_vma(it, vma, remap.addr + remap.old_len, false);
        if (error)
            return error;
    }
    const unsigned long charged =
        flags & VM_ACCOUNT ? (keep ? remap.new_len : remap.added()) >> PAGE_SHIFT : 0;
    if (!vm_enough_memory(charged))
        return -ENOMEM;
    if (!copy_to(remap)) {
        vm_unacct_memory(charged);
        return -ENOMEM;
    }
    vm_stat_account(mm, flags, static_cast<long>(remap.new_len >> PAGE_SHIFT));
    if (flags & VM_LOCKED)
        mm->locked_vm += remap.new_len >> PAGE_SHIFT;
    if (keep)
        empty_source(remap);
    else
        unmap_source(remap);
    return remap.new_addr;
}

int choose_target(Remap &remap)
{
    const vm_area_struct *vma = remap.vma;
    const unsigned long pgoff = vma->vm_pgoff + ((remap.addr - vma->vm_start) >> PAGE_SHIFT);
    const unsigned long flags =
        (remap.flags & MREMAP_FIXED ? MAP_FIXED : 0) | (vma->vm_flags & VM_MAYSHARE ? MAP_SHARED : 0);
    const unsigned long hint = remap.names_target() ? remap.new_addr : 0;
    const unsigned long addr = get_unmapped_area(remap.mm, vma->vm_file, hint, remap.new_len, pgoff, flags);
    if (IS_ERR_VALUE(addr))
        return static_cast<int>(addr);
    remap.new_addr = addr;
    return 0;
}

// ---- in place

int shrink(Remap &remap)
{
    VmaIterator it(remap.mm, remap.addr + remap.new_len);
    const int error = do_munmap(it, remap.addr + remap.new_len, remap.old_len - remap.new_len);
    if (error)
        return error;
    remap.vma = vma_at(remap.mm, remap.addr);
    remap.old_len = remap.new_len;
    return remap.vma ? 0 : -EFAULT;
}

bool can_grow_in_place(const Remap &remap)
{
    const vm_area_struct *vma = remap.vma;
    const unsigned long end = vma->vm_end + remap.added();
    return vma->vm_end - remap.addr == remap.old_len && end > vma->vm_end && end <= TASK_SIZE_MM &&
           !find_intersection(remap.mm, vma->vm_end, end);
}

unsigned long grow_in_place(Remap &remap)
{
    vm_area_struct *vma = remap.vma;
    const unsigned long flags = vma->vm_flags;
    const unsigned long pages = remap.added() >> PAGE_SHIFT;
    const unsigned long charged = flags & VM_ACCOUNT ? pages : 0;

    if (!vm_enough_memory(charged))
        return -ENOMEM;
    VmaIterator it(remap.mm, vma->vm_end);
    MergeRequest request = merge_request(it, vma, vma, vma->vm_end, vma->vm_end + remap.added());
    request.middle = nullptr;
    request.next = it.next_rewind(nullptr);
    if (!vma_merge_new_range(request)) {
        vm_unacct_memory(charged);
        return -ENOMEM;
    }
    vm_stat_account(remap.mm, flags, static_cast<long>(pages));
    if (flags & VM_LOCKED)
        remap.mm->locked_vm += pages;
    return remap.addr;
}

// ---- the three ways

unsigned long remap_to(Remap &remap)
{
    if (remap.flags & MREMAP_FIXED) {
        VmaIterator it(remap.mm, remap.new_addr);
        const int error = do_munmap(it, remap.new_addr, remap.new_len);
        if (error)
            return error;
        remap.vma = vma_at(remap.mm, remap.addr);
        if (!remap.vma)
            return -EFAULT;
    }
    if (remap.shrinks()) {
        const int error = shrink(remap);
        if (error)
            return error;
    }
    if (remap.keeps_source() && !may_expand_vm(remap.mm, remap.vma->vm_flags, remap.old_len >> PAGE_SHIFT))
        return -ENOMEM;
    const int error = choose_target(remap);
    return error ? static_cast<unsigned long>(error) : move(remap);
}

unsigned long remap_at(Remap &remap)
{
    int error = 0;
    if (remap.shrinks())
        error = shrink(remap);
    if (error || !remap.grows())
        return error ? static_cast<unsigned long>(error) : remap.addr;
    if (can_grow_in_place(remap))
        return grow_in_place(remap);
    if (!(remap.flags & MREMAP_MAYMOVE))
        return -ENOMEM;
    error = choose_target(remap);
    return error ? static_cast<unsigned long>(error) : move(remap);
}

unsigned long remap_many(const Remap &whole)
{
    const unsigned long end = whole.addr + whole.old_len;
    unsigned long from = whole.addr;

    if (end < from) // it ends behind the last address
        return -EFAULT;
    while (from < end) {
        vm_area_struct *vma = find_vma(whole.mm, from);
        if (!vma || vma->vm_start >= end)
            return from == whole.addr ? static_cast<unsigned long>(-EFAULT) : whole.new_addr;
        if (from == whole.addr && vma->vm_start > from)
            return -EFAULT;
        const unsigned long start = vma->vm_start > from ? vma->vm_start : from;
        const unsigned long last = vma->vm_end < end ? vma->vm_end : end;
        Remap one = whole;
        one.vma = vma;
        one.addr = start;
        one.old_len = one.new_len = last - start;
        one.new_addr = whole.new_addr + (start - whole.addr);
        const int error = check_vma(one);
        const unsigned long done = error ? static_cast<unsigned long>(error) : remap_to(one);
        if (IS_ERR_VALUE(done))
            return done;
        from = last;
    }
    return whole.new_addr;
}

} // namespace

} // namespace kmirror::mm

using namespace kmirror::mm;

unsigned long vm_mremap(mm_struct *mm, unsigned long addr, unsigned long old_len, unsigned long new_len,
                        unsigned long flags, unsigned long new_addr)
{
    Remap remap = {mm, addr, page_align(old_len), page_align(new_len), flags, new_addr, nullptr};
    int error = check_arguments(remap);
    if (error)
        return error;
    WriteLock lock(mm);
    // Room for cutting the target (2) and the source (2), and for a source that stays.
    if (mm->map_count + 4 + (remap.keeps_source() ? 1 : 0) > mm_sysctl.max_map_count)
        return -ENOMEM;
    if ((flags & MREMAP_FIXED) && remap.old_len == remap.new_len && remap.old_len)
        return remap_many(remap);
    remap.vma = vma_at(mm, addr);
    error = check_vma(remap);
    if (error)
        return error;
    return remap.names_target() ? remap_to(remap) : remap_at(remap);
}
