// SPDX-License-Identifier: GPL-2.0-only
//
// When two mappings become one, and how.
//
// Properties must be equal: flags, file, name, policy; offsets must go on; the anon_vmas must be one, or
// one of the sides has none and the other's chain is not a forked child's.
//
//   vma_merge_new_range        a range nothing maps yet:   prev + range, range + next, or all three
//   vma_merge_existing_range   a part of a mapping that is about to change moves into its neighbour(s)
//   vma_modify                 merge, or else split until the part is a mapping of its own
//
// Locking  mmap_lock for writing. The iterator stands in the gap (new) or in the changing mapping (existing).
// Fails    with NULL and request.state == NoMemory; the tree and the mappings are then as they were.
#include "lib/mm/vma.h"

#include <linux/err.h>

namespace kmirror::mm {

namespace {

bool same_name(const mm_file *a, const mm_file *b)
{
    return a == b || (a && b && strcmp(a->name, b->name) == 0);
}

bool properties_equal(const MergeRequest &request, const vm_area_struct *vma)
{
    return request.policy == vma->policy && request.flags == vma->vm_flags && request.file == vma->vm_file &&
           same_name(request.name, vma->anon_name);
}

bool is_fork_child(const vm_area_struct *vma)
{
    return vma && vma->anon_vma && vma->anon_forked;
}

// Would the neighbour and the range share an anon_vma, or could they take over one another's?
bool anon_vma_fits(const MergeRequest &request, const vm_area_struct *neighbour)
{
    if (neighbour->anon_vma && request.anon_vma)
        return neighbour->anon_vma == request.anon_vma;
    if (neighbour->anon_vma)
        return !is_fork_child(neighbour);
    if (request.anon_vma)
        return !is_fork_child(request.middle) && !is_fork_child(request.copied_from);
    return true;
}

// Where private pages of a file count from matters only to mappings that have such pages.
bool anon_offset_matters(const MergeRequest &request)
{
    return request.file && is_cow(request.flags);
}

bool fits_behind(const MergeRequest &request, const vm_area_struct *prev)
{
    if (!prev || prev->vm_end != request.start || !properties_equal(request, prev) ||
        !anon_vma_fits(request, prev))
        return false;
    const unsigned long pages = vma_pages(prev);
    return prev->vm_pgoff + pages == request.pgoff &&
           (!anon_offset_matters(request) || prev->vm_anon_pgoff + pages == request.anon_pgoff);
}

bool fits_before(const MergeRequest &request, const vm_area_struct *next)
{
    if (!next || request.end != next->vm_start || !properties_equal(request, next) ||
        !anon_vma_fits(request, next))
        return false;
    const unsigned long pages = (request.end - request.start) >> PAGE_SHIFT;
    return request.pgoff + pages == next->vm_pgoff &&
           (!anon_offset_matters(request) || request.anon_pgoff + pages == next->vm_anon_pgoff);
}

// Each may fit the range and still not fit the other.
bool fit_each_other(const vm_area_struct *prev, const vm_area_struct *next)
{
    return !prev->anon_vma || !next->anon_vma || prev->anon_vma == next->anon_vma;
}

void inherit_anon_vma(vm_area_struct *to, const vm_area_struct *from)
{
    if (!from || to->anon_vma || !from->anon_vma)
        return;
    to->anon_vma = from->anon_vma;
    to->anon_forked = from->anon_forked;
}

void remove_merged(mm_struct *mm, vm_area_struct *vma)
{
    mm->map_count--;
    vm_area_free(vma);
}

unsigned long pages_between(unsigned long low, unsigned long high)
{
    return (high - low) >> PAGE_SHIFT;
}

// `target` takes over [start, end), which reaches to or over its own range.
void grow(vm_area_struct *target, unsigned long start, unsigned long end)
{
    const unsigned long pages = pages_between(start, target->vm_start);
    vma_set_range(target, start, end, target->vm_pgoff - pages, target->vm_anon_pgoff - pages);
}

} // namespace

// ---- requests

MergeRequest merge_request(VmaIterator &it, vm_area_struct *prev, vm_area_struct *vma, unsigned long start,
                           unsigned long end)
{
    // Counted as an address would be: `start` may lie before the mapping's end or right behind it.
    const unsigned long pages = pages_between(vma->vm_start, start);
    return {.it = it,
            .mm = vma->vm_mm,
            .prev = prev,
            .middle = vma,
            .next = nullptr,
            .start = start,
            .end = end,
            .flags = vma->vm_flags,
            .pgoff = vma->vm_pgoff + pages,
            .anon_pgoff = vma->vm_anon_pgoff + pages,
            .file = vma->vm_file,
            .name = vma->anon_name,
            .anon_vma = vma->anon_vma,
            .anon_forked = vma->anon_forked,
            .policy = vma->policy,
            .copied_from = nullptr,
            .just_expand = false,
            .target = nullptr,
            .state = MergeState::NoMerge};
}

MergeRequest merge_request_new(VmaIterator &it, unsigned long start, unsigned long end, unsigned long flags,
                               unsigned long pgoff, mm_file *file)
{
    return {.it = it,
            .mm = it.mm,
            .prev = nullptr,
            .middle = nullptr,
            .next = nullptr,
            .start = start,
            .end = end,
            .flags = flags,
            .pgoff = pgoff,
            .anon_pgoff = start >> PAGE_SHIFT,
            .file = file,
            .name = nullptr,
            .anon_vma = 0,
            .anon_forked = false,
            .policy = 0,
            .copied_from = nullptr,
            .just_expand = false,
            .target = nullptr,
            .state = MergeState::NoMerge};
}

// ---- a new range

vm_area_struct *vma_merge_new_range(MergeRequest &request)
{
    vm_area_struct *prev = request.prev;
    vm_area_struct *next = request.next;

    request.state = MergeState::NoMerge;
    if (request.flags & VM_SPECIAL)
        return nullptr;
    const bool left = fits_behind(request, prev);
    const bool right =
        !request.just_expand && fits_before(request, next) && (!left || fit_each_other(prev, next));
    if (!left && !right)
        return nullptr;

    vm_area_struct *target = left ? prev : next;
    const unsigned long start = left ? prev->vm_start : request.start;
    const unsigned long end = right ? next->vm_end : request.end;
    if (left && !request.just_expand)
        request.it.prev();
    request.it.config(start, end);
    if (request.it.prealloc(target)) {
        request.state = MergeState::NoMemory;
        return nullptr;
    }
    if (left && right)
        inherit_anon_vma(target, next);
    inherit_anon_vma(target, request.copied_from);
    grow(target, start, end);
    request.it.store(target);
    if (left && right)
        remove_merged(request.mm, next);
    request.target = target;
    request.state = MergeState::Merged;
    return target;
}

// ---- a part of a mapping

namespace {

// What a merge of an existing range does to the three mappings.
struct ExistingPlan {
    bool left;
    bool right;
    bool middle_goes;         // all of it moves into a neighbour
    unsigned long start, end; // the target's new range
};

ExistingPlan plan_existing(MergeRequest &request)
{
    const vm_area_struct *middle = request.middle;
    const bool at_start = request.start == middle->vm_start;
    const bool at_end = request.end == middle->vm_end;
    ExistingPlan plan = {false, false, at_start && at_end, 0, 0};

    if ((request.flags & VM_SPECIAL) || (!at_start && !at_end))
        return plan;
    plan.left = at_start && fits_behind(request, request.prev);
    if (at_end) {
        request.next = request.it.next_range();
        request.it.prev_range();
        plan.right =
            fits_before(request, request.next) && (!plan.left || fit_each_other(request.prev, request.next));
    }
    plan.start = plan.left ? request.prev->vm_start : request.start;
    plan.end = plan.right ? request.next->vm_end : request.end;
    return plan;
}

// Store what the plan says. A middle that stays shrinks: the target's store overwrites its part.
bool commit_existing(MergeRequest &request, const ExistingPlan &plan, vm_area_struct *target)
{
    vm_area_struct *middle = request.middle;
    if (plan.left)
        request.it.prev();
    request.it.config(plan.start, plan.end);
    if (request.it.prealloc(target))
        return false;

    if (plan.left && plan.right)
        inherit_anon_vma(target, request.next);
    inherit_anon_vma(target, middle);
    if (!plan.middle_goes) {
        if (plan.left)
            vma_set_range(middle, request.end, middle->vm_end,
                          middle->vm_pgoff + pages_between(middle->vm_start, request.end),
                          middle->vm_anon_pgoff + pages_between(middle->vm_start, request.end));
        else
            middle->vm_end = request.start;
    }
    grow(target, plan.start, plan.end);
    request.it.store(target);
    if (plan.middle_goes)
        remove_merged(request.mm, middle);
    if (plan.left && plan.right)
        remove_merged(request.mm, request.next);
    return true;
}

} // namespace

vm_area_struct *vma_merge_existing_range(MergeRequest &request)
{
    request.state = MergeState::NoMerge;
    const ExistingPlan plan = plan_existing(request);
    if (!plan.left && !plan.right)
        return nullptr;
    vm_area_struct *target = plan.left ? request.prev : request.next;
    const unsigned long start = request.start;
    if (!commit_existing(request, plan, target)) {
        request.it.set(start);
        request.it.load();
        request.state = MergeState::NoMemory;
        return nullptr;
    }
    request.target = target;
    request.state = MergeState::Merged;
    return target;
}

vm_area_struct *vma_modify(MergeRequest &request)
{
    vm_area_struct *vma = request.middle;
    const unsigned long start = request.start;
    const unsigned long end = request.end;

    if (vm_area_struct *merged = vma_merge_existing_range(request))
        return merged;
    int error = request.state == MergeState::NoMemory ? -ENOMEM : 0;
    if (!error && vma->vm_start < start)
        error = split_vma(request.it, vma, start, true);
    if (!error && vma->vm_end > end)
        error = split_vma(request.it, vma, end, false);
    return error ? VmaIterator::as_vma(ERR_PTR(error)) : vma;
}

} // namespace kmirror::mm
