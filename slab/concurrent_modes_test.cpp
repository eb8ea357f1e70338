// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: what threads may do at the same time, they may do in each generation of the allocator: free each
// other's objects, share a CPU, lose a CPU, and destroy a cache right after its last kfree_rcu().

#include "slab/crowd.h"
#include "slab/modes.h"

#include <linux/rcupdate.h>

namespace kmirror::slab_test {
namespace {

const auto nothing = [] {};

class ConcurrentSlabModes : public EachMode {};
INSTANTIATE_TEST_SUITE_P(In, ConcurrentSlabModes,
                         ::testing::Values(Mode{"cpu-slab", nullptr}, Mode{"cpu-slab+sheaves", nullptr},
                                           Mode{"double", nullptr}, Mode{"sheaves", nullptr},
                                           Mode{"sheaves", "FZPU"}),
                         mode_name);

// Objects are allocated on one CPU and freed on another, on another node too.
TEST_P(ConcurrentSlabModes, objects_may_be_freed_on_any_cpu)
{
    in_mode("pack:1 numa:2 core:2 pu:1", [] {
        Cache cache(sizeof(Stamp), 0, 16);
        crowd({.threads = 4, .steps = 800}, cache, nothing);
    });
}

// One CPU, few objects: its free list and its slabs come back to the same heads again and again.
TEST_P(ConcurrentSlabModes, threads_may_share_a_cpu_and_the_same_few_objects)
{
    in_mode("pack:1 core:1 pu:1", [] {
        Cache cache(sizeof(Stamp), 0, 4);
        crowd({.threads = 4, .steps = 1500, .most = 24}, cache, nothing);
    });
}

// Producers allocate, consumers do nothing but free: every free is a remote one.
TEST_P(ConcurrentSlabModes, one_may_allocate_what_others_free)
{
    in_mode("pack:1 core:4 pu:1", [] {
        Cache cache(sizeof(Stamp), 0, 16);
        std::vector<Mailbox> mail(3);
        std::atomic<bool> done{false};
        std::atomic<unsigned> broken{0};
        std::vector<std::jthread> consumers;
        for (unsigned id = 0; id < mail.size(); id++)
            consumers.emplace_back([&, id] {
                ops().cpu_pin(int(id) + 1);
                for (bool last = false; !last;) {
                    last = done;
                    for (Stamp *stamp : mail[id].take()) {
                        broken += !stamp->whole();
                        cache.free(stamp);
                    }
                }
            });
        Pinned producer(0);
        for (int round = 0; round < 400 / kScale; round++) {
            std::vector<Stamp *> parcel;
            for (void *object : cache.alloc_many(40)) {
                parcel.push_back(static_cast<Stamp *>(object));
                parcel.back()->write(1);
            }
            mail[unsigned(round) % mail.size()].put(parcel);
        }
        done = true;
        consumers.clear();
        EXPECT_EQ(broken, 0u);
    });
}

TEST_P(ConcurrentSlabModes, a_cpu_may_leave_and_caches_shrink_at_any_moment)
{
    in_mode("pack:1 core:4 pu:1", [] {
        Cache cache(sizeof(Stamp), 0, 16);
        int turn = 0;
        crowd({.threads = 4, .steps = 600, .pinned = false}, cache, [&] {
            ops().cpu_set_online(3, false);
            if (turn++ % 4 == 0)
                cache.shrink();
            ops().cpu_set_online(3, true);
        });
    });
}

// Sheaves that wait for a grace period come from CPUs that are gone by the time it is over. Each round is looked at
// while CPUs stand still: a flush under way has objects in two places.
TEST_P(ConcurrentSlabModes, cpus_may_leave_amid_a_flood_of_kfree_rcu)
{
    in_mode("pack:1 numa:2 core:2 pu:1", [] {
        Cache cache(256, 0, 128);
        for (unsigned round = 0; round < 6; round++) {
            std::atomic<unsigned> at_work{4}, broken{0};
            std::vector<std::jthread> threads;
            for (unsigned id = 0; id < 4; id++)
                threads.emplace_back([&, id] {
                    for (unsigned i = 0; i < 2000u / kScale; i++) {
                        if (i % 64 == 0)
                            ops().cpu_pin(int(id + round) % 4);
                        auto *stamp = static_cast<Stamp *>(cache.alloc());
                        stamp->write(id);
                        broken += !stamp->whole();
                        ops().free_rcu(stamp, offsetof(Stamp, rcu));
                    }
                    at_work--;
                });
            for (int turn = 0; at_work; turn++) {
                ops().cpu_set_online(2 + turn % 2, false);
                ops().cpu_set_online(2 + turn % 2, true);
            }
            threads.clear();
            EXPECT_EQ(broken, 0u);
            ops().free_rcu_barrier_on(cache);
            cache.verify();
        }
    });
}

TEST_P(ConcurrentSlabModes, caches_may_be_destroyed_right_after_the_last_kfree_rcu)
{
    in_mode("pack:1 core:4 pu:1", [] {
        std::vector<std::jthread> threads;
        for (unsigned id = 0; id < 4; id++)
            threads.emplace_back([id] {
                for (unsigned round = 0; round < 12u / kScale; round++) {
                    const std::string name = "slab_test_" + std::to_string(id) + "_" + std::to_string(round);
                    slab_ops_cache_args args = args_of(sizeof(Stamp) + 8 * id, 0, 16);
                    slab_ops_cache *cache = ops().create(name.c_str(), &args);
                    for (int i = 0; i < 60; i++) {
                        void *object = ops().alloc(cache, SLAB_OPS_KERNEL);
                        i % 2 ? ops().free(cache, object) : ops().free_rcu(object, offsetof(Stamp, rcu));
                    }
                    ops().destroy(cache);
                }
            });
    });
}

} // namespace
} // namespace kmirror::slab_test
