/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table's loops on a kernel's tree: what a benchmark repeats, without an indirect call per step. For
 * adapter.c alone. Step for step the same as lib/maple_tree/maple_ops_loops.h, random numbers included.
 *
 * Owns     nothing. Stored entries are values: the number of the step.
 * Locking  each step as the API it uses; loop_prealloc, loop_each and loop_each_rev hold a lock or read
 *          section over it.
 * Fails    a step that fails is not counted, and the loop goes on.
 */
#ifndef KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_LOOPS_H
#define KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_LOOPS_H

#include "tools/kdir/maple/adapter.h"

/* xorshift64* */
static unsigned long ops_random_below(unsigned long *state, unsigned long bound)
{
    unsigned long x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return bound ? ((x * 0x2545F4914F6CDD1DUL) >> 11) % bound : 0;
}

static unsigned long ops_random_state(unsigned long seed) { return seed * 2654435769UL + 1; }

static size_t ops_loop_load(struct maple_ops_tree *tree, unsigned long first, unsigned long stride, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += mtree_load(&tree->mt, first + i * stride) != NULL;
    return found;
}

static size_t ops_loop_store(struct maple_ops_tree *tree, unsigned long first, unsigned long stride,
                             unsigned long size, size_t n)
{
    size_t stored = 0;

    for (size_t i = 0; i < n; i++, first += stride)
        stored += !mtree_store_range(&tree->mt, first, first + size - 1, maple_ops_value(i), GFP_KERNEL);
    return stored;
}

static size_t ops_loop_erase(struct maple_ops_tree *tree, unsigned long first, unsigned long stride, size_t n)
{
    size_t erased = 0;

    for (size_t i = 0; i < n; i++)
        erased += mtree_erase(&tree->mt, first + i * stride) != NULL;
    return erased;
}

static size_t ops_loop_prealloc(struct maple_ops_tree *tree, unsigned long first, unsigned long stride,
                                unsigned long size, size_t n)
{
    size_t stored = 0;
    struct ma_state mas;

    mas_init(&mas, &tree->mt, first);
    ops_lock(tree);
    for (size_t i = 0; i < n; i++, first += stride) {
        mas_set_range(&mas, first, first + size - 1);
        if (mas_preallocate(&mas, maple_ops_value(i), GFP_NOWAIT))
            continue;
        mas_store_prealloc(&mas, maple_ops_value(i));
        stored++;
    }
    ops_unlock(tree);
    return stored;
}

static size_t ops_loop_alloc(struct maple_ops_tree *tree, unsigned long min, unsigned long max, unsigned long size,
                             size_t n)
{
    size_t allocated = 0;
    unsigned long start;

    for (size_t i = 0; i < n; i++)
        allocated += !mtree_alloc_range(&tree->mt, &start, maple_ops_value(i), size, min, max, GFP_KERNEL);
    return allocated;
}

static size_t ops_loop_each(struct maple_ops_tree *tree, size_t rounds)
{
    size_t seen = 0;

    for (; rounds; rounds--) {
        struct ma_state mas;
        void *entry;

        mas_init(&mas, &tree->mt, 0);
        rcu_read_lock();
        mas_for_each(&mas, entry, ULONG_MAX)
            seen++;
        rcu_read_unlock();
    }
    return seen;
}

static size_t ops_loop_each_rev(struct maple_ops_tree *tree, size_t rounds)
{
    size_t seen = 0;

    for (; rounds; rounds--) {
        struct ma_state mas;

        mas_init(&mas, &tree->mt, ULONG_MAX);
        rcu_read_lock();
        while (mas_find_rev(&mas, 0))
            seen++;
        rcu_read_unlock();
    }
    return seen;
}

static size_t ops_loop_find(struct maple_ops_tree *tree, size_t rounds)
{
    size_t seen = 0;

    for (; rounds; rounds--) {
        unsigned long index = 0;
        void *entry;

        mt_for_each(&tree->mt, entry, index, ULONG_MAX)
            seen++;
    }
    return seen;
}

static size_t ops_loop_random(struct maple_ops_tree *tree, unsigned long span, unsigned long size, size_t n,
                              unsigned int erase_percent, unsigned long seed)
{
    unsigned long state = ops_random_state(seed);
    size_t done = 0;

    for (size_t i = 0; i < n; i++) {
        const unsigned long at = ops_random_below(&state, span);

        if (ops_random_below(&state, 100) < erase_percent)
            done += mtree_erase(&tree->mt, at) != NULL;
        else
            done += !mtree_store_range(&tree->mt, at, at + size - 1, maple_ops_value(i), GFP_KERNEL);
    }
    return done;
}

static size_t ops_loop_random_load(struct maple_ops_tree *tree, unsigned long span, size_t n, unsigned long seed)
{
    unsigned long state = ops_random_state(seed);
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += mtree_load(&tree->mt, ops_random_below(&state, span)) != NULL;
    return found;
}

static size_t ops_loop_dup(struct maple_ops_tree *tree, size_t rounds)
{
    size_t copied = 0;

    for (; rounds; rounds--) {
        struct maple_tree copy;

        mt_init_flags(&copy, tree->mt.ma_flags & ~MT_FLAGS_HEIGHT_MASK);
        copied += !mtree_dup(&tree->mt, &copy, GFP_KERNEL);
        mtree_destroy(&copy);
    }
    return copied;
}

static void ops_fill_loops(struct maple_ops *ops)
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

#endif
