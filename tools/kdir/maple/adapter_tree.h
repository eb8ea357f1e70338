/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table's entries for whole trees of a kernel: life, locks, simple API, checks, node cache. For adapter.c
 * alone.
 *
 * Owns, bounds, locking, failure: as the functions that the entries stand for.
 */
#ifndef KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_TREE_H
#define KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_TREE_H

#include "tools/kdir/maple/adapter.h"
#include "tools/kdir/maple/nodes.h"

#include <kmirror/slab_info.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

#include <pthread.h>

typedef struct maple_ops_tree tree_t;

/* lib/maple_tree/validate.h: the checker of the library, on nodes that are laid out the same. */
unsigned long kmirror_mt_check(const struct maple_tree *mt, bool report);

static pthread_mutex_t boot_mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- life -------------------------------------------------------------------------------------------------- */

static void ops_boot(void)
{
    pthread_mutex_lock(&boot_mutex);
    if (!maple_node_cache)
        maple_tree_init();
    pthread_mutex_unlock(&boot_mutex);
}

static struct kmem_cache *ops_node_cache(void)
{
    ops_boot();
    return maple_node_cache;
}

static int ops_cache_renew(void)
{
    int busy;

    pthread_mutex_lock(&boot_mutex);
    kvfree_rcu_barrier();
    rcu_barrier();
    busy = maple_node_cache && kmem_cache_shrink(maple_node_cache);
    if (!busy) {
        kmem_cache_destroy(maple_node_cache);
        maple_node_cache = NULL;
    }
    pthread_mutex_unlock(&boot_mutex);
    return busy ? -EBUSY : 0;
}

static void *ops_zero_entry(void) { return XA_ZERO_ENTRY; }
static void *ops_reserved_entry(void) { return xa_mk_internal(1); }

static unsigned int ops_mt_flags(unsigned int flags)
{
    unsigned int mt = 0;

    if (flags & MAPLE_OPS_ALLOC)
        mt |= MT_FLAGS_ALLOC_RANGE;
    if (flags & MAPLE_OPS_RCU)
        mt |= MT_FLAGS_USE_RCU;
    if (flags & MAPLE_OPS_LOCK_EXTERN)
        mt |= MT_FLAGS_LOCK_EXTERN;
    if (flags & MAPLE_OPS_LOCK_IRQ)
        mt |= MT_FLAGS_LOCK_IRQ;
    if (flags & MAPLE_OPS_LOCK_BH)
        mt |= MT_FLAGS_LOCK_BH;
    return mt;
}

static tree_t *ops_tree_new(unsigned int flags)
{
    tree_t *tree;

    ops_boot();
    tree = kzalloc(sizeof(*tree), GFP_KERNEL);
    if (!tree)
        return NULL;
    init_rwsem(&tree->external);
    mt_init_flags(&tree->mt, ops_mt_flags(flags));
    if (mt_external_lock(&tree->mt))
        mt_set_external_lock(&tree->mt, &tree->external);
    return tree;
}

static void ops_destroy_locked(tree_t *tree) { __mt_destroy(&tree->mt); }

static void ops_destroy(tree_t *tree)
{
    ops_lock(tree);
    ops_destroy_locked(tree);
    ops_unlock(tree);
}

static void ops_tree_free(tree_t *tree)
{
    ops_destroy(tree);
    kfree(tree);
}

static int ops_dup(tree_t *tree, tree_t *copy, unsigned int gfp)
{
    return mtree_dup(&tree->mt, &copy->mt, ops_gfp(gfp));
}

static int ops_dup_locked(tree_t *tree, tree_t *copy, unsigned int gfp)
{
    return __mt_dup(&tree->mt, &copy->mt, ops_gfp(gfp));
}

static bool ops_empty(tree_t *tree) { return mtree_empty(&tree->mt); }
static unsigned int ops_height(tree_t *tree) { return mt_height(&tree->mt); }
static bool ops_in_rcu(tree_t *tree) { return mt_in_rcu(&tree->mt); }
static void ops_set_in_rcu(tree_t *tree) { mt_set_in_rcu(&tree->mt); }
static void ops_clear_in_rcu(tree_t *tree) { mt_clear_in_rcu(&tree->mt); }

static void ops_lock_nested(tree_t *tree)
{
    if (mt_external_lock(&tree->mt))
        down_write_nested(&tree->external, SINGLE_DEPTH_NESTING);
    else
        spin_lock_nested(&tree->mt.ma_lock, SINGLE_DEPTH_NESTING);
}

static void ops_read_lock(void) { rcu_read_lock(); }
static void ops_read_unlock(void) { rcu_read_unlock(); }

static void ops_rcu_barrier(void)
{
    kvfree_rcu_barrier();
    rcu_barrier();
}

static void ops_fill_life(struct maple_ops *ops)
{
    ops->zero_entry = ops_zero_entry;
    ops->reserved_entry = ops_reserved_entry;
    ops->tree_new = ops_tree_new;
    ops->tree_free = ops_tree_free;
    ops->destroy = ops_destroy;
    ops->destroy_locked = ops_destroy_locked;
    ops->dup = ops_dup;
    ops->dup_locked = ops_dup_locked;
    ops->empty = ops_empty;
    ops->height = ops_height;
    ops->in_rcu = ops_in_rcu;
    ops->set_in_rcu = ops_set_in_rcu;
    ops->clear_in_rcu = ops_clear_in_rcu;
    ops->lock = ops_lock;
    ops->unlock = ops_unlock;
    ops->lock_nested = ops_lock_nested;
    ops->read_lock = ops_read_lock;
    ops->read_unlock = ops_read_unlock;
    ops->rcu_barrier = ops_rcu_barrier;
}

/* ---- simple API -------------------------------------------------------------------------------------------- */

static void *ops_load(tree_t *tree, unsigned long index) { return mtree_load(&tree->mt, index); }
static void *ops_erase(tree_t *tree, unsigned long index) { return mtree_erase(&tree->mt, index); }

static int ops_store(tree_t *tree, unsigned long index, void *entry, unsigned int gfp)
{
    return mtree_store(&tree->mt, index, entry, ops_gfp(gfp));
}

static int ops_store_range(tree_t *tree, unsigned long first, unsigned long last, void *entry, unsigned int gfp)
{
    return mtree_store_range(&tree->mt, first, last, entry, ops_gfp(gfp));
}

static int ops_insert(tree_t *tree, unsigned long index, void *entry, unsigned int gfp)
{
    return mtree_insert(&tree->mt, index, entry, ops_gfp(gfp));
}

static int ops_insert_range(tree_t *tree, unsigned long first, unsigned long last, void *entry, unsigned int gfp)
{
    return mtree_insert_range(&tree->mt, first, last, entry, ops_gfp(gfp));
}

static int ops_alloc_range(tree_t *tree, unsigned long *start, void *entry, unsigned long size, unsigned long min,
                           unsigned long max, unsigned int gfp)
{
    return mtree_alloc_range(&tree->mt, start, entry, size, min, max, ops_gfp(gfp));
}

static int ops_alloc_rrange(tree_t *tree, unsigned long *start, void *entry, unsigned long size, unsigned long min,
                            unsigned long max, unsigned int gfp)
{
    return mtree_alloc_rrange(&tree->mt, start, entry, size, min, max, ops_gfp(gfp));
}

static int ops_alloc_cyclic(tree_t *tree, unsigned long *start, void *entry, unsigned long min, unsigned long max,
                            unsigned long *next, unsigned int gfp)
{
    return mtree_alloc_cyclic(&tree->mt, start, entry, min, max, next, ops_gfp(gfp));
}

static void *ops_find(tree_t *tree, unsigned long *index, unsigned long max)
{
    return mt_find(&tree->mt, index, max);
}

static void *ops_find_after(tree_t *tree, unsigned long *index, unsigned long max)
{
    return mt_find_after(&tree->mt, index, max);
}

static void *ops_next(tree_t *tree, unsigned long index, unsigned long max) { return mt_next(&tree->mt, index, max); }
static void *ops_prev(tree_t *tree, unsigned long index, unsigned long min) { return mt_prev(&tree->mt, index, min); }

static void ops_fill_simple(struct maple_ops *ops)
{
    ops->load = ops_load;
    ops->store = ops_store;
    ops->store_range = ops_store_range;
    ops->insert = ops_insert;
    ops->insert_range = ops_insert_range;
    ops->erase = ops_erase;
    ops->alloc_range = ops_alloc_range;
    ops->alloc_rrange = ops_alloc_rrange;
    ops->alloc_cyclic = ops_alloc_cyclic;
    ops->find = ops_find;
    ops->find_after = ops_find_after;
    ops->next = ops_next;
    ops->prev = ops_prev;
}

/* ---- checks and the node cache ----------------------------------------------------------------------------- */

static unsigned long ops_check(tree_t *tree, bool report) { return kmirror_mt_check(&tree->mt, report); }

/* Nodes from `enode` down; `max` is the last index below it. */
static unsigned long ops_count_below(struct maple_enode *enode, unsigned long max)
{
    struct maple_node *node = mte_to_node(enode);
    const enum maple_type type = mte_node_type(enode);
    unsigned long nodes = 1;
    unsigned char i, end;

    if (ma_is_leaf(type))
        return 1;
    end = ma_data_end(node, type, ma_pivots(node, type), max);
    for (i = 0; i <= end; i++) {
        const unsigned long last = i < end ? ma_pivots(node, type)[i] : max;

        nodes += ops_count_below(rcu_dereference_raw(ma_slots(node, type)[i]), last);
    }
    return nodes;
}

static unsigned long ops_node_count(tree_t *tree)
{
    void *root = mt_root_locked(&tree->mt);

    return xa_is_node(root) ? ops_count_below(root, ULONG_MAX) : 0;
}

static unsigned int ops_validate(tree_t *tree)
{
#ifdef CONFIG_DEBUG_MAPLE_TREE
    const int failed = atomic_read(&maple_tree_tests_run) - atomic_read(&maple_tree_tests_passed);

    mt_validate(&tree->mt);
    return atomic_read(&maple_tree_tests_run) - atomic_read(&maple_tree_tests_passed) - failed;
#else
    (void)tree;
    return 0;
#endif
}

static void ops_dump(tree_t *tree, bool hex)
{
#ifdef CONFIG_DEBUG_MAPLE_TREE
    mt_dump(&tree->mt, hex ? mt_dump_hex : mt_dump_dec);
#else
    (void)tree;
    (void)hex;
#endif
}

static void ops_cache_shrink(void) { kmem_cache_shrink(ops_node_cache()); }
static unsigned long ops_node_bytes(void) { return sizeof(struct maple_node); }

static unsigned long ops_nr_allocated(void) { return kmirror_kdir_nodes_alive(ops_node_cache()); }
static unsigned long ops_nr_tallocated(void) { return kmirror_kdir_nodes_handed_out(ops_node_cache()); }
static void ops_zero_nr_tallocated(void) { kmirror_kdir_nodes_zero(ops_node_cache()); }
static unsigned long ops_cache_check(void) { return kmirror_slab_validate(ops_node_cache()); }
static void ops_set_non_kernel(unsigned int budget) { kmirror_kdir_nodes_budget(ops_node_cache(), budget); }
static void ops_set_private(void *data) { kmirror_kdir_nodes_private(ops_node_cache(), data); }
static void ops_set_callback(void (*callback)(void *)) { kmirror_kdir_nodes_callback(ops_node_cache(), callback); }

static void ops_fill_checks(struct maple_ops *ops)
{
    ops->check = ops_check;
    ops->validate = ops_validate;
    ops->node_count = ops_node_count;
    ops->dump = ops_dump;
    ops->boot = ops_boot;
    ops->cache_shrink = ops_cache_shrink;
    ops->cache_renew = ops_cache_renew;
    ops->node_bytes = ops_node_bytes;
    ops->nr_allocated = ops_nr_allocated;
    ops->nr_tallocated = ops_nr_tallocated;
    ops->zero_nr_tallocated = ops_zero_nr_tallocated;
    ops->cache_check = ops_cache_check;
    ops->set_non_kernel = ops_set_non_kernel;
    ops->set_callback = ops_set_callback;
    ops->set_private = ops_set_private;
}

#endif
