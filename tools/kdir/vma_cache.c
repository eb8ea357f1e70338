// SPDX-License-Identifier: GPL-2.0-only
/*
 * The caches of the kernel's tools/testing/vma, and what is left in them at the end. Compiled with our
 * headers; vma_slab.c is its other half.
 *
 * Owns     the list of caches that the program made.
 * Bounds   eight caches; the tests make one.
 * Fails    with BUG when there are more.
 */
#include "tools/kdir/vma_slab.h"

#include <kmirror/harness.h>
#include <kmirror/printk.h>
#include <linux/maple_tree.h>
#include <linux/slab.h>

#include <stdio.h>
#include <stdlib.h>

static struct kmem_cache *caches[8];
static unsigned int nr_caches;

/* Read by tools/kdir/suites: tree nodes, objects of all caches, warnings. */
static void report(void)
{
    unsigned long objects = 0;
    unsigned int i;

    kvfree_rcu_barrier();
    rcu_barrier();
    for (i = 0; i < nr_caches; i++)
        objects += kmem_cache_nr_allocated(caches[i]);
    printf("check-kernel: nodes %lu caches %lu warnings %lu\n", mt_nr_allocated(), objects,
           kmirror_warn_count());
}

struct kmem_cache *kmirror_vma_cache(const char *name, unsigned int size, unsigned int align,
                                     unsigned int capacity, int freeptr_offset, int by_rcu, void (*ctor)(void *))
{
    struct kmem_cache_args args = {
        .align = align,
        .sheaf_capacity = capacity,
        .use_freeptr_offset = freeptr_offset >= 0,
        .freeptr_offset = freeptr_offset >= 0 ? (unsigned int)freeptr_offset : 0,
        .ctor = ctor,
    };
    struct kmem_cache *cache;

    BUG_ON(nr_caches == ARRAY_SIZE(caches));
    if (nr_caches == 0)
        atexit(report);
    cache = kmem_cache_create(name, size, &args, SLAB_PANIC | (by_rcu ? SLAB_TYPESAFE_BY_RCU : 0));
    caches[nr_caches++] = cache;
    return cache;
}
