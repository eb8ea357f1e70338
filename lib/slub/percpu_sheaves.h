// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/percpu_sheaves.h: the sheaves a CPU works with, and the two fast paths.
//
// Owns     main, spare and rcu_free of struct slub_percpu_sheaves while a CPU has them.
// Bounds   at most three sheaves a CPU and cache.
// Locking  the CPU's local lock. Taken by trylock on every path that has another way to
//          go, because the holder may be a thread that shares the CPU. The functions
//          with `pcs` as argument are entered with the lock held; they return the sheaves
//          of the CPU they ended on, still locked, or NULL and unlocked.
// Fails    NULL, 0 or false: use the slabs instead. Nothing has changed then.
#pragma once

#include "lib/slub/barn.h"
#include "lib/slub/hooks.h"

namespace kmirror::slub {

// main is empty: bring objects. On return main has at least one.
[[gnu::noinline]] struct slub_percpu_sheaves *
__pcs_replace_empty_main(struct kmem_cache *s, struct slub_percpu_sheaves *pcs, gfp_t gfp,
                         unsigned int alloc_flags);

// main is full: bring room. On return main has room for at least one.
[[gnu::noinline]] struct slub_percpu_sheaves *
__pcs_replace_full_main(struct kmem_cache *s, struct slub_percpu_sheaves *pcs, Spin spin);

// The sheaves of the CPU whose lock is held.
[[gnu::always_inline]] inline struct slub_percpu_sheaves *pcs_of_this_cpu(struct kmem_cache *s)
{
    return this_cpu_ptr(s->cpu_sheaves);
}

// A sheaf was passed by for a wished node. With cpu slabs only those are counted.
inline void stat_sheaf_mismatch(const struct kmem_cache *s)
{
    if (!s->cpu_slab)
        stat(s, ALLOC_NODE_MISMATCH);
}

// An object from main. Sheaves hold objects of the CPU's own memory node, by and large:
// `node` is compared with that first, and then with the object really on top.
[[gnu::always_inline]] inline void *alloc_from_pcs(struct kmem_cache *s, gfp_t gfp,
                                                   unsigned int alloc_flags, int node)
{
    if (node != NUMA_NO_NODE && node != numa_mem_id()) {
        stat_sheaf_mismatch(s);
        return nullptr;
    }
    if (!local_trylock(&s->cpu_sheaves->lock)) [[unlikely]]
        return nullptr;

    struct slub_percpu_sheaves *pcs = pcs_of_this_cpu(s);
    if (pcs->main->size == 0) [[unlikely]] {
        pcs = __pcs_replace_empty_main(s, pcs, gfp, alloc_flags);
        if (!pcs)
            return nullptr;
    }

    struct slab_sheaf *main = pcs->main;
    void *object = main->objects[main->size - 1];
    // Not its node: the thread moved while it refilled, or a free put it here.
    if (node != NUMA_NO_NODE && page_to_nid(virt_to_page(object)) != node) [[unlikely]] {
        local_unlock(&s->cpu_sheaves->lock);
        stat_sheaf_mismatch(s);
        return nullptr;
    }
    main->size--;
    stat_plain<ALLOC_PCS>(pcs->stats);
    local_unlock(&s->cpu_sheaves->lock);
    return object;
}

// May this CPU's sheaves hold objects of that slab? Local memory, not from reserves.
[[gnu::always_inline]] inline bool can_free_to_pcs(const struct kmem_cache *s, const struct slab *slab)
{
    const int node = slab_nid(slab);
    // The CPU's own node is the nearest with memory if it has any, as it has here.
    if (node != numa_node_id() && node != numa_mem_id()) [[unlikely]]
        return false;
    return !slab_test_pfmemalloc(slab) || !s->generation.reserves_kept_out;
}

// A closed object into main.
[[gnu::always_inline]] inline bool free_to_pcs(struct kmem_cache *s, void *object,
                                               Spin spin = Spin::wait)
{
    if (!local_trylock(&s->cpu_sheaves->lock)) [[unlikely]]
        return false;

    struct slub_percpu_sheaves *pcs = pcs_of_this_cpu(s);
    if (pcs->main->size == s->sheaf_capacity) [[unlikely]] {
        pcs = __pcs_replace_full_main(s, pcs, spin);
        if (!pcs)
            return false;
    }

    struct slab_sheaf *main = pcs->main;
    main->objects[main->size++] = object;
    stat_plain<FREE_PCS>(pcs->stats);
    local_unlock(&s->cpu_sheaves->lock);
    return true;
}

// The sheaves of the CPU a thread is alone on.
[[gnu::always_inline]] inline struct slub_percpu_sheaves *pcs_of_section(const struct km_alone &section)
{
    return container_of(section.mine, struct slub_percpu_sheaves, lock);
}

// The two again, for a thread that is alone on its CPU and needs nothing but main. No call
// to anything, so no register is saved: this is what most objects see. NULL or false: take
// the general way, nothing has changed.
[[gnu::always_inline]] inline void *alloc_from_main(struct kmem_cache *s)
{
    struct km_alone section;
    void *object = nullptr;

    if (!km_local_trylock_alone(&s->fast_sheaves->lock, &section)) [[unlikely]]
        return nullptr;
    struct slub_percpu_sheaves *pcs = pcs_of_section(section);
    struct slab_sheaf *main = pcs->main;
    if (main->size) [[likely]] {
        object = main->objects[--main->size];
        stat_plain<ALLOC_PCS>(pcs->stats);
    }
    km_local_unlock_alone(&section);
    return object;
}

[[gnu::always_inline]] inline bool free_to_main(struct kmem_cache *s, const struct slab *slab,
                                                void *object)
{
    struct km_alone section;

    if (slab_test_pfmemalloc(slab) || !km_local_trylock_alone(&s->fast_sheaves->lock, &section)) [[unlikely]]
        return false;
    struct slub_percpu_sheaves *pcs = pcs_of_section(section);
    struct slab_sheaf *main = pcs->main;
    const bool fits = main->size != s->sheaf_capacity && slab_nid(slab) == km_local_node_alone();
    if (fits) [[likely]] {
        main->objects[main->size++] = object;
        stat_plain<FREE_PCS>(pcs->stats);
    }
    km_local_unlock_alone(&section);
    return fits;
}

// Up to `size` objects out of main, spare and the barn's full sheaves; how many.
unsigned int alloc_from_pcs_bulk(struct kmem_cache *s, size_t size, void **p);

// Up to `size` closed local objects into one sheaf; how many, 0 when there is no room.
unsigned int free_to_pcs_batch(struct kmem_cache *s, size_t size, void **p);

// Empties the sheaves of the CPU it runs on, rcu_free after a grace period. May sleep.
void pcs_flush_all(struct kmem_cache *s);

// The same for a CPU that is gone, with nobody on it.
void pcs_flush_dead_cpu(struct kmem_cache *s, unsigned int cpu);

// Sends every online CPU's rcu_free sheaf on its way; on_cache for one cache. When they
// return, each object given to kfree_rcu() before has its call_rcu(). The CPU set is
// held; all_caches also wants slab_mutex.
void flush_rcu_sheaves_on_cache(struct kmem_cache *s);
void flush_rcu_sheaves_all_caches();

// Empties the sheaves of every online CPU, and then its slab and chain. The first takes the CPU set, the second wants
// it held.
void flush_all(struct kmem_cache *s);
void flush_all_cpus_locked(struct kmem_cache *s);

} // namespace kmirror::slub
