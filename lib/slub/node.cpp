// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/node.cpp: taking slabs and objects off a node's partial list, and putting back.
//
// Owns     the functions that hold list_lock on the way in; free.cpp has the way back.
// Bounds   a hold of list_lock moves as many slabs as one sheaf needs.
// Locking  see node.h.
// Fails    see node.h.
#include <linux/random.h>

#include "lib/slub/node.h"

namespace kmirror::slub {

void init_kmem_cache_node(struct kmem_cache_node *n)
{
    n->nr_partial = 0;
    raw_spin_lock_init(&n->list_lock);
    INIT_LIST_HEAD(&n->partial);
    INIT_LIST_HEAD(&n->full);
    atomic_long_set(&n->nr_slabs, 0);
    atomic_long_set(&n->total_objects, 0);
}

static void node_count(struct kmem_cache_node *n, long slabs, long objects)
{
    atomic_long_add(slabs, &n->nr_slabs);
    atomic_long_add(objects, &n->total_objects);
}

void inc_slabs_node(const struct kmem_cache *s, int node, unsigned int objects)
{
    node_count(get_node(s, node), 1, objects);
}

void dec_slabs_node(const struct kmem_cache *s, int node, unsigned int objects)
{
    node_count(get_node(s, node), -1, -(long)objects);
}

unsigned long node_nr_slabs(const struct kmem_cache_node *n)
{
    return atomic_long_read(&n->nr_slabs);
}

unsigned long node_nr_objs(const struct kmem_cache_node *n)
{
    return atomic_long_read(&n->total_objects);
}

void set_node_partial_state(struct kmem_cache_node *n, struct slab *slab)
{
    lockdep_assert_held(&n->list_lock);
    slab->on_partial = 1;
    WRITE_ONCE(n->nr_partial, n->nr_partial + 1);
}

void clear_node_partial_state(struct kmem_cache_node *n, struct slab *slab)
{
    lockdep_assert_held(&n->list_lock);
    slab->on_partial = 0;
    WRITE_ONCE(n->nr_partial, n->nr_partial - 1);
}

void add_partial_head(struct kmem_cache_node *n, struct slab *slab)
{
    list_add(&slab->slab_list, &n->partial);
    set_node_partial_state(n, slab);
}

void add_partial_tail(struct kmem_cache_node *n, struct slab *slab)
{
    list_add_tail(&slab->slab_list, &n->partial);
    set_node_partial_state(n, slab);
}

void remove_partial(struct kmem_cache_node *n, struct slab *slab)
{
    list_del(&slab->slab_list);
    clear_node_partial_state(n, slab);
}

// Waits for the lock, or only tries it. The list is not looked at when it seems empty.
static bool list_lock_for(struct kmem_cache_node *n, Spin spin)
{
    if (!n || !READ_ONCE(n->nr_partial))
        return false;
    return spin_lock_for(&n->list_lock, spin);
}

bool get_partial_node_bulk(struct kmem_cache_node *n, PartialBulk *wish, Spin spin)
{
    unsigned int total = 0;

    INIT_LIST_HEAD(&wish->slabs);
    if (!list_lock_for(n, spin))
        return false;

    for (struct slab *slab : SlabsOn(&n->partial)) {
        if (!pfmemalloc_match(slab, wish->gfp))
            continue;
        const unsigned int free = slab_counters(slab).free();
        if (total >= wish->min_objects && total + free > wish->max_objects)
            break;
        list_move_tail(&slab->slab_list, &wish->slabs);
        clear_node_partial_state(n, slab);
        total += free;
        if (total >= wish->max_objects)
            break;
    }
    raw_spin_unlock(&n->list_lock);
    return total > 0;
}

struct slab *get_partial_node_chain(struct kmem_cache_node *n, gfp_t gfp, unsigned int limit,
                                    Spin spin, struct list_head *extra)
{
    struct slab *first = nullptr;
    unsigned int extra_slabs = 0;

    if (!list_lock_for(n, spin))
        return nullptr;
    for (struct slab *slab : SlabsOn(&n->partial)) {
        if (!pfmemalloc_match(slab, gfp))
            continue;
        remove_partial(n, slab);
        if (!first) {
            first = slab;
            if (!limit)
                break;
            continue;
        }
        list_add_tail(&slab->slab_list, extra);
        if (++extra_slabs > limit / 2)
            break;
    }
    raw_spin_unlock(&n->list_lock);
    return first;
}

void return_partial_bulk(struct kmem_cache_node *n, PartialBulk *wish)
{
    if (list_empty(&wish->slabs)) [[likely]]
        return;
    ListHold hold(n);
    for (struct slab *slab : SlabsOn(&wish->slabs))
        set_node_partial_state(n, slab);
    list_splice_tail(&wish->slabs, &n->partial);
}

// Takes the top object. Frees go on meanwhile, but none can empty the slab: for that it
// would need list_lock, which we hold.
static void *slab_take_one(struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab)
{
    FreelistCounters old, fresh;
    do {
        old = slab_word_read(slab->word);
        fresh.freelist = get_freepointer(s, old.freelist);
        fresh.counters = old.counters.with_inuse(old.counters.inuse() + 1);
    } while (!slab_update_freelist(s, slab, old, fresh));

    if (!fresh.freelist)
        remove_partial(n, slab);
    return old.freelist;
}

void *get_from_partial_node(struct kmem_cache *s, struct kmem_cache_node *n, gfp_t gfp, Spin spin)
{
    void *object = nullptr;

    if (!list_lock_for(n, spin))
        return nullptr;
    for (struct slab *slab : SlabsOn(&n->partial)) {
        if (pfmemalloc_match(slab, gfp)) {
            object = slab_take_one(s, n, slab);
            break;
        }
    }
    raw_spin_unlock(&n->list_lock);
    return object;
}

bool slab_try_return_freelist(struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab,
                              void *head, unsigned int count)
{
    const FreelistCounters old = slab_word_read(slab->word);
    if (old.freelist)
        return false;

    ListHold hold(n);
    const FreelistCounters fresh = {head, old.counters.with_inuse(old.counters.inuse() - count)};
    if (!slab_update_freelist(s, slab, old, fresh))
        return false;
    add_partial_tail(n, slab);
    return true;
}

bool remote_nodes_wanted(const struct kmem_cache *s)
{
    const unsigned int ratio = READ_ONCE(s->remote_node_defrag_ratio);
    return ratio && get_random_u32_below(1024) <= ratio;
}

} // namespace kmirror::slub
