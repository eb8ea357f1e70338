// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's tools/testing/vma meets this library. Compiled with the kernel tree's own headers for its
 * tools, with __kmem_cache_create_args renamed to kmirror_vma_cache_create (tools/kdir/suites).
 *
 * Owns     nothing: it reads the arguments of a cache in the layout of those headers, which is not the
 *          kernel's.
 */
#include "vma_slab.h"

#include <linux/slab.h>

struct kmem_cache *kmirror_vma_cache_create(const char *name, unsigned int size, struct kmem_cache_args *args,
                                            unsigned int flags)
{
    int freeptr_offset = args->use_freeptr_offset ? (int)args->freeptr_offset : -1;

    return kmirror_vma_cache(name, size, args->align, args->sheaf_capacity, freeptr_offset,
                             (flags & SLAB_TYPESAFE_BY_RCU) != 0, args->ctor);
}
