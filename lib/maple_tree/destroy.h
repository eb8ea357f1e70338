// SPDX-License-Identifier: GPL-2.0-only
//
// Taking whole trees and subtrees out of the world.
//
// Owns     nodes that no longer hang on a tree, from the moment their root is handed over until they are back
//          in the node cache. Entries are never looked at: they belong to the tree's user.
// Bounds   recursion is as deep as a tree is high, MAPLE_HEIGHT_MAX at most, with a few words a level.
// Locking  the write lock of the tree while marking; the callback runs alone, after every reader has left.
// Fails    never.
#ifndef KMIRROR_LIB_MAPLE_TREE_DESTROY_H
#define KMIRROR_LIB_MAPLE_TREE_DESTROY_H

#include "lib/maple_tree/maple_node.h"

namespace kmirror::maple {

// How many children an inner node has. Reads the metadata and the last pivot only, which neither the dead
// mark, nor the link of a topiary list, nor an rcu_head ever covers: it answers for nodes on their way out as
// well.
unsigned ma_child_count(maple_node *node, maple_type type);

// Every node from `enode` down, which nobody points to any more, is given up. Without `free` each one is
// marked dead and the root remembers its type; the caller then hands &node->rcu to call_rcu() with
// mt_free_walk(). With `free` they go back to the cache at once: only when no reader can be inside, that is
// in a tree without RCU mode.
void mt_destroy_walk(maple_enode *enode, maple_tree *mt, bool free);

// The rcu callback for what mt_destroy_walk() has marked.
void mt_free_walk(rcu_head *head);

// The two of them, as the tree's mode asks for it.
void mte_destroy_walk(maple_enode *enode, maple_tree *mt);

// Free every node below `node`, not the node itself. No reader may be inside.
void ma_free_below(maple_node *node, maple_type type);

} // namespace kmirror::maple

#endif
