// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: in every generation objects come from the node that is meant: the CPU's, the asked one, or with
// strict_numa the one the thread's policy says; CPUs and nodes that go away leave nothing behind and come
// back working.

#include "slab/generation.h"

#include <kmirror/slab_info.h>
#include <linux/memory.h>
#include <linux/mempolicy.h>
#include <linux/rcupdate.h>

namespace kmirror::slab_test {
namespace {

#define FOUR_NODES "KMIRROR_MACHINE=pack:2 numa:2 core:2 pu:1"
#define TWO_NODES "KMIRROR_MACHINE=numa:2 core:2 pu:1"

int cpu_of(int node)
{
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu++)
        if (ops().cpu_node(cpu) == node)
            return cpu;
    ADD_FAILURE() << "node " << node << " has no CPU";
    return 0;
}

template <class Body>
void in_each_generation(Body body)
{
    for (const char *generation : kGenerations) {
        SCOPED_TRACE(generation);
        const OfGeneration chosen(generation);
        Cache cache(256, 0, 32);
        body(cache);
        cache.verify();
    }
}

void expect_on(int node, const std::vector<void *> &objects)
{
    for (void *object : objects)
        ASSERT_EQ(ops().object_node(object), node);
}

KMIRROR_TEST_IN(SlabGenerationNode, is_the_cpus_own_or_the_asked_one, FOUR_NODES)
{
    in_each_generation([](Cache &cache) {
        std::vector<void *> all;
        for (int home = 0; home < ops().nr_nodes(); home++) {
            Pinned there(cpu_of(home));
            std::vector<void *> local = cache.alloc_many(100);
            expect_on(home, local);
            all.insert(all.end(), local.begin(), local.end());
            for (int node = 0; node < ops().nr_nodes(); node++)
                for (unsigned gfp : {SLAB_OPS_KERNEL, SLAB_OPS_THISNODE}) {
                    all.push_back(cache.alloc_node(node, gfp));
                    ASSERT_EQ(ops().object_node(all.back()), node);
                }
        }
        Pinned here(0);
        cache.free(all);
        for (int node = 1; node < ops().nr_nodes(); node++)
            EXPECT_EQ(cache.counts(node).barn_full, 0u) << "another node's objects enter no sheaf here";
    });
}

// A node in turn with the CPU's own: the CPU's slab is given up each time, and none of its objects is lost.
KMIRROR_TEST_IN(SlabGenerationNode, mismatch_gives_up_the_cpus_slab, TWO_NODES)
{
    WITHOUT_DEBUGGING();
    const OfGeneration chosen("cpu-slab");
    Pinned here(0);
    Cache cache(256);
    std::vector<void *> objects;
    for (int round = 0; round < 10; round++) {
        objects.push_back(cache.alloc_node(1));
        objects.push_back(cache.alloc_node(0));
    }
    EXPECT_STAT(cache, "alloc_node_mismatch", 19);
    EXPECT_STAT(cache, "deactivate_to_head", 19);
    EXPECT_EQ(cache.counts().slabs, 2u) << "each time it is found on its node's list again";
    cache.free(objects);
}

KMIRROR_TEST_IN(SlabGenerationNode, of_another_cpu_is_taken_from_when_it_has_many, TWO_NODES)
{
    in_each_generation([](Cache &cache) {
        kmirror_slab_set_defrag_ratio(as_kmem_cache(cache), 1024);
        ops().set_min_partial(cache, 2);
        std::vector<void *> remote, freed;
        {
            Pinned there(cpu_of(1));
            remote.resize(32 * cache.geometry().objects);
            ASSERT_TRUE(cache.alloc_bulk(remote.size(), remote.data()));
        }
        Pinned here(cpu_of(0));
        for (std::size_t i = 0; i < remote.size(); i += 2)
            cache.free(remote[i]);
        cache.shrink();
        ASSERT_GT(cache.counts(1).partial_slabs, 2u);
        void *object = cache.alloc();
        EXPECT_EQ(ops().object_node(object), 1);
        void *local = cache.alloc_node(0);
        EXPECT_EQ(ops().object_node(local), 0) << "an asked node is kept";
        cache.free(object);
        cache.free(local);
        for (std::size_t i = 1; i < remote.size(); i += 2)
            cache.free(remote[i]);
    });
}

KMIRROR_TEST_IN(SlabGenerationNode, is_what_the_threads_policy_says_under_strict_numa, FOUR_NODES)
{
    kmirror_slab_switch(KMIRROR_SLAB_STRICT_NUMA, 1);
    in_each_generation([](Cache &cache) {
        Pinned here(cpu_of(0));
        mempolicy policy{};
        policy.il_prev = -1;
        std::vector<void *> all;
        const auto alloc = [&](std::size_t n) {
            std::vector<void *> objects = cache.alloc_many(n);
            all.insert(all.end(), objects.begin(), objects.end());
            return objects;
        };
        node_set(2, policy.nodes);
        node_set(3, policy.nodes);
        policy.mode = MPOL_PREFERRED;
        kmirror_set_mempolicy(&policy);
        expect_on(2, alloc(70));
        policy.mode = MPOL_BIND;
        expect_on(2, alloc(1)); // the nearer of the two
        policy.mode = MPOL_INTERLEAVE;
        const std::vector<void *> turns = alloc(10);
        for (std::size_t i = 2; i < turns.size(); i++) {
            EXPECT_EQ(ops().object_node(turns[i]), ops().object_node(turns[i - 2]));
            EXPECT_NE(ops().object_node(turns[i]), ops().object_node(turns[i - 1]));
        }
        cache.shrink(); // or the CPU would go on with what it has
        node_set(0, policy.nodes);
        policy.mode = MPOL_BIND;
        expect_on(0, alloc(70));
        kmirror_set_mempolicy(nullptr);
        expect_on(0, alloc(70));
        cache.free(all);
    });
    kmirror_slab_switch(KMIRROR_SLAB_STRICT_NUMA, 0);
}

// New pages follow the policy, but a sheaf without cpu slabs below it is refilled with pages of the CPU's own node.
KMIRROR_TEST_IN(SlabGenerationNode, policy_without_strict_numa_is_that_of_new_slabs, TWO_NODES)
{
    in_each_generation([](Cache &cache) {
        Pinned here(cpu_of(0));
        mempolicy policy{};
        policy.mode = MPOL_PREFERRED;
        node_set(1, policy.nodes);
        kmirror_set_mempolicy(&policy);
        const std::vector<void *> objects = cache.alloc_many(70);
        void *large = kmalloc(4 * KMALLOC_MAX_CACHE_SIZE, GFP_KERNEL);
        kmirror_set_mempolicy(nullptr);
        const slab_ops_geometry made = cache.geometry();
        expect_on(std::string(made.generation) == "sheaves" && made.sheaf_capacity ? 0 : 1, objects);
        expect_on(1, {large});
        kfree(large);
        cache.free(objects);
    });
}

KMIRROR_TEST_IN(SlabGenerationCpu, going_offline_leaves_nothing_and_comes_back, TWO_NODES)
{
    in_each_generation([](Cache &cache) {
        for (int round = 0; round < 3; round++) {
            std::vector<void *> objects, live;
            {
                Pinned there(3);
                objects = cache.alloc_many(300);
                for (std::size_t i = 0; i < objects.size(); i++)
                    i % 3 ? cache.free(objects[i]) : live.push_back(objects[i]);
                cache.free(cache.alloc());
            }
            ASSERT_EQ(ops().cpu_set_online(3, false), 0);
            cache.verify(); // C4, P3: the dead CPU has nothing; its slabs may be in the chain of another
            cache.free(live);
            ASSERT_EQ(ops().cpu_set_online(3, true), 0);
        }
    });
}

KMIRROR_TEST_IN(SlabGenerationNode, going_offline_empties_its_lists_and_comes_back, TWO_NODES)
{
    in_each_generation([](Cache &cache) {
        std::vector<void *> held;
        {
            Pinned there(cpu_of(1));
            held = cache.alloc_many(200);
            cache.free(cache.alloc_many(2000));
            expect_on(1, held);
        }
        ASSERT_GE(kmirror_node_offline_memory(1), 0);
        EXPECT_EQ(kmirror_node_offline_memory(1), -EINVAL);
        EXPECT_EQ(kmirror_node_offline_memory(0), -EBUSY) << "the only one that is left";
        const slab_ops_counts left = cache.counts(1);
        EXPECT_EQ(left.used_objects, held.size()) << "what a user has stays";
        EXPECT_EQ(left.barn_full + left.barn_empty, 0u);
        EXPECT_EQ(left.cpu_slabs + left.cpu_chained, 0u);
        cache.verify();
        {
            Pinned there(cpu_of(1));
            std::vector<void *> elsewhere = cache.alloc_many(5000);
            EXPECT_EQ(ops().object_node(elsewhere.back()), 0);
            cache.free(elsewhere);
            cache.free(held);
            cache.verify();
        }
        ASSERT_EQ(kmirror_node_online_memory(1), 0);
        Pinned there(cpu_of(1));
        cache.shrink();
        std::vector<void *> again = cache.alloc_many(200);
        expect_on(1, again);
        cache.free(again);
    });
}

// The allocator starts while the node is away: its caches get what they lack when it comes.
KMIRROR_TEST_IN(SlabGenerationNode, coming_first_gives_every_cache_a_list_there, TWO_NODES)
{
    ASSERT_EQ(kmirror_node_offline_memory(1), 0);
    std::vector<std::unique_ptr<Cache>> caches;
    for (const char *generation : kGenerations) {
        const OfGeneration chosen(generation);
        caches.push_back(std::make_unique<Cache>(256, 0, 32));
    }
    Pinned there(cpu_of(1));
    for (const auto &cache : caches) {
        std::vector<void *> objects = cache->alloc_many(100);
        expect_on(0, objects);
        cache->free(objects);
    }
    ASSERT_EQ(kmirror_node_online_memory(1), 0);
    for (const auto &cache : caches) {
        void *object = cache->alloc_node(1, SLAB_OPS_THISNODE);
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(ops().object_node(object), 1);
        cache->free(object);
        cache->verify();
    }
    void *sized = ops().kmalloc_node(100, SLAB_OPS_THISNODE, 1);
    EXPECT_EQ(ops().object_node(sized), 1);
    ops().kfree(sized);
    EXPECT_EQ(kmirror_node_online_memory(1), -EINVAL);
}

} // namespace
} // namespace kmirror::slab_test
