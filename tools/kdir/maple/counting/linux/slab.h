/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/slab.h for a kernel whose kmem_cache_alloc_bulk() returns how many objects it gave: ours, which gives
 * all or none and says so in a bool.
 */
#ifndef KMIRROR_TOOLS_KDIR_COUNTING_SLAB_H
#define KMIRROR_TOOLS_KDIR_COUNTING_SLAB_H

#include_next <linux/slab.h>

static inline int kmirror_counting_bulk(struct kmem_cache *cache, gfp_t gfp, size_t size, void **objects)
{
    return kmem_cache_alloc_bulk(cache, gfp, size, objects) ? (int)size : 0;
}
#define kmem_cache_alloc_bulk kmirror_counting_bulk

#endif
