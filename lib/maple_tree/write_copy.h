// SPDX-License-Identifier: GPL-2.0-only
//
// Moving the slots of one level out of several nodes into fresh ones: what split, rebalance and span have
// in common.
//
//   sources (in order, up to four)                                     destinations (up to three, all fresh)
//     neighbour on the left       all of it
//     left node                   slots before the store
//     the work node               what the store puts in     ===>      [ node 0 ] [ node 1 ] [ node 2 ]
//     right node                  slots behind the store
//     neighbour on the right      all of it
//
// On the leaf level the work node holds the patch of write_leaf.h; on every level above it holds the
// destinations of the level below. So one call rewrites one level, and the writer goes up until it is left
// with a single node that takes the place of a single old one (cp_converged), or with the whole tree
// (cp_is_new_root).
//
// How the slots are shared out (dst_setup)
//   up to one node full         one node
//   below two nodes full        two nodes, the left one having the odd slot
//   exactly two nodes full      the same; three nodes if the left one is a leaf that would end in NULL
//   more                        three nodes
//   A node that would end in NULL, and is not the last of the tree, leaves that NULL to the next one.
//
// Owns     the destinations, from dst_setup() until they are linked by mas_wmb_replace(); none is visible
//          before.
// Locking  the tree's write lock.
// Fails    never: the nodes were reserved.
//
// Invariants
//   (C1) data == the sum of the sources' slots, and all of it reaches the destinations
//   (C2) every destination but the last of the tree ends in an entry
//   (C3) the children that the work node holds have the parent word of the destination they were put into
#ifndef KMIRROR_LIB_MAPLE_TREE_WRITE_COPY_H
#define KMIRROR_LIB_MAPLE_TREE_WRITE_COPY_H

#include "lib/maple_tree/ma_state.h"

namespace kmirror::maple {

class TreeCopy {
public:
    // `mas` brings the nodes and the tree.
    explicit TreeCopy(ma_state *mas) : mas_(mas) {}
    TreeCopy(const TreeCopy &) = delete;
    TreeCopy &operator=(const TreeCopy &) = delete;

    // The leaf level begins: the work node gets what the store puts between `left` and `right`.
    void cp_leaf_init(const ma_wr_state &left, const ma_wr_state &right);

    // Slots on this level without a neighbour: before the store, in the work node, behind the store.
    unsigned cp_data_calc(const ma_wr_state &left, const ma_wr_state &right) const;

    // Write this level; `sib` is the neighbour that takes part, or null.
    void write_level(const ma_wr_state &left, const ma_wr_state &right, const ma_state *sib);

    // The level is written and replaces [min, max]: its nodes become the content of the work node.
    void cp_dst_to_slots(unsigned long min, unsigned long max);

    // If what is in the work node is the whole tree: make it one node, the root. Then the copy is complete.
    bool cp_is_new_root();

    // If it is one node, in place of one node (the cursor's): the copy is complete.
    bool cp_converged(bool one_node_replaced);

    void go_up() { cp()->height++; }

    // For mas_wmb_replace(). Only when the copy is complete.
    struct maple_copy *cp() { return &work_.cp; }
    const struct maple_copy *cp() const { return &work_.cp; }

private:
    void add_source(maple_node *node, maple_type type, unsigned first, unsigned last, unsigned long max);
    void add_neighbour(const ma_state &sib);
    void multi_src_setup(const ma_wr_state &left, const ma_wr_state &right, const ma_state *sib);
    void *slot_at(unsigned index) const;
    void share_out(maple_type type);
    void dst_setup(maple_type type);
    void cp_data_write();

    ma_state *mas_;
    maple_node work_;       // not cleared: its counts say what is valid
};

// Does another store fit before a neighbour with `sib_end` and `data` slots are full together? One slot
// stays free, so that adding and removing an entry in turn does not move slots each time.
bool data_fits(maple_type type, unsigned sib_end, unsigned data);

} // namespace kmirror::maple

#endif
