// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/geometry.h: how objects lie in a slab, and how many a sheaf holds.
//
// Owns     the rules, all of them the kernel's; no state.
// Bounds   object sizes from 1 byte to KMALLOC_MAX_SIZE.
// Locking  none.
// Fails    calculate_sizes() says no when a slab cannot hold one object.
#pragma once

#include "lib/slub/cache.h"

namespace kmirror::slub {

// Bytes: at least `align`, more for cache lines, never less than a word.
unsigned int calculate_alignment(slab_flags_t flags, unsigned int align, unsigned int size);

// Fills size, inuse, offset, order and counts of a cache whose object_size, flags, align
// and ctor are set. False: impossible.
bool calculate_sizes(const struct kmem_cache_args *args, struct kmem_cache *s);

// Objects in a sheaf of a cache whose size and flags are set; 0: no sheaves.
unsigned int calculate_sheaf_capacity(const struct kmem_cache *s, unsigned int wished);

// Bytes of the size class with this index, see kmalloc_index().
unsigned int kmalloc_class_bytes(unsigned int index);

} // namespace kmirror::slub
