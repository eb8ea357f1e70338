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

#include "lib/slub/slab.h"

namespace kmirror::slub {

// `count` objects linked from `head` to `tail`, all of `slab`, already closed.
void __slab_free(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                 unsigned int count);

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
