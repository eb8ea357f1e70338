// SPDX-License-Identifier: GPL-2.0-only
//
// Deciding, before anything is allocated or changed: which writer does the store, and how many nodes it
// needs.
//
//   mas_wr_prealloc_setup    from where the walk may start              plan.cpp
//   mas_wr_store_type
//     mas_wr_walk            down to the leaf, or to the node in which the range parts ways
//     mas_wr_end_piv         the slot in which the range ends
//     mas_wr_extend_null     no two NULL ranges side by side
//   mas_wr_reserve
//     mas_prealloc_calc      store type and heights -> node count
//     mas_alloc_nodes                                                   reserve.cpp
//   mas_wr_preallocate       all of it, with GFP_NOWAIT
//
// Owns     struct ma_wr_state, which lives on the stack of one call.
// Locking  the tree's write lock.
// Fails    never; mas_wr_reserve() as mas_alloc_nodes() does.
//
// Invariants of a planned store (all but a spanning store and one that meets no node)
//   (W1) mas stands on the leaf slot that holds mas->index: r_min <= index <= r_max, end is the leaf's data
//        end
//   (W2) offset_end holds mas->last: offset <= offset_end <= end, last <= end_piv
//   (W3) entry == NULL: the slots outside [offset, offset_end], and what is left of the two, are not NULL
#ifndef KMIRROR_LIB_MAPLE_TREE_PLAN_H
#define KMIRROR_LIB_MAPLE_TREE_PLAN_H

#include "lib/maple_tree/ma_state.h"

namespace kmirror::maple {

// ---- where the write stands

// View mas->node, and the slot mas->offset in it, through `wr_mas`.
void wr_mas_setup(ma_wr_state *wr_mas, ma_state *mas);

// From mas->node down to mas->index, noting the heights at which a split or a merge would end. Returns
// false, standing on the node where it was noticed, when the range goes on behind the child: a spanning
// store.
bool mas_wr_walk(ma_wr_state *wr_mas);

// Down to mas->index whatever the range is: each side of a spanning store.
void mas_wr_walk_index(ma_wr_state *wr_mas);

// One level of these walks: view the slot of mas->node that holds mas->index.
void mas_wr_walk_descend(ma_wr_state *wr_mas);

// Does the range leave the slot (an inner node) or the leaf? So does a NULL that would end a leaf other
// than the last.
bool mas_is_span_wr(const ma_wr_state *wr_mas);

// Find the slot in which mas->last lies; the walk has set offset_end to where to begin.
void mas_wr_end_piv(ma_wr_state *wr_mas);

// The data end of the leaf after the store.
unsigned char mas_wr_new_end(const ma_wr_state *wr_mas);

// ---- the plan

// The range a caller asked for. Planning a NULL store widens mas->index and mas->last.
struct AskedRange {
    unsigned long index;
    unsigned long last;

    explicit AskedRange(const ma_state *mas) : index(mas->index), last(mas->last) {}
    void restore(ma_state *mas) const
    {
        mas->index = index;
        mas->last = last;
    }
};

// Where may the walk begin? From there, or from the root, if the cursor's place is of no use. Sets content
// to the entry in the root word, if that is what the cursor asks for.
void mas_wr_prealloc_setup(ma_wr_state *wr_mas);
store_type mas_wr_store_type(ma_wr_state *wr_mas);
// These two: setup, walk, and mas->store_type.
void mas_wr_plan(ma_wr_state *wr_mas);

// Set mas->node_request to what a store of mas->store_type needs at most.
void mas_prealloc_calc(ma_wr_state *wr_mas, const void *entry);

// Reserve for the planned store. On failure status ma_error, and index and last are the caller's again: the
// lock may be dropped before the next try, and a NULL range that was there to join may then be gone.
bool mas_wr_reserve(ma_wr_state *wr_mas, const AskedRange &asked, gfp_t gfp);

void mas_wr_preallocate(ma_wr_state *wr_mas, const void *entry);

} // namespace kmirror::maple

#endif
