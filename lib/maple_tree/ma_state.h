// SPDX-License-Identifier: GPL-2.0-only
//
// Small questions to the cursor (struct ma_state), by their kernel names.
//
// Owns     nothing: each function reads or sets single fields of a cursor, which belongs to one thread.
// Locking  the caller's: the write lock where a name ends in _locked, the read section or the lock elsewhere.
#ifndef KMIRROR_LIB_MAPLE_TREE_MA_STATE_H
#define KMIRROR_LIB_MAPLE_TREE_MA_STATE_H

#include "lib/maple_tree/maple_node.h"

namespace kmirror::maple {

// mas_flags
inline constexpr unsigned char MA_STATE_PREALLOC = 1;   // the store lives on its reservation: allocating would be a bug

inline bool mas_is_start(const ma_state *mas) { return mas->status == ma_start; }
inline bool mas_is_ptr(const ma_state *mas) { return mas->status == ma_root; }
inline bool mas_is_none(const ma_state *mas) { return mas->status == ma_none; }
inline bool mas_is_paused(const ma_state *mas) { return mas->status == ma_pause; }
inline bool mas_is_overflow(const ma_state *mas) { return mas->status == ma_overflow; }
inline bool mas_is_underflow(const ma_state *mas) { return mas->status == ma_underflow; }

inline void mas_set_err(ma_state *mas, long err)
{
    mas->node = MA_ERROR(err);
    mas->status = ma_error;
}

// The negative errno of a cursor with status ma_error.
inline int mas_err(const ma_state *mas) { return xa_err(mas->node); }

inline maple_node *mas_mn(const ma_state *mas) { return mte_to_node(mas->node); }
inline unsigned mas_mt_height(const ma_state *mas) { return mt_height(mas->tree); }

inline void *mas_slot(const ma_state *mas, void **slots, unsigned offset) { return mt_slot(mas->tree, slots, offset); }
inline void *mas_slot_locked(const ma_state *mas, void **slots, unsigned offset)
{
    return mt_slot_locked(mas->tree, slots, offset);
}
inline void *mas_root(const ma_state *mas) { return mt_root(mas->tree); }
inline void *mas_root_locked(const ma_state *mas) { return mt_root_locked(mas->tree); }

// Last index of the slot at `offset` of the cursor's node: its pivot, or the node's end for a slot without one.
[[gnu::always_inline]] inline unsigned long mas_safe_pivot(const ma_state *mas, const unsigned long *pivots,
                                                           unsigned offset, maple_type type)
{
    return offset < mt_pivots[type] ? ma_pivot(pivots, offset) : mas->max;
}

// First index of the slot at `offset` of the cursor's node.
inline unsigned long mas_safe_min(const ma_state *mas, const unsigned long *pivots, unsigned offset)
{
    return offset == 0 ? mas->min : ma_pivot(pivots, offset - 1) + 1;
}

// Type of the node that `enode` hangs on: the tree's flag decides, all its inner nodes are of one kind.
inline maple_type mas_parent_type(const ma_state *mas, const maple_enode *enode)
{
    const ParentWord parent = ma_parent(mte_to_node(enode));
    if (WARN_ON(parent.is_root()) || !parent.is_range64())
        return maple_dense;
    return mt_is_alloc(mas->tree) ? maple_arange_64 : maple_range_64;
}

} // namespace kmirror::maple

#endif
