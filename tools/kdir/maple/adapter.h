/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the table of operations and a kernel's own maple tree: what the opaque handles really are.
 * For adapter.c alone, which has included the tree's lib/maple_tree.c before.
 *
 * Owns     the memory of a tree handle, from tree_new to tree_free.
 * Bounds   a cursor fits the caller's MAPLE_OPS_CURSOR_BYTES; node and tree are laid out as ours, because the
 *          checker (kmirror_mt_check()) and some tests read them.
 * Locking  none here; the operations lock as the functions they stand for.
 */
#ifndef KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_H
#define KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_H

#include <kmirror/maple_ops.h>

#include <linux/maple_tree.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

/* A tree and the lock that it uses when its own is not wanted. The tree comes first, as in our handles. */
struct maple_ops_tree {
    struct maple_tree mt;
    struct rw_semaphore external;
};

_Static_assert(sizeof(struct ma_state) <= MAPLE_OPS_CURSOR_BYTES, "a cursor fits");
_Static_assert(sizeof(struct maple_node) == 256, "CONFIG_64BIT has reached the tree's header");
_Static_assert(MAPLE_RANGE64_SLOTS == 16 && MAPLE_ARANGE64_SLOTS == 10, "slots of a node");
_Static_assert(offsetof(struct maple_node, mr64.slot) == 128, "slots of a leaf");
_Static_assert(offsetof(struct maple_node, ma64.slot) == 80, "slots of a node with gaps");
_Static_assert(offsetof(struct maple_node, ma64.gap) == 160, "gaps");
_Static_assert(offsetof(struct maple_node, mr64.meta) == 248, "metadata of a leaf");
_Static_assert(offsetof(struct maple_node, ma64.meta) == 240, "metadata of a node with gaps");
_Static_assert(maple_dense == 0 && maple_leaf_64 == 1 && maple_range_64 == 2 && maple_arange_64 == 3, "types");
_Static_assert(sizeof(struct maple_tree) == 56 && offsetof(struct maple_tree, ma_root) == 48, "tree");
_Static_assert(MT_FLAGS_HEIGHT_OFFSET == 2 && MT_FLAGS_HEIGHT_MASK == 0x7c, "height in the flags");
_Static_assert(MT_FLAGS_ALLOC_RANGE == 1 && MT_FLAGS_USE_RCU == 2, "flags");

static inline struct ma_state *ops_mas(const struct maple_ops_cursor *cursor)
{
    return (struct ma_state *)cursor->opaque;
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

#endif
