/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/maple_ops_fill.h>: for who fills a table of <kmirror/maple_ops.h>, in C11 or C++20: what the opaque
 * handles are, and the entries that are the same, step for step, on every maple tree: visits and the loops of
 * benchmarks. So two implementations do the same work, random numbers included.
 *
 * Owns     nothing. Entries that a loop stores are values: the number of the step.
 * Locking  each step as the API it uses; loop_prealloc, loop_each and loop_each_rev hold a lock or read
 *          section over it. mas_each and mas_each_rev: the caller's.
 * Fails    a step that fails is not counted, and the loop goes on.
 */
#ifndef KMIRROR_MAPLE_OPS_FILL_H
#define KMIRROR_MAPLE_OPS_FILL_H

#include <kmirror/maple_ops.h>
#include <linux/gfp.h>
#include <linux/limits.h>
#include <linux/maple_tree.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>

/* A tree and the lock that it uses when its own is not wanted. */
struct maple_ops_tree {
    struct maple_tree mt;
    struct rw_semaphore external;
};

#ifdef __cplusplus
#define OPS_FILL constexpr
static_assert(sizeof(struct ma_state) <= MAPLE_OPS_CURSOR_BYTES, "a cursor fits");
#else
#define OPS_FILL static inline
_Static_assert(sizeof(struct ma_state) <= MAPLE_OPS_CURSOR_BYTES, "a cursor fits");
#endif

static inline struct ma_state *ops_mas(const struct maple_ops_cursor *cursor)
{
    return (struct ma_state *)(void *)cursor->opaque;
}

static inline gfp_t ops_gfp(unsigned int gfp)
{
    const gfp_t base = gfp & MAPLE_OPS_NOWAIT ? GFP_NOWAIT : GFP_KERNEL;

    return gfp & MAPLE_OPS_NOFAIL ? base | __GFP_NOFAIL : base;
}

/* The lock that guards writers of the tree. */
static inline void ops_lock(struct maple_ops_tree *tree)
{
    if (mt_external_lock(&tree->mt))
        down_write(&tree->external);
    else
        mtree_lock(&tree->mt);
}

static inline void ops_unlock(struct maple_ops_tree *tree)
{
    if (mt_external_lock(&tree->mt))
        up_write(&tree->external);
    else
        mtree_unlock(&tree->mt);
}

/* ---- visits ------------------------------------------------------------------------------------------------ */

static inline size_t ops_each(struct maple_ops_tree *tree, unsigned long index, unsigned long max,
                              maple_ops_visit visit, void *arg)
{
    size_t visits = 0;
    void *entry;

    mt_for_each(&tree->mt, entry, index, max) {
        visits++;
        if (visit(arg, index, index, entry))
            break;
    }
    return visits;
}

static inline size_t ops_mas_each(struct maple_ops_cursor *cursor, unsigned long max, maple_ops_visit visit,
                                  void *arg)
{
    struct ma_state *mas = ops_mas(cursor);
    size_t visits = 0;
    void *entry;

    mas_for_each(mas, entry, max) {
        visits++;
        if (visit(arg, mas->index, mas->last, entry))
            break;
    }
    return visits;
}

/* Older trees have no mas_for_each_rev(). */
static inline size_t ops_mas_each_rev(struct maple_ops_cursor *cursor, unsigned long min, maple_ops_visit visit,
                                      void *arg)
{
    struct ma_state *mas = ops_mas(cursor);
    size_t visits = 0;
    void *entry;

    while ((entry = mas_find_rev(mas, min)) != NULL) {
        visits++;
        if (visit(arg, mas->index, mas->last, entry))
            break;
    }
    return visits;
}

/* ---- loops ------------------------------------------------------------------------------------------------- */

/* xorshift64*: the same sequence everywhere, and nothing a compiler would call out for. */
static inline unsigned long ops_random_state(unsigned long seed) { return seed * 2654435769UL + 1; }

static inline unsigned long ops_random_below(unsigned long *state, unsigned long bound)
{
    unsigned long x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return bound ? ((x * (unsigned long)0x2545F4914F6CDD1DULL) >> 11) % bound : 0;
}

static inline size_t ops_loop_load(struct maple_ops_tree *tree, unsigned long first, unsigned long stride, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += mtree_load(&tree->mt, first + i * stride) != NULL;
    return found;
}

static inline size_t ops_loop_store(struct maple_ops_tree *tree, unsigned long first, unsigned long stride,
                                    unsigned long size, size_t n)
{
    size_t stored = 0;

    for (size_t i = 0; i < n; i++) {
        const unsigned long at = first + i * stride;

        stored += mtree_store_range(&tree->mt, at, at + size - 1, maple_ops_value(i), GFP_KERNEL) == 0;
    }
    return stored;
}

static inline size_t ops_loop_erase(struct maple_ops_tree *tree, unsigned long first, unsigned long stride, size_t n)
{
    size_t erased = 0;

    for (size_t i = 0; i < n; i++)
        erased += mtree_erase(&tree->mt, first + i * stride) != NULL;
    return erased;
}

static inline size_t ops_loop_prealloc(struct maple_ops_tree *tree, unsigned long first, unsigned long stride,
                                       unsigned long size, size_t n)
{
    size_t stored = 0;
    struct ma_state mas;

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

static inline size_t ops_loop_alloc(struct maple_ops_tree *tree, unsigned long min, unsigned long max,
                                    unsigned long size, size_t n)
{
    size_t allocated = 0;
    unsigned long start;

    for (size_t i = 0; i < n; i++)
        allocated += mtree_alloc_range(&tree->mt, &start, maple_ops_value(i), size, min, max, GFP_KERNEL) == 0;
    return allocated;
}

static inline size_t ops_loop_each(struct maple_ops_tree *tree, size_t rounds)
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

static inline size_t ops_loop_each_rev(struct maple_ops_tree *tree, size_t rounds)
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

static inline size_t ops_loop_find(struct maple_ops_tree *tree, size_t rounds)
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

static inline size_t ops_loop_random(struct maple_ops_tree *tree, unsigned long span, unsigned long size, size_t n,
                                     unsigned int erase_percent, unsigned long seed)
{
    unsigned long state = ops_random_state(seed);
    size_t done = 0;

    for (size_t i = 0; i < n; i++) {
        const unsigned long at = ops_random_below(&state, span);

        if (ops_random_below(&state, 100) < erase_percent)
            done += mtree_erase(&tree->mt, at) != NULL;
        else
            done += mtree_store_range(&tree->mt, at, at + size - 1, maple_ops_value(i), GFP_KERNEL) == 0;
    }
    return done;
}

static inline size_t ops_loop_random_load(struct maple_ops_tree *tree, unsigned long span, size_t n,
                                          unsigned long seed)
{
    unsigned long state = ops_random_state(seed);
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += mtree_load(&tree->mt, ops_random_below(&state, span)) != NULL;
    return found;
}

static inline size_t ops_loop_dup(struct maple_ops_tree *tree, size_t rounds)
{
    size_t copied = 0;

    for (; rounds; rounds--) {
        struct maple_tree copy;

        mt_init_flags(&copy, tree->mt.ma_flags & ~MT_FLAGS_HEIGHT_MASK);
        copied += mtree_dup(&tree->mt, &copy, GFP_KERNEL) == 0;
        mtree_destroy(&copy);
    }
    return copied;
}

/* Puts the entries above into a table. */
OPS_FILL void ops_fill_loops(struct maple_ops *ops)
{
    ops->each = ops_each;
    ops->mas_each = ops_mas_each;
    ops->mas_each_rev = ops_mas_each_rev;
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

#undef OPS_FILL

#endif /* KMIRROR_MAPLE_OPS_FILL_H */
