// SPDX-License-Identifier: GPL-2.0-only
//
// The table's entries for whole trees: life, locks, simple API, checks, node cache. Included by maple_ops.cpp
// alone.
//
// Owns, bounds, locking, failure: as the functions that the entries stand for, see <linux/maple_tree.h>.
#ifndef KMIRROR_LIB_MAPLE_TREE_MAPLE_OPS_TREE_H
#define KMIRROR_LIB_MAPLE_TREE_MAPLE_OPS_TREE_H

#include "lib/maple_tree/destroy.h"
#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/validate.h"

#include <kmirror/harness.h>
#include <kmirror/maple_ops_fill.h>
#include <kmirror/slab_info.h>
#include <linux/cpumask.h>
#include <linux/numa.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/xarray.h>

namespace kmirror::maple {

inline unsigned ops_mt_flags(unsigned flags)
{
    return (flags & MAPLE_OPS_ALLOC ? MT_FLAGS_ALLOC_RANGE : 0) |
           (flags & MAPLE_OPS_RCU ? MT_FLAGS_USE_RCU : 0) |
           (flags & MAPLE_OPS_LOCK_EXTERN ? MT_FLAGS_LOCK_EXTERN : 0) |
           (flags & MAPLE_OPS_LOCK_IRQ ? MT_FLAGS_LOCK_IRQ : 0) |
           (flags & MAPLE_OPS_LOCK_BH ? MT_FLAGS_LOCK_BH : 0);
}

inline maple_ops_tree *ops_tree_new(unsigned flags)
{
    auto *tree = static_cast<maple_ops_tree *>(kzalloc(sizeof(maple_ops_tree), GFP_KERNEL));
    if (!tree)
        return nullptr;
    init_rwsem(&tree->external);
    mt_init_flags(&tree->mt, ops_mt_flags(flags));
    if (mt_external_lock(&tree->mt))
        mt_set_external_lock(&tree->mt, &tree->external);
    return tree;
}

inline void ops_destroy(maple_ops_tree *tree)
{
    ops_lock(tree);
    __mt_destroy(&tree->mt);
    ops_unlock(tree);
}

// Nodes from `enode` down.
inline unsigned long ops_count_below(const maple_enode *enode)
{
    if (mte_is_leaf(enode))
        return 1;
    const maple_type type = mte_node_type(enode);
    void **slots = ma_slots(mte_to_node(enode), type);
    unsigned long nodes = 1;
    for (unsigned i = 0, count = ma_child_count(mte_to_node(enode), type); i < count; i++)
        nodes += ops_count_below(static_cast<const maple_enode *>(word_read(&slots[i])));
    return nodes;
}

inline unsigned long ops_node_count(maple_ops_tree *tree)
{
    const void *root = mt_root_locked(&tree->mt);
    return xa_is_node(root) ? ops_count_below(mte_safe_root(root)) : 0;
}

inline unsigned ops_validate(maple_ops_tree *tree)
{
    const int failed = atomic_read(&maple_tree_tests_run) - atomic_read(&maple_tree_tests_passed);
    mt_validate(&tree->mt);
    return unsigned(atomic_read(&maple_tree_tests_run) - atomic_read(&maple_tree_tests_passed) - failed);
}

// Nodes alive. Only mock mode counts them one by one; else they are what slabs have given out, less what
// waits in sheaves.
inline unsigned long ops_nr_allocated()
{
    if (kmirror_harness_exact())
        return mt_nr_allocated();
    kmem_cache *cache = maple_node_cache_get();
    struct kmirror_slab_counts counts;
    kmirror_slab_counts(cache, NUMA_NO_NODE, &counts);
    unsigned long waiting = counts.barn_objects;
    for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
        kmirror_slab_cpu sheaves;
        kmirror_slab_cpu_sheaves(cache, cpu, &sheaves);
        const int objects[] = {sheaves.main, sheaves.spare, sheaves.rcu_free};
        for (const int waits : objects)
            waiting += waits > 0 ? unsigned(waits) : 0;
    }
    return counts.used_objects - waiting;
}

constexpr void ops_fill_life(maple_ops *ops)
{
    using T = maple_ops_tree;
    ops->zero_entry = [] { return XA_ZERO_ENTRY; };
    ops->reserved_entry = [] { return xa_mk_internal(1); };
    ops->tree_new = ops_tree_new;
    ops->tree_free = [](T *tree) {
        ops_destroy(tree);
        kfree(tree);
    };
    ops->destroy = ops_destroy;
    ops->destroy_locked = [](T *tree) { __mt_destroy(&tree->mt); };
    ops->dup = [](T *tree, T *copy, unsigned gfp) { return mtree_dup(&tree->mt, &copy->mt, ops_gfp(gfp)); };
    ops->dup_locked = [](T *tree, T *copy, unsigned gfp) {
        return __mt_dup(&tree->mt, &copy->mt, ops_gfp(gfp));
    };
    ops->empty = [](T *tree) { return mtree_empty(&tree->mt); };
    ops->height = [](T *tree) { return mt_height(&tree->mt); };
    ops->in_rcu = [](T *tree) { return mt_in_rcu(&tree->mt); };
    ops->set_in_rcu = [](T *tree) { mt_set_in_rcu(&tree->mt); };
    ops->clear_in_rcu = [](T *tree) { mt_clear_in_rcu(&tree->mt); };

    ops->lock = ops_lock;
    ops->unlock = ops_unlock;
    ops->lock_nested = [](T *tree) {
        if (mt_external_lock(&tree->mt))
            down_write_nested(&tree->external, SINGLE_DEPTH_NESTING);
        else
            mtree_lock_nested(&tree->mt, SINGLE_DEPTH_NESTING);
    };
    ops->read_lock = [] { rcu_read_lock(); };
    ops->read_unlock = [] { rcu_read_unlock(); };
    ops->rcu_barrier = [] {
        kvfree_rcu_barrier();
        rcu_barrier();
    };
}

constexpr void ops_fill_simple(maple_ops *ops)
{
    using T = maple_ops_tree;
    using Index = unsigned long;
    ops->load = [](T *tree, Index index) { return mtree_load(&tree->mt, index); };
    ops->store = [](T *tree, Index index, void *entry, unsigned gfp) {
        return mtree_store(&tree->mt, index, entry, ops_gfp(gfp));
    };
    ops->store_range = [](T *tree, Index first, Index last, void *entry, unsigned gfp) {
        return mtree_store_range(&tree->mt, first, last, entry, ops_gfp(gfp));
    };
    ops->insert = [](T *tree, Index index, void *entry, unsigned gfp) {
        return mtree_insert(&tree->mt, index, entry, ops_gfp(gfp));
    };
    ops->insert_range = [](T *tree, Index first, Index last, void *entry, unsigned gfp) {
        return mtree_insert_range(&tree->mt, first, last, entry, ops_gfp(gfp));
    };
    ops->erase = [](T *tree, Index index) { return mtree_erase(&tree->mt, index); };
    ops->alloc_range = [](T *tree, Index *start, void *entry, Index size, Index min, Index max,
                          unsigned gfp) {
        return mtree_alloc_range(&tree->mt, start, entry, size, min, max, ops_gfp(gfp));
    };
    ops->alloc_rrange = [](T *tree, Index *start, void *entry, Index size, Index min, Index max,
                           unsigned gfp) {
        return mtree_alloc_rrange(&tree->mt, start, entry, size, min, max, ops_gfp(gfp));
    };
    ops->alloc_cyclic = [](T *tree, Index *start, void *entry, Index min, Index max, Index *next,
                           unsigned gfp) {
        return mtree_alloc_cyclic(&tree->mt, start, entry, min, max, next, ops_gfp(gfp));
    };
    ops->find = [](T *tree, Index *index, Index max) { return mt_find(&tree->mt, index, max); };
    ops->find_after = [](T *tree, Index *index, Index max) { return mt_find_after(&tree->mt, index, max); };
    ops->next = [](T *tree, Index index, Index max) { return mt_next(&tree->mt, index, max); };
    ops->prev = [](T *tree, Index index, Index min) { return mt_prev(&tree->mt, index, min); };
}

constexpr void ops_fill_checks(maple_ops *ops)
{
    using T = maple_ops_tree;
    ops->check = [](T *tree, bool report) { return mt_check(&tree->mt, report); };
    ops->validate = ops_validate;
    ops->node_count = ops_node_count;
    ops->dump = [](T *tree, bool hex) { mt_dump(&tree->mt, hex ? mt_dump_hex : mt_dump_dec); };

    ops->boot = maple_tree_init;
    ops->cache_shrink = mt_cache_shrink;
    ops->cache_renew = maple_node_cache_renew;
    ops->node_bytes = [] { return (unsigned long)sizeof(maple_node); };
    ops->nr_allocated = ops_nr_allocated;
    ops->nr_tallocated = mt_nr_tallocated;
    ops->zero_nr_tallocated = mt_zero_nr_tallocated;
    ops->cache_check = [] { return (unsigned long)kmirror_slab_validate(maple_node_cache_get()); };
    ops->set_non_kernel = mt_set_non_kernel;
    ops->set_callback = mt_set_callback;
    ops->set_private = mt_set_private;
}

} // namespace kmirror::maple

#endif
