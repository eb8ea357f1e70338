// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/free.h: objects into their slabs, one or a linked list of one slab's at a time.
//
// Owns     the decision what a free does to its slab's place: nothing, onto the partial
//          list, off it, or back to the page allocator.
// Bounds   one swap per group of objects of one slab; list_lock only when a slab was full
//          or becomes empty.
// Locking  no lock held by the caller but what cannot be the allocator's.
// Fails    never.
#pragma once

#include "lib/slub/cpu_slab.h"

namespace kmirror::slub {

// `count` objects linked from `head` to `tail`, all of `slab`, already closed.
// `caller`: who frees them, for caches that store that.
void __slab_free(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                 unsigned int count, const void *caller = nullptr);

// The same, but into the CPU's slab if there is such a thing and it is that.
inline void do_slab_free(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                         unsigned int count, const void *caller = nullptr)
{
    if (s->cpu_slab)
        cpu_slab_free(s, slab, head, tail, count);
    else
        __slab_free(s, slab, head, tail, count, caller);
}

// The same for objects a user frees, counted as the generation counts: with cpu slabs that
// is done further down, in calls.
inline void slab_free_counted(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                              unsigned int count, const void *caller = nullptr)
{
    do_slab_free(s, slab, head, tail, count, caller);
    if (!s->cpu_slab)
        stat_add(s, FREE_SLOWPATH, count);
}

// Objects of one slab, found in an array and linked.
struct DetachedFreelist {
    struct kmem_cache *s;
    struct slab *slab; // NULL: there was one large kmalloc, and it is freed
    void *head;
    void *tail;
    unsigned int count;
};

// Takes the last object of `p`, and with it others of its slab found further to the front;
// gives up at the third stranger. What is left is p[0, return). With s == NULL objects may
// be of any cache, or large kmallocs.
size_t build_detached_freelist(struct kmem_cache *s, size_t size, void **p, DetachedFreelist *df);

// Closed objects of `s` into their slabs. The array is used as scratch space.
void __kmem_cache_free_bulk(struct kmem_cache *s, size_t size, void **p);

} // namespace kmirror::slub
