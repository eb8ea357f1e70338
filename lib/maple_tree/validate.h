// SPDX-License-Identifier: GPL-2.0-only
//
// The rules that every tree obeys between two stores, numbered, and the checker that counts how many are
// broken.
//
//   (T1)  The root word is NULL, or an entry that cannot be taken for a node (height 0), or a node (height 1
//         to 31).
//   (T2)  Every leaf lies at the same depth, and that depth is the height in ma_flags.
//   (T3)  A node's parent word names the node and the slot that point to it; the root's names the tree.
//   (T4)  No node in the tree bears the dead mark.
//   (T5)  Pivots ascend strictly, lie in the node's range, and the last one is the node's maximum: the ranges
//         of a leaf are disjoint and leave no index out.
//   (T6)  The data end that the metadata tell is the slot whose pivot is the node's maximum.
//   (T7)  Behind the data end pivots are 0 and slots NULL (but for the last slot, which holds the metadata).
//   (T8)  A node other than the root ends at its minimum or behind it.
//   (T9)  Each slot of an inner node holds an aligned child: a leaf_64, or an inner node of the tree's one
//         kind.
//   (T10) No two neighbouring ranges are both NULL, not even across two leaves.
//   (T11) A leaf ends in an entry, unless it ends at ULONG_MAX.
//   (T12) gap[i] is the longest run of NULL in one leaf below slot i, 0 behind the data end, and the metadata
//         name a slot that has the longest one. (Trees with MT_FLAGS_ALLOC_RANGE.)
//   (T13) A tree with nodes holds at least one entry.
#ifndef KMIRROR_LIB_MAPLE_TREE_VALIDATE_H
#define KMIRROR_LIB_MAPLE_TREE_VALIDATE_H

#include <linux/maple_tree.h>

extern "C" {

/**
 * kmirror_mt_check() - Count the broken rules of a tree. For fuzzers and tests.
 * @mt: The tree.
 * @report: Print a line for each broken rule, as pr_err(). A sound tree prints nothing either way.
 *
 * Unlike mt_validate(), which is the kernel's form, it does not follow a pointer it has not checked first.
 *
 * Context: The write lock, or nobody else uses the tree.
 * Return: how many rules are broken, 0 for a sound tree.
 */
unsigned long kmirror_mt_check(const struct maple_tree *mt, bool report);

} // extern "C"

namespace kmirror::maple {

inline unsigned long mt_check(const maple_tree *mt, bool report) { return kmirror_mt_check(mt, report); }

} // namespace kmirror::maple

#endif
