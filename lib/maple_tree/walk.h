// SPDX-License-Identifier: GPL-2.0-only
//
// Moving a cursor over the tree: down to an index, up to a parent, sideways to a neighbour.
//
//                                                              file
//   mas_walk, mas_state_walk    from the root to an index      walk.cpp
//     mas_start                 reads the root
//     mtree_range_walk          level by level to a leaf
//   mas_ascend, mas_descend     one level                      walk_level.cpp
//   mas_next_node, _prev_node   the neighbour on this level
//   mas_next_slot, _prev_slot   the neighbouring range         walk_slot.cpp
//
// Owns     nothing: the cursor belongs to the caller, the nodes to the tree.
// Locking  the caller holds the tree's lock or is inside rcu_read_lock(). Functions that only a lock holder
//          may use say so.
// Fails    never. A node that was replaced under a reader is noticed (ma_dead_node) and the walk starts
//          again.
#ifndef KMIRROR_LIB_MAPLE_TREE_WALK_H
#define KMIRROR_LIB_MAPLE_TREE_WALK_H

#include "lib/maple_tree/ma_state.h"

#include <cstddef>

namespace kmirror::maple {

// A node taken apart once: what its encoded pointer says and where its arrays are. Only for the kinds a tree
// consists of.
struct NodeView {
    maple_node *node;
    unsigned long *pivots;
    maple_type type;
    void **slots;

    explicit NodeView(const maple_enode *enode) : NodeView(mte_to_node(enode), mte_node_type(enode)) {}
    NodeView(maple_node *of, maple_type as)
        : node(of), pivots(of->mr64.pivot), type(as),
          slots(as == maple_arange_64 ? of->ma64.slot : of->mr64.slot)
    {
        VM_BUG_ON(as != maple_leaf_64 && as != maple_range_64 && as != maple_arange_64);
    }

    bool is_leaf() const { return ma_is_leaf(type); }
    bool is_dead() const { return ma_dead_node(node); }
    unsigned nr_pivots() const
    {
        return (type == maple_arange_64 ? MAPLE_ARANGE64_SLOTS : MAPLE_RANGE64_SLOTS) - 1;
    }
    // Last slot in use, for a node that covers indices up to `max`.
    unsigned char end(unsigned long max) const { return ma_data_end(node, type, pivots, max); }
    // First and last index of a slot, for a node that covers [min, max].
    unsigned long first(unsigned offset, unsigned long min) const
    {
        return offset == 0 ? min : ma_pivot(pivots, offset - 1) + 1;
    }
    unsigned long last(unsigned offset, unsigned long max) const
    {
        return offset < nr_pivots() ? ma_pivot(pivots, offset) : max;
    }
};

static_assert(offsetof(maple_node, mr64.pivot) == offsetof(maple_node, ma64.pivot),
              "the pivots lie alike in every kind");

// ---- from the root (walk.cpp)

// Read the root of a cursor with status ma_start: the status becomes ma_active (standing on the root node),
// ma_none (empty tree) or ma_root (a single entry at index 0, which is returned when the cursor asks for
// index 0).
void *mas_start(ma_state *mas);

// From the cursor's node down to the leaf slot that holds mas->index. Sets node, offset, end, min and max to
// the leaf, index and last to the range. Returns the entry. A dead node on the way: NULL, and the status is
// ma_start.
void *mtree_range_walk(ma_state *mas);

// mas_start(), then mtree_range_walk() if the tree has nodes. The same "dead node" answer.
void *mas_state_walk(ma_state *mas);

// Look `index` up again until no dead node is in the way. Afterwards the cursor is active, or the tree has no
// nodes any more.
void mas_rewalk(ma_state *mas, unsigned long index);

// mas_rewalk() if `node` has left the tree. Returns whether it has.
inline bool mas_rewalk_if_dead(ma_state *mas, const maple_node *node, unsigned long index)
{
    if (!ma_dead_node(node)) [[likely]]
        return false;
    mas_rewalk(mas, index);
    return true;
}

// Whatever happened before, the next walk may begin: from the node if the cursor is active, else from the
// root.
inline void mas_make_walkable(ma_state *mas)
{
    if (!mas_is_active(mas) && !mas_is_start(mas))
        mas->status = ma_start;
}

// Back from ma_overflow or ma_underflow. Only a cursor with a node that covers its index may be active again;
// every other one has to look its place up (ma_start). [bug U1 of the kernel: active without a node]
inline void mas_may_activate(ma_state *mas)
{
    const bool stands = mas->node && mas->min <= mas->index && mas->index <= mas->max;
    mas->status = stands ? ma_active : ma_start;
}

// The entry at index 0 of a tree that had no nodes when the cursor looked: index and last become 0, status
// ma_root; with `min` above 0 nothing, and status ma_underflow (U8: 7.3 forgets the limit there). False, and
// the cursor is to start again, when the tree has got nodes in the meantime.
bool mas_take_root(ma_state *mas, unsigned long min, void **entry);

// ---- one level (walk_level.cpp)

// Last slot in use of the cursor's node; 0 if the node is dead.
unsigned char mas_data_end(const ma_state *mas);

// Into the child at mas->offset. Write lock only (no dead-node check).
void mas_descend(ma_state *mas);

// To the parent: node, min and max become the parent's, offset the slot we came from (0 and nothing else for
// the root). Returns 1 if a node on the way was dead (the cursor is then worthless), else 0.
int mas_ascend(ma_state *mas);

// To the neighbouring child of the same parent, offset being its slot there. Write lock only.
// Returns false, and the cursor is as it was, when there is none. (mas_next_sibling ignores mas->end.)
bool mas_prev_sibling(ma_state *mas);
bool mas_next_sibling(ma_state *mas);

// To the neighbouring node on the same level, whatever its parent. Next: offset 0; previous: offset = end.
// Nothing within the limit: the cursor stays where it is, with status ma_overflow (ma_underflow).
// Returns 1 if a dead node was met (the cursor is worthless), else 0.
int mas_next_node(ma_state *mas, unsigned long max);
int mas_prev_node(ma_state *mas, unsigned long min);

// For gap searches: leave the cursor's node for the next (previous) slot of the nearest ancestor that has
// one; in the root, just to the next slot. Write lock only. False: there is none (mas_skip_node() then also
// sets -EBUSY).
bool mas_skip_node(ma_state *mas);
bool mas_rewind_node(ma_state *mas);

// ---- one range (walk_slot.cpp)

// To the next (previous) range of an active cursor, passing over NULL ranges unless `empty`. Returns the
// entry. The limit is met: NULL, status ma_overflow (ma_underflow), and the cursor still stands on its last
// range.
void *mas_next_slot(ma_state *mas, unsigned long max, bool empty);
void *mas_prev_slot(ma_state *mas, unsigned long min, bool empty);

} // namespace kmirror::maple

#endif
