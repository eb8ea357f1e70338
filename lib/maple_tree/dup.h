// SPDX-License-Identifier: GPL-2.0-only
//
// Copying a tree node by node.
//
// Owns     the unpublished copy while it is made: all of it hangs on one fresh root, or nothing of it is
//          left.
// Bounds   one allocation call for the root and one for the children of every inner node; recursion as deep
//          as the tree is high (MAPLE_HEIGHT_MAX).
// Locking  the caller holds both trees' locks for writing. The copy has no reader before its root is
//          published.
// Fails    with false, everything allocated being back in the cache.
#ifndef KMIRROR_LIB_MAPLE_TREE_DUP_H
#define KMIRROR_LIB_MAPLE_TREE_DUP_H

#include "lib/maple_tree/maple_node.h"

namespace kmirror::maple {

// Fill `copy`, which is fresh memory, from `source`, and hang copies of everything below it on it.
bool ma_dup_subtree(maple_node *copy, const maple_node *source, maple_type type, ParentWord parent,
                    gfp_t gfp);

} // namespace kmirror::maple

#endif
