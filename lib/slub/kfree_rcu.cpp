// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/kfree_rcu.cpp: kfree_rcu() through the rcu_free sheaf.
//
// Owns     see kfree_rcu.h.
// Bounds   see kfree_rcu.h.
// Locking  see kfree_rcu.h; callbacks run on a thread of lib/kernel with no lock held.
// Fails    never, seen from the caller.
#include <linux/cpu.h>
#include <linux/hardirq.h>
#include <linux/rcupdate.h>
#include <linux/vmalloc.h>

#include "lib/slub/deferred.h"
#include "lib/slub/fastpath.h"
#include "lib/slub/kfree_rcu.h"
#include "lib/slub/kmalloc.h"

namespace kmirror::slub {

namespace {

// Readers are gone: closes every object. True when one is from emergency reserves.
bool rcu_free_sheaf_prepare(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
    bool pfmemalloc = false;

    for (unsigned int i = 0; i < sheaf->size;) {
        void *object = sheaf->objects[i];
        memcg_slab_free_hook(s, slab_of_object(object), object);
        if (!slab_free_hook(s, object)) [[unlikely]] {
            sheaf->objects[i] = sheaf->objects[--sheaf->size];
            continue;
        }
        pfmemalloc |= slab_test_pfmemalloc(slab_of_object(object));
        i++;
    }
    return pfmemalloc;
}

void rcu_free_sheaf_nobarn(struct rcu_head *head)
{
    struct slab_sheaf *sheaf = container_of(head, struct slab_sheaf, rcu_head);
    struct kmem_cache *s = sheaf->cache;

    rcu_free_sheaf_prepare(s, sheaf);
    sheaf_dispose(s, sheaf);
}

// An empty sheaf that was used goes to the barn if that has few.
void rcu_free_sheaf_put_empty(struct kmem_cache *s, struct slab_sheaf *sheaf,
                              struct node_barn *barn)
{
    if (barn && barn_has_room_for_empty(barn))
        barn_put_empty_sheaf(barn, sheaf);
    else
        free_empty_sheaf(s, sheaf);
}

// A full sheaf whose grace period is over: a whole sheaf of free objects for the node its
// CPU was on. No slab is touched unless the barn has enough.
void rcu_free_sheaf(struct rcu_head *head)
{
    struct slab_sheaf *sheaf = container_of(head, struct slab_sheaf, rcu_head);
    struct kmem_cache *s = sheaf->cache;

    const bool pfmemalloc = rcu_free_sheaf_prepare(s, sheaf);
    struct node_barn *barn = pfmemalloc ? nullptr : get_barn_node(s, sheaf->node);
    if (barn && sheaf->size && barn_has_room_for_full(barn)) {
        stat(s, BARN_PUT);
        barn_put_full_sheaf(barn, sheaf);
        return;
    }
    if (!barn || sheaf->size) {
        stat(s, BARN_PUT_FAIL);
        sheaf_flush_unused(s, sheaf);
    }
    rcu_free_sheaf_put_empty(s, sheaf, barn);
}

// An empty sheaf without a call to the size classes, or NULL. Locked throughout.
struct slab_sheaf *empty_sheaf_at_hand(struct kmem_cache *s, struct slub_percpu_sheaves *pcs,
                                       Spin spin)
{
    if (pcs->spare && pcs->spare->size == 0)
        return take_sheaf(pcs->spare);
    struct node_barn *barn = get_barn(s);
    return barn ? barn_get_empty_sheaf(barn, spin) : nullptr;
}

// Gives the CPU an empty rcu_free sheaf; entered locked. False: unlocked, no sheaf.
bool pcs_get_rcu_free(struct kmem_cache *s, Spin spin)
{
    struct slub_percpu_sheaves *pcs = pcs_of_this_cpu(s);

    if (cache_has_sheaves(s)) [[likely]]
        pcs->rcu_free = empty_sheaf_at_hand(s, pcs, spin);
    if (pcs->rcu_free)
        return true;
    local_unlock(&s->cpu_sheaves->lock);
    if (!cache_has_sheaves(s) || spin == Spin::try_only)
        return false;

    // No reclaim flags: the caller may hold any lock.
    struct slab_sheaf *empty = alloc_empty_sheaf(s, __GFP_NOWARN, SLAB_ALLOC_DEFAULT);
    if (!empty)
        return false;
    const bool locked = local_trylock(&s->cpu_sheaves->lock);
    pcs = locked ? pcs_of_this_cpu(s) : nullptr;
    if (pcs && !pcs->rcu_free)
        pcs->rcu_free = empty;
    else // not ours, or another thread on this CPU was first
        free_empty_sheaf(s, empty);
    return locked;
}

// Into the CPU's rcu_free sheaf, or false.
bool __kfree_rcu_sheaf(struct kmem_cache *s, void *object, Spin spin)
{
    if (!local_trylock(&s->cpu_sheaves->lock))
        return false;
    if (!pcs_of_this_cpu(s)->rcu_free && !pcs_get_rcu_free(s, spin))
        return false;

    struct slub_percpu_sheaves *pcs = pcs_of_this_cpu(s);
    struct slab_sheaf *sheaf = pcs->rcu_free;
    sheaf->objects[sheaf->size++] = object;
    if (sheaf->size >= s->sheaf_capacity) {
        pcs->rcu_free = nullptr;
        sheaf->node = s->generation.mem_node_barn ? numa_mem_id() : numa_node_id();
        if (spin == Spin::wait) [[likely]]
            call_rcu(&sheaf->rcu_head, rcu_free_sheaf);
        else
            defer_rcu_sheaf(sheaf);
    }
    stat_plain<FREE_RCU_SHEAF>(pcs->stats);
    local_unlock(&s->cpu_sheaves->lock);
    return true;
}

// NULL: memory of vmalloc(), or a large kmalloc.
struct slab *slab_of_kvmalloc(const void *object)
{
    return is_vmalloc_addr(object) ? nullptr : virt_to_slab(object);
}

// As above, for any memory kvfree() takes.
bool kfree_rcu_sheaf(void *object, Spin spin)
{
    struct slab *slab = slab_of_kvmalloc(object);
    if (!slab || slab_nid(slab) != numa_mem_id())
        return false;
    struct kmem_cache *s = slab->slab_cache;
    if (!s->generation.rcu_sheaves || only_cpu_slab(s))
        return false;
    if (__kfree_rcu_sheaf(s, object, spin)) [[likely]]
        return true;
    stat(s, FREE_RCU_SHEAF_FAIL);
    return false;
}

void kvfree_internal(void *object)
{
    if (is_vmalloc_addr(object))
        vfree(object);
    else
        kfree_internal(object);
}

void kvfree_rcu_cb(struct rcu_head *head)
{
    kvfree_internal(kvmalloc_obj_start_addr(head));
}

} // namespace

void *kvmalloc_obj_start_addr(void *place)
{
    // The head lies in the first page.
    if (is_vmalloc_addr(place))
        return reinterpret_cast<void *>(reinterpret_cast<unsigned long>(place) & PAGE_MASK);
    struct page *page = virt_to_head_page(place);
    void *start = page_address(page);

    if (!PageSlab(page))
        return start;
    const struct slab *slab = slab_of_object(place);
    return nearest_obj(slab->slab_cache, slab, place);
}

void rcu_sheaf_retire(struct slab_sheaf *sheaf)
{
    call_rcu(&sheaf->rcu_head, rcu_free_sheaf);
}

void rcu_sheaf_retire_to_slabs(struct slab_sheaf *sheaf)
{
    call_rcu(&sheaf->rcu_head, rcu_free_sheaf_nobarn);
}

} // namespace kmirror::slub

using namespace kmirror::slub;

void kvfree_call_rcu(struct rcu_head *head, void *object)
{
    if (!head)
        might_sleep();
    if (struct slab *slab = slab_of_kvmalloc(object))
        trace_kmem_cache_free(slab->slab_cache, 1);
    if (kfree_rcu_sheaf(object, Spin::wait))
        return;
    if (head) {
        call_rcu(head, kvfree_rcu_cb);
        return;
    }
    synchronize_rcu();
    kvfree_internal(object);
}

void kfree_call_rcu_nolock(struct kvfree_rcu_head *head, void *object)
{
    struct slab *slab = slab_of_kvmalloc(object);

    if (slab && can_spin_trylock() && kfree_rcu_sheaf(object, Spin::try_only)) {
        trace_kmem_cache_free(slab->slab_cache, 1);
        return;
    }
    defer_kfree_rcu(head); // counted when it is done
}

void kvfree_rcu_barrier(void)
{
    kmem_cache_init();
    deferred_work_barrier();
    cpus_read_lock();
    mutex_lock(&slab_mutex);
    flush_rcu_sheaves_all_caches();
    mutex_unlock(&slab_mutex);
    cpus_read_unlock();
    rcu_barrier();
}

static void send_off_rcu_sheaves(struct kmem_cache *s)
{
    cpus_read_lock();
    flush_rcu_sheaves_on_cache(s);
    cpus_read_unlock();
}

void kvfree_rcu_barrier_on_cache(struct kmem_cache *s)
{
    deferred_work_barrier();
    if (cache_has_sheaves(s))
        send_off_rcu_sheaves(s);
    rcu_barrier();
}
