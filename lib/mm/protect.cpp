// SPDX-License-Identifier: GPL-2.0-only
//
// Calls that give a range of mappings other properties: mprotect, madvise, mlock, mbind, a name, mseal.
// Each mapping in the range is merged with its neighbours, or cut to the range, and then gets its new
// property.
//
// Locking  mmap_lock for writing.
// Fails    at the first mapping that cannot change, keeping what was done before it, as the kernel does.
#include "lib/mm/vma.h"

#include <linux/err.h>

namespace kmirror::mm {

namespace {

// The mappings of [start, end) one after the other, with what lies before each.
struct Walk {
    VmaIterator it;
    vm_area_struct *prev;
    vm_area_struct *vma;
    unsigned long start; // of the part of `vma` that is meant
    unsigned long end;   // of the whole range

    Walk(mm_struct *mm, unsigned long from, unsigned long to) : it(mm, from), start(from), end(to)
    {
        vma = it.find(end);
        prev = vma ? it.prev() : nullptr;
        if (vma && start > vma->vm_start)
            prev = vma;
        if (vma)
            it.next();
    }

    unsigned long part_start() const { return start > vma->vm_start ? start : vma->vm_start; }
    unsigned long part_end() const { return end < vma->vm_end ? end : vma->vm_end; }
    MergeRequest request() { return merge_request(it, prev, vma, part_start(), part_end()); }

    // `changed` covers the part now; go on behind the part, wherever the merge left the iterator.
    void step(vm_area_struct *changed, unsigned long part_last)
    {
        prev = changed;
        start = part_last;
        if (start >= end) {
            vma = nullptr;
            return;
        }
        it.set(start);
        vma = it.find(end);
        if (vma == changed) // the part was merged with what follows it
            skip_merged(changed);
    }

private:
    void skip_merged(const vm_area_struct *changed)
    {
        start = changed->vm_end;
        vma = start < end ? it.find(end) : nullptr;
    }
};

bool bad_range(unsigned long start, unsigned long len)
{
    return is_unaligned(start) || start + page_align(len) < start || (len && !page_align(len));
}

} // namespace

// ---- mprotect

namespace {

unsigned long protection(const vm_area_struct *vma, unsigned long prot, int pkey)
{
    unsigned long flags = vma->vm_flags & ~VM_ACCESS_FLAGS;
    flags |= (prot & PROT_READ ? VM_READ : 0) | (prot & PROT_WRITE ? VM_WRITE : 0) |
             (prot & PROT_EXEC ? VM_EXEC : 0);
    if (pkey >= 0)
        flags = (flags & ~VM_PKEY_MASK) | static_cast<unsigned long>(pkey) << VM_PKEY_SHIFT;
    return flags;
}

// Becoming writable is charged; becoming read-only gives back only what was surely never written.
int protect_charge(const vm_area_struct *vma, unsigned long pages, unsigned long &flags,
                   unsigned long &charged)
{
    const unsigned long old = vma->vm_flags;
    if (!(flags & VM_WRITE)) {
        if ((old & VM_ACCOUNT) && vma_is_anonymous(vma) && !vma->anon_vma)
            flags &= ~VM_ACCOUNT;
        return 0;
    }
    if (!may_expand_vm(vma->vm_mm, flags, pages) && may_expand_vm(vma->vm_mm, old, pages))
        return -ENOMEM;
    if (old & (VM_ACCOUNT | VM_WRITE | VM_HUGETLB | VM_SHARED | VM_NORESERVE))
        return 0;
    if (!vm_enough_memory(pages))
        return -ENOMEM;
    charged = pages;
    flags |= VM_ACCOUNT;
    return 0;
}

int protect_one(Walk &walk, unsigned long flags)
{
    vm_area_struct *vma = walk.vma;
    const unsigned long old = vma->vm_flags;
    const unsigned long end = walk.part_end();
    const unsigned long pages = (end - walk.part_start()) >> PAGE_SHIFT;
    unsigned long charged = 0;

    if (old & VM_SEALED)
        return -EPERM;
    if (flags == old) {
        walk.step(vma, end);
        return 0;
    }
    const int error = protect_charge(vma, pages, flags, charged);
    if (error)
        return error;
    MergeRequest request = walk.request();
    request.flags = flags;
    vma = vma_modify(request);
    if (IS_ERR(vma)) {
        vm_unacct_memory(charged);
        return static_cast<int>(PTR_ERR(vma));
    }
    vma->vm_flags = flags;
    if (old & ~flags & VM_ACCOUNT)
        vm_unacct_memory(pages);
    vm_stat_account(walk.it.mm, old, -static_cast<long>(pages));
    vm_stat_account(walk.it.mm, flags, static_cast<long>(pages));
    walk.step(vma, end);
    return 0;
}

int protect(mm_struct *mm, unsigned long start, unsigned long end, unsigned long prot, int pkey)
{
    WriteLock lock(mm);
    Walk walk(mm, start, end);
    if (!walk.vma)
        return -ENOMEM;
    if (prot & PROT_GROWSDOWN) {
        if (walk.vma->vm_start >= end)
            return -ENOMEM;
        if (!(walk.vma->vm_flags & VM_GROWSDOWN))
            return -EINVAL;
        walk.start = walk.vma->vm_start;
        if (walk.prev == walk.vma)
            walk = Walk(mm, walk.start, end);
    } else if (walk.vma->vm_start > start) {
        return -ENOMEM;
    }
    while (walk.vma) {
        if (walk.vma->vm_start > walk.start)
            return -ENOMEM;
        const unsigned long flags = protection(walk.vma, prot, pkey);
        // Each VM_MAY bit stands four above the bit that it allows.
        if (flags & ~(flags >> 4) & VM_ACCESS_FLAGS)
            return -EACCES;
        const int error = protect_one(walk, flags);
        if (error)
            return error;
    }
    return walk.start < end ? -ENOMEM : 0;
}

} // namespace

// ---- one property for each mapping of a range

namespace {

enum class Hole { Stop, GoOn }; // what a part that nothing maps does to the call; it is -ENOMEM in the end

constexpr int kSame = 0;    // nothing to change in this mapping
constexpr int kChanged = 1; // the request holds the new property

// `change(vma, request)` edits the request and says kSame, kChanged or an error, which ends the walk;
// `apply` then gives the mapping of exactly that part, or the one that swallowed it, the new property.
template <class Change, class Apply>
int for_range(mm_struct *mm, unsigned long start, unsigned long end, Hole hole, Change change, Apply apply,
              int no_memory = -ENOMEM)
{
    Walk walk(mm, start, end);
    int unmapped = 0;
    while (walk.vma) {
        if (walk.vma->vm_start > walk.start) {
            if (hole == Hole::Stop)
                return -ENOMEM;
            unmapped = -ENOMEM;
        }
        MergeRequest request = walk.request();
        const unsigned long part_last = request.end;
        vm_area_struct *vma = walk.vma;
        const int verdict = change(vma, request);
        if (verdict < 0)
            return verdict;
        if (verdict > 0) {
            vma = vma_modify(request);
            if (IS_ERR(vma))
                return no_memory;
            apply(vma, request);
        }
        walk.step(vma, part_last);
    }
    return walk.start < end ? -ENOMEM : unmapped;
}

// The flags that `behavior` gives a mapping, or an error.
int advice(const vm_area_struct *vma, int behavior, unsigned long &flags)
{
    const bool special = flags & VM_SPECIAL;
    switch (behavior) {
    case MADV_NORMAL: flags &= ~(VM_RAND_READ | VM_SEQ_READ); return 0;
    case MADV_SEQUENTIAL: flags = (flags & ~VM_RAND_READ) | VM_SEQ_READ; return 0;
    case MADV_RANDOM: flags = (flags & ~VM_SEQ_READ) | VM_RAND_READ; return 0;
    case MADV_DONTFORK: flags |= VM_DONTCOPY; return 0;
    case MADV_DOFORK: flags &= ~VM_DONTCOPY; return special ? -EINVAL : 0;
    case MADV_WIPEONFORK: flags |= VM_WIPEONFORK; return vma->vm_file ? -EINVAL : 0;
    case MADV_KEEPONFORK: flags &= ~VM_WIPEONFORK; return flags & VM_DROPPABLE ? -EINVAL : 0;
    case MADV_DONTDUMP: flags |= VM_DONTDUMP; return 0;
    case MADV_DODUMP:
        flags &= ~VM_DONTDUMP;
        return (special && !(flags & VM_HUGETLB)) || (flags & VM_DROPPABLE) ? -EINVAL : 0;
    case MADV_MERGEABLE:
        if (!special && !(flags & (VM_SHARED | VM_MAYSHARE | VM_HUGETLB | VM_DROPPABLE)))
            flags |= VM_MERGEABLE;
        return 0;
    case MADV_UNMERGEABLE: flags &= ~VM_MERGEABLE; return 0;
    case MADV_HUGEPAGE:
        flags = (flags & ~VM_NOHUGEPAGE) | (special || (flags & VM_HUGETLB) ? 0 : VM_HUGEPAGE);
        return special || (flags & VM_HUGETLB) ? -EINVAL : 0;
    case MADV_NOHUGEPAGE:
        flags = (flags & ~VM_HUGEPAGE) | VM_NOHUGEPAGE;
        return special || (flags & VM_HUGETLB) ? -EINVAL : 0;
    default: return 0;
    }
}

bool is_known_advice(int behavior)
{
    if (behavior == MADV_MERGEABLE || behavior == MADV_UNMERGEABLE)
        return mm_sysctl.ksm;
    if (behavior == MADV_HUGEPAGE || behavior == MADV_NOHUGEPAGE || behavior == MADV_COLLAPSE)
        return mm_sysctl.thp;
    return (behavior >= MADV_NORMAL && behavior <= MADV_DONTNEED) ||
           (behavior >= MADV_FREE && behavior <= MADV_COLLAPSE) || behavior == MADV_GUARD_INSTALL ||
           behavior == MADV_GUARD_REMOVE;
}

int advise(mm_struct *mm, unsigned long start, unsigned long end, int behavior)
{
    const auto change = [behavior](const vm_area_struct *vma, MergeRequest &request) {
        const int error = advice(vma, behavior, request.flags);
        return error ? error : request.flags == vma->vm_flags ? kSame : kChanged;
    };
    const auto apply = [](vm_area_struct *vma, const MergeRequest &request) {
        vma->vm_flags = request.flags;
    };
    return for_range(mm, start, end, Hole::GoOn, change, apply, -EAGAIN);
}

int lock_range(mm_struct *mm, unsigned long start, unsigned long end, unsigned long lock_flags)
{
    const auto change = [lock_flags](const vm_area_struct *vma, MergeRequest &request) {
        if (vma->vm_flags & (VM_SPECIAL | VM_HUGETLB | VM_DROPPABLE))
            return kSame;
        request.flags = (vma->vm_flags & ~VM_LOCKED_MASK) | lock_flags;
        return request.flags == vma->vm_flags ? kSame : kChanged;
    };
    const auto apply = [](vm_area_struct *vma, const MergeRequest &request) {
        vma->vm_flags = request.flags;
    };
    return for_range(mm, start, end, Hole::Stop, change, apply);
}

// locked_vm after locks have changed: only what is locked now counts.
void recount_locked(mm_struct *mm)
{
    VmaIterator it(mm, 0);
    mm->locked_vm = 0;
    while (const vm_area_struct *vma = it.next())
        if (vma->vm_flags & VM_LOCKED)
            mm->locked_vm += vma_pages(vma);
}

bool has_hole(mm_struct *mm, unsigned long start, unsigned long end)
{
    VmaIterator it(mm, start);
    while (start < end) {
        const vm_area_struct *vma = it.find(end);
        if (!vma || vma->vm_start > start)
            return true;
        start = vma->vm_end;
    }
    return false;
}

} // namespace

} // namespace kmirror::mm

using namespace kmirror::mm;

int vm_mprotect(mm_struct *mm, unsigned long start, unsigned long len, unsigned long prot, int pkey)
{
    if (bad_range(start, len) || (prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN)))
        return -EINVAL;
    if (!len)
        return 0;
    if (start > TASK_SIZE_MM)
        return -ENOMEM;
    return protect(mm, start, start + page_align(len), prot, pkey);
}

int vm_madvise(mm_struct *mm, unsigned long start, unsigned long len, int behavior)
{
    if (!is_known_advice(behavior) || bad_range(start, len))
        return -EINVAL;
    if (!len)
        return 0;
    WriteLock lock(mm);
    return advise(mm, start, start + page_align(len), behavior);
}

int vm_mlock(mm_struct *mm, unsigned long start, unsigned long len, unsigned long vm_flags)
{
    const unsigned long end = page_align(start + len);
    start &= PAGE_MASK;
    if (end < start)
        return -EINVAL;
    if (end == start)
        return 0;
    WriteLock lock(mm);
    const int error = lock_range(mm, start, end, vm_flags & VM_LOCKED_MASK);
    recount_locked(mm);
    return error;
}

int vm_mlockall(mm_struct *mm, unsigned int flags)
{
    if (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) || flags == MCL_ONFAULT)
        return -EINVAL;
    const unsigned long lock_flags = VM_LOCKED | (flags & MCL_ONFAULT ? VM_LOCKONFAULT : 0);
    WriteLock lock(mm);
    mm->def_flags = (mm->def_flags & ~VM_LOCKED_MASK) | (flags & MCL_FUTURE ? lock_flags : 0);
    if (flags == 0 || (flags & MCL_CURRENT)) {
        unsigned long from = 0;
        while (const vm_area_struct *vma = find_vma(mm, from)) {
            from = vma->vm_end;
            static_cast<void>(lock_range(mm, vma->vm_start, vma->vm_end, flags ? lock_flags : 0));
        }
    }
    recount_locked(mm);
    return 0;
}

int vm_mbind(mm_struct *mm, unsigned long start, unsigned long len, unsigned int policy)
{
    if (bad_range(start, len))
        return -EINVAL;
    if (!len)
        return 0;
    const unsigned long end = start + page_align(len);
    WriteLock lock(mm);
    if (has_hole(mm, start, end))
        return -EFAULT;
    const auto change = [policy](const vm_area_struct *vma, MergeRequest &request) {
        request.policy = policy;
        return vma->policy == policy ? kSame : kChanged;
    };
    const auto apply = [policy](vm_area_struct *vma, const MergeRequest &) { vma->policy = policy; };
    return for_range(mm, start, end, Hole::Stop, change, apply);
}

int vm_set_name(mm_struct *mm, unsigned long start, unsigned long len, mm_file *name)
{
    if (!mm_sysctl.anon_name || bad_range(start, len))
        return -EINVAL;
    if (!len)
        return 0;
    const auto change = [name](const vm_area_struct *vma, MergeRequest &request) {
        if (vma->vm_file)
            return -EBADF;
        request.name = name;
        return vma->anon_name == name ? kSame : kChanged;
    };
    const auto apply = [name](vm_area_struct *vma, const MergeRequest &) {
        mm_file_get(name);
        mm_file_put(vma->anon_name);
        vma->anon_name = name;
    };
    WriteLock lock(mm);
    return for_range(mm, start, start + page_align(len), Hole::GoOn, change, apply);
}

int vm_mseal(mm_struct *mm, unsigned long start, unsigned long len)
{
    if (bad_range(start, len))
        return -EINVAL;
    if (!len)
        return 0;
    const unsigned long end = start + page_align(len);
    WriteLock lock(mm);
    if (has_hole(mm, start, end))
        return -ENOMEM;
    const auto change = [](const vm_area_struct *vma, MergeRequest &request) {
        request.flags |= VM_SEALED;
        return vma->vm_flags & VM_SEALED ? kSame : kChanged;
    };
    const auto apply = [](vm_area_struct *vma, const MergeRequest &) { vma->vm_flags |= VM_SEALED; };
    return for_range(mm, start, end, Hole::Stop, change, apply);
}
