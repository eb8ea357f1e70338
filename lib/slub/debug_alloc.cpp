// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/debug_alloc.cpp: one object out of its slab, and back, with a look at it each time.
//
//   allocation   alloc_single_from_partial, nodes in turn      list_lock
//                alloc_single_from_new_slab                    list_lock, when it is checked
//                  alloc_debug_processing                      check, trace, size, red zones
//   free         free_to_partial_list                          list_lock
//                  free_debug_processing                       check, track, trace, poison
//
// Owns     a slab whose check failed: all its objects count as used, it is frozen, on no
//          list, and never touched again.
// Bounds   one object, or one chain of one slab, a section.
// Locking  list_lock over check, free list and lists, so that validation sees them agree.
// Fails    see debug.h.
#include <linux/panic.h>
#include <linux/poison.h>

#include "lib/slub/debug.h"
#include "lib/slub/deferred.h"
#include "lib/slub/free.h"
#include "lib/slub/hooks.h"
#include "lib/slub/refill.h"

namespace kmirror::slub {

namespace {

// One allocation on its way.
struct Request {
    struct kmem_cache *s;
    gfp_t gfp;
    int node;
    unsigned int orig_size;
    Spin spin;
};

void trace(const struct kmem_cache *s, const struct slab *slab, void *object, bool alloc)
{
    if (!(s->flags & SLAB_TRACE)) [[likely]]
        return;
    const FreelistCounters word = slab_word_read(slab->word);
    pr_info("TRACE %s %s 0x%016lx inuse=%u fp=0x%016lx\n", s->name, alloc ? "alloc" : "free",
            shown(object), word.counters.inuse(), shown(word.freelist));
    if (!alloc)
        print_section(KERN_INFO, "Object ", object, s->object_size);
    dump_stack();
}

void add_full(const struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab)
{
    if (s->flags & SLAB_STORE_USER)
        list_add(&slab->slab_list, &n->full);
}

void remove_full(const struct kmem_cache *s, struct slab *slab)
{
    if (s->flags & SLAB_STORE_USER)
        list_del(&slab->slab_list);
}

bool alloc_consistency_checks(const struct kmem_cache *s, struct slab *slab, void *object)
{
    if (!check_slab(s, slab))
        return false;
    if (!check_valid_pointer(s, slab, object)) {
        object_err(s, slab, object, "Freelist Pointer check fails");
        return false;
    }
    return check_object(s, slab, object, SLUB_RED_INACTIVE);
}

// False: the slab is out of use from now on.
bool alloc_debug_processing(struct kmem_cache *s, struct slab *slab, void *object,
                            unsigned int orig_size)
{
    if ((s->flags & SLAB_CONSISTENCY_CHECKS) && !alloc_consistency_checks(s, slab, object)) {
        slab_fix(s, "Marking all objects used");
        const SlabCounters counters = slab_counters(slab);
        slab_word_init(slab->word, {nullptr, counters.with_inuse(counters.objects()).with_frozen(true)});
        return false;
    }
    trace(s, slab, object, true);
    set_orig_size(s, object, orig_size);
    init_object(s, object, SLUB_RED_ACTIVE);
    return true;
}

// The first object of a listed slab; NULL, and it is off the list, when that is damaged.
void *alloc_single_from_partial(const Request &want, struct kmem_cache_node *n, struct slab *slab)
{
    struct kmem_cache *s = want.s;

    if ((s->flags & SLAB_CONSISTENCY_CHECKS) && !PageSlab(slab_page(slab))) {
        slab_err(s, slab, "Not a valid slab page");
        return nullptr;
    }
    const FreelistCounters word = slab_word_read(slab->word);
    void *object = word.freelist;
    slab_word_init(slab->word, {get_freepointer(s, object),
                                word.counters.with_inuse(word.counters.inuse() + 1)});
    if (!alloc_debug_processing(s, slab, object, want.orig_size)) {
        remove_partial(n, slab);
        return nullptr;
    }
    if (slab_counters(slab).free() == 0) {
        remove_partial(n, slab);
        add_full(s, n, slab);
    }
    return object;
}

void *alloc_from_node(const Request &want, struct kmem_cache_node *n)
{
    void *object = nullptr;

    if (!n || !READ_ONCE(n->nr_partial) || !spin_lock_for(&n->list_lock, want.spin))
        return nullptr;
    for (struct slab *slab : SlabsOn(&n->partial)) {
        if (!pfmemalloc_match(slab, want.gfp))
            continue;
        object = alloc_single_from_partial(want, n, slab);
        if (object)
            break;
    }
    raw_spin_unlock(&n->list_lock);
    return object;
}

// From the lists, the wished node's first.
void *alloc_from_lists(const Request &want)
{
    const int first = want.node == NUMA_NO_NODE ? numa_mem_id() : want.node;

    void *object = alloc_from_node(want, get_node(want.s, first));
    if (object || (want.node != NUMA_NO_NODE && (want.gfp & __GFP_THISNODE)))
        return object;
    if (nr_node_ids == 1 || !remote_nodes_wanted(want.s))
        return nullptr;
    for_each_remote_partial(want.s, [&](struct kmem_cache_node *n) {
        object = alloc_from_node(want, n);
        return object != nullptr;
    });
    return object;
}

// The first object of a slab nobody knows yet. NULL: it is damaged already, or, with
// Spin::try_only, the lock was taken and the slab is gone.
void *alloc_single_from_new_slab(const Request &want, struct slab *slab)
{
    struct kmem_cache *s = want.s;
    SlabObjectIterator iterator(s, slab);
    void *object = iterator.next(s);

    build_slab_freelist(s, slab, iterator, 1);
    // Its check wants a link that leads somewhere.
    set_freepointer(s, object, slab_word_read(slab->word).freelist);
    if (!alloc_debug_processing(s, slab, object, want.orig_size))
        return nullptr;

    struct kmem_cache_node *n = get_node(s, slab_nid(slab));
    if (!spin_lock_for(&n->list_lock, want.spin)) {
        free_new_slab_nolock(slab);
        return nullptr;
    }
    if (slab_objects(slab) > 1)
        add_partial_head(n, slab);
    else
        add_full(s, n, slab);
    inc_slabs_node(s, slab_nid(slab), slab_objects(slab));
    raw_spin_unlock(&n->list_lock);
    return object;
}

void *alloc_one(const Request &want, bool *no_memory)
{
    if (void *object = alloc_from_lists(want))
        return object;
    struct slab *slab = new_slab(want.s, want.gfp, want.node, want.spin);
    *no_memory = !slab;
    if (!slab)
        return nullptr;
    stat(want.s, ALLOC_SLAB);
    return alloc_single_from_new_slab(want, slab);
}

// Until an object is sound, or there is no memory for another slab.
void *alloc_sound(const Request &want)
{
    for (;;) {
        bool no_memory = false;
        void *object = alloc_one(want, &no_memory);
        if (object || no_memory || want.spin == Spin::try_only)
            return object;
    }
}

bool free_consistency_checks(const struct kmem_cache *s, struct slab *slab, void *object)
{
    if (!check_valid_pointer(s, slab, object)) {
        slab_err(s, slab, "Invalid object pointer 0x%016lx", shown(object));
        return false;
    }
    if (on_freelist(s, slab, object)) {
        object_err(s, slab, object, "Object already free");
        return false;
    }
    if (!check_object(s, slab, object, SLUB_RED_ACTIVE))
        return false;
    if (s == slab->slab_cache) [[likely]]
        return true;
    if (!slab->slab_cache)
        slab_err(static_cast<struct kmem_cache *>(nullptr), slab, "No slab cache for object 0x%016lx",
                 shown(object));
    else
        object_err(s, slab, object, "page slab pointer corrupt.");
    return false;
}

// One chain of objects on its way back.
struct Chain {
    void *head;
    void *tail;
    unsigned int count; // lowered to what was found
    const void *caller;
    unsigned int handle;
};

// True: all of the chain may go back. What is looked at is poisoned at once, so a second
// time in the chain is noticed.
bool free_chain_checks(struct kmem_cache *s, struct slab *slab, Chain *chain, void **at)
{
    const bool checks = s->flags & SLAB_CONSISTENCY_CHECKS;
    unsigned int found = 0;

    if (checks && !check_slab(s, slab))
        return false;
    if (slab_counters(slab).inuse() < chain->count) {
        slab_err(s, slab, "Slab has %u allocated objects but %u are to be freed",
                 slab_counters(slab).inuse(), chain->count);
        return false;
    }
    for (;; *at = get_freepointer(s, *at)) {
        if (++found > chain->count)
            break;
        if (checks && !free_consistency_checks(s, slab, *at))
            return false;
        if (s->flags & SLAB_STORE_USER)
            set_track_update(s, *at, TRACK_FREE, chain->caller, chain->handle);
        trace(s, slab, *at, false);
        init_object(s, *at, SLUB_RED_INACTIVE);
        if (*at == chain->tail)
            break;
    }
    if (found == chain->count)
        return true;
    slab_err(s, slab, "Bulk free expected %u objects but found %u", chain->count, found);
    const bool too_many = found > chain->count;
    chain->count = found;
    return !too_many;
}

bool free_debug_processing(struct kmem_cache *s, struct slab *slab, Chain *chain)
{
    void *at = chain->head;

    if (free_chain_checks(s, slab, chain, &at))
        return true;
    slab_fix(s, "Object at 0x%016lx not freed", shown(at));
    return false;
}

// Links a checked chain in and moves the slab to its place. True: it is off the lists, and
// to be freed. list_lock held.
bool link_chain(struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab, const Chain &chain)
{
    const FreelistCounters before = slab_word_read(slab->word);
    const SlabCounters after = before.counters.with_inuse(before.counters.inuse() - chain.count);

    set_freepointer(s, chain.tail, before.freelist);
    slab_word_init(slab->word, {chain.head, after});
    const bool free_it = after.inuse() == 0 && n->nr_partial >= READ_ONCE(s->min_partial);
    if (!before.freelist) {
        remove_full(s, slab);
        if (!free_it) {
            add_partial_tail(n, slab);
            stat(s, FREE_ADD_PARTIAL);
        }
    } else if (free_it) {
        remove_partial(n, slab);
        stat(s, FREE_REMOVE_PARTIAL);
    }
    return free_it;
}

} // namespace

void leave_partial_if_full(struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab)
{
    if (slab_counters(slab).free() || !slab->on_partial) [[likely]]
        return;
    remove_partial(n, slab);
    add_full(s, n, slab);
}

void *debug_slab_alloc(struct kmem_cache *s, gfp_t gfp, int node, size_t orig_size,
                       const void *caller, unsigned int alloc_flags)
{
    Request want = {s, gfp, node, (unsigned int)orig_size, alloc_spin(alloc_flags)};
    void *object = nullptr;

    stat(s, ALLOC_SLOWPATH);
    if (want.spin == Spin::wait)
        run_deferred_work();
    // A wished node that is no order, as in ___slab_alloc().
    if (node != NUMA_NO_NODE && !(gfp & __GFP_THISNODE)) {
        bool no_memory;
        want.gfp = (gfp & (GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_ACCOUNT)) | __GFP_NOWARN |
                   __GFP_THISNODE;
        object = alloc_one(want, &no_memory);
        want.gfp = gfp;
    }
    if (!object)
        object = alloc_sound(want);
    if (!object)
        slab_out_of_memory(s, gfp, node);
    else if (s->flags & SLAB_STORE_USER)
        set_track_update(s, object, TRACK_ALLOC, caller, set_track_prepare(s, caller));
    return object;
}

bool debug_alloc_bulk(struct kmem_cache *s, gfp_t gfp, size_t size, void **p, const void *caller)
{
    for (size_t got = 0; got < size; got++) {
        p[got] = debug_slab_alloc(s, gfp, NUMA_NO_NODE, s->object_size, caller, SLAB_ALLOC_DEFAULT);
        if (p[got])
            continue;
        __kmem_cache_free_bulk(s, got, p);
        return false;
    }
    return true;
}

void free_to_partial_list(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                          unsigned int count, const void *caller)
{
    struct kmem_cache_node *n = get_node(s, slab_nid(slab));
    Chain chain = {head, tail, count, caller, set_track_prepare(s, caller)};
    bool free_it = false;

    {
        ListHold hold(n);
        const bool sound = free_debug_processing(s, slab, &chain);
        leave_partial_if_full(s, n, slab);
        if (sound)
            free_it = link_chain(s, n, slab, chain);
        // Under the lock, or a validation would count a slab too many.
        if (free_it)
            dec_slabs_node(s, slab_nid(slab), slab_objects(slab));
    }
    if (free_it) {
        stat(s, FREE_SLAB);
        free_slab(s, slab);
    }
}

} // namespace kmirror::slub
