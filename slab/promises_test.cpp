// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: what an allocator has to keep, each generation keeps, with slab debugging and without: objects are
// their owner's alone, a failure leaves nothing behind, memory for readers stays until they are gone, nodes
// are obeyed, CPUs that leave lose nothing, and the last free gives everything back.

#include "slab/failing.h"
#include "slab/modes.h"
#include "slab/random_walk.h"

#include <linux/rcupdate.h>

#include <algorithm>
#include <cstring>

namespace kmirror::slab_test {
namespace {

#define TWO_NODES "pack:1 numa:2 core:2 pu:1"

class SlabPromises : public EachMode {};
INSTANTIATE_TEST_SUITE_P(In, SlabPromises, all_modes(), mode_name);

TEST_P(SlabPromises, contents_are_kept)
{
    in_mode(TWO_NODES, [] {
        for (unsigned size : {24u, 256u, 3000u}) {
            SCOPED_TRACE("size " + std::to_string(size));
            Cache plain(size, 0, 32), typesafe(size, SLAB_OPS_TYPESAFE_BY_RCU);
            walk(plain, 120);
            walk(typesafe, 60);
        }
    });
}

TEST_P(SlabPromises, zeroed_objects_are_zero)
{
    in_mode(TWO_NODES, [] {
        for (unsigned size : {8u, 100u, 2000u}) {
            Cache cache(size, 0, 32);
            std::vector<void *> objects = cache.alloc_many(80);
            for (int round = 0; round < 2; round++) {
                for (void *object : objects)
                    std::memset(object, 0xa5, size);
                cache.free(objects);
                if (round)
                    ASSERT_TRUE(cache.alloc_bulk(objects.size(), objects.data(), SLAB_OPS_ZERO));
                else
                    objects = cache.alloc_many(objects.size(), SLAB_OPS_ZERO);
                for (void *object : objects) {
                    const auto *bytes = static_cast<const unsigned char *>(object);
                    EXPECT_EQ(std::count(bytes, bytes + size, 0), long(size));
                }
            }
            cache.free(objects);
        }
    });
}

// Every request of an operation fails in turn.
TEST_P(SlabPromises, failures_leave_nothing_behind)
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "nothing can be made to fail with FAULTS=0";
    in_mode(TWO_NODES, [] {
        Pinned here;
        Cache cache(256, 0, 32);
        const auto nothing_is_left = [&] {
            cache.verify();
            EXPECT_EQ(live_objects(cache), 0);
            EXPECT_EQ(cache.shrink(), 0);
        };
        const unsigned bulk = each_failure([&](Attempt &attempt) {
            std::vector<void *> objects(100);
            const bool got = cache.alloc_bulk(objects.size(), objects.data());
            EXPECT_EQ(attempt.over() || got, true);
            if (got)
                cache.free_bulk(objects.size(), objects.data());
            nothing_is_left();
        });
        const unsigned sheaf = each_failure([&](Attempt &attempt) {
            slab_ops_sheaf *filled = ops().prefill(cache, SLAB_OPS_KERNEL, 20);
            EXPECT_EQ(attempt.over() || filled, true);
            if (filled)
                ops().return_sheaf(cache, SLAB_OPS_KERNEL, filled);
            nothing_is_left();
        });
        const unsigned one = each_failure([&](Attempt &attempt) {
            void *object = cache.alloc();
            EXPECT_EQ(attempt.over() || object, true);
            if (object)
                cache.free(object);
            nothing_is_left();
        });
        EXPECT_GT(std::min({bulk, sheaf, one}), 0u);
    });
}

TEST_P(SlabPromises, destruction_waits_for_what_kfree_rcu_was_given)
{
    in_mode(TWO_NODES, [] {
        for (unsigned n : {1u, 31u, 32u, 100u})
            for (unsigned flags : {0u, unsigned(SLAB_OPS_TYPESAFE_BY_RCU)}) {
                slab_ops_cache_args args = args_of(256, flags, 32);
                slab_ops_cache *doomed = ops().create("slab_test_doomed", &args);
                for (unsigned i = 0; i < n; i++)
                    ops().free_rcu(ops().alloc(doomed, SLAB_OPS_KERNEL), 64);
                const kmirror::testing::ExpectWarnings none(0);
                ops().destroy(doomed);
            }
        Cache cache(256, 0, 32);
        for (void *object : cache.alloc_many(100))
            ops().free_rcu(object, 64);
        ops().free_rcu_barrier();
        EXPECT_EQ(live_objects(cache), 0);
    });
}

TEST_P(SlabPromises, nodes_are_obeyed_and_leaving_cpus_lose_nothing)
{
    in_mode(TWO_NODES, [] {
        Cache cache(200, 0, 32);
        std::vector<void *> live;
        for (int cpu = 0; cpu < ops().nr_cpus(); cpu++) {
            Pinned there(cpu);
            for (int node = 0; node < ops().nr_nodes(); node++)
                for (unsigned gfp : {unsigned(SLAB_OPS_THISNODE), unsigned(SLAB_OPS_KERNEL)}) {
                    live.push_back(cache.alloc_node(node, gfp));
                    EXPECT_EQ(ops().object_node(live.back()), node);
                }
            cache.free(cache.alloc_many(200));
            for (int i = 0; i < 5; i++)
                ops().free_rcu(cache.alloc(), 64);
        }
        for (int round = 0; round < 2; round++) {
            ASSERT_EQ(ops().cpu_set_online(3, false), 0);
            rcu_barrier();
            cache.verify();
            EXPECT_EQ(cache.sheaves(3).spare, -1);
            ASSERT_EQ(ops().cpu_set_online(3, true), 0);
            Pinned there(3);
            cache.free(cache.alloc_many(100));
        }
        ops().free_rcu_barrier();
        EXPECT_EQ(live_objects(cache), long(live.size()));
        cache.free(live);
    });
}

TEST_P(SlabPromises, memory_of_any_size_is_what_was_asked_for)
{
    in_mode(TWO_NODES, [] {
        KMIRROR_RANDOM(random);
        struct Block {
            unsigned char *bytes;
            std::size_t size;
            unsigned char fill;
        };
        std::vector<Block> blocks;
        const auto intact = [](const Block &block) {
            return std::count(block.bytes, block.bytes + block.size, block.fill) == long(block.size);
        };
        for (int i = 0; i < 400; i++) {
            const std::size_t size = pick(random, 1, 1u << pick(random, 3, 14));
            auto *bytes = static_cast<unsigned char *>(ops().kmalloc(size, SLAB_OPS_KERNEL));
            ASSERT_NE(bytes, nullptr);
            blocks.push_back({bytes, size, static_cast<unsigned char>(i)});
            std::memset(bytes, i, size);
            Block &other = blocks[pick(random, 0, blocks.size() - 1)];
            EXPECT_TRUE(intact(other));
            const std::size_t larger = other.size + pick(random, 0, 100);
            auto *moved = static_cast<unsigned char *>(ops().krealloc(other.bytes, larger, SLAB_OPS_KERNEL));
            ASSERT_NE(moved, nullptr);
            other.bytes = moved;
            EXPECT_TRUE(intact(other));
            std::memset(moved, other.fill, other.size = larger);
        }
        for (const Block &block : blocks) {
            EXPECT_TRUE(intact(block));
            ops().kfree(block.bytes);
        }
    });
}

} // namespace
} // namespace kmirror::slab_test
