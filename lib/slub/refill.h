// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/refill.h: objects out of slabs, many for a sheaf or one for the slow path.
//
// Owns     the order in which slabs are tried: own node's partial list, other nodes'
//          lists, a new slab.
// Bounds   as many objects as asked for; surplus of the last slab goes back.
// Locking  none held by the caller. list_lock of the own node is waited for; those of
//          other nodes are only tried by a refill, and waited for by the slow path.
// Fails    fewer objects than asked for, or none: no memory.
#pragma once

#include "lib/slub/cache.h"

namespace kmirror::slub {

// At least `min` and at most `max` objects into `p`; fewer than min: no memory.
unsigned int refill_objects(struct kmem_cache *s, void **p, gfp_t gfp, unsigned int min,
                            unsigned int max);

// All `size` objects, or none and false.
bool __kmem_cache_alloc_bulk(struct kmem_cache *s, gfp_t gfp, size_t size, void **p);

// One object, when the sheaves had none. `node` is a wish; with __GFP_THISNODE an order.
[[gnu::noinline]] void *___slab_alloc(struct kmem_cache *s, gfp_t gfp, int node,
                                      unsigned int alloc_flags);

// Says in the log that the cache could not grow.
[[gnu::cold]] void slab_out_of_memory(struct kmem_cache *s, gfp_t gfp, int nid);

} // namespace kmirror::slub
