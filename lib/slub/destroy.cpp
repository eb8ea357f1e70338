// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/destroy.cpp: shrinking and ending a cache.
//
// Owns     the way back: sheaves and barns into slabs, empty slabs into pages.
// Bounds   a shrink sorts slabs with up to 32 free objects; the others stay where they are.
// Locking  the CPU set, then slab_mutex. list_lock is held while slabs are sorted out, and
//          dropped before the first page goes back.
// Fails    a cache with live objects is not destroyed: it is reported, leaves the list of
//          caches, and stays usable for those objects' frees.
#include <linux/cpu.h>
#include <linux/rcupdate.h>

#include "lib/slub/create.h"
#include "lib/slub/debug.h"
#include "lib/slub/deferred.h"
#include "lib/slub/hooks.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/node.h"
#include "lib/slub/percpu_sheaves.h"

namespace kmirror::slub {

namespace {

constexpr unsigned int kPromoteMax = 32;

// Off the list with every empty slab; the others are reported.
void free_partial(struct kmem_cache *s, struct kmem_cache_node *n)
{
    struct list_head discard;

    INIT_LIST_HEAD(&discard);
    {
        ListHold hold(n);
        for (struct slab *slab : SlabsOn(&n->partial)) {
            if (slab_counters(slab).inuse()) {
                list_slab_objects(s, slab);
                continue;
            }
            clear_node_partial_state(n, slab);
            list_move(&slab->slab_list, &discard);
        }
        for (struct slab *slab : SlabsOn(&n->full))
            list_slab_objects(s, slab);
    }
    for (struct slab *slab : SlabsOn(&discard))
        discard_slab(s, slab);
}

// A node's slabs while they are sorted: the empty ones, and those with few free objects
// by how few.
struct SortedSlabs {
    struct list_head discard;
    struct list_head promote[kPromoteMax];

    SortedSlabs()
    {
        INIT_LIST_HEAD(&discard);
        for (struct list_head &list : promote)
            INIT_LIST_HEAD(&list);
    }

    // list_lock held.
    void take(const struct kmem_cache *s, int node, struct kmem_cache_node *n, struct slab *slab)
    {
        // Read once: frees go on, and the slab must not be judged twice.
        const SlabCounters counters = slab_counters(slab);
        const unsigned int free = counters.free();

        BUG_ON(free == 0); // a full slab is on no list
        if (free == counters.objects()) {
            list_move(&slab->slab_list, &discard);
            clear_node_partial_state(n, slab);
            dec_slabs_node(s, node, counters.objects());
        } else if (free <= kPromoteMax) {
            list_move(&slab->slab_list, &promote[free - 1]);
        }
    }

    // Fullest first, in front of those with more free objects. list_lock held.
    void put_back(struct kmem_cache_node *n)
    {
        for (unsigned int i = kPromoteMax; i-- > 0;)
            list_splice(&promote[i], &n->partial);
    }
};

// New allocations then use up the fullest slabs, and the emptiest have a chance to become
// empty.
void shrink_node(struct kmem_cache *s, int node, struct kmem_cache_node *n)
{
    SortedSlabs sorted;

    {
        ListHold hold(n);
        for (struct slab *slab : SlabsOn(&n->partial))
            sorted.take(s, node, n, slab);
        sorted.put_back(n);
    }
    for (struct slab *slab : SlabsOn(&sorted.discard))
        free_slab(s, slab);
}

void shrink_barns(struct kmem_cache *s)
{
    for_each_cache_barn(s, [&](struct node_barn *barn) { barn_shrink(s, barn); });
}

// A flushed object may have put its slab into the chain of the CPU that flushed. Linux 6.18
// leaves it there, and then cannot destroy the cache; here what is empty is found empty.
bool flush_ends_in_chains(const struct kmem_cache *s)
{
    return s->cpu_slab && cache_has_sheaves(s);
}

int kmem_cache_do_shrink(struct kmem_cache *s)
{
    int slabs_left = 0;

    for_each_cache_node(s, [&](int node, struct kmem_cache_node *n) {
        shrink_node(s, node, n);
        slabs_left |= node_nr_slabs(n) != 0;
    });
    return slabs_left;
}

// Ends one use. True: it was the last, the cache is empty and off the list.
bool kmem_cache_put(struct kmem_cache *s, void *caller)
{
    bool empty = false;

    cpus_read_lock();
    mutex_lock(&slab_mutex);
    if (--s->refcount == 0) {
        empty = !__kmem_cache_shutdown(s);
        WARN(!empty && !slab_in_kunit_test(),
             "kmem_cache_destroy %s: Slab cache still has objects when called from %p\n",
             s->name, caller);
        list_del(&s->list);
    }
    mutex_unlock(&slab_mutex);
    cpus_read_unlock();
    return empty;
}

} // namespace

int __kmem_cache_shrink_locked(struct kmem_cache *s)
{
    flush_all_cpus_locked(s);
    shrink_barns(s);
    if (flush_ends_in_chains(s))
        flush_all_cpus_locked(s);
    return kmem_cache_do_shrink(s);
}

int __kmem_cache_shutdown(struct kmem_cache *s)
{
    int objects_left = 0;

    flush_all_cpus_locked(s);
    // The flush has sent rcu_free sheaves on their way; their callbacks use the cache.
    if (cache_has_sheaves(s))
        rcu_barrier();
    shrink_barns(s);
    if (flush_ends_in_chains(s))
        flush_all_cpus_locked(s);
    for_each_cache_node(s, [&](int, struct kmem_cache_node *n) {
        free_partial(s, n);
        objects_left |= n->nr_partial || node_nr_slabs(n);
    });
    return objects_left;
}

} // namespace kmirror::slub

using namespace kmirror::slub;

int kmem_cache_shrink(struct kmem_cache *s)
{
    deferred_work_barrier();
    cpus_read_lock();
    const int slabs_left = __kmem_cache_shrink_locked(s);
    cpus_read_unlock();
    return slabs_left;
}

void kmem_cache_destroy(struct kmem_cache *s)
{
    if (!s || WARN_ON(!kasan_byte_accessible(s)))
        return;
    // Objects of ours may be waiting for their grace period.
    kvfree_rcu_barrier_on_cache(s);
    if (!kmem_cache_put(s, __builtin_return_address(0)))
        return;
    // Slabs may be waiting as well, and know their cache.
    if (s->flags & SLAB_TYPESAFE_BY_RCU)
        rcu_barrier();
    __kmem_cache_release(s);
    kfree_internal(const_cast<char *>(s->name));
    free_kmem_cache(s);
}
