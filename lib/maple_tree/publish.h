// SPDX-License-Identifier: GPL-2.0-only
//
// Making a store visible: one pointer is swapped, then what it left behind is marked and retired.
//
//   mas_wmb_replace          a replaced subtree, after split, rebalance and span   publish.cpp
//     mas_topiary_replace
//       mas_put_in_tree      (P1) the swap, then (D1) the dead mark
//       adopt                old children that live on get their new parents
//       retire               replaced nodes one by one, covered subtrees whole
//     mas_update_gap_known   gaps of the levels above                             publish_gap.cpp
//   mas_replace_node         a replaced leaf, after a node store                  publish.cpp
//
// Owns     the tree's root word, its height, parent words, and gaps; and dead nodes until they are given to
//          RCU.
// Locking  the tree's write lock.
// Fails    never: nothing is allocated.
//
// Order    A reader that finds the new node through (P2) sees it complete. One that is still inside an old
//          node sees the dead mark through (D2) at the latest when it has read words that were written
//          after the mark. Parent words of adopted children change only after the swap: a reader climbing
//          in between goes to the old parent, finds it dead, and starts again.
#ifndef KMIRROR_LIB_MAPLE_TREE_PUBLISH_H
#define KMIRROR_LIB_MAPLE_TREE_PUBLISH_H

#include "lib/maple_tree/ma_state.h"

namespace kmirror::maple {

// ---- links (publish.cpp)

void mt_set_height(maple_tree *mt, unsigned height);

// `count` slots of `parent`, from `first` on, get it as their parent.
void mas_set_parent_slots(ma_state *mas, maple_enode *parent, unsigned first, unsigned count);
// All of them. mas->max is the last index `parent` covers.
void mas_adopt_children(ma_state *mas, maple_enode *parent);

// mas->node, whose parent word is set, takes the place of `old_enode`, which is marked dead. The height is
// only looked at when the node is the root.
void mas_put_in_tree(ma_state *mas, maple_enode *old_enode, unsigned height);
// The same, and the old node is freed.
void mas_replace_node(ma_state *mas, maple_enode *old_enode, unsigned height);

// The same for a subtree: mas->node is its finished top, `old_enode` the top of what it replaces. Subtrees
// inside [mas->index, mas->last] are dropped whole.
void mas_topiary_replace(ma_state *mas, maple_enode *old_enode, unsigned height);
// The end of a store made with `cp`: publish cp->slot[0] over mas->node, mend the gaps, stand on mas->index.
void mas_wmb_replace(ma_state *mas, struct maple_copy *cp);

// ---- retiring (publish.cpp)

// Free a dead node after the grace period.
void ma_free_rcu(maple_node *node);
void mas_free(ma_state *mas, maple_enode *used);

// Mark the top of a subtree dead and put it on the list; free every subtree on the list.
void mat_add(ma_topiary *mat, maple_enode *dead_enode);
void mas_mat_destroy(ma_state *mas, ma_topiary *mat);

// ---- gaps of an allocation tree (publish_gap.cpp)

// The longest run of NULL in a leaf that covers [min, max].
unsigned long ma_leaf_max_gap(maple_node *node, maple_type type, unsigned long min, unsigned long max);
unsigned long mas_leaf_max_gap(const ma_state *mas);
// The largest gap of an inner node, and in which slot: by looking at all of them.
unsigned long ma_max_gap(maple_node *node, maple_type type, unsigned char *offset);
// The largest gap of the cursor's node: measured in a leaf, looked up in an inner node.
unsigned long mas_max_gap(const ma_state *mas);

// The gap below slot `offset` of the parent is now `gap`: write it there, and on the levels above as far as
// their largest gap changes with it.
void mas_parent_gap(ma_state *mas, unsigned offset, unsigned long gap);
// The same for mas->node, whose largest gap is `gap`.
void mas_update_gap_known(ma_state *mas, unsigned long gap);
// The same, measuring it. Nothing happens in a tree without gaps, or for the root.
void mas_update_gap(ma_state *mas);

} // namespace kmirror::maple

#endif
