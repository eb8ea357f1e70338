// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/bulk.cpp: many objects in one call.
//
// Owns     nothing.
// Bounds   any number; copied sheaf by sheaf, the rest slab by slab.
// Locking  as fastpath.h, once per sheaf or slab instead of once per object.
// Fails    an allocation gives all objects or none, and then those it had are back.
#include "lib/slub/bulk.h"
#include "lib/slub/fastpath.h"
#include "lib/slub/kmalloc.h"

namespace kmirror::slub {

namespace {

// Closes `size` objects unless that is done, and moves those that may not go into this CPU's
// sheaves to the front. Returns how many those are; *size shrinks by what was no object at all.
template <bool closed>
size_t close_and_partition(struct kmem_cache *s, size_t *size, void **p)
{
    size_t remote = 0;

    // p[0, remote) closed, remote; p[remote, i) closed, local; p[i, size) to do
    for (size_t i = 0; i < *size;) {
        void *object = p[i];
        if (!closed)
            memcg_slab_free_hook(s, slab_of_object(object), object);
        if (!closed && !slab_free_hook(s, object)) [[unlikely]] {
            p[i] = p[--*size];
            continue;
        }
        if (!can_free_to_pcs(s, slab_of_object(object))) [[unlikely]] {
            p[i] = p[remote];
            p[remote++] = object;
        }
        i++;
    }
    return remote;
}

void free_to_slabs_counted(struct kmem_cache *s, size_t size, void **p)
{
    if (!size)
        return;
    __kmem_cache_free_bulk(s, size, p);
    if (!s->cpu_slab)
        stat_add(s, FREE_SLOWPATH, size);
}

// Is there nothing to close, and no object that a sheaf may not hold? With one node and no slab from reserves
// so far it is so for all, and none is looked at.
template <bool closed>
bool all_go_to_pcs(const struct kmem_cache *s)
{
    const bool nothing_to_close = closed || (!KMIRROR_KASAN && !s->init_on_free && !memcg_kmem_online());
    return nothing_to_close && nr_node_ids == 1 && !READ_ONCE(slab_from_reserves_seen);
}

template <bool closed>
void free_to_pcs_bulk(struct kmem_cache *s, size_t size, void **p)
{
    const size_t remote = all_go_to_pcs<closed>(s) ? 0 : close_and_partition<closed>(s, &size, p);

    size_t done = remote;
    while (done < size) {
        const unsigned int batch = free_to_pcs_batch(s, size - done, p + done);
        if (!batch)
            break;
        done += batch;
    }
    free_to_slabs_counted(s, size - done, p + done);
    // Last, so that the thread is likely still on the CPU whose node was compared.
    free_to_slabs_counted(s, remote, p);
}

// Closes the objects of a detached list, which drops those that may not be freed.
void close_detached(DetachedFreelist *df)
{
    if (!KMIRROR_KASAN && !df->s->init_on_free)
        return;
    void *object = df->head;
    void *last = df->tail;
    df->head = df->tail = nullptr;
    df->count = 0;
    for (;;) {
        void *next = get_freepointer(df->s, object);
        if (slab_free_hook(df->s, object)) {
            set_freepointer(df->s, object, df->head);
            df->head = object;
            df->tail = df->tail ? df->tail : object;
            df->count++;
        }
        if (object == last)
            return;
        object = next;
    }
}

void uncharge_detached(const DetachedFreelist *df)
{
    if (!memcg_kmem_online()) [[likely]]
        return;
    const void *object = df->head;
    for (unsigned int left = df->count; left; left--) {
        memcg_slab_free_hook(df->s, df->slab, object);
        object = get_freepointer(df->s, object);
    }
}

// Objects of caches without sheaves, or of any caches, slab by slab.
void free_detached_bulk(struct kmem_cache *s, size_t size, void **p, const void *caller)
{
    while (size) {
        DetachedFreelist df;

        size = build_detached_freelist(s, size, p, &df);
        if (!df.slab)
            continue;
        if (!s)
            trace_kmem_cache_free(df.s, df.count);
        uncharge_detached(&df);
        close_detached(&df);
        if (df.count)
            slab_free_counted(df.s, df.slab, df.head, df.tail, df.count, caller);
    }
}

} // namespace

// Objects that were handed out, but for being counted, and are refused.
static void free_charged_not(struct kmem_cache *s, size_t size, void **p)
{
    for (size_t i = 0; i < size; i++)
        slab_free(s, slab_of_object(p[i]), p[i]);
}

bool alloc_bulk_unhooked(struct kmem_cache *s, gfp_t gfp, size_t size, void **p)
{
    const unsigned int got = only_cpu_slab(s) ? 0 : alloc_from_pcs_bulk(s, size, p);

    if (got == size || __kmem_cache_alloc_bulk(s, gfp, size - got, p + got))
        return true;
    // No memory: the sheaves are none of our worries now.
    __kmem_cache_free_bulk(s, got, p);
    return false;
}

void free_bulk_unhooked(struct kmem_cache *s, size_t size, void **p)
{
    if (cache_has_sheaves(s))
        free_to_pcs_bulk<true>(s, size, p);
    else
        free_to_slabs_counted(s, size, p);
}

} // namespace kmirror::slub

using namespace kmirror::slub;

bool kmem_cache_alloc_bulk(struct kmem_cache *s, gfp_t flags, size_t size, void **p)
{
    if (!size || !slab_pre_alloc_hook(s, flags, size))
        return false;
    if (!alloc_bulk_unhooked(s, flags, size, p))
        return false;
    slab_post_alloc_bulk(s, flags, size, p);
    if (!memcg_slab_post_alloc_hook(s, flags, size, p, SLAB_ALLOC_DEFAULT)) [[unlikely]] {
        free_charged_not(s, size, p);
        return false;
    }
    trace_kmem_cache_alloc(s, size);
    return true;
}

void kmem_cache_free_bulk(struct kmem_cache *s, size_t size, void **p)
{
    if (!size)
        return;
    if (s)
        trace_kmem_cache_free(s, size);
    if (s && cache_has_sheaves(s))
        free_to_pcs_bulk<false>(s, size, p);
    else
        free_detached_bulk(s, size, p, __builtin_return_address(0));
}
