// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/cpu_partial.cpp: how slabs leave a CPU: chained, drained, deactivated, flushed.
//
// Owns     see cpu_slab.h.
// Bounds   a drain holds list_lock over a whole chain.
// Locking  see cpu_slab.h. A chain is first detached under the local lock, then walked.
// Fails    never.
#include <linux/math.h>

#include "lib/slub/cpu_partial.h"
#include "lib/slub/node.h"
#include "lib/slub/tuning.h"

namespace kmirror::slub {

namespace {

// The number of slabs in a chain.
unsigned int chain_length(const struct slab *head)
{
    return head ? head->slabs : 0;
}

struct slab *take_cpu_partial(struct kmem_cache_cpu *c)
{
    struct slab *chain = c->partial;
    WRITE_ONCE(c->partial, static_cast<struct slab *>(nullptr));
    return chain;
}

// Off its chain, into another one.
void push_slab(struct slab *slab, struct slab *&chain)
{
    slab->next = chain;
    chain = slab;
}

void flush_slab(struct kmem_cache *s, CpuSlab own)
{
    if (!own.slab)
        return;
    deactivate_slab(s, own);
    stat(s, CPUSLAB_FLUSH);
}

// The objects of a CPU's list, and the last of them.
struct CountedList {
    void *tail = nullptr;
    unsigned int count = 0;

    CountedList(const struct kmem_cache *s, void *head)
    {
        for (void *object = head; object; object = get_freepointer(s, object)) {
            tail = object;
            count++;
        }
    }
};

} // namespace

void slub_set_cpu_partial(struct kmem_cache *s, unsigned int objects)
{
    s->cpu_partial = objects;
    // Half-full slabs assumed.
    WRITE_ONCE(s->cpu_partial_slabs, DIV_ROUND_UP(objects * 2, (unsigned int)s->oo.objects));
}

void set_cpu_partial(struct kmem_cache *s)
{
    static constexpr struct {
        unsigned int least_bytes;
        unsigned int objects;
    } kRules[] = {{PAGE_SIZE, 6}, {1024, 24}, {256, 52}, {0, 120}};

    const auto *rule = kRules;
    while (s->size < rule->least_bytes)
        rule++;
    slub_set_cpu_partial(s, (unsigned int)tuned_or(KMIRROR_SLAB_CPU_PARTIAL, rule->objects));
}

struct slab *pop_cpu_partial(struct kmem_cache_cpu *c)
{
    struct slab *slab = c->partial;
    if (!slab)
        return nullptr;
    WRITE_ONCE(c->partial, slab->next);
    slab->next = nullptr;
    return slab;
}

void put_cpu_partial(struct kmem_cache *s, struct slab *slab, Drain drain)
{
    struct slab *full_chain = nullptr;

    local_lock(&s->cpu_slab->lock);
    struct kmem_cache_cpu *c = this_cpu_ptr(s->cpu_slab);
    if (drain == Drain::if_full && c->partial &&
        chain_length(c->partial) >= READ_ONCE(s->cpu_partial_slabs))
        full_chain = take_cpu_partial(c);
    slab->slabs = chain_length(c->partial) + 1;
    slab->next = c->partial;
    WRITE_ONCE(c->partial, slab);
    local_unlock(&s->cpu_slab->lock);

    if (full_chain) {
        __put_partials(s, full_chain);
        stat(s, CPU_PARTIAL_DRAIN);
    }
}

void __put_partials(struct kmem_cache *s, struct slab *chain)
{
    struct slab *discard = nullptr;

    while (chain) {
        struct kmem_cache_node *n = get_node(s, slab_nid(chain));
        ListHold hold(n);

        while (chain && get_node(s, slab_nid(chain)) == n) {
            struct slab *slab = chain;
            chain = slab->next;
            if (slab_counters(slab).inuse() == 0 && n->nr_partial >= READ_ONCE(s->min_partial)) {
                push_slab(slab, discard);
            } else {
                add_partial_tail(n, slab);
                stat(s, FREE_ADD_PARTIAL);
            }
        }
    }
    while (discard) {
        struct slab *slab = discard;
        discard = slab->next;
        stat(s, DEACTIVATE_EMPTY);
        discard_slab(s, slab);
        stat(s, FREE_SLAB);
    }
}

void deactivate_slab(struct kmem_cache *s, CpuSlab own)
{
    struct kmem_cache_node *n = get_node(s, slab_nid(own.slab));
    const CountedList list(s, own.freelist);
    // Others have freed into it and may go on: it may become empty before it is needed.
    const bool remote_frees = slab_word_read(own.slab->word).freelist != nullptr;
    if (remote_frees)
        stat(s, DEACTIVATE_REMOTE_FREES);

    FreelistCounters old, fresh;
    do {
        old = slab_word_read(own.slab->word);
        VM_WARN_ON_ONCE(!old.counters.frozen());
        fresh = old;
        if (list.tail) {
            set_freepointer(s, list.tail, old.freelist);
            fresh.freelist = own.freelist;
        }
        fresh.counters = old.counters.with_inuse(old.counters.inuse() - list.count).with_frozen(false);
    } while (!slab_update_freelist(s, own.slab, old, fresh));

    if (fresh.counters.inuse() == 0 && READ_ONCE(n->nr_partial) >= READ_ONCE(s->min_partial)) {
        stat(s, DEACTIVATE_EMPTY);
        discard_slab(s, own.slab);
        stat(s, FREE_SLAB);
    } else if (fresh.freelist) {
        ListHold hold(n);
        if (remote_frees)
            add_partial_tail(n, own.slab);
        else
            add_partial_head(n, own.slab);
        stat(s, remote_frees ? DEACTIVATE_TO_TAIL : DEACTIVATE_TO_HEAD);
    } else {
        stat(s, DEACTIVATE_FULL);
    }
}

void flush_cpu_slab(struct kmem_cache *s)
{
    local_lock(&s->cpu_slab->lock);
    struct kmem_cache_cpu *c = this_cpu_ptr(s->cpu_slab);
    const CpuSlab own = cpu_slab_take(c);
    struct slab *chain = take_cpu_partial(c);
    local_unlock(&s->cpu_slab->lock);

    flush_slab(s, own);
    __put_partials(s, chain);
}

void __flush_cpu_slab(struct kmem_cache *s, unsigned int cpu)
{
    struct kmem_cache_cpu *c = per_cpu_ptr(s->cpu_slab, cpu);

    flush_slab(s, cpu_slab_take(c));
    __put_partials(s, take_cpu_partial(c));
}

bool has_cpu_slab(const struct kmem_cache *s, unsigned int cpu)
{
    const struct kmem_cache_cpu *c = per_cpu_ptr(s->cpu_slab, cpu);
    return READ_ONCE(c->slab) || READ_ONCE(c->partial);
}

} // namespace kmirror::slub
