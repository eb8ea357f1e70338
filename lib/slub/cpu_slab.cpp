// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/cpu_slab.cpp: allocating from and freeing to the slab of a CPU.
//
// Owns     see cpu_slab.h; cpu_partial.cpp has the chain and the way out.
// Bounds   a new slab and one batch of a node's list for each entry of the slow path.
// Locking  see cpu_slab.h. Each slow step is one section of the local lock; between two of
//          them another thread may have given the CPU a slab, which then is used, or given
//          up for ours.
// Fails    see cpu_slab.h.
#include <linux/errno.h>
#include <linux/fault-inject.h>

#include "lib/slub/cpu_partial.h"
#include "lib/slub/cpu_slab.h"
#include "lib/slub/deferred.h"
#include "lib/slub/free.h"
#include "lib/slub/hooks.h"
#include "lib/slub/node.h"
#include "lib/slub/refill.h"

namespace kmirror::slub {

namespace {

constexpr unsigned long round_up_pow2(unsigned long n)
{
    unsigned long power = 1;
    while (power < n)
        power *= 2;
    return power;
}

// Numbers start with the CPU's and never meet those of another one.
constexpr unsigned long TID_STEP = round_up_pow2(NR_CPUS);

constexpr unsigned long next_tid(unsigned long tid)
{
    return tid + TID_STEP;
}

struct kmem_cache_cpu *this_cpu_slab(const struct kmem_cache *s)
{
    return this_cpu_ptr(s->cpu_slab);
}

// May be asked of a slab that is not the CPU's any more: a struct slab is never unmapped.
bool node_match(const struct slab *slab, int node)
{
    return node == NUMA_NO_NODE || slab_nid(slab) == node;
}

bool fits(const struct slab *slab, gfp_t gfp, int node)
{
    return node_match(slab, node) && pfmemalloc_match(slab, gfp);
}

// The new owner of an object may be writing there.
__no_kcsan unsigned long word_that_may_change(unsigned long place)
{
    return *reinterpret_cast<const unsigned long *>(place);
}

// The link of what was free a moment ago. If somebody else has the object by now it is
// rubbish, and the swap that follows fails; the memory is there in any case.
void *get_freepointer_safe(const struct kmem_cache *s, const void *object)
{
    const unsigned long place = reinterpret_cast<unsigned long>(object) + s->offset;
    return reinterpret_cast<void *>(word_that_may_change(place) ^ s->link_key.cover(place));
}

// `slab` becomes the CPU's, without the first of its objects, which is returned. Unlocks.
void *load_freelist(struct kmem_cache *s, struct slab *slab, void *freelist)
{
    cpu_slab_install(this_cpu_slab(s), slab, get_freepointer(s, freelist));
    local_unlock(&s->cpu_slab->lock);
    return freelist;
}

// Everything free in the slab, in one swap. NULL: there was nothing, and the slab, now full
// and on no list, is not frozen any more.
void *get_freelist(struct kmem_cache *s, struct slab *slab)
{
    FreelistCounters old, fresh;
    do {
        old = slab_word_read(slab->word);
        fresh.freelist = nullptr;
        fresh.counters =
            old.counters.with_inuse(old.counters.objects()).with_frozen(old.freelist != nullptr);
    } while (!slab_update_freelist(s, slab, old, fresh));
    return old.freelist;
}

// The same for a slab that has objects, and was not frozen.
void *freeze_slab(struct kmem_cache *s, struct slab *slab)
{
    VM_WARN_ON_ONCE(slab_counters(slab).frozen());
    return get_freelist(s, slab);
}

// Entered locked, with a slab on the CPU; left unlocked. NULL: the CPU has lost that slab.
void *alloc_from_own_slab(struct kmem_cache *s, gfp_t gfp, int node)
{
    CpuSlab own = cpu_slab_take(this_cpu_slab(s));

    if (!fits(own.slab, gfp, node)) [[unlikely]] {
        local_unlock(&s->cpu_slab->lock);
        if (!node_match(own.slab, node))
            stat(s, ALLOC_NODE_MISMATCH);
        deactivate_slab(s, own);
        return nullptr;
    }
    if (own.freelist)
        return load_freelist(s, own.slab, own.freelist);
    own.freelist = get_freelist(s, own.slab);
    if (own.freelist) {
        stat(s, ALLOC_REFILL);
        return load_freelist(s, own.slab, own.freelist);
    }
    local_unlock(&s->cpu_slab->lock);
    stat(s, DEACTIVATE_BYPASS);
    return nullptr;
}

bool local_lock_for(struct kmem_cache *s, Spin spin)
{
    if (spin == Spin::try_only)
        return local_trylock(&s->cpu_slab->lock);
    local_lock(&s->cpu_slab->lock);
    return true;
}

// An object of the CPU's slab or its chain; NULL when neither has one that fits. What does
// not fit goes to its node.
void *alloc_from_cpu(struct kmem_cache *s, gfp_t gfp, int node, Spin spin)
{
    for (;;) {
        const struct kmem_cache_cpu *hint = this_cpu_slab(s);
        if (!READ_ONCE(hint->slab) && !READ_ONCE(hint->partial))
            return nullptr;

        if (!local_lock_for(s, spin))
            return nullptr;
        struct kmem_cache_cpu *c = this_cpu_slab(s);
        if (c->slab) {
            if (void *object = alloc_from_own_slab(s, gfp, node))
                return object;
            continue;
        }
        struct slab *slab = pop_cpu_partial(c);
        if (slab && fits(slab, gfp, node)) [[likely]] {
            stat(s, CPU_PARTIAL_ALLOC);
            return load_freelist(s, slab, freeze_slab(s, slab));
        }
        local_unlock(&s->cpu_slab->lock);
        if (slab)
            __put_partials(s, slab);
    }
}

// A frozen slab for this CPU. One that another thread got meanwhile is given up.
void *load_slab(struct kmem_cache *s, struct slab *slab, void *freelist)
{
    for (;;) {
        local_lock(&s->cpu_slab->lock);
        struct kmem_cache_cpu *c = this_cpu_slab(s);
        if (!c->slab) [[likely]]
            return load_freelist(s, slab, freelist);
        const CpuSlab other = cpu_slab_take(c);
        local_unlock(&s->cpu_slab->lock);
        deactivate_slab(s, other);
        stat(s, CPUSLAB_FLUSH);
    }
}

// Several slabs of the node in one hold: one is returned, the others go to the CPU's chain,
// so that the next ones need no list_lock.
struct slab *get_partial_node(struct kmem_cache *s, struct kmem_cache_node *n, gfp_t gfp, Spin spin)
{
    struct list_head extra;

    INIT_LIST_HEAD(&extra);
    struct slab *slab =
        get_partial_node_chain(n, gfp, READ_ONCE(s->cpu_partial_slabs), spin, &extra);
    if (!slab)
        return nullptr;
    stat(s, ALLOC_FROM_PARTIAL);
    for (struct slab *other : SlabsOn(&extra)) {
        put_cpu_partial(s, other, Drain::never);
        stat(s, CPU_PARTIAL_NODE);
    }
    return slab;
}

// A slab of the lists, `node` first.
struct slab *get_partial(struct kmem_cache *s, gfp_t gfp, int node)
{
    const int first = node == NUMA_NO_NODE ? numa_mem_id() : node;

    struct slab *slab = get_partial_node(s, get_node(s, first), gfp, Spin::wait);
    if (slab || (node != NUMA_NO_NODE && (gfp & __GFP_THISNODE)))
        return slab;
    if (nr_node_ids == 1 || !remote_nodes_wanted(s))
        return nullptr;
    for_each_remote_partial(s, [&](struct kmem_cache_node *n) {
        slab = get_partial_node(s, n, gfp, remote_spin(s));
        return slab != nullptr;
    });
    return slab;
}

// A new slab of which the CPU gets everything but the object returned. NULL: no memory.
void *alloc_from_new_cpu_slab(struct kmem_cache *s, gfp_t page_gfp, gfp_t gfp, int node)
{
    struct slab *slab = new_slab(s, page_gfp, node);
    if (!slab)
        return nullptr;
    stat(s, ALLOC_SLAB);

    SlabObjectIterator iterator(s, slab);
    build_slab_freelist(s, slab, iterator, 0);
    // Nobody knows the slab yet, so it needs no swap to be born frozen.
    const FreelistCounters born = slab_word_read(slab->word);
    slab_word_init(slab->word,
                   {nullptr, born.counters.with_inuse(born.counters.objects()).with_frozen(true)});
    inc_slabs_node(s, slab_nid(slab), slab_objects(slab));

    if (!pfmemalloc_match(slab, gfp)) [[unlikely]] {
        // The next requests shall not have it easy to get at the reserves.
        deactivate_slab(s, {slab, get_freepointer(s, born.freelist)});
        return born.freelist;
    }
    return load_slab(s, slab, born.freelist);
}

void *__slab_alloc(struct kmem_cache *s, gfp_t gfp, int node, Spin spin)
{
    stat(s, ALLOC_SLOWPATH);
    // To give up a slab that does not fit, list_lock would be waited for.
    if (spin == Spin::try_only)
        return alloc_from_cpu(s, __GFP_MEMALLOC, NUMA_NO_NODE, spin);
    run_deferred_work();
    // A node without slab memory cannot be kept to.
    if (node != NUMA_NO_NODE && !node_isset(node, slab_nodes)) [[unlikely]]
        node = NUMA_NO_NODE;

    if (void *object = alloc_from_cpu(s, gfp, node, spin))
        return object;
    // A wished node that is no order: first its list and what pages may be had there without
    // effort, then anything.
    bool nearby = node != NUMA_NO_NODE && !(gfp & __GFP_THISNODE);
    for (;;) {
        const gfp_t effort = nearby ? GFP_NOWAIT | __GFP_THISNODE : gfp;
        if (struct slab *slab = get_partial(s, effort, node))
            return load_slab(s, slab, freeze_slab(s, slab));
        if (void *object = alloc_from_new_cpu_slab(s, effort, gfp, node))
            return object;
        if (!nearby)
            break;
        nearby = false;
    }
    slab_out_of_memory(s, gfp, node);
    return nullptr;
}

// Up to `size` objects of the CPU's free list, in one hold of the local lock.
size_t pop_from_cpu(struct kmem_cache *s, size_t size, void **p)
{
    size_t got = 0;

    local_lock(&s->cpu_slab->lock);
    struct kmem_cache_cpu *c = this_cpu_slab(s);
    if (c->slab && READ_ONCE(c->word.freelist)) {
        CpuSlab own = cpu_slab_take(c);
        for (; got < size && own.freelist; got++) {
            p[got] = own.freelist;
            own.freelist = get_freepointer(s, own.freelist);
        }
        cpu_slab_install(c, own.slab, own.freelist);
    }
    local_unlock(&s->cpu_slab->lock);
    if (got)
        stat_add(s, ALLOC_FASTPATH, got);
    return got;
}

} // namespace

int alloc_kmem_cache_cpus(struct kmem_cache *s)
{
    unsigned int cpu;

    if (should_fail_at(FAIL_CACHE_PERCPU, s->name, 0, sizeof(struct kmem_cache_cpu)))
        return -ENOMEM;
    s->cpu_slab = static_cast<struct kmem_cache_cpu *>(
        __alloc_percpu(sizeof(struct kmem_cache_cpu), alignof(struct kmem_cache_cpu)));
    if (!s->cpu_slab)
        return -ENOMEM;
    for_each_possible_cpu (cpu) {
        struct kmem_cache_cpu *c = per_cpu_ptr(s->cpu_slab, cpu);
        local_trylock_init(&c->lock);
        c->word.tid = cpu;
    }
    return 0;
}

void cpu_slab_install(struct kmem_cache_cpu *c, struct slab *slab, void *freelist)
{
    const CpuFreelist old = cpu_freelist_read(c->word);

    VM_WARN_ON_ONCE(!slab_counters(slab).frozen());
    // The pair before the slab: who finds the slab finds the number that goes with its list.
    // Without a slab nobody else swaps, see (C1).
    WARN_ON_ONCE(!cpu_freelist_swap(c->word, old, {freelist, next_tid(old.tid)}));
    __atomic_store_n(&c->slab, slab, __ATOMIC_RELEASE);
}

CpuSlab cpu_slab_take(struct kmem_cache_cpu *c)
{
    struct slab *slab = c->slab;
    CpuFreelist old;

    // Before the swap: who finds the new number finds no slab to push to or pop from.
    WRITE_ONCE(c->slab, static_cast<struct slab *>(nullptr));
    do
        old = cpu_freelist_read(c->word);
    while (!cpu_freelist_swap(c->word, old, {nullptr, next_tid(old.tid)}));
    return {slab, old.freelist};
}

void *__slab_alloc_node(struct kmem_cache *s, gfp_t gfp, int node, Spin spin)
{
    for (;;) {
        struct kmem_cache_cpu *c = this_cpu_slab(s);
        const CpuFreelist seen = cpu_freelist_read(c->word);
        const struct slab *slab = __atomic_load_n(&c->slab, __ATOMIC_ACQUIRE);
        if (!seen.freelist || !slab || !node_match(slab, node)) [[unlikely]]
            return __slab_alloc(s, gfp, node, spin);

        void *next = get_freepointer_safe(s, seen.freelist);
        if (cpu_freelist_swap(c->word, seen, {next, next_tid(seen.tid)})) [[likely]] {
            stat(s, ALLOC_FASTPATH);
            return seen.freelist;
        }
        stat(s, CMPXCHG_DOUBLE_CPU_FAIL);
    }
}

bool cpu_slab_alloc_bulk(struct kmem_cache *s, gfp_t gfp, size_t size, void **p)
{
    size_t got = 0;

    while (got < size) {
        got += pop_from_cpu(s, size - got, p + got);
        if (got == size)
            break;
        // One object the slow way brings the CPU a list of others.
        p[got] = __slab_alloc(s, gfp, NUMA_NO_NODE, Spin::wait);
        if (!p[got]) [[unlikely]] {
            __kmem_cache_free_bulk(s, got, p);
            return false;
        }
        got++;
    }
    return true;
}

bool cpu_slab_push(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                   unsigned int count)
{
    for (;;) {
        struct kmem_cache_cpu *c = this_cpu_slab(s);
        const unsigned long tid = __atomic_load_n(&c->word.tid, __ATOMIC_ACQUIRE); // (B1)
        if (slab != READ_ONCE(c->slab))
            return false;
        void *freelist = __atomic_load_n(&c->word.freelist, __ATOMIC_ACQUIRE);
        set_freepointer(s, tail, freelist);
        if (cpu_freelist_swap(c->word, {freelist, tid}, {head, next_tid(tid)})) [[likely]] {
            stat_add(s, FREE_FASTPATH, count);
            return true;
        }
        stat(s, CMPXCHG_DOUBLE_CPU_FAIL);
    }
}

void cpu_slab_free(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                   unsigned int count)
{
    if (cpu_slab_push(s, slab, head, tail, count)) [[likely]]
        return;
    stat(s, FREE_SLOWPATH);
    __slab_free(s, slab, head, tail, count);
}

} // namespace kmirror::slub
