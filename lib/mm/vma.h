// SPDX-License-Identifier: GPL-2.0-only
//
// lib/mm from the inside. A call goes from left to right:
//
//   {map, protect, remap, mm (fork)} -> area (where) -> unmap (make room) -> merge -> vma (split, iterator)
//
// Owns     nothing; declares what the files share.
// Locking  mmap_lock of the mm, for writing, around everything that stores.
// Fails    a store is reserved by prealloc() before anything is changed; what comes after it cannot fail.
//
// Invariants, checked by mm_validate():
//   (V1) a mapping is in the tree under exactly [vm_start, vm_end - 1], page-aligned, not empty
//   (V2) every mapping belongs to this mm and is attached; map_count is their number
//   (V3) total_vm, data_vm, exec_vm, stack_vm and locked_vm are the sums over the mappings
//   (V4) private anonymous memory has no file, and if it was never faulted its offset is its address
#pragma once

#include <kmirror/mm.h>
#include <linux/mm.h>
#include <linux/slab.h>

namespace kmirror::mm {

inline unsigned long page_align(unsigned long bytes)
{
    return (bytes + PAGE_SIZE - 1) & PAGE_MASK;
}

inline bool is_unaligned(unsigned long address)
{
    return (address & ~PAGE_MASK) != 0;
}

inline unsigned long vma_pages(const vm_area_struct *vma)
{
    return (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;
}

inline bool vma_is_anonymous(const vm_area_struct *vma)
{
    return !vma->vm_file;
}

inline bool vma_is_accessible(const vm_area_struct *vma)
{
    return (vma->vm_flags & VM_ACCESS_FLAGS) != 0;
}

// A write makes a page of the mapping's own.
inline bool is_cow(unsigned long flags)
{
    return (flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE;
}

inline unsigned long vm_start_gap(const vm_area_struct *vma)
{
    const unsigned long gap = vma->vm_flags & VM_GROWSDOWN ? mm_sysctl.stack_guard_gap : 0;
    return vma->vm_start > gap ? vma->vm_start - gap : 0;
}

// Where a call stands in the tree, by the steps that the kernel's vma_iterator has.
struct VmaIterator {
    ma_state mas;
    mm_struct *mm;

    VmaIterator(mm_struct *of, unsigned long addr) : mm(of) { mas_init(&mas, &of->mm_mt, addr); }

    static vm_area_struct *as_vma(void *entry) { return static_cast<vm_area_struct *>(entry); }
    unsigned long addr() const { return mas.index; }
    unsigned long end() const { return mas.last + 1; }
    void set(unsigned long addr) { mas_set(&mas, addr); }

    vm_area_struct *find(unsigned long limit) { return as_vma(mas_find(&mas, limit - 1)); }
    vm_area_struct *next() { return as_vma(mas_find(&mas, ULONG_MAX)); }
    vm_area_struct *prev() { return as_vma(mas_prev(&mas, 0)); }
    vm_area_struct *load() { return as_vma(mas_walk(&mas)); }
    vm_area_struct *next_range() { return as_vma(mas_next_range(&mas, ULONG_MAX)); }
    vm_area_struct *prev_range() { return as_vma(mas_prev_range(&mas, 0)); }

    // The mapping above the gap this stands in, with the one below in `*below`; ends where the gap begins.
    vm_area_struct *next_rewind(vm_area_struct **below);

    // What will be stored at [first, end); reserve the nodes for it; store; or give the nodes back.
    void config(unsigned long first, unsigned long end);
    [[nodiscard]] int prealloc(vm_area_struct *vma);
    void store(vm_area_struct *vma); // over [vm_start, vm_end) of `vma`
    void clear();                    // NULL over what was configured
    void release() { mas_destroy(&mas); }

    // Reserve and store in one: 0 or -ENOMEM.
    [[nodiscard]] int store_gfp(vm_area_struct *vma, gfp_t gfp);
    [[nodiscard]] int clear_gfp(unsigned long first, unsigned long end, gfp_t gfp);

private:
    void tell(const vm_area_struct *vma) const;
};

// ---- vma.cpp: life of one mapping -------------------------------------------------------------------

vm_area_struct *vm_area_alloc(mm_struct *mm);
vm_area_struct *vm_area_dup(const vm_area_struct *from); // holds file and name once more; not attached
void vm_area_free(vm_area_struct *vma);                  // puts file and name
void vma_set_range(vm_area_struct *vma, unsigned long start, unsigned long end, unsigned long pgoff,
                   unsigned long anon_pgoff);

// Cut `vma` at `addr`; the new mapping is the lower part if `new_below`. `it` then stands on the old one.
// -ENOMEM: nothing has changed. split_vma() also looks at the map count.
[[nodiscard]] int split_vma_uncounted(VmaIterator &it, vm_area_struct *vma, unsigned long addr,
                                      bool new_below);
[[nodiscard]] int split_vma(VmaIterator &it, vm_area_struct *vma, unsigned long addr, bool new_below);

// ---- account.cpp ------------------------------------------------------------------------------------

bool may_expand_vm(const mm_struct *mm, unsigned long flags, unsigned long pages);
void vm_stat_account(mm_struct *mm, unsigned long flags, long pages);
[[nodiscard]] bool vm_enough_memory(unsigned long pages); // commits them if there are enough
void vm_acct_memory(unsigned long pages);                 // past any limit
void vm_unacct_memory(unsigned long pages);

// ---- merge.cpp --------------------------------------------------------------------------------------

enum class MergeState { NoMerge, Merged, NoMemory };

// A range that is (to be) mapped with these properties, and its neighbours.
struct MergeRequest {
    VmaIterator &it;
    mm_struct *mm;
    vm_area_struct *prev;
    vm_area_struct *middle; // the mapping that changes; NULL: a new range
    vm_area_struct *next;
    unsigned long start;
    unsigned long end;
    unsigned long flags;
    unsigned long pgoff;
    unsigned long anon_pgoff;
    mm_file *file;
    mm_file *name;
    unsigned long anon_vma;
    bool anon_forked;
    unsigned int policy;
    const vm_area_struct *copied_from; // mremap's source
    bool just_expand;                  // never with the next mapping

    // set by the merge
    vm_area_struct *target;
    MergeState state;
};

// All properties of `vma` for the part [start, end) of it.
MergeRequest merge_request(VmaIterator &it, vm_area_struct *prev, vm_area_struct *vma, unsigned long start,
                           unsigned long end);
// Properties of a mapping that does not exist yet.
MergeRequest merge_request_new(VmaIterator &it, unsigned long start, unsigned long end, unsigned long flags,
                               unsigned long pgoff, mm_file *file);

// The mapping that now covers the range, or NULL: nothing has changed, see request.state.
vm_area_struct *vma_merge_new_range(MergeRequest &request);
vm_area_struct *vma_merge_existing_range(MergeRequest &request);

// Merge, or else split until a mapping of exactly the range exists; the caller then sets its properties.
// An ERR_PTR on failure.
vm_area_struct *vma_modify(MergeRequest &request);

// ---- unmap.cpp --------------------------------------------------------------------------------------

// Mappings taken out of a range, in a tree of their own, until the call is certain to succeed.
struct Detached {
    maple_tree tree;
    ma_state mas;
    unsigned long count = 0;
    unsigned long pages = 0;
    unsigned long accounted = 0;
    vm_area_struct *prev = nullptr; // neighbours of the range
    vm_area_struct *next = nullptr;

    explicit Detached(mm_struct *mm);
};

// Split at both ends and detach. On failure everything is attached again.
[[nodiscard]] int gather(VmaIterator &it, vm_area_struct *first, unsigned long start, unsigned long end,
                         Detached &out);
void reattach(Detached &out);                      // nothing happened after all
void complete_unmap(mm_struct *mm, Detached &out); // the tree no longer shows them: free them

[[nodiscard]] int do_munmap(VmaIterator &it, unsigned long start, unsigned long len);
// [start, end) where `vma` is the first mapping in it.
[[nodiscard]] int do_munmap_at(VmaIterator &it, vm_area_struct *vma, unsigned long start, unsigned long end);

// ---- area.cpp ---------------------------------------------------------------------------------------

// The address for a new mapping, or -errno. `pgoff` in pages.
unsigned long get_unmapped_area(mm_struct *mm, const mm_file *file, unsigned long addr, unsigned long len,
                                unsigned long pgoff, unsigned long flags);
vm_area_struct *find_intersection(mm_struct *mm, unsigned long start, unsigned long end);

// ---- stack.cpp --------------------------------------------------------------------------------------

[[nodiscard]] int expand_downwards(VmaIterator &it, vm_area_struct *vma, unsigned long address);
void anon_vma_prepare(vm_area_struct *vma);
unsigned long new_anon_vma();

// Holds mmap_lock for writing.
class WriteLock {
public:
    explicit WriteLock(mm_struct *mm) : mm_(mm) { mmap_write_lock(mm_); }
    ~WriteLock() { mmap_write_unlock(mm_); }
    WriteLock(const WriteLock &) = delete;
    WriteLock &operator=(const WriteLock &) = delete;

private:
    mm_struct *mm_;
};

} // namespace kmirror::mm
