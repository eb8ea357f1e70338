// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: each CPU has sheaves of its own; what a CPU holds when it goes offline comes back to the slabs,
// and what its objects' users hold stays theirs.

#include "slab/slab_test.h"

#include <linux/rcupdate.h>

namespace kmirror::slab_test {
namespace {

KMIRROR_TEST_IN(SlabCpu, has_sheaves_of_its_own, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    Cache cache(256, 0, 32);
    for (int cpu = 0; cpu < 4; cpu++) {
        Pinned there(cpu);
        ASSERT_EQ(ops().cpu(), cpu);
        cache.free(cache.alloc_many(unsigned(cpu) + 1));
    }
    for (int cpu = 0; cpu < 4; cpu++)
        EXPECT_EQ(cache.sheaves(cpu).main, 32);
    EXPECT_EQ(cache.counts().used_objects, 4u * 32u);
    cache.verify();
}

KMIRROR_TEST_IN(SlabCpu, trades_with_others_through_the_barn, "KMIRROR_MACHINE=pack:1 core:2 pu:1")
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    Cache cache(256, 0, 32);
    std::vector<void *> objects;
    {
        Pinned producer(0);
        objects = cache.alloc_many(32 * 4);
    }
    {
        Pinned consumer(1);
        cache.free(objects);
        EXPECT_EQ(cache.counts().barn_full, 2u);
    }
    Pinned producer(0);
    cache.clear_stats();
    cache.free(cache.alloc_many(32 * 2));
    EXPECT_STAT(cache, "barn_get", 2) << "what CPU 1 freed serves CPU 0";
    EXPECT_STAT(cache, "sheaf_refill", 0);
}

KMIRROR_TEST_IN(SlabCpu, going_offline_gives_its_sheaves_back, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    Cache cache(256, 0, 32);
    std::vector<void *> live;
    {
        Pinned there(2);
        live = cache.alloc_many(10);
        cache.free(cache.alloc_many(60));
        for (int i = 0; i < 5; i++)
            ops().free_rcu(cache.alloc(), 64);
        EXPECT_EQ(cache.sheaves(2).rcu_free, 5);
        EXPECT_GE(cache.sheaves(2).spare, 0);
    }
    ASSERT_EQ(ops().cpu_set_online(2, false), 0);
    EXPECT_EQ(ops().cpu_online(2), 0);
    EXPECT_EQ(cache.sheaves(2).main, 0);
    EXPECT_EQ(cache.sheaves(2).spare, -1);
    EXPECT_EQ(cache.sheaves(2).rcu_free, -1);
    rcu_barrier();
    cache.verify();
    EXPECT_EQ(cache.counts().used_objects - cache.counts().barn_objects, live.size());
    EXPECT_NE(ops().cpu_pin(2), 0) << "nobody runs there now";
    cache.free(live);
}

KMIRROR_TEST_IN(SlabCpu, coming_back_online_works_as_before, "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    Cache cache(256, 0, 32);
    for (int round = 0; round < 3; round++) {
        {
            Pinned there(3);
            cache.free(cache.alloc_many(200));
        }
        ASSERT_EQ(ops().cpu_set_online(3, false), 0);
        cache.verify();
        Cache born_meanwhile(64);
        born_meanwhile.free(born_meanwhile.alloc_many(10));
        ASSERT_EQ(ops().cpu_set_online(3, true), 0);
        Pinned there(3);
        born_meanwhile.free(born_meanwhile.alloc_many(200));
    }
}

KMIRROR_TEST_IN(SlabCpu, of_512_is_not_too_many, "KMIRROR_MACHINE=pack:4 numa:2 core:32 pu:2")
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "not enough addresses";
    ASSERT_EQ(ops().nr_cpus(), 512);
    Cache cache(256, 0, 32);
    for (int cpu = 0; cpu < 512; cpu += 73) {
        Pinned there(cpu);
        cache.free(cache.alloc_many(100));
    }
    cache.expect_sheaves_made(cache.sheaves_found());
    cache.verify();
}

} // namespace
} // namespace kmirror::slab_test
