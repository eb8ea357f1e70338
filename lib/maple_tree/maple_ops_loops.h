// SPDX-License-Identifier: GPL-2.0-only
//
// The table's loops: what a benchmark repeats, without an indirect call per step. Included by maple_ops.cpp
// alone.
//
// Owns     nothing. Stored entries are values: the number of the step.
// Locking  each step as the API it uses; loop_prealloc, loop_each and loop_each_rev hold a lock or read
//          section over it.
// Fails    a step that fails is not counted, and the loop goes on.
#ifndef KMIRROR_LIB_MAPLE_TREE_MAPLE_OPS_LOOPS_H
#define KMIRROR_LIB_MAPLE_TREE_MAPLE_OPS_LOOPS_H

#include "lib/maple_tree/maple_ops.h"
#include "lib/maple_tree/maple_ops_tree.h"

namespace kmirror::maple {

// xorshift64*: the same sequence in every implementation of the table, and nothing a compiler would call out
// for.
class OpsRandom {
public:
    explicit OpsRandom(unsigned long seed) : state_(seed * 2654435769UL + 1) {}
    unsigned long next()
    {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1DUL;
    }
    unsigned long below(unsigned long bound) { return bound ? (next() >> 11) % bound : 0; }

private:
    unsigned long state_;
};

inline size_t ops_loop_load(maple_ops_tree *tree, unsigned long first, unsigned long stride, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += mtree_load(&tree->mt, first + i * stride) != nullptr;
    return found;
}

inline size_t ops_loop_store(maple_ops_tree *tree, unsigned long first, unsigned long stride,
                             unsigned long size, size_t n)
{
    size_t stored = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned long at = first + i * stride;
        stored += mtree_store_range(&tree->mt, at, at + size - 1, maple_ops_value(i), GFP_KERNEL) == 0;
    }
    return stored;
}

inline size_t ops_loop_erase(maple_ops_tree *tree, unsigned long first, unsigned long stride, size_t n)
{
    size_t erased = 0;
    for (size_t i = 0; i < n; i++)
        erased += mtree_erase(&tree->mt, first + i * stride) != nullptr;
    return erased;
}

inline size_t ops_loop_prealloc(maple_ops_tree *tree, unsigned long first, unsigned long stride,
                                unsigned long size, size_t n)
{
    size_t stored = 0;
    ma_state mas;
    mas_init(&mas, &tree->mt, first);
    ops_lock(tree);
    for (size_t i = 0; i < n; i++) {
        const unsigned long at = first + i * stride;
        mas_set_range(&mas, at, at + size - 1);
        if (mas_preallocate(&mas, maple_ops_value(i), GFP_NOWAIT) != 0)
            continue;
        mas_store_prealloc(&mas, maple_ops_value(i));
        stored++;
    }
    ops_unlock(tree);
    return stored;
}

inline size_t ops_loop_alloc(maple_ops_tree *tree, unsigned long min, unsigned long max, unsigned long size,
                             size_t n)
{
    size_t allocated = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned long start;
        allocated +=
            mtree_alloc_range(&tree->mt, &start, maple_ops_value(i), size, min, max, GFP_KERNEL) == 0;
    }
    return allocated;
}

inline size_t ops_loop_each(maple_ops_tree *tree, size_t rounds)
{
    size_t seen = 0;
    while (rounds--) {
        ma_state mas;
        void *entry;
        mas_init(&mas, &tree->mt, 0);
        rcu_read_lock();
        mas_for_each(&mas, entry, ULONG_MAX)
            seen++;
        rcu_read_unlock();
    }
    return seen;
}

inline size_t ops_loop_each_rev(maple_ops_tree *tree, size_t rounds)
{
    size_t seen = 0;
    while (rounds--) {
        ma_state mas;
        void *entry;
        mas_init(&mas, &tree->mt, ULONG_MAX);
        rcu_read_lock();
        mas_for_each_rev(&mas, entry, 0)
            seen++;
        rcu_read_unlock();
    }
    return seen;
}

inline size_t ops_loop_find(maple_ops_tree *tree, size_t rounds)
{
    size_t seen = 0;
    while (rounds--) {
        unsigned long index = 0;
        void *entry;
        mt_for_each(&tree->mt, entry, index, ULONG_MAX)
            seen++;
    }
    return seen;
}

inline size_t ops_loop_random(maple_ops_tree *tree, unsigned long span, unsigned long size, size_t n,
                              unsigned int erase_percent, unsigned long seed)
{
    OpsRandom random(seed);
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned long at = random.below(span);
        if (random.below(100) < erase_percent)
            done += mtree_erase(&tree->mt, at) != nullptr;
        else
            done += mtree_store_range(&tree->mt, at, at + size - 1, maple_ops_value(i), GFP_KERNEL) == 0;
    }
    return done;
}

inline size_t ops_loop_random_load(maple_ops_tree *tree, unsigned long span, size_t n, unsigned long seed)
{
    OpsRandom random(seed);
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += mtree_load(&tree->mt, random.below(span)) != nullptr;
    return found;
}

inline size_t ops_loop_dup(maple_ops_tree *tree, size_t rounds)
{
    size_t copied = 0;
    while (rounds--) {
        maple_tree copy;
        mt_init_flags(&copy, tree->mt.ma_flags & ~MT_FLAGS_HEIGHT_MASK);
        copied += mtree_dup(&tree->mt, &copy, GFP_KERNEL) == 0;
        mtree_destroy(&copy);
    }
    return copied;
}

constexpr void ops_fill_loops(maple_ops *ops)
{
    ops->loop_load = ops_loop_load;
    ops->loop_store = ops_loop_store;
    ops->loop_erase = ops_loop_erase;
    ops->loop_prealloc = ops_loop_prealloc;
    ops->loop_alloc = ops_loop_alloc;
    ops->loop_each = ops_loop_each;
    ops->loop_each_rev = ops_loop_each_rev;
    ops->loop_find = ops_loop_find;
    ops->loop_random = ops_loop_random;
    ops->loop_random_load = ops_loop_random_load;
    ops->loop_dup = ops_loop_dup;
}

} // namespace kmirror::maple

#endif
