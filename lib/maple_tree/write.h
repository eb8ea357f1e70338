// SPDX-License-Identifier: GPL-2.0-only
//
// Doing the planned store. Nothing here can fail.
//
//   mas_wr_store_entry                                                   write.cpp
//     exact fit         one slot                                         write.cpp
//     mas_wr_append     in place, behind the leaf's last entry           write_leaf.cpp   not in RCU mode
//     mas_wr_slot_store in place, one or two pivots move                 write_leaf.cpp
//     mas_wr_node_store the leaf rewritten: a copy, or in place          write_leaf.cpp
//     mas_wr_split      one leaf becomes two                             write_balance.cpp
//     mas_wr_rebalance  one leaf takes from a neighbour or joins it      write_balance.cpp
//     mas_wr_spanning_store   everything between two leaves              write_spanning.cpp
//     mas_new_root, mas_store_root   no node before, or none of the old  write_root.cpp
//   The three that replace whole levels move their slots with TreeCopy   write_copy.h
//   and go on to publish.h.
//
// Owns     the nodes popped from the cursor's stock until publish has linked them.
// Locking  the tree's write lock. What a reader can see while an in-place writer works is said at that
//          writer.
#ifndef KMIRROR_LIB_MAPLE_TREE_WRITE_H
#define KMIRROR_LIB_MAPLE_TREE_WRITE_H

#include "lib/maple_tree/ma_state.h"

namespace kmirror::maple {

// Run the writer of mas->store_type. Afterwards the cursor stands on the new range, or has status ma_start.
void mas_wr_store_entry(ma_wr_state *wr_mas);

void mas_wr_append(ma_wr_state *wr_mas);
void mas_wr_slot_store(ma_wr_state *wr_mas);
void mas_wr_node_store(ma_wr_state *wr_mas);
void mas_wr_split(ma_wr_state *wr_mas);
void mas_wr_rebalance(ma_wr_state *wr_mas);
void mas_wr_spanning_store(ma_wr_state *wr_mas);

// A tree that holds `entry` at every index, or nothing. Only for index 0 to ULONG_MAX.
void mas_new_root(ma_state *mas, void *entry);
// The first store into a tree without nodes.
void mas_store_root(ma_state *mas, void *entry);

} // namespace kmirror::maple

#endif
