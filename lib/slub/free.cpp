// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/free.cpp: what a free does to a slab.
//
//   slab before   after    done                                            list_lock
//   full          in use   added to the tail of the list                   yes
//   full          empty    added, or freed when the node has enough        yes
//   listed        in use   nothing                                         no
//   listed        empty    stays, or off the list and freed                yes
//   off the list  any      nothing: who took it off decides                if empty
//
// with cpu slabs
//   frozen        any      nothing: a CPU has it                           no
//   full          any      onto the chain of the freeing CPU               no
//
// Owns     nothing beyond free.h.
// Bounds   see free.h.
// Locking  list_lock is taken before the swap that needs it, so that the swap and the list
//          change together; it is dropped again when the swap fails. Pages are freed after.
// Fails    never.
#include "lib/slub/cpu_slab.h"
#include "lib/slub/debug.h"
#include "lib/slub/free.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/node.h"

namespace kmirror::slub {

namespace {

// The state of one free while its swap is tried.
struct SlabFree {
    FreelistCounters old;
    FreelistCounters fresh;
    struct kmem_cache_node *n = nullptr; // its list_lock is held
    bool was_full;
    bool was_frozen;
    bool was_listed; // read with the lock held only

    // Prepares the swap, with list_lock if its success may change the list.
    void prepare(const struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                 unsigned int count)
    {
        release();
        old = slab_word_read(slab->word);
        was_full = old.freelist == nullptr;
        was_frozen = old.counters.frozen();
        set_freepointer(s, tail, old.freelist);
        fresh.freelist = head;
        fresh.counters = old.counters.with_inuse(old.counters.inuse() - count);
        if (was_frozen || (was_full && kmem_cache_has_cpu_partial(s)))
            return;
        if (was_full || fresh.counters.inuse() == 0) {
            n = get_node(s, slab_nid(slab));
            raw_spin_lock(&n->list_lock);
            was_listed = slab->on_partial;
        }
    }

    void release()
    {
        if (!n) [[likely]]
            return;
        raw_spin_unlock(&n->list_lock);
        n = nullptr;
    }

    // The node has as many slabs in stock as it should keep.
    bool enough(const struct kmem_cache *s) const
    {
        return n->nr_partial >= READ_ONCE(s->min_partial);
    }
};

// After the swap, without list_lock. Listed before and still, there is nothing to do, and the
// slab may be gone any moment.
void slab_free_settle_unlocked(struct kmem_cache *s, struct slab *slab, const SlabFree &state)
{
    if (!kmem_cache_has_cpu_partial(s)) [[likely]]
        return;
    if (state.was_frozen) {
        stat(s, FREE_FROZEN);
    } else if (state.was_full) {
        // It is ours until it is chained: others find it neither full nor on a list.
        put_cpu_partial(s, slab, Drain::if_full);
        stat(s, CPU_PARTIAL_FREE);
    }
}

// After the swap, list_lock held. True: the slab is empty, off the list, and to be freed.
bool slab_free_settle(struct kmem_cache *s, struct slab *slab, const SlabFree &state)
{
    if (!state.was_full && !state.was_listed)
        return false;
    if (state.fresh.counters.inuse() == 0 && state.enough(s)) {
        // With one object a slab goes from full to empty in one free.
        if (!state.was_full) {
            remove_partial(state.n, slab);
            stat(s, FREE_REMOVE_PARTIAL);
        }
        return true;
    }
    if (state.was_full) {
        add_partial_tail(state.n, slab);
        stat(s, FREE_ADD_PARTIAL);
    }
    return false;
}

} // namespace

void __slab_free(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                 unsigned int count, const void *caller)
{
    if (kmem_cache_debug(s)) [[unlikely]] {
        free_to_partial_list(s, slab, head, tail, count, caller);
        return;
    }
    SlabFree state;

    do
        state.prepare(s, slab, head, tail, count);
    while (!slab_update_freelist(s, slab, state.old, state.fresh));

    if (!state.n) [[likely]] {
        slab_free_settle_unlocked(s, slab, state);
        return;
    }
    const bool free_it = slab_free_settle(s, slab, state);
    state.release();
    if (free_it) {
        stat(s, FREE_SLAB);
        discard_slab(s, slab);
    }
}

size_t build_detached_freelist(struct kmem_cache *s, size_t size, void **p, DetachedFreelist *df)
{
    void *object = p[--size];
    struct slab *slab = virt_to_slab(object);
    df->slab = slab;
    if (!s && !slab) {
        free_large_kmalloc(object);
        return size;
    }
    df->s = s ? s : slab->slab_cache;
    df->head = df->tail = object;
    df->count = 1;
    set_freepointer(df->s, object, nullptr);

    // Strangers passed on the way are kept together below `same`. The slab's addresses tell them, so that no
    // struct page is looked at.
    const void *start = slab_address(slab);
    const unsigned long bytes = PAGE_SIZE << slab_order(slab);
    size_t same = size;
    int strangers_allowed = 3;
    while (size) {
        object = p[--size];
        if (bytes_between(start, object) >= bytes) {
            if (--strangers_allowed == 0)
                break;
            continue;
        }
        set_freepointer(df->s, object, df->head);
        df->head = object;
        df->count++;
        p[size] = p[--same];
        p[same] = object;
    }
    return same;
}

void __kmem_cache_free_bulk(struct kmem_cache *s, size_t size, void **p)
{
    while (size) {
        DetachedFreelist df;

        size = build_detached_freelist(s, size, p, &df);
        if (df.slab) [[likely]]
            do_slab_free(df.s, df.slab, df.head, df.tail, df.count);
    }
}

} // namespace kmirror::slub
