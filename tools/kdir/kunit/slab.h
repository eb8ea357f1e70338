/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm/slab.h for check-kernel: the two members of a cache that the slab test touches, at the places which
 * layout.cpp has found in the library's own struct.
 */
#ifndef KMIRROR_KUNIT_SLAB_H
#define KMIRROR_KUNIT_SLAB_H

#include <kmirror/slab_info.h>
#include <linux/poison.h>
#include <linux/slab.h>

#include "layout.h"

struct kmem_cache {
    char before_flags[KMEM_CACHE_FLAGS];
    slab_flags_t flags;
    char before_offset[KMEM_CACHE_OFFSET - KMEM_CACHE_FLAGS - sizeof(slab_flags_t)];
    unsigned int offset;
};

_Static_assert(offsetof(struct kmem_cache, flags) == KMEM_CACHE_FLAGS, "where it is");
_Static_assert(offsetof(struct kmem_cache, offset) == KMEM_CACHE_OFFSET, "where it is");

#endif /* KMIRROR_KUNIT_SLAB_H */
