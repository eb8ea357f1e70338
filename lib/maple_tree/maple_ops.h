// SPDX-License-Identifier: GPL-2.0-only
//
// Between the table of operations and the tree: what the opaque handles really are.
//
// Owns     the memory of a tree handle, from tree_new to tree_free.
// Bounds   a cursor fits the caller's MAPLE_OPS_CURSOR_BYTES.
// Locking  none here; the operations lock as the functions they stand for.
//
// The table is put together at compile time in maple_ops.cpp, from three headers that nobody else includes:
//   maple_ops_tree.h     a tree's life, locks, the simple API, checks, the node cache
//   maple_ops_cursor.h   everything on ma_state
//   maple_ops_loops.h    the loops for benchmarks
#ifndef KMIRROR_LIB_MAPLE_TREE_MAPLE_OPS_H
#define KMIRROR_LIB_MAPLE_TREE_MAPLE_OPS_H

#include <kmirror/maple_ops.h>
#include <linux/maple_tree.h>
#include <linux/rwsem.h>

// A tree and the lock that it uses when its own is not wanted.
struct maple_ops_tree {
    maple_tree mt;
    rw_semaphore external;
};

namespace kmirror::maple {

static_assert(sizeof(ma_state) <= MAPLE_OPS_CURSOR_BYTES);

inline ma_state *ops_mas(maple_ops_cursor *cursor)
{
    return static_cast<ma_state *>(static_cast<void *>(cursor->opaque));
}
inline const ma_state *ops_mas(const maple_ops_cursor *cursor)
{
    return static_cast<const ma_state *>(static_cast<const void *>(cursor->opaque));
}

inline gfp_t ops_gfp(unsigned int gfp)
{
    const gfp_t base = gfp & MAPLE_OPS_NOWAIT ? GFP_NOWAIT : GFP_KERNEL;
    return gfp & MAPLE_OPS_NOFAIL ? base | __GFP_NOFAIL : base;
}

// The lock that guards writers of the tree.
inline void ops_lock(maple_ops_tree *tree)
{
    if (mt_external_lock(&tree->mt))
        down_write(&tree->external);
    else
        mtree_lock(&tree->mt);
}

inline void ops_unlock(maple_ops_tree *tree)
{
    if (mt_external_lock(&tree->mt))
        up_write(&tree->external);
    else
        mtree_unlock(&tree->mt);
}

} // namespace kmirror::maple

#endif
