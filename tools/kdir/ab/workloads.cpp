// SPDX-License-Identifier: GPL-2.0-only
//
// The loads of make ab; see workloads.h. An address space is a tree with gaps and RCU mode of kAreas areas.
#include "tools/kdir/ab/workloads.h"

#include <ctime>

namespace kmirror::ab {
namespace {

constexpr unsigned long kPage = 4096;
constexpr unsigned long kAreas = 40;  // of a small process
constexpr unsigned long kTop = 0x7ffffffff000;
constexpr unsigned kAddressSpace = MAPLE_OPS_ALLOC | MAPLE_OPS_RCU;

double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

class Tree {
public:
    Tree(const maple_ops *ops, unsigned flags) : ops_(ops), tree_(ops->tree_new(flags)) {}
    ~Tree()
    {
        ops_->tree_free(tree_);
        ops_->rcu_barrier();
    }
    Tree(const Tree &) = delete;
    Tree &operator=(const Tree &) = delete;
    operator maple_ops_tree *() const { return tree_; }

private:
    const maple_ops *ops_;
    maple_ops_tree *tree_;
};

class Clock {
public:
    Clock() : begin_(cpu_seconds()) {}
    Measured stop(unsigned long operations) const { return {operations, cpu_seconds() - begin_}; }

private:
    double begin_;
};

// As vma_iter_prealloc() and vma_iter_store_overwrite(): what a change of an area does to the tree.
bool store_area(const maple_ops *ops, maple_ops_tree *tree, unsigned long first, unsigned long last, void *entry)
{
    maple_ops_cursor cursor;
    ops->lock(tree);
    ops->cursor_range(&cursor, tree, first, last);
    ops->mas_walk(&cursor);
    ops->mas_move(&cursor, first, last);
    const int error = ops->mas_preallocate(&cursor, entry, MAPLE_OPS_KERNEL);
    if (!error)
        ops->mas_store_prealloc(&cursor, entry);
    ops->unlock(tree);
    return !error;
}

void fill_areas(const maple_ops *ops, maple_ops_tree *tree)
{
    ops->loop_store(tree, 0x400000, 64 * kPage, 16 * kPage, kAreas);
}

// The heap grows by a page and shrinks again: will-it-scale brk1.
Measured brk1(const maple_ops *ops)
{
    constexpr unsigned long kHeap = 0x400000 + 64 * kPage * (kAreas / 2) + 20 * kPage, kSteps = 20000;
    const Tree tree(ops, kAddressSpace);
    fill_areas(ops, tree);
    void *heap = maple_ops_value(1);
    if (!store_area(ops, tree, kHeap, kHeap + kPage - 1, heap))
        return {};
    const Clock clock;
    for (unsigned long i = 0; i < kSteps; i++) {
        if (!store_area(ops, tree, kHeap, kHeap + 2 * kPage - 1, heap) ||
            !store_area(ops, tree, kHeap + kPage, kHeap + 2 * kPage - 1, nullptr))
            return {};
    }
    return clock.stop(kSteps);
}

// A mapping at the highest gap, and its end: will-it-scale mmap2.
Measured mmap2(const maple_ops *ops)
{
    constexpr unsigned long kBytes = 128ul << 20, kSteps = 20000;
    const Tree tree(ops, kAddressSpace);
    fill_areas(ops, tree);
    const Clock clock;
    for (unsigned long i = 0; i < kSteps; i++) {
        maple_ops_cursor cursor;
        maple_ops_position at;
        ops->cursor_init(&cursor, tree, 0);
        ops->lock(tree);
        const int error = ops->mas_empty_area_rev(&cursor, kPage, kTop - 1, kBytes);
        ops->cursor_get(&cursor, &at);
        ops->unlock(tree);
        if (error || !store_area(ops, tree, at.first, at.first + kBytes - 1, maple_ops_value(2)) ||
            !store_area(ops, tree, at.first, at.first + kBytes - 1, nullptr))
            return {};
    }
    return clock.stop(kSteps);
}

// Areas one behind the other.
Measured append(const maple_ops *ops)
{
    constexpr unsigned long kSteps = 20000;
    const Tree tree(ops, kAddressSpace);
    const Clock clock;
    return clock.stop(ops->loop_prealloc(tree, 0, 16 * kPage, 8 * kPage, kSteps));
}

Measured random_insert(const maple_ops *ops)
{
    constexpr unsigned long kSteps = 20000;
    const Tree tree(ops, kAddressSpace);
    const Clock clock;
    ops->loop_random(tree, 1ul << 31, 16, kSteps, 0, 1);
    return clock.stop(kSteps);
}

// A store over 64 ranges, which is over more than one leaf.
Measured spanning_store(const maple_ops *ops)
{
    constexpr unsigned long kRanges = 20000, kSpan = 64, kStride = 16;
    const Tree tree(ops, kAddressSpace);
    ops->loop_store(tree, 0, kStride, kStride / 2, kRanges);
    const Clock clock;
    const unsigned long done =
        ops->loop_store(tree, kStride / 4, kSpan * kStride, (kSpan - 1) * kStride, kRanges / kSpan);
    return clock.stop(done);
}

// fork(): the whole tree is copied, and the copy freed.
Measured duplicate(const maple_ops *ops)
{
    constexpr unsigned long kRanges = 1000, kRounds = 100;
    const Tree tree(ops, MAPLE_OPS_ALLOC);
    ops->loop_store(tree, 0, 16, 8, kRanges);
    const Clock clock;
    return clock.stop(ops->loop_dup(tree, kRounds));
}

} // namespace

std::span<const Workload> workloads()
{
    static constexpr Workload all[] = {
        {"brk1", "an area grows by a page and shrinks again", brk1},
        {"mmap2", "an area of 128 MiB at the highest gap comes and goes", mmap2},
        {"append", "20000 areas one behind the other", append},
        {"random_insert", "20000 stores of 16 indices anywhere", random_insert},
        {"spanning_store", "stores over 64 ranges each", spanning_store},
        {"duplicate", "a tree of 1000 ranges is copied, the copy freed", duplicate},
    };
    return all;
}

} // namespace kmirror::ab
