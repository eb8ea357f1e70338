// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: no slab goes back to the page allocator and nothing is allocated while a list_lock or a barn lock
// is held, and those two are never held together; the constructor, which may allocate, is called with no lock
// held.

#include "slab/slab_test.h"

#include <kmirror/lockstat.h>
#include <linux/rcupdate.h>

#include "lib/slub/cache.h"

namespace kmirror::slab_test {
namespace {

#define CHECKED "KMIRROR_MACHINE=numa:2 core:2 pu:1", "KMIRROR_LOCKDEP=1"

// Every way into and out of slabs, barns and page allocator, on two nodes.
void use_everything()
{
    for (int capacity : {-1, 0}) {
        ops().set_sheaf_capacity(capacity);
        for (int cpu : {0, 2}) {
            Pinned there(cpu);
            Cache cache(256), typesafe(256, SLAB_OPS_TYPESAFE_BY_RCU);
            for (Cache *each : {&cache, &typesafe}) {
                std::vector<void *> objects = each->alloc_many(2000);
                objects.push_back(each->alloc_node(1 - ops().cpu_node(cpu)));
                for (std::size_t i = 0; i < objects.size(); i++)
                    i % 3 ? each->free(objects[i]) : ops().free_rcu(objects[i], 64);
                std::vector<void *> bulk(700);
                EXPECT_TRUE(each->alloc_bulk(bulk.size(), bulk.data()));
                each->free_bulk(bulk.size(), bulk.data());
                slab_ops_sheaf *sheaf = ops().prefill(*each, SLAB_OPS_KERNEL, 20);
                EXPECT_EQ(ops().refill(*each, SLAB_OPS_KERNEL, &sheaf, 200), 0);
                ops().return_sheaf(*each, SLAB_OPS_KERNEL, sheaf);
                each->shrink();
            }
            slab_ops_cache_args args = args_of(256);
            slab_ops_cache *unshrunk = ops().create("slab_test_unshrunk", &args);
            for (int i = 0; i < 10; i++)
                ops().free(unshrunk, ops().alloc(unshrunk, SLAB_OPS_KERNEL));
            ops().destroy(unshrunk);
        }
    }
    ops().set_sheaf_capacity(-1);
    ops().free_rcu_barrier();
}

// Taking `inner` while `outer` is held would now be reported, if it is ever done.
void forbid(const char *inner_lock, const char *while_held) { kmirror_lockdep_order(inner_lock, while_held); }

KMIRROR_TEST_IN(SlabLocks, of_pages_are_not_taken_under_those_of_slabs, CHECKED)
{
    for (const char *of_pages : {"&zone->lock", "&pcp->lock"})
        for (const char *of_slabs : {"&n->list_lock", "&barn->lock"})
            forbid(of_pages, of_slabs);
    use_everything();
    EXPECT_EQ(kmirror_lockdep_violations(), 0u);
}

KMIRROR_TEST_IN(SlabLocks, of_a_list_is_not_taken_under_that_of_a_barn, CHECKED)
{
    forbid("&n->list_lock", "&barn->lock");
    use_everything();
    EXPECT_EQ(kmirror_lockdep_violations(), 0u);
}

KMIRROR_TEST_IN(SlabLocks, of_a_barn_is_not_taken_under_that_of_a_list, CHECKED)
{
    forbid("&barn->lock", "&n->list_lock");
    use_everything();
    EXPECT_EQ(kmirror_lockdep_violations(), 0u);
}

// Whoever walks the CPUs holds their set, and took it before the list of caches, as a CPU that leaves does.
KMIRROR_TEST_IN(SlabLocks, of_the_cpu_set_comes_before_the_list_of_caches, CHECKED)
{
    EXPECT_EQ(ops().cpu_set_online(3, false), 0);
    EXPECT_EQ(ops().cpu_set_online(3, true), 0);
    slab_ops_cache_args args = args_of(256);
    slab_ops_cache *cache = ops().create("slab_test_order", &args);
    ops().free_rcu(ops().alloc(cache, SLAB_OPS_KERNEL), 64);
    ops().shrink(cache);
    ops().free_rcu_barrier();
    ops().free_rcu(ops().alloc(cache, SLAB_OPS_KERNEL), 64);
    ops().destroy(cache);
    EXPECT_EQ(kmirror_lockdep_violations(), 0u);
}

// The checks above do see it when it is done.
KMIRROR_TEST_IN(SlabLocks, taken_in_a_forbidden_order_are_reported, CHECKED)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    forbid("&barn->lock", "&n->list_lock");
    Cache cache(256);
    const kmirror::testing::ExpectWarnings one(1);
    kmem_cache_node *n = kmirror::slub::get_node(as_kmem_cache(cache), 0);
    node_barn *barn = kmirror::slub::get_barn_node(as_kmem_cache(cache), 0);
    raw_spin_lock(&n->list_lock);
    raw_spin_lock(&barn->lock);
    raw_spin_unlock(&barn->lock);
    raw_spin_unlock(&n->list_lock);
    EXPECT_EQ(kmirror_lockdep_violations(), 1u);
}

int held_at_most;

KMIRROR_TEST_IN(SlabLocks, are_not_held_when_a_constructor_runs, CHECKED)
{
    slab_ops_cache_args args = args_of(256);
    args.ctor = [](void *) {
        held_at_most = std::max(held_at_most, kmirror_lock_depth());
        ops().kfree(ops().kmalloc(100, SLAB_OPS_NOWAIT)); // as a constructor may
    };
    Cache cache(args);
    cache.free(cache.alloc_many(500));
    std::vector<void *> bulk(100);
    EXPECT_TRUE(cache.alloc_bulk(bulk.size(), bulk.data()));
    cache.free_bulk(bulk.size(), bulk.data());
    EXPECT_EQ(held_at_most, 0);
}

} // namespace
} // namespace kmirror::slab_test
