// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: threads may allocate, free each other's objects, free after a grace period, shrink and take CPUs
// offline at the same time, on fewer CPUs than threads or more; no object is ever two threads', and at the
// end nothing is left.

#include "slab/crowd.h"

#include <kmirror/slab_info.h>
#include <linux/rcupdate.h>

#include "lib/slub/cache.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <mutex>
#include <thread>

namespace kmirror::slab_test {
namespace {

const auto nothing = [] {};

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_on_a_cpu_each,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    Cache cache(sizeof(Stamp));
    crowd({.threads = 4, .steps = 3000}, cache, nothing);
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_on_one_shared_cpu,
                "KMIRROR_MACHINE=pack:1 core:1 pu:1")
{
    Cache cache(sizeof(Stamp));
    crowd({.threads = 4, .steps = 3000}, cache, nothing);
}

// Small sheaves: every few operations one is refilled, flushed or traded, with the CPU unlocked in between.
KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_in_small_sheaves_of_one_shared_cpu,
                "KMIRROR_MACHINE=pack:1 core:1 pu:1")
{
    ops().set_sheaf_capacity(4);
    Cache cache(sizeof(Stamp));
    crowd({.threads = 3, .steps = 20000}, cache, nothing);
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_on_four_nodes,
                "KMIRROR_MACHINE=pack:2 numa:2 core:1 pu:1")
{
    Cache cache(256, 0, 32);
    crowd({.threads = 6, .steps = 3000}, cache, nothing);
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_without_sheaves,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    ops().set_sheaf_capacity(0);
    Cache cache(256);
    crowd({.threads = 4, .steps = 10000, .most = 24}, cache,
          nothing); // a slab or two: all threads meet in them
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_under_the_slab_lock,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1", "KMIRROR_SLAB_CMPXCHG_DOUBLE=0")
{
    ops().set_sheaf_capacity(4);
    Cache cache(256);
    crowd({.threads = 4, .steps = 6000, .most = 24}, cache, nothing);
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_while_the_cache_is_shrunk_and_validated,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    Cache cache(sizeof(Stamp));
    crowd({.threads = 4, .steps = 600, .pinned = false}, cache, [&] {
        cache.shrink();
        ops().validate(cache);
        ops().free_rcu_barrier_on(cache);
    });
}

KMIRROR_TEST_IN(ConcurrentSlab, threads_keep_their_objects_while_cpus_come_and_go,
                "KMIRROR_MACHINE=pack:1 core:6 pu:1")
{
    Cache cache(sizeof(Stamp));
    int cpu = 1;
    crowd({.threads = 4, .steps = 600, .pinned = false}, cache, [&] {
        ops().cpu_set_online(cpu, false);
        ops().cpu_set_online(cpu, true);
        cpu = cpu % 5 + 1;
    });
}

KMIRROR_TEST_IN(ConcurrentSlab, typesafe_objects_stay_of_their_type, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    Cache cache(sizeof(Stamp), SLAB_OPS_TYPESAFE_BY_RCU);
    crowd({.threads = 4, .steps = 400}, cache, [&] { cache.shrink(); });
}

KMIRROR_TEST_IN(ConcurrentSlab, caches_are_made_and_destroyed_by_all, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    std::vector<std::jthread> threads;
    for (unsigned id = 0; id < 4; id++)
        threads.emplace_back([id] {
            for (unsigned round = 0; round < 30u / kScale; round++) {
                const std::string name = "slab_test_" + std::to_string(id) + "_" + std::to_string(round);
                slab_ops_cache_args args = args_of(sizeof(Stamp) + 8 * id);
                slab_ops_cache *cache = ops().create(name.c_str(), &args);
                for (int i = 0; i < 100; i++) {
                    void *object = ops().alloc(cache, SLAB_OPS_KERNEL);
                    i % 2 ? ops().free(cache, object) : ops().free_rcu(object, offsetof(Stamp, rcu));
                }
                ops().destroy(cache);
            }
        });
}

// A destruction walks the CPUs while one of them leaves.
KMIRROR_TEST_IN(ConcurrentSlab, destruction_and_a_leaving_cpu_do_not_block_each_other,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    std::atomic<bool> done{false};
    std::vector<std::jthread> hotplug;
    hotplug.emplace_back([&] {
        while (!done) {
            ops().cpu_set_online(3, false);
            ops().cpu_set_online(3, true);
        }
    });
    for (int round = 0; round < 60 / kScale; round++) {
        Cache cache(sizeof(Stamp));
        for (int i = 0; i < 10; i++)
            ops().free_rcu(cache.alloc(), offsetof(Stamp, rcu));
    }
    done = true;
}

// ---- readers ----------------------------------------------------------------------------------------

// Published objects: readers look at them without any lock; the writer replaces them and frees after a grace
// period.
KMIRROR_TEST_IN(ConcurrentSlabRcu, readers_never_see_a_reused_object, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    constexpr int kSlots = 16;
    Cache cache(sizeof(Stamp));
    Stamp *slots[kSlots] = {};
    std::atomic<bool> done{false};
    std::atomic<unsigned> broken{0};
    const auto fresh = [&](std::uintptr_t by) {
        auto *stamp = static_cast<Stamp *>(cache.alloc());
        stamp->write(by);
        return stamp;
    };
    for (Stamp *&slot : slots)
        slot = fresh(1);
    std::vector<std::jthread> readers;
    for (int id = 0; id < 2; id++)
        readers.emplace_back([&] {
            while (!done) {
                rcu_read_lock();
                for (Stamp *&slot : slots)
                    broken += !rcu_dereference(slot)->whole();
                rcu_read_unlock();
            }
        });
    for (int round = 0; round < 20000 / kScale; round++) {
        Stamp *&slot = slots[round % kSlots];
        Stamp *old = slot;
        rcu_assign_pointer(slot, fresh(round + 2));
        kfree_rcu(old, rcu);
    }
    done = true;
    readers.clear();
    for (Stamp *slot : slots)
        cache.free(slot);
    EXPECT_EQ(broken, 0u);
}

// ---- other nodes' locks -----------------------------------------------------------------------------

// A refill looks at other nodes' lists, but waits for none of their locks.
KMIRROR_TEST_IN(ConcurrentSlabNode, a_refill_does_not_wait_for_another_nodes_list_lock,
                "KMIRROR_MACHINE=numa:2 core:1 pu:1")
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Cache cache(256, 0, 32);
    std::vector<void *> remote;
    {
        Pinned there(1);
        remote = cache.alloc_many(32 * 8);
        std::vector<void *> bulk(20 * cache.geometry().objects);
        ASSERT_TRUE(cache.alloc_bulk(bulk.size(), bulk.data()));
        remote.insert(remote.end(), bulk.begin(), bulk.end());
    }
    Pinned here(0);
    // Freed from node 0 they go to node 1's slabs: many partial ones there.
    std::vector<void *> kept;
    for (std::size_t i = 0; i < remote.size(); i++)
        i % 4 ? cache.free(remote[i]) : kept.push_back(remote[i]);
    ASSERT_GT(cache.counts(1).partial_slabs, cache.geometry().min_partial);
    kmem_cache_node *other = kmirror::slub::get_node(as_kmem_cache(cache), 1);
    std::atomic<bool> held{false}, let_go{false};
    std::jthread holder([&] {
        raw_spin_lock(&other->list_lock);
        held = true;
        while (!let_go)
            std::this_thread::sleep_for(1ms);
        raw_spin_unlock(&other->list_lock);
    });
    while (!held)
        std::this_thread::yield();
    std::atomic<bool> got{false};
    std::jthread watchdog([&] {
        for (int i = 0; i < 2000 && !got; i++)
            std::this_thread::sleep_for(1ms);
        EXPECT_TRUE(got) << "waited for node 1's list_lock";
        let_go = true;
    });
    void *object = cache.alloc();
    got = true;
    watchdog.join();
    EXPECT_EQ(ops().object_node(object), 0);
    cache.free(object);
    cache.free(kept);
}

} // namespace
} // namespace kmirror::slab_test
