// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/sheaf.h: an array of free objects that travels as a whole.
//
// Owns     struct slab_sheaf: making, filling from slabs, flushing into slabs, freeing.
// Bounds   as many objects as it was made for: the cache's sheaf_capacity, or what a
//          prefill asked for.
// Locking  none of its own. A sheaf is in one CPU's hands (its local lock), on one barn
//          list (the barn's lock), or private to a caller: exactly one of the three.
// Fails    alloc_empty_sheaf() returns NULL without memory; refill_sheaf() -ENOMEM with
//          what was found left in the sheaf.
//
// Its memory comes from the size classes, which have sheaves themselves. A size class
// allocates its own sheaves with SLAB_ALLOC_NO_RECURSE, which ends the chain at once.
#pragma once

#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "lib/slub/cache.h"

// (H1) size <= what the array was made for
// (H2) every object in it belongs to `cache` and is counted in use by its slab
struct slab_sheaf {
    union {
        struct rcu_head rcu_head;   // an rcu_free sheaf waiting for its grace period
        struct list_head barn_list; // in a barn
        struct {
            unsigned int capacity;  // in a caller's hands: what the array was made for,
            bool pfmemalloc;        // and whether emergency objects may be inside
        };
        struct llist_node llnode;   // an rcu_free sheaf put aside, see deferred.h
    };
    unsigned int size;              // objects in it
    int node;                       // whose barn an rcu_free sheaf goes to
    struct kmem_cache *cache;
    void *objects[];
};

static_assert(sizeof(struct slab_sheaf) == 32 || sizeof(long) == 4, "sheaf sizes are those of the kernel");

namespace kmirror::slub {

// The empty sheaf of capacity 0 that every CPU of a cache without sheaves has as main.
// Nobody writes to it. Both fast paths find it used up, so they need no NULL test.
extern struct slab_sheaf bootstrap_sheaf;

// Most pointers that are copied to the stack at once.
inline constexpr unsigned int PCS_BATCH_MAX = 32;

// A sheaf for `capacity` objects, for caches whose own is not set yet.
struct slab_sheaf *__alloc_empty_sheaf(struct kmem_cache *s, gfp_t gfp, unsigned int alloc_flags,
                                       unsigned int capacity);

// A sheaf of the cache's capacity; NULL without memory or with SLAB_ALLOC_NO_RECURSE.
struct slab_sheaf *alloc_empty_sheaf(struct kmem_cache *s, gfp_t gfp, unsigned int alloc_flags);

// Frees a sheaf without objects.
void free_empty_sheaf(struct kmem_cache *s, struct slab_sheaf *sheaf);

// The two for an array that never goes to a CPU or barn. Generations with cpu slabs do not
// count it as a sheaf.
struct slab_sheaf *alloc_one_off_sheaf(struct kmem_cache *s, gfp_t gfp, unsigned int capacity);
void free_one_off_sheaf(struct kmem_cache *s, struct slab_sheaf *sheaf);

// Fills a private sheaf up to the cache's capacity. 0, or -ENOMEM with fewer in it.
int refill_sheaf(struct kmem_cache *s, struct slab_sheaf *sheaf, gfp_t gfp);

// Empties a private sheaf into the slabs.
void sheaf_flush_unused(struct kmem_cache *s, struct slab_sheaf *sheaf);

// Empties a private sheaf and frees it.
void sheaf_dispose(struct kmem_cache *s, struct slab_sheaf *sheaf);

// What is there is the caller's now.
inline struct slab_sheaf *take_sheaf(struct slab_sheaf *&place)
{
    struct slab_sheaf *sheaf = place;
    place = nullptr;
    return sheaf;
}

// Moves the top `count` pointers of a sheaf to `p`, oldest first.
inline void sheaf_pop_bulk(struct slab_sheaf *sheaf, void **p, unsigned int count)
{
    sheaf->size -= count;
    memcpy(p, sheaf->objects + sheaf->size, count * sizeof(void *));
}

// Appends `count` pointers; the sheaf has room for them.
inline void sheaf_push_bulk(struct slab_sheaf *sheaf, void *const *p, unsigned int count)
{
    memcpy(sheaf->objects + sheaf->size, p, count * sizeof(void *));
    sheaf->size += count;
}

} // namespace kmirror::slub
