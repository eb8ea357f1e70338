// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/create.h: building a cache, and taking it apart again.
//
// Owns     a struct kmem_cache from its first field to its release.
// Bounds   one cache.
// Locking  slab_mutex is held, but while the allocator starts.
// Fails    do_kmem_cache_create(): -EINVAL, -ENOMEM, and everything it had made is gone.
#pragma once

#include "lib/slub/cache.h"

namespace kmirror::slub {

// May no other cache ever share this one's slabs?
bool slab_unmergeable(const struct kmem_cache *s);

// Builds a zeroed cache; `args->align` is what calculate_alignment() said.
int do_kmem_cache_create(struct kmem_cache *s, const char *name, unsigned int size,
                         const struct kmem_cache_args *args, slab_flags_t flags);

// Frees all a cache has, however far it got, but not the struct and its name.
void __kmem_cache_release(struct kmem_cache *s);

// Gives the cache what it lacks on one node: its list and, if it has sheaves, a barn. 0 or
// -ENOMEM.
int init_cache_node(struct kmem_cache *s, int node);

// kmem_cache_shrink() with the CPU set held.
int __kmem_cache_shrink_locked(struct kmem_cache *s);

// Gives every node with CPUs a barn. 0 or -ENOMEM; what was made is found by a release.
int init_cache_barns(struct kmem_cache *s);

// A zeroed struct kmem_cache, or NULL.
struct kmem_cache *alloc_kmem_cache(gfp_t gfp);
void free_kmem_cache(struct kmem_cache *s);

// Empties and frees; see kmem_cache_destroy(). 0, or 1 when objects are left.
int __kmem_cache_shutdown(struct kmem_cache *s);

} // namespace kmirror::slub
