// SPDX-License-Identifier: GPL-2.0-only
//
// The node cache, a cursor's stock of nodes, and what happens when there is no memory.
//
// A store asks twice. The first time with GFP_NOWAIT and the tree locked (mas_wr_preallocate, plan.cpp);
// that nearly always works. If not, mas_nomem() drops the lock, allocates with the caller's flags, takes
// the lock again and has the store planned anew, because another writer may have been there. What was
// allocated stays with the cursor meanwhile, and what is too much goes back at the end (mas_destroy).
//
// Locking  node_cache_mutex is taken once in a process, possibly inside a tree's lock; nothing of the tree
//          is called under it.
// Fails    see reserve.h.
#include "lib/maple_tree/reserve.h"

#include <linux/fault-inject.h>
#include <linux/gfp.h>
#include <linux/mutex.h>
#include <linux/string.h>

namespace kmirror::maple {

// ------------------------------------------------------------------ the cache

namespace {

constexpr unsigned kSheafCapacity = 32;

DEFINE_MUTEX(node_cache_mutex);
kmem_cache *node_cache;

// (N1) Pairs with (N2): who finds the pointer finds the cache ready.
kmem_cache *node_cache_if_made()
{
    return __atomic_load_n(&node_cache, __ATOMIC_ACQUIRE);
}

[[gnu::noinline, gnu::cold]] kmem_cache *node_cache_make()
{
    mutex_lock(&node_cache_mutex);
    kmem_cache *cache = node_cache;
    if (!cache) {
        kmem_cache_args args;
        memset(&args, 0, sizeof(args));
        args.align = sizeof(maple_node);
        args.sheaf_capacity = kSheafCapacity;
        cache = kmem_cache_create("maple_node", sizeof(maple_node), &args, SLAB_PANIC);
        // (N2)
        __atomic_store_n(&node_cache, cache, __ATOMIC_RELEASE);
    }
    mutex_unlock(&node_cache_mutex);
    return cache;
}

} // namespace

kmem_cache *maple_node_cache_get()
{
    kmem_cache *cache = node_cache_if_made();
    return cache ? cache : node_cache_make();
}

int maple_node_cache_renew()
{
    mutex_lock(&node_cache_mutex);
    kmem_cache *cache = node_cache;
    if (cache)
        kvfree_rcu_barrier_on_cache(cache);
    const bool unused = !cache || kmem_cache_shrink(cache) == 0;
    if (unused)
        __atomic_store_n(&node_cache, static_cast<kmem_cache *>(nullptr), __ATOMIC_RELAXED); // nobody looks
    mutex_unlock(&node_cache_mutex);
    if (unused)
        kmem_cache_destroy(cache);
    return unused ? 0 : -EBUSY;
}

maple_node *mt_alloc_one(gfp_t gfp)
{
    return static_cast<maple_node *>(kmem_cache_alloc(maple_node_cache_get(), gfp));
}

void mt_free_one(maple_node *node)
{
    kmem_cache_free(maple_node_cache_get(), node);
}

void mt_free_bulk(size_t count, void **nodes)
{
    kmem_cache_free_bulk(maple_node_cache_get(), count, nodes);
}

slab_sheaf *mt_get_sheaf(gfp_t gfp, unsigned count)
{
    return kmem_cache_prefill_sheaf(maple_node_cache_get(), gfp, count);
}

int mt_refill_sheaf(gfp_t gfp, slab_sheaf **sheaf, unsigned count)
{
    return kmem_cache_refill_sheaf(maple_node_cache_get(), gfp, sheaf, count);
}

void mt_return_sheaf(slab_sheaf *sheaf)
{
    kmem_cache_return_sheaf(maple_node_cache_get(), GFP_NOWAIT, sheaf);
}

// ------------------------------------------------------------------ the cursor's stock

namespace {

bool stock_fails(gfp_t gfp, unsigned count)
{
    return should_fail_at(FAIL_MAS_ALLOC_NODES, "maple_node", gfp, count * sizeof(maple_node));
}

bool stock_one(ma_state *mas, gfp_t gfp)
{
    if (!mas->alloc && !stock_fails(gfp, 1))
        mas->alloc = mt_alloc_one(gfp);
    return mas->alloc != nullptr;
}

bool stock_sheaf(ma_state *mas, gfp_t gfp, unsigned count)
{
    // A single node left by an earlier, smaller plan does not count: popping would otherwise have two
    // sources.
    if (mas->alloc) [[unlikely]] {
        mt_free_one(mas->alloc);
        mas->alloc = nullptr;
    }
    if (mas->sheaf && kmem_cache_sheaf_size(mas->sheaf) >= count)
        return true;
    if (stock_fails(gfp, count))
        return false;
    if (mas->sheaf)
        return mt_refill_sheaf(gfp, &mas->sheaf, count) == 0;
    mas->sheaf = mt_get_sheaf(gfp, count);
    return mas->sheaf != nullptr;
}

} // namespace

void mas_alloc_nodes(ma_state *mas, gfp_t gfp)
{
    const unsigned long wanted = mas->node_request;
    if (wanted == 0)
        return;

    const bool single = wanted == 1 && !mas->sheaf;
    if (single ? stock_one(mas, gfp) : stock_sheaf(mas, gfp, unsigned(wanted)))
        mas->node_request = 0;                                      // R2
    else
        mas_set_err(mas, -ENOMEM);
}

maple_node *mas_pop_node(ma_state *mas)
{
    maple_node *node = mas->alloc;
    if (node) {
        mas->alloc = nullptr;
    } else {
        BUG_ON(!mas->sheaf);                                        // R1
        void *object = kmem_cache_alloc_from_sheaf(maple_node_cache_get(), GFP_NOWAIT, mas->sheaf);
        node = static_cast<maple_node *>(object);
        BUG_ON(!node);                                              // R1
    }
    memset(node, 0, sizeof(*node));
    return node;
}

void mas_empty_nodes(ma_state *mas)
{
    mas->node_request = 0;
    if (mas->sheaf) {
        mt_return_sheaf(mas->sheaf);
        mas->sheaf = nullptr;
    }
    if (mas->alloc) {
        mt_free_one(mas->alloc);
        mas->alloc = nullptr;
    }
}

// ------------------------------------------------------------------ running out of memory

namespace {

bool out_of_memory(const ma_state *mas)
{
    return mas->node == MA_ERROR(-ENOMEM);
}

// Serve the open request. Under a lock of its own the tree lets go of it while the allocation may sleep.
void alloc_nodes_unlocked(ma_state *mas, gfp_t gfp)
{
    const bool drop_lock = gfpflags_allow_blocking(gfp) && !mt_external_lock(mas->tree);
    if (drop_lock)
        mtree_unlock(mas->tree);
    mas_alloc_nodes(mas, gfp);
    if (drop_lock)
        mtree_lock(mas->tree);
}

// Nodes that `nr_entries` appends may pop, each entry followed by a gap. For every 14 slots it gains the
// last leaf is split once and shared out with the leaf before it twice; each time pops two leaves and their
// parent. Measured with the levels above: 0.79 nodes a slot. In RCU mode each append pops a copy of the
// leaf as well.
unsigned long nodes_for_appends(const maple_tree *mt, unsigned long nr_entries)
{
    constexpr unsigned long kMostNodes = 1UL << 18;                 // half of what the largest sheaf holds
    constexpr unsigned long kWorkingRoom = 3 * MAPLE_HEIGHT_MAX;    // what the last store may ask for
    if (nr_entries >= kMostNodes)
        return kMostNodes;
    const unsigned long slots = 2 * nr_entries + 1;
    const unsigned long copies = mt_in_rcu(mt) ? nr_entries : 0;
    const unsigned long nodes = slots * 7 / 8 + copies + kWorkingRoom;
    return nodes < kMostNodes ? nodes : kMostNodes;
}

} // namespace

} // namespace kmirror::maple

using namespace kmirror::maple;

bool mas_nomem(ma_state *mas, gfp_t gfp)
{
    if (!out_of_memory(mas)) [[likely]]
        return false;

    // An external lock stays locked, so the caller must allow sleeping under it, or expect to fail.
    (void)WARN_ON_ONCE(!gfpflags_allow_blocking(gfp) && mt_external_lock(mas->tree));
    alloc_nodes_unlocked(mas, gfp);

    // A part of the request is progress: the next round asks for the rest.
    if (!mas->sheaf && !mas->alloc)
        return false;
    mas_reset(mas);
    return true;
}

bool mas_nomem_nofail(ma_state *mas, unsigned long index, unsigned long last)
{
    if (!out_of_memory(mas)) [[likely]]
        return false;

    alloc_nodes_unlocked(mas, GFP_KERNEL | __GFP_NOFAIL);
    mas_set_range(mas, index, last);
    return true;
}

void mas_destroy(ma_state *mas)
{
    mas->mas_flags &= static_cast<unsigned char>(~(MA_STATE_PREALLOC | MA_STATE_BULK));
    mas_empty_nodes(mas);
}

int mas_expected_entries(ma_state *mas, unsigned long nr_entries)
{
    maple_enode *const node = mas->node;
    const maple_status status = mas->status;

    mas->node_request = nodes_for_appends(mas->tree, nr_entries);
    mas_alloc_nodes(mas, GFP_KERNEL);
    if (mas_is_err(mas)) {
        mas->node = node;
        mas->status = status;
        mas_destroy(mas);
        return -ENOMEM;
    }
    mas->mas_flags |= MA_STATE_PREALLOC | MA_STATE_BULK;
    return 0;
}

void maple_tree_init(void)
{
    (void)maple_node_cache_get();
}
