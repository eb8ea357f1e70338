// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/kmalloc.h: memory by size, for the allocator itself.
//
// Owns     the table of size classes the allocator uses while it starts; users see
//          kmalloc_caches[], which is filled when all of them work.
// Bounds   a class up to KMALLOC_MAX_CACHE_SIZE bytes, whole pages above.
// Locking  as fastpath.h.
// Fails    NULL.
#pragma once

#include "lib/slub/cache.h"

namespace kmirror::slub {

// Size classes by type and index, valid from slab_state UP on. Written by boot.cpp.
extern kmem_buckets size_classes[NR_KMALLOC_TYPES];

// Makes the size classes public: (B1) release, pairs with (B2), the acquire in
// __kmalloc_bucket(). Without it a user could find a class before its sheaves.
void publish_kmalloc_caches();

// kmalloc_node() with what only the allocator may ask for; not counted as a user's.
void *kmalloc_flags(size_t size, gfp_t gfp, unsigned int alloc_flags, int node);

// kfree() of what is not counted as a user's.
void kfree_internal(void *object);

// Frees the pages of a large kmalloc; warns when it is none.
void free_large_kmalloc(void *object);

} // namespace kmirror::slub
