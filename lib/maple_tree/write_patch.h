// SPDX-License-Identifier: GPL-2.0-only
//
// Leaves were rewritten, and their parent has room for what came out: in a tree without RCU mode the parent is
// patched where it is, instead of being copied.
//
//   before   c0 | c1 | c2 | c3 | c4              c1 and c2 were replaced ...
//   after    c0 | n0 | n1 | n2 | c3 | c4         ... by three new leaves; c3 and c4 learn their new slots
//
// What that saves: a node taken, cleared, filled and given back; and a look at the parent word of every child, old
// and new, each of which is a line of its own. The parent holds afterwards what the copy would hold, word by word,
// and the tree has the same shape. Only how many nodes a store takes and gives back is another number than 7.3's, so
// in mock mode, where suites count them one by one, the parent is copied.
//
// Owns     the new leaves until they are linked.
// Locking  the tree's write lock, which every reader waits for, too: the tree is not in RCU mode.
// Fails    never.
#ifndef KMIRROR_LIB_MAPLE_TREE_WRITE_PATCH_H
#define KMIRROR_LIB_MAPLE_TREE_WRITE_PATCH_H

#include "lib/maple_tree/ma_state.h"

#include <kmirror/harness.h>

namespace kmirror::maple {

// `mas` stands on a node of the level that `cp` has reached, which will hold `data` slots. Is that node the parent of
// what was replaced, and would it be rewritten alone? `may_be_small`: it is the root.
inline bool can_patch_parent(const ma_state *mas, const struct maple_copy *cp, unsigned data, bool may_be_small)
{
    constexpr unsigned char kAboveLeaves = 2;
    const maple_type type = mte_node_type(mas->node);
    return cp->height == kAboveLeaves && !mt_in_rcu(mas->tree) && data <= mt_slots[type] &&
           (data > mt_min_slots[type] || may_be_small) && !kmirror_harness_exact();
}

// Put the new leaves of `cp` into the cursor's node, in place of the children `first` to `last`, which go back to
// the cache; mend the gaps above; stand on mas->index.
void mas_wr_patch_parent(ma_state *mas, const struct maple_copy *cp, unsigned first, unsigned last);

} // namespace kmirror::maple

#endif
