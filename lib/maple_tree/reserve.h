// SPDX-License-Identifier: GPL-2.0-only
//
// Nodes in hand: the only step of a store that can fail.
//
// Owns     the node cache ("maple_node": 256 bytes, aligned to 256, sheaf capacity 32), and the two places
//          where a cursor keeps nodes that no tree holds yet: mas->alloc (one node) and mas->sheaf (any
//          number).
// Locking  the cache is created under its own mutex, once. A cursor's stock belongs to the cursor's thread.
// Fails    mas_alloc_nodes() with status ma_error (-ENOMEM): what was in hand stays in hand, the tree is
//          untouched. From then on mas_pop_node() cannot fail: the plan has counted, and an empty stock is
//          a bug (R1).
//
// Invariants
//   (R1) a writer pops at most as many nodes as mas_prealloc_calc() asked for
//   (R2) node_request != 0 only between the calculation and the allocation that serves it
#ifndef KMIRROR_LIB_MAPLE_TREE_RESERVE_H
#define KMIRROR_LIB_MAPLE_TREE_RESERVE_H

#include "lib/maple_tree/ma_state.h"

#include <linux/slab.h>

namespace kmirror::maple {

// mas_flags, beside MA_STATE_PREALLOC: the reservation is an estimate for many stores, each of which may
// have to add to it.
inline constexpr unsigned char MA_STATE_BULK = 2;

// ---- the cache

// The node cache, made at the first call.
kmem_cache *maple_node_cache_get();

// Ends the node cache, so that the next use makes it anew, by the settings that hold then. Nobody may use
// any tree meanwhile. May sleep. 0; -EBUSY while a node is in use, and then nothing has changed.
int maple_node_cache_renew();

// One node, not cleared. NULL when memory ran out.
maple_node *mt_alloc_one(gfp_t gfp);
// Give back one node, or `count` nodes. No reader may be inside.
void mt_free_one(maple_node *node);
void mt_free_bulk(size_t count, void **nodes);

// A sheaf of at least `count` nodes, NULL when memory ran out; more into one that exists; and back.
slab_sheaf *mt_get_sheaf(gfp_t gfp, unsigned count);
int mt_refill_sheaf(gfp_t gfp, slab_sheaf **sheaf, unsigned count);
void mt_return_sheaf(slab_sheaf *sheaf);

// ---- the cursor's stock

// Bring the stock up to mas->node_request nodes. On failure the cursor's status is ma_error and the request
// stays.
void mas_alloc_nodes(ma_state *mas, gfp_t gfp);

// Take a node out of the stock; all its words are zero.
maple_node *mas_pop_node(ma_state *mas);

// Give the whole stock back.
void mas_empty_nodes(ma_state *mas);

} // namespace kmirror::maple

#endif
