// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/node.h: a node's list of slabs with free objects.
//
// Owns     struct kmem_cache_node: the partial list, its length, the counts of all slabs.
// Bounds   no limit on the list; empty slabs are given back once it has min_partial.
// Locking  list_lock covers the list, its length, and on_partial of every slab of the
//          node. nr_partial is also read without it, as a hint. No allocation and no
//          page is freed under it: slabs to be freed are collected and freed after.
// Fails    the takers return nothing when there is nothing to take.
#pragma once

#include <linux/mempolicy.h>
#include <kmirror/topology.h>

#include "lib/slub/slab.h"

namespace kmirror::slub {

inline constexpr unsigned long MIN_PARTIAL = 5;  // fewest empty slabs a node keeps
inline constexpr unsigned long MAX_PARTIAL = 10; // most, by the rule for large objects

class ListHold {
public:
    explicit ListHold(struct kmem_cache_node *n) : n_(n) { raw_spin_lock(&n_->list_lock); }
    ~ListHold() { raw_spin_unlock(&n_->list_lock); }
    ListHold(const ListHold &) = delete;
    ListHold &operator=(const ListHold &) = delete;

private:
    struct kmem_cache_node *n_;
};

void init_kmem_cache_node(struct kmem_cache_node *n);

// Counts a slab into or out of its node; the list may or may not have it.
void inc_slabs_node(const struct kmem_cache *s, int node, unsigned int objects);
void dec_slabs_node(const struct kmem_cache *s, int node, unsigned int objects);

unsigned long node_nr_slabs(const struct kmem_cache_node *n);
unsigned long node_nr_objs(const struct kmem_cache_node *n);

// The slab counts as listed, or no longer; the links are the caller's. list_lock held.
void set_node_partial_state(struct kmem_cache_node *n, struct slab *slab);
void clear_node_partial_state(struct kmem_cache_node *n, struct slab *slab);

// Both at once. list_lock held. New slabs go to the head: they are warm. Slabs that got
// an object back go to the tail: they may become empty before they are needed.
void add_partial_head(struct kmem_cache_node *n, struct slab *slab);
void add_partial_tail(struct kmem_cache_node *n, struct slab *slab);
void remove_partial(struct kmem_cache_node *n, struct slab *slab);

// A wish for objects, and the slabs that were taken off the list for it.
struct PartialBulk {
    gfp_t gfp;
    unsigned int min_objects;
    unsigned int max_objects;
    struct list_head slabs;
};

// Takes slabs until they have min_objects, by their counters as they stood: a lower
// bound, because frees go on. A slab that would exceed max_objects is left, unless the
// minimum is not reached without it. False: none; with Spin::try_only also when the
// lock was taken.
bool get_partial_node_bulk(struct kmem_cache_node *n, PartialBulk *wish, Spin spin);

// Slabs that were taken and not needed go back, to the tail.
void return_partial_bulk(struct kmem_cache_node *n, PartialBulk *wish);

// Takes the first suitable slab, and up to limit/2 + 1 more into `extra`; none of those for a
// limit of 0. NULL: as above.
struct slab *get_partial_node_chain(struct kmem_cache_node *n, gfp_t gfp, unsigned int limit,
                                    Spin spin, struct list_head *extra);

// One object of the first suitable slab, which stays on the list while it has more.
void *get_from_partial_node(struct kmem_cache *s, struct kmem_cache_node *n, gfp_t gfp, Spin spin);

// Puts back `count` objects, linked from `head` on, into a slab that was off the list and
// emptied. False, nothing done, when somebody else has freed into it meanwhile.
bool slab_try_return_freelist(struct kmem_cache *s, struct kmem_cache_node *n, struct slab *slab,
                              void *head, unsigned int count);

// How a refill takes the list_lock of a node that is not the CPU's.
inline Spin remote_spin(const struct kmem_cache *s)
{
    return s->generation.remote_trylock ? Spin::try_only : Spin::wait;
}

// Is it this time's turn to look at other nodes? See remote_node_defrag_ratio.
bool remote_nodes_wanted(const struct kmem_cache *s);

// Calls visit(kmem_cache_node) for other nodes worth taking from, nearest first, until it
// returns true. The caller's own node comes first and is asked again.
template <class Visit>
inline void for_each_remote_partial(const struct kmem_cache *s, Visit visit)
{
    int count;
    const int *nodes = kmirror_node_fallback(mempolicy_slab_node(), &count);

    for (int i = 0; i < count; i++) {
        struct kmem_cache_node *n = get_node(s, nodes[i]);
        // Fewer than it keeps anyway: those are the node's own reserve.
        if (n && READ_ONCE(n->nr_partial) > READ_ONCE(s->min_partial) && visit(n))
            return;
    }
}

} // namespace kmirror::slub
