// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: objects come from the CPU's own node or from the node that was asked for; another node's objects
// go back to that node's slabs and not into this CPU's sheaves; a node without memory works like its nearest
// neighbour with some.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>
#include <linux/rcupdate.h>

namespace kmirror::slab_test {
namespace {

#define FOUR_NODES "KMIRROR_MACHINE=pack:2 numa:2 core:2 pu:1"

// The first CPU of a node.
int cpu_of(int node)
{
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu++)
        if (ops().cpu_node(cpu) == node)
            return cpu;
    ADD_FAILURE() << "node " << node << " has no CPU";
    return 0;
}

KMIRROR_TEST_IN(SlabNode, local_allocations_stay_on_the_cpus_node, FOUR_NODES)
{
    Cache cache(200);
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu++) {
        Pinned there(cpu);
        std::vector<void *> objects = cache.alloc_many(500);
        for (void *object : objects)
            ASSERT_EQ(ops().object_node(object), ops().cpu_node(cpu));
        cache.free(objects);
        cache.verify();
    }
}

KMIRROR_TEST_IN(SlabNode, the_asked_node_is_where_the_object_is, FOUR_NODES)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Pinned here(0);
    Cache cache(200);
    std::vector<void *> objects;
    for (int round = 0; round < 200; round++)
        for (int node = 0; node < ops().nr_nodes(); node++) {
            objects.push_back(cache.alloc_node(node, round % 2 ? SLAB_OPS_THISNODE : SLAB_OPS_KERNEL));
            ASSERT_EQ(ops().object_node(objects.back()), node);
        }
    EXPECT_STAT(cache, "alloc_node_mismatch", 600) << "three of four were not local";
    EXPECT_STAT(cache, "alloc_fastpath", 200) << "the local ones came from the sheaf";
    cache.free(objects);
}

KMIRROR_TEST_IN(SlabNode, an_object_of_another_node_does_not_enter_the_sheaf, FOUR_NODES)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Pinned here(cpu_of(0));
    Cache cache(200);
    void *local = cache.alloc();
    const int before = cache.sheaves(ops().cpu()).main;
    void *remote = cache.alloc_node(2);
    cache.free(remote);
    EXPECT_EQ(cache.sheaves(ops().cpu()).main, before);
    EXPECT_STAT(cache, "free_slowpath", 1);
    cache.free(local);
    EXPECT_EQ(cache.sheaves(ops().cpu()).main, before + 1);
    EXPECT_STAT(cache, "free_fastpath", 1);
}

KMIRROR_TEST_IN(SlabNode, a_bulk_free_sorts_out_the_objects_of_other_nodes, FOUR_NODES)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Pinned here(cpu_of(1));
    Cache cache(256, 0, 32);
    std::vector<void *> objects;
    for (int i = 0; i < 20; i++)
        for (int node : {1, 3})
            objects.push_back(cache.alloc_node(node));
    cache.clear_stats();
    cache.free_bulk(objects.size(), objects.data());
    EXPECT_STAT(cache, "free_fastpath", 20);
    EXPECT_STAT(cache, "free_slowpath", 20);
    cache.verify();
    EXPECT_EQ(cache.counts(3).used_objects, 0u);
}

KMIRROR_TEST_IN(SlabNode, kfree_rcu_of_another_nodes_object_bypasses_the_sheaf, FOUR_NODES)
{
    WHERE_PREFILL_IS();
    Pinned here(cpu_of(0));
    Cache cache(256, 0, 32);
    ops().free_rcu(cache.alloc_node(3), 64);
    EXPECT_EQ(cache.sheaves(ops().cpu()).rcu_free, -1);
    EXPECT_STAT(cache, "free_rcu_sheaf", 0);
    ops().free_rcu_barrier();
    EXPECT_EQ(cache.counts(3).used_objects, 0u);
}

KMIRROR_TEST_IN(SlabNode, each_node_has_a_barn_of_its_own, FOUR_NODES)
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    Cache cache(256, 0, 32);
    for (int node = 0; node < ops().nr_nodes(); node++) {
        Pinned there(cpu_of(node));
        cache.free(cache.alloc_many(32 * (3 + std::size_t(node))));
    }
    for (int node = 0; node < ops().nr_nodes(); node++)
        EXPECT_EQ(cache.counts(node).barn_full, unsigned(node) + 1) << "node " << node;
    cache.verify();
}

KMIRROR_TEST_IN(SlabNode, a_sheaf_of_kfree_rcu_goes_to_the_barn_of_the_cpus_node, FOUR_NODES)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    Cache cache(256, 0, 32);
    Pinned there(cpu_of(2));
    for (void *object : cache.alloc_many(32))
        ops().free_rcu(object, 64);
    rcu_barrier();
    for (int node = 0; node < ops().nr_nodes(); node++)
        EXPECT_EQ(cache.counts(node).barn_full, node == 2 ? 1u : 0u);
}

KMIRROR_TEST_IN(SlabNode, other_nodes_partial_slabs_serve_when_they_are_many, FOUR_NODES)
{
    SHEAVES_ONLY();
    ops().set_sheaf_capacity(0);
    Cache cache(256);
    ops().set_min_partial(cache, 2);
    std::vector<void *> remote;
    {
        Pinned there(cpu_of(1));
        for (unsigned i = 0; i < 6 * cache.geometry().objects; i++) {
            remote.push_back(cache.alloc());
            ASSERT_EQ(ops().object_node(remote.back()), 1);
        }
        for (unsigned i = 0; i < remote.size(); i += cache.geometry().objects)
            cache.free(remote[i]), remote[i] = nullptr;
        ASSERT_EQ(cache.counts(1).partial_slabs, 6u);
    }
    Pinned here(cpu_of(0));
    kmirror_slab_set_defrag_ratio(as_kmem_cache(cache), 0);
    void *local = cache.alloc();
    EXPECT_EQ(ops().object_node(local), 0) << "a ratio of 0 never looks elsewhere";
    cache.free(local);
    ASSERT_EQ(cache.shrink(), 1);
    kmirror_slab_set_defrag_ratio(as_kmem_cache(cache), 1024);
    std::vector<void *> objects;
    for (unsigned i = 0; i < 4; i++) {
        objects.push_back(cache.alloc());
        EXPECT_EQ(ops().object_node(objects.back()), 1) << "six partial slabs there, more than min_partial";
    }
    objects.push_back(cache.alloc());
    EXPECT_EQ(ops().object_node(objects.back()), 0) << "two are left, and those stay with their node";
    cache.free(objects);
    for (void *object : remote)
        if (object)
            cache.free(object);
}

// A refill may bring objects of other nodes into a sheaf; who asks for the local node must not get one of
// those.
KMIRROR_TEST_IN(SlabNode, the_asked_node_is_kept_even_when_the_sheaf_holds_objects_of_another, FOUR_NODES)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Cache cache(256, 0, 32);
    kmirror_slab_set_defrag_ratio(as_kmem_cache(cache), 1024);
    std::vector<void *> remote;
    {
        Pinned there(cpu_of(1));
        remote = cache.alloc_many(32 * 20);
    }
    Pinned here(cpu_of(0));
    std::vector<void *> kept;
    for (std::size_t i = 0; i < remote.size(); i++) // past the sheaves, into node 1's slabs
        i % 4 ? cache.free(remote[i]) : kept.push_back(remote[i]);
    ASSERT_GT(cache.counts(1).partial_slabs, cache.geometry().min_partial);
    void *any = cache.alloc();
    ASSERT_EQ(ops().object_node(any), 1) << "this refill took the other node's slabs";
    cache.clear_stats();
    for (int i = 0; i < 10; i++) {
        kept.push_back(cache.alloc_node(0));
        EXPECT_EQ(ops().object_node(kept.back()), 0);
    }
    EXPECT_STAT(cache, "alloc_node_mismatch", 10);
    cache.free(any);
    cache.free(kept);
}

// Everything that looks for a barn or for local memory, on a CPU whose node has none.
KMIRROR_TEST_IN(SlabNode, without_memory_works_like_its_neighbour, "KMIRROR_MACHINE=numa:2 core:2 pu:1",
                "KMIRROR_MEM=0:256M,1:0")
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Cache cache(256, 0, 32);
    Pinned here(cpu_of(1));
    std::vector<void *> objects = cache.alloc_many(33);
    for (void *object : objects)
        EXPECT_EQ(ops().object_node(object), 0);
    cache.free(objects);
    cache.free(cache.alloc_many(32 * 14));
    EXPECT_STAT(cache, "free_slowpath", 0) << "node 0 is where this CPU's memory is";
    cache.verify();
    for (void *object : cache.alloc_many(64))
        ops().free_rcu(object, 64);
    ops().free_rcu_barrier();
    cache.verify();
    for (unsigned n : {1u, 32u, 100u}) {
        slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, n);
        ASSERT_NE(sheaf, nullptr);
        ASSERT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, 40), 0);
        ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
    }
    std::vector<void *> bulk(500);
    ASSERT_TRUE(cache.alloc_bulk(bulk.size(), bulk.data()));
    cache.free_bulk(bulk.size(), bulk.data());
    cache.verify();
    EXPECT_EQ(cache.alloc_node(1, SLAB_OPS_THISNODE | SLAB_OPS_NOWARN), nullptr)
        << "there is no memory there";
    void *elsewhere = cache.alloc_node(1);
    EXPECT_EQ(ops().object_node(elsewhere), 0);
    cache.free(elsewhere);
    void *sized = ops().kmalloc_node(100, SLAB_OPS_KERNEL, 1);
    EXPECT_EQ(ops().object_node(sized), 0);
    ops().kfree(sized);
}

KMIRROR_TEST_IN(SlabNode, that_is_full_falls_back_unless_it_is_the_only_one_allowed,
                "KMIRROR_MACHINE=numa:2 core:2 pu:1", "KMIRROR_MEM=0:64M,1:4M")
{
    Cache cache(4096);
    Pinned here(cpu_of(1));
    std::vector<void *> objects;
    while (void *object = cache.alloc_node(1, SLAB_OPS_THISNODE | SLAB_OPS_NOWARN)) {
        ASSERT_EQ(ops().object_node(object), 1);
        objects.push_back(object);
        ASSERT_LT(objects.size(), 2000u) << "4 MiB hold no more";
    }
    EXPECT_GT(objects.size(), 500u);
    void *elsewhere = cache.alloc_node(1, SLAB_OPS_NOWARN);
    ASSERT_NE(elsewhere, nullptr);
    EXPECT_EQ(ops().object_node(elsewhere), 0);
    objects.push_back(elsewhere);
    cache.free(objects);
}

} // namespace
} // namespace kmirror::slab_test
