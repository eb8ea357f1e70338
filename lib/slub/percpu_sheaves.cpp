// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/percpu_sheaves.cpp: what a CPU does when its main sheaf is used up or full.
//
//   main empty   spare has objects: swap                      local lock only
//                barn has a full sheaf: trade                 + barn->lock
//                fill an empty sheaf from slabs               unlocked, list_lock
//   main full    spare has room: swap                         local lock only
//                barn has an empty sheaf: trade               + barn->lock
//                barn is full: flush the spare to the slabs   unlocked, list_lock
//                make a sheaf                                 unlocked, size classes
//
// Owns     nothing beyond percpu_sheaves.h.
// Bounds   a batch of 32 pointers on the stack while main is flushed.
// Locking  whatever may take long is done unlocked, and the CPU may be another one
//          afterwards, with its sheaves in any state. So they are looked at again, and a
//          sheaf that fits nowhere goes to the barn, past its limits if need be.
// Fails    as percpu_sheaves.h says; a sheaf is never lost on the way (lib/slub/validate.cpp
//          counts them).
#include <linux/cpu.h>
#include <linux/lockdep.h>
#include <linux/smp.h>

#include "lib/slub/deferred.h"
#include "lib/slub/free.h"
#include "lib/slub/kfree_rcu.h"
#include "lib/slub/percpu_sheaves.h"

namespace kmirror::slub {

namespace {

using Pcs = struct slub_percpu_sheaves;

Pcs *pcs_give_up(struct kmem_cache *s)
{
    local_unlock(&s->cpu_sheaves->lock);
    return nullptr;
}

void swap_main_and_spare(Pcs *pcs)
{
    struct slab_sheaf *main = pcs->main;
    pcs->main = pcs->spare;
    pcs->spare = main;
}

// `empty`, or a new one when that is NULL, filled to capacity from the slabs. NULL when
// memory is too short for it; then what was found is back in the slabs.
struct slab_sheaf *refilled_sheaf(struct kmem_cache *s, struct slab_sheaf *empty, gfp_t gfp,
                                  unsigned int alloc_flags)
{
    if (!empty)
        empty = alloc_empty_sheaf(s, gfp, alloc_flags);
    if (!empty)
        return nullptr;
    // Emergency objects must not get into a sheaf, and a failure here is not the end.
    if (s->generation.reserves_kept_out)
        gfp |= __GFP_NOMEMALLOC | __GFP_NOWARN;
    if (refill_sheaf(s, empty, gfp) == 0)
        return empty;
    sheaf_dispose(s, empty);
    return nullptr;
}

// A full sheaf takes the seat where objects are wanted most: main's if that has none, else
// the spare's. False: both have objects.
bool pcs_seat_full(const struct kmem_cache *s, Pcs *pcs, struct slab_sheaf *full,
                   struct node_barn *barn)
{
    struct slab_sheaf *&seat = pcs->main->size == 0 ? pcs->main : pcs->spare;
    struct slab_sheaf *before = seat;

    if (before && before->size)
        return false;
    seat = full;
    // As the spare, the empty one is next to main for this CPU's next free or refill.
    if (before && !pcs->spare && s->generation.keep_empty_spare)
        pcs->spare = before;
    else if (before)
        barn_put_empty_sheaf(barn, before);
    return true;
}

// Gives a full sheaf to the CPU the thread is on now, or to the barn.
Pcs *pcs_install_full(struct kmem_cache *s, struct slab_sheaf *full, struct node_barn *barn)
{
    Pcs *pcs = nullptr;

    if (local_trylock(&s->cpu_sheaves->lock)) {
        pcs = pcs_of_this_cpu(s);
        if (pcs_seat_full(s, pcs, full, barn)) [[likely]]
            return pcs;
    }
    barn_put_full_sheaf(barn, full);
    stat(s, BARN_PUT);
    return pcs;
}

// Gives an empty sheaf to the CPU the thread is on now; its main was full when we looked.
void pcs_install_empty(struct kmem_cache *s, Pcs *pcs, struct slab_sheaf *empty,
                       struct node_barn *barn)
{
    const bool main_full = pcs->main->size >= s->sheaf_capacity;

    if (!pcs->spare) [[likely]] {
        pcs->spare = pcs->main;
        pcs->main = empty;
    } else if (main_full && pcs->spare->size >= s->sheaf_capacity) {
        // The barn had no empty sheaf for the trade. Now we have one: finish it.
        barn_put_full_sheaf(barn, pcs->main);
        stat(s, BARN_PUT);
        pcs->main = empty;
    } else {
        // Somebody made room meanwhile, in one of the two.
        if (main_full)
            swap_main_and_spare(pcs);
        barn_put_empty_sheaf(barn, empty);
    }
}

// What is needed to get room in main, after what could be done under the lock.
enum class Room { there, flush_spare, new_sheaf, new_sheaf_for_barn };

Room pcs_make_room(struct kmem_cache *s, Pcs *pcs, struct node_barn *barn, Spin spin)
{
    if (!pcs->spare) {
        struct slab_sheaf *empty = barn_get_empty_sheaf(barn, spin);
        if (!empty)
            return Room::new_sheaf;
        pcs->spare = pcs->main;
        pcs->main = empty;
        return Room::there;
    }
    if (pcs->spare->size < s->sheaf_capacity) {
        swap_main_and_spare(pcs);
        return Room::there;
    }
    switch (barn_replace_full_sheaf(barn, &pcs->main, spin)) {
    case BarnTrade::done:
        stat(s, BARN_PUT);
        return Room::there;
    case BarnTrade::full_limit:
        if (spin == Spin::try_only) // a flush takes list_lock
            break;
        stat(s, BARN_PUT_FAIL);
        return Room::flush_spare;
    case BarnTrade::busy:
    case BarnTrade::no_empty:
        break;
    }
    return Room::new_sheaf_for_barn;
}

// Entered locked, left unlocked: one batch out of main, into the slabs. What is left.
unsigned int sheaf_flush_main_batch(struct kmem_cache *s)
{
    void *objects[PCS_BATCH_MAX];
    struct slab_sheaf *main = pcs_of_this_cpu(s)->main;
    const unsigned int batch = min_t(unsigned int, PCS_BATCH_MAX, main->size);

    sheaf_pop_bulk(main, objects, batch);
    const unsigned int remaining = main->size;
    local_unlock(&s->cpu_sheaves->lock);

    __kmem_cache_free_bulk(s, batch, objects);
    stat_add(s, SHEAF_FLUSH, batch);
    return remaining;
}

void sheaf_flush_main(struct kmem_cache *s)
{
    do
        local_lock(&s->cpu_sheaves->lock);
    while (sheaf_flush_main_batch(s));
}

// True when at least one batch was flushed.
bool sheaf_try_flush_main(struct kmem_cache *s)
{
    bool flushed = false;
    while (local_trylock(&s->cpu_sheaves->lock)) {
        flushed = true;
        if (!sheaf_flush_main_batch(s))
            break;
    }
    return flushed;
}

// No memory for another sheaf: the slabs take what main holds. NULL: no luck, else
// locked, and main may be full again.
Pcs *pcs_flush_for_room(struct kmem_cache *s)
{
    if (!sheaf_try_flush_main(s) || !local_trylock(&s->cpu_sheaves->lock))
        return nullptr;
    return pcs_of_this_cpu(s);
}

// An empty sheaf by the way `room` says; entered locked, left unlocked. NULL: no memory.
struct slab_sheaf *pcs_empty_sheaf(struct kmem_cache *s, Pcs *pcs, Room room)
{
    if (room == Room::flush_spare) {
        struct slab_sheaf *spare = take_sheaf(pcs->spare);
        local_unlock(&s->cpu_sheaves->lock);
        sheaf_flush_unused(s, spare);
        return spare;
    }
    local_unlock(&s->cpu_sheaves->lock);
    // No reclaim flags at all: the caller may be freeing under any lock of its own.
    struct slab_sheaf *empty = alloc_empty_sheaf(s, __GFP_NOWARN, SLAB_ALLOC_DEFAULT);
    if (!empty && room == Room::new_sheaf_for_barn)
        stat(s, BARN_PUT_FAIL);
    return empty;
}

} // namespace

struct slub_percpu_sheaves *__pcs_replace_empty_main(struct kmem_cache *s,
                                                     struct slub_percpu_sheaves *pcs, gfp_t gfp,
                                                     unsigned int alloc_flags)
{
    if (!cache_has_sheaves(s)) [[unlikely]]
        return pcs_give_up(s);

    if (pcs->spare && pcs->spare->size > 0) {
        swap_main_and_spare(pcs);
        return pcs;
    }
    struct node_barn *barn = get_barn(s);
    if (!barn)
        return pcs_give_up(s);
    if (struct slab_sheaf *full = barn_replace_empty_sheaf(barn, pcs->main,
                                                               alloc_spin(alloc_flags))) {
        stat(s, BARN_GET);
        pcs->main = full;
        return pcs;
    }
    stat(s, BARN_GET_FAIL);
    if (alloc_flags & SLAB_ALLOC_NOLOCK) // filling a sheaf waits for list_lock
        return pcs_give_up(s);
    if (s->generation.refill_blocks && !gfpflags_allow_blocking(gfp))
        return pcs_give_up(s);

    struct slab_sheaf *empty = take_sheaf(pcs->spare);
    if (!empty)
        empty = barn_get_empty_sheaf(barn);
    local_unlock(&s->cpu_sheaves->lock);

    struct slab_sheaf *full = refilled_sheaf(s, empty, gfp, alloc_flags);
    return full ? pcs_install_full(s, full, barn) : nullptr;
}

struct slub_percpu_sheaves *__pcs_replace_full_main(struct kmem_cache *s,
                                                    struct slub_percpu_sheaves *pcs, Spin spin)
{
    do {
        if (!cache_has_sheaves(s)) [[unlikely]]
            return pcs_give_up(s);
        struct node_barn *barn = get_barn(s);
        if (!barn)
            return pcs_give_up(s);

        const Room room = pcs_make_room(s, pcs, barn, spin);
        if (room == Room::there)
            return pcs;
        if (spin == Spin::try_only) [[unlikely]]
            return pcs_give_up(s);

        if (struct slab_sheaf *empty = pcs_empty_sheaf(s, pcs, room)) {
            if (!local_trylock(&s->cpu_sheaves->lock)) {
                barn_put_empty_sheaf(barn, empty);
                return nullptr;
            }
            pcs = pcs_of_this_cpu(s);
            pcs_install_empty(s, pcs, empty, barn);
            return pcs;
        }
        pcs = pcs_flush_for_room(s);
    } while (pcs && pcs->main->size == s->sheaf_capacity);
    return pcs;
}

// Gets objects into an empty main without filling a sheaf from slabs. False: unlocked.
static bool pcs_bulk_next_main(struct kmem_cache *s, Pcs *pcs)
{
    if (!cache_has_sheaves(s))
        return pcs_give_up(s);
    if (pcs->spare && pcs->spare->size > 0) {
        swap_main_and_spare(pcs);
        return true;
    }
    struct node_barn *barn = get_barn(s);
    if (!barn)
        return pcs_give_up(s);
    struct slab_sheaf *full = barn_replace_empty_sheaf(barn, pcs->main, Spin::wait);
    if (!full) {
        stat(s, BARN_GET_FAIL);
        return pcs_give_up(s);
    }
    stat(s, BARN_GET);
    pcs->main = full;
    return true;
}

unsigned int alloc_from_pcs_bulk(struct kmem_cache *s, size_t size, void **p)
{
    unsigned int allocated = 0;

    while (allocated < size && local_trylock(&s->cpu_sheaves->lock)) {
        Pcs *pcs = pcs_of_this_cpu(s);
        // Beyond the full sheaves at hand the caller goes to the slabs itself: a sheaf
        // filled for this would only be copied out of again.
        if (pcs->main->size == 0 && !pcs_bulk_next_main(s, pcs))
            break;
        const unsigned int batch = min_t(size_t, size - allocated, pcs->main->size);
        sheaf_pop_bulk(pcs->main, p + allocated, batch);
        stat_plain<ALLOC_PCS>(pcs->stats, batch);
        local_unlock(&s->cpu_sheaves->lock);
        allocated += batch;
    }
    return allocated;
}

// Gets room into a full main without making a sheaf or flushing one. False: unlocked.
static bool pcs_bulk_next_room(struct kmem_cache *s, Pcs *pcs)
{
    struct node_barn *barn = get_barn(s);
    if (!barn)
        return pcs_give_up(s);
    switch (pcs_make_room(s, pcs, barn, Spin::wait)) {
    case Room::there:
        return true;
    case Room::new_sheaf_for_barn:
        stat(s, BARN_PUT_FAIL);
        break;
    case Room::flush_spare:
    case Room::new_sheaf:
        break;
    }
    return pcs_give_up(s);
}

unsigned int free_to_pcs_batch(struct kmem_cache *s, size_t size, void **p)
{
    if (!local_trylock(&s->cpu_sheaves->lock))
        return 0;
    Pcs *pcs = pcs_of_this_cpu(s);
    if (pcs->main->size >= s->sheaf_capacity && !pcs_bulk_next_room(s, pcs))
        return 0;

    const unsigned int room = s->sheaf_capacity - pcs->main->size;
    const unsigned int batch = min_t(size_t, size, room);
    sheaf_push_bulk(pcs->main, p, batch);
    stat_plain<FREE_PCS>(pcs->stats, batch);
    local_unlock(&s->cpu_sheaves->lock);
    return batch;
}

void pcs_flush_all(struct kmem_cache *s)
{
    local_lock(&s->cpu_sheaves->lock);
    Pcs *pcs = pcs_of_this_cpu(s);
    struct slab_sheaf *spare = take_sheaf(pcs->spare);
    struct slab_sheaf *rcu_free = take_sheaf(pcs->rcu_free);
    local_unlock(&s->cpu_sheaves->lock);

    if (spare)
        sheaf_dispose(s, spare);
    if (rcu_free)
        rcu_sheaf_retire_to_slabs(rcu_free);
    sheaf_flush_main(s);
}

void pcs_flush_dead_cpu(struct kmem_cache *s, unsigned int cpu)
{
    Pcs *pcs = per_cpu_ptr(s->cpu_sheaves, cpu);

    sheaf_flush_unused(s, pcs->main);
    if (struct slab_sheaf *spare = take_sheaf(pcs->spare))
        sheaf_dispose(s, spare);
    if (struct slab_sheaf *rcu_free = take_sheaf(pcs->rcu_free))
        rcu_sheaf_retire_to_slabs(rcu_free);
}

static void flush_rcu_sheaf(struct kmem_cache *s)
{
    local_lock(&s->cpu_sheaves->lock);
    struct slab_sheaf *rcu_free = take_sheaf(pcs_of_this_cpu(s)->rcu_free);
    local_unlock(&s->cpu_sheaves->lock);
    if (rcu_free)
        rcu_sheaf_retire_to_slabs(rcu_free);
}

// Work for smp_call_function_single(): done on the target CPU, whose lock it waits for.
static void flush_work(void *cache)
{
    auto *s = static_cast<struct kmem_cache *>(cache);

    if (cache_has_sheaves(s))
        pcs_flush_all(s);
    if (s->cpu_slab)
        flush_cpu_slab(s);
}

static void flush_rcu_work(void *cache)
{
    flush_rcu_sheaf(static_cast<struct kmem_cache *>(cache));
}

static void flush_rcu_all_work(void *)
{
    struct kmem_cache *s;
    list_for_each_entry (s, &slab_caches, list)
        if (cache_has_sheaves(s))
            flush_rcu_sheaf(s);
}

// No look whether a CPU has anything: a kfree_rcu() under way there is past its lock only
// when our turn on that CPU has come.
static void run_on_online_cpus(void (*work)(void *), struct kmem_cache *s)
{
    unsigned int cpu;

    lockdep_assert_cpus_held();
    for_each_online_cpu (cpu)
        WARN_ON_ONCE(smp_call_function_single(cpu, work, s, true));
}

void flush_rcu_sheaves_on_cache(struct kmem_cache *s)
{
    run_on_online_cpus(flush_rcu_work, s);
}

void flush_rcu_sheaves_all_caches()
{
    lockdep_assert_held(&slab_mutex);
    run_on_online_cpus(flush_rcu_all_work, nullptr);
}

void flush_all_cpus_locked(struct kmem_cache *s)
{
    if (cache_has_sheaves(s) || s->cpu_slab)
        run_on_online_cpus(flush_work, s);
}

void flush_all(struct kmem_cache *s)
{
    deferred_work_barrier();
    cpus_read_lock();
    flush_all_cpus_locked(s);
    cpus_read_unlock();
}

} // namespace kmirror::slub
