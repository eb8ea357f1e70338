// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/refill.cpp: where objects come from when no sheaf has any.
//
//   refill (a sheaf's worth)                 slow path (one object)              lock
//   refill_from_node        own node         get_from_partial  own node          list_lock
//   refill_from_other_nodes tried only       get_from_partial  others            list_lock
//   alloc_from_new_slab     new pages        alloc_from_new_slab                 list_lock, if
//                                                                                some are left
// Owns     nothing: objects are the caller's as soon as they are in its array.
// Bounds   see refill.h.
// Locking  see refill.h. Between taking a slab off the list and emptying it, the slab is
//          on no list; frees into it see "not full, not listed" and leave it alone.
// Fails    see refill.h; a slow path that fails says so in the log, ten times a cache.
#include <linux/cpu.h>
#include <linux/fault-inject.h>
#include <linux/smp.h>

#include "lib/slub/cpu_slab.h"
#include "lib/slub/debug.h"
#include "lib/slub/deferred.h"
#include "lib/slub/free.h"
#include "lib/slub/hooks.h"
#include "lib/slub/node.h"
#include "lib/slub/refill.h"

namespace kmirror::slub {

namespace {

// Everything free in a slab that is off the list, in one swap. The slab counts as full.
void *get_freelist_nofreeze(struct kmem_cache *s, struct slab *slab, unsigned int *count)
{
    FreelistCounters old, fresh;
    do {
        old = slab_word_read(slab->word);
        VM_WARN_ON_ONCE(old.counters.frozen());
        fresh.freelist = nullptr;
        fresh.counters = old.counters.with_inuse(old.counters.objects());
    } while (!slab_update_freelist(s, slab, old, fresh));
    *count = old.counters.free();
    return old.freelist;
}

// Puts surplus back. Usually nobody has freed into the slab since it was emptied, and the
// list can go back as it is. Else its tail must be found, for an ordinary free.
void slab_return_surplus(struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab,
                         void *head, unsigned int count)
{
    if (slab_try_return_freelist(s, n, slab, head, count))
        return;
    void *tail = head;
    while (void *next = get_freepointer(s, tail))
        tail = next;
    __slab_free(s, slab, head, tail, count);
}

// Objects that are still wanted, and where they go.
struct Wanted {
    void **p;
    gfp_t gfp;
    unsigned int min;
    unsigned int max;

    void got(void *object)
    {
        *p++ = object;
        min -= min != 0;
        max--;
    }
};

// One slab's free objects, as many as are wanted.
void refill_from_slab(struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab,
                      Wanted *wanted)
{
    unsigned int count;
    void *object = get_freelist_nofreeze(s, slab, &count);

    for (; count && wanted->max; count--) {
        void *next = get_freepointer(s, object);
        wanted->got(object);
        object = next;
    }
    if (count)
        slab_return_surplus(s, n, slab, object, count);
}

void refill_from_node(struct kmem_cache *s, struct kmem_cache_node *n, Spin spin, Wanted *wanted)
{
    PartialBulk wish;

    wish.gfp = wanted->gfp;
    wish.min_objects = wanted->min;
    wish.max_objects = wanted->max;
    if (!get_partial_node_bulk(n, &wish, spin))
        return;
    for (struct slab *slab : SlabsOn(&wish.slabs)) {
        list_del(&slab->slab_list);
        refill_from_slab(s, n, slab, wanted);
        if (!wanted->max)
            break;
    }
    // Others freed more than the counters had said: some slabs were not needed.
    return_partial_bulk(n, &wish);
}

void refill_from_other_nodes(struct kmem_cache *s, Wanted *wanted)
{
    if (nr_node_ids == 1 || !remote_nodes_wanted(s))
        return;
    for_each_remote_partial(s, [&](struct kmem_cache_node *n) {
        // Do not wait for another node's lock: its CPUs are busy with it, and a slab of
        // our own is one page allocation away.
        refill_from_node(s, n, remote_spin(s), wanted);
        return wanted->min == 0;
    });
}

// Up to `count` objects of a slab nobody knows yet; the rest goes on its node's list. 0: only
// with Spin::try_only, and the slab is gone: nobody had counted it yet.
unsigned int alloc_from_new_slab(struct kmem_cache *s, struct slab *slab, void **p,
                                 unsigned int count, Spin spin)
{
    const unsigned int objects = slab_objects(slab);
    const int node = slab_nid(slab);
    const bool all = count >= objects;
    if (all)
        count = objects;

    SlabObjectIterator iterator(s, slab);
    for (unsigned int i = 0; i < count; i++)
        p[i] = iterator.next(s);
    build_slab_freelist(s, slab, iterator, count);

    if (!all) {
        struct kmem_cache_node *n = get_node(s, node);
        if (!spin_lock_for(&n->list_lock, spin)) [[unlikely]] {
            free_new_slab_nolock(slab);
            return 0;
        }
        add_partial_head(n, slab);
        raw_spin_unlock(&n->list_lock);
    }
    inc_slabs_node(s, node, objects);
    return count;
}

// One object from the lists, `node` first.
void *get_from_partial(struct kmem_cache *s, int node, gfp_t gfp, Spin spin)
{
    const int first = node == NUMA_NO_NODE ? numa_mem_id() : node;

    void *object = get_from_partial_node(s, get_node(s, first), gfp, spin);
    if (object || (node != NUMA_NO_NODE && (gfp & __GFP_THISNODE)))
        return object;
    if (nr_node_ids == 1 || !remote_nodes_wanted(s))
        return nullptr;
    for_each_remote_partial(s, [&](struct kmem_cache_node *n) {
        object = get_from_partial_node(s, n, gfp, spin);
        return object != nullptr;
    });
    return object;
}

// One object from the lists or a new slab, or NULL.
void *slab_alloc_one(struct kmem_cache *s, gfp_t gfp, int node, Spin spin)
{
    if (void *object = get_from_partial(s, node, gfp, spin))
        return object;
    struct slab *slab = new_slab(s, gfp, node, spin);
    if (!slab)
        return nullptr;
    stat(s, ALLOC_SLAB);
    void *object;
    return alloc_from_new_slab(s, slab, &object, 1, spin) ? object : nullptr;
}

} // namespace

unsigned int refill_objects(struct kmem_cache *s, void **p, gfp_t gfp, unsigned int min,
                            unsigned int max)
{
    run_deferred_work();
    const int local_node = numa_mem_id();
    Wanted wanted = {p, gfp, min, max};

    refill_from_node(s, get_node(s, local_node), Spin::wait, &wanted);
    if (wanted.min)
        refill_from_other_nodes(s, &wanted);

    unsigned int refilled = max - wanted.max;
    while (refilled < min) {
        struct slab *slab = new_slab(s, gfp, local_node, Spin::wait);
        if (!slab)
            break;
        stat(s, ALLOC_SLAB);
        refilled += alloc_from_new_slab(s, slab, p + refilled, max - refilled, Spin::wait);
    }
    return refilled;
}

void slab_out_of_memory(struct kmem_cache *s, gfp_t gfp, int nid)
{
    static constexpr unsigned int kReportsMax = 10;

    if ((gfp & __GFP_NOWARN) ||
        __atomic_fetch_add(&s->oom_reports, 1, __ATOMIC_RELAXED) >= kReportsMax)
        return;
    const int cpu = raw_smp_processor_id();
    pr_warn("SLUB: Unable to allocate memory on CPU %d (of node %d) on node %d, gfp=%#x\n", cpu,
            cpu_to_node(cpu), nid, gfp);
    pr_warn("  cache: %s, object size: %u, buffer size: %u, default order: %u, min order: %u\n",
            s->name, s->object_size, s->size, s->oo.order, s->min.order);
    for_each_cache_node(s, [&](int node, struct kmem_cache_node *n) {
        unsigned long free = 0;
        {
            ListHold hold(n);
            for (struct slab *slab : SlabsOn(&n->partial))
                free += slab_counters(slab).free();
        }
        pr_warn("  node %d: slabs: %lu, objs: %lu, free: %lu\n", node, node_nr_slabs(n),
                node_nr_objs(n), free);
    });
}

static bool alloc_bulk_from_slabs(struct kmem_cache *s, gfp_t gfp, size_t size, void **p)
{
    if (s->cpu_slab)
        return cpu_slab_alloc_bulk(s, gfp, size, p);
    if (kmem_cache_debug(s)) [[unlikely]]
        return debug_alloc_bulk(s, gfp, size, p, nullptr);
    const unsigned int got = refill_objects(s, p, gfp, size, size);
    if (got < size) {
        __kmem_cache_free_bulk(s, got, p);
        return false;
    }
    stat_add(s, ALLOC_SLOWPATH, got);
    return true;
}

bool __kmem_cache_alloc_bulk(struct kmem_cache *s, gfp_t gfp, size_t size, void **p)
{
    const size_t granted = fail_bulk_after(s->name, gfp, size);

    if (granted && !alloc_bulk_from_slabs(s, gfp, granted, p))
        return false;
    if (granted == size) [[likely]]
        return true;
    __kmem_cache_free_bulk(s, granted, p);
    return false;
}

void *___slab_alloc(struct kmem_cache *s, gfp_t gfp, int node, unsigned int alloc_flags)
{
    const Spin spin = alloc_spin(alloc_flags);

    if (s->cpu_slab) {
        void *object = __slab_alloc_node(s, gfp, node, spin);
        // A lock was taken: one object straight from a node will do.
        return object || spin == Spin::wait ? object : slab_alloc_one(s, gfp, node, spin);
    }
    stat(s, ALLOC_SLOWPATH);
    if (spin == Spin::wait)
        run_deferred_work();

    // A wished node that is no order: first its lists and at most what may be had there
    // without effort, then anything.
    if (node != NUMA_NO_NODE && !(gfp & __GFP_THISNODE)) {
        const gfp_t nearby = (gfp & (GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_ACCOUNT)) |
                             __GFP_NOWARN | __GFP_THISNODE;
        if (void *object = slab_alloc_one(s, nearby, node, spin))
            return object;
    }
    void *object = slab_alloc_one(s, gfp, node, spin);
    if (!object)
        slab_out_of_memory(s, gfp, node);
    return object;
}

} // namespace kmirror::slub
