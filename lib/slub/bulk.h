// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/bulk.h: many objects at once, without what is done around a user's object.
//
// Owns     nothing.
// Bounds   any number.
// Locking  as fastpath.h.
// Fails    alloc_bulk_unhooked(): all objects, or none and false.
#pragma once

#include "lib/slub/cache.h"

namespace kmirror::slub {

// From the sheaves at hand, then from slabs.
bool alloc_bulk_unhooked(struct kmem_cache *s, gfp_t gfp, size_t size, void **p);

// Closed objects back, the same way. The array may be reordered.
void free_bulk_unhooked(struct kmem_cache *s, size_t size, void **p);

} // namespace kmirror::slub
