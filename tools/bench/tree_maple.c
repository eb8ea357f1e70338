// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loops of tree_loops.h on a maple tree. Compiled with our <linux/maple_tree.h> for this library's tree, and
 * once more for each KDIR with that kernel's header; then its symbols get the prefix of that tree
 * (tools/bench/tree_kernels).
 *
 * Locking  as a user of the kernel would: the simple API where it has the call, else a cursor under the tree's
 *          lock. Loads and iteration are RCU reads.
 */
#include <kmirror/maple_ops_fill.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "tools/bench/tree_loops.h"

typedef struct maple_ops_tree map_t;

static inline unsigned long map_load(map_t *map, unsigned long index)
{
    return (unsigned long)mtree_load(&map->mt, index);
}

static inline void map_store(map_t *map, unsigned long first, unsigned long last, unsigned long entry)
{
    mtree_store_range(&map->mt, first, last, (void *)entry, GFP_KERNEL);
}

static inline int map_insert(map_t *map, unsigned long first, unsigned long last, unsigned long entry)
{
    return mtree_insert_range(&map->mt, first, last, (void *)entry, GFP_KERNEL) == 0;
}

static inline unsigned long map_erase(map_t *map, unsigned long index)
{
    return (unsigned long)mtree_erase(&map->mt, index);
}

static inline unsigned long map_find(map_t *map, unsigned long *index)
{
    return (unsigned long)mt_find(&map->mt, index, ULONG_MAX);
}

static inline unsigned long map_each(map_t *map)
{
    MA_STATE(mas, &map->mt, 0, 0);
    unsigned long sum = 0;
    void *entry;

    rcu_read_lock();
    mas_for_each(&mas, entry, ULONG_MAX)
        sum += (unsigned long)entry + mas.index;
    rcu_read_unlock();
    return sum;
}

#define TREE_HAS_GAPS
static inline unsigned long map_gap(map_t *map, unsigned long min, unsigned long max, unsigned long size, int down)
{
    MA_STATE(mas, &map->mt, 0, 0);
    int error;

    mtree_lock(&map->mt);
    error = down ? mas_empty_area_rev(&mas, min, max, size) : mas_empty_area(&mas, min, max, size);
    mtree_unlock(&map->mt);
    return error ? 0 : mas.index + 1;
}

static inline void map_alloc(map_t *map, unsigned long *first, unsigned long max, unsigned long size,
                             unsigned long entry, int down)
{
    if (down)
        mtree_alloc_rrange(&map->mt, first, (void *)entry, size, 0, max, GFP_KERNEL);
    else
        mtree_alloc_range(&map->mt, first, (void *)entry, size, 0, max, GFP_KERNEL);
}

#include "tools/bench/tree_steps.h"

#ifdef KMIRROR_MTREE_LOAD_BATCH
static uint64_t loop_load_batch(void *map, struct tree_work *work)
{
    const unsigned long end = tree_layout_end(work->entries);
    unsigned long state = work->seed, sum = 0, indices[64];
    void *entries[64];

    for (size_t i = 0; i < work->steps; i += 64) {
        const size_t count = work->steps - i < 64 ? work->steps - i : 64;

        for (size_t at = 0; at < count; at++)
            indices[at] = step_below(&state, end);
        mtree_load_batch(&((map_t *)map)->mt, indices, entries, count);
        for (size_t at = 0; at < count; at++)
            sum += (unsigned long)entries[at];
    }
    return sum;
}
#endif

static uint64_t loop_dup(void *map, struct tree_work *work)
{
    work->operations = work->entries;
    return (uint64_t)mtree_dup(&((map_t *)map)->mt, &((map_t *)work->other)->mt, GFP_KERNEL);
}

static uint64_t loop_destroy(void *map, struct tree_work *work)
{
    work->operations = work->entries;
    mtree_destroy(&((map_t *)map)->mt);
    return 0;
}

static void *maple_make(unsigned int flags)
{
    return kmirror_maple_ops()->tree_new((flags & TREE_GAPS ? MAPLE_OPS_ALLOC : 0) |
                                         (flags & TREE_RCU ? MAPLE_OPS_RCU : 0));
}

/* Nobody reads any more. At the end of a tree in RCU mode 7.3 may take metadata for a child. */
static void maple_end(void *map)
{
    kmirror_maple_ops()->clear_in_rcu(map);
    kmirror_maple_ops()->tree_free(map);
}

static uint64_t maple_digest(void *map)
{
    MA_STATE(mas, &((map_t *)map)->mt, 0, 0);
    unsigned long sum = 0;
    void *entry;

    rcu_read_lock();
    mas_for_each(&mas, entry, ULONG_MAX)
        sum = step_mix(step_mix(step_mix(sum, mas.index), mas.last), (unsigned long)entry);
    rcu_read_unlock();
    return sum;
}

static size_t maple_bytes(void *map)
{
    const struct maple_ops *ops = kmirror_maple_ops();
    size_t bytes;

    ops->lock(map);
    bytes = ops->node_count(map) * ops->node_bytes();
    ops->unlock(map);
    return bytes;
}

void kmirror_tree_impl(struct tree_impl *impl);
void kmirror_tree_impl(struct tree_impl *impl)
{
    impl->name = kmirror_maple_ops()->name;
    impl->make = maple_make;
    impl->end = maple_end;
    impl->settle = kmirror_maple_ops()->rcu_barrier;
    impl->digest = maple_digest;
    impl->bytes = maple_bytes;
    fill_common_loops(impl);
#ifdef KMIRROR_MTREE_LOAD_BATCH
    impl->loop[TREE_LOAD_BATCH] = loop_load_batch;
#endif
    impl->loop[TREE_DUP] = loop_dup;
    impl->loop[TREE_DESTROY] = loop_destroy;
}
