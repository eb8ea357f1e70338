// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the statistics have the kernel's names and count exactly what the kernel counts: a scripted
// sequence leaves each of them at a known value.

#include "slab/slab_test.h"

#include <linux/errno.h>
#include <linux/rcupdate.h>

#include <map>

namespace kmirror::slab_test {
namespace {

const std::vector<std::string> kNames = {
    "alloc_fastpath",      "alloc_slowpath",      "free_rcu_sheaf",      "free_rcu_sheaf_fail",
    "free_fastpath",       "free_slowpath",       "free_add_partial",    "free_remove_partial",
    "alloc_slab",          "alloc_node_mismatch", "free_slab",           "order_fallback",
    "cmpxchg_double_fail", "sheaf_flush",         "sheaf_refill",        "sheaf_alloc",
    "sheaf_free",          "barn_get",            "barn_get_fail",       "barn_put",
    "barn_put_fail",       "sheaf_prefill_fast",  "sheaf_prefill_slow",  "sheaf_prefill_oversize",
    "sheaf_return_fast",   "sheaf_return_slow"};

using Values = std::map<std::string, long>;

// Every statistic: those not named must be 0.
void expect_values(const Cache &cache, const Values &expected)
{
    for (const std::string &name : kNames) {
        const auto found = expected.find(name);
        EXPECT_EQ(cache.stat(name.c_str()), found == expected.end() ? 0 : found->second) << name;
    }
}

class SlabStatistics : public ::testing::Test {
protected:
    SlabStatistics() : cache(256, 0, 32), per_slab(cache.geometry().objects) { cache.clear_stats(); }
    void SetUp() override
    {
        if (!KMIRROR_STATS)
            GTEST_SKIP() << "a release build keeps no statistics";
    }

    Pinned here;
    Cache cache;
    long per_slab; // 8, 16 or 32: divides a sheaf
};

TEST_F(SlabStatistics, have_the_kernels_names_in_the_kernels_order)
{
    SHEAVES_ONLY();
    std::vector<std::string> found;
    for (unsigned i = 0; ops().stat_name(i); i++)
        if (cache.stat(ops().stat_name(i)) != -ENOENT)
            found.push_back(ops().stat_name(i));
    EXPECT_EQ(found, std::vector<std::string>(kNames.begin(), kNames.end()));
    EXPECT_STAT(cache, "alloc_pcs", -ENOENT) << "a name of 6.18";
}

TEST_F(SlabStatistics, of_one_allocation_and_free)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    cache.free(cache.alloc());
    expect_values(cache, {{"alloc_fastpath", 1},
                          {"free_fastpath", 1},
                          {"barn_get_fail", 1},
                          {"sheaf_alloc", 1},
                          {"sheaf_refill", 32},
                          {"alloc_slab", 32 / per_slab}});
    cache.clear_stats();
    expect_values(cache, {});
}

TEST_F(SlabStatistics, of_fourteen_sheaves_through_a_full_barn)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    cache.free(cache.alloc_many(14 * 32));
    // Allocating: 14 refills, one sheaf made. Freeing: main, spare, ten to the barn (a sheaf made for each),
    // two flushed.
    expect_values(cache, {{"alloc_fastpath", 14 * 32},
                          {"free_fastpath", 14 * 32},
                          {"barn_get_fail", 14},
                          {"sheaf_alloc", 11},
                          {"sheaf_refill", 14 * 32},
                          {"alloc_slab", 14 * 32 / per_slab},
                          {"barn_put", 10},
                          {"barn_put_fail", 2},
                          {"sheaf_flush", 2 * 32},
                          {"free_add_partial", cache.stat("free_add_partial")},
                          {"free_remove_partial", cache.stat("free_remove_partial")},
                          {"free_slab", cache.stat("free_slab")}});
}

TEST_F(SlabStatistics, of_a_bulk_allocation_and_free)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    std::vector<void *> objects(96);
    ASSERT_TRUE(cache.alloc_bulk(96, objects.data()));
    cache.free_bulk(96, objects.data());
    // Nothing in the sheaves: all from slabs. Back: 32 into main; spare is missing and the barn has no empty
    // one.
    expect_values(cache, {{"alloc_slowpath", 96},
                          {"barn_get_fail", 1},
                          {"alloc_slab", 96 / per_slab},
                          {"free_fastpath", 32},
                          {"free_slowpath", 64},
                          {"free_add_partial", cache.stat("free_add_partial")},
                          {"free_remove_partial", cache.stat("free_remove_partial")},
                          {"free_slab", cache.stat("free_slab")}});
}

TEST_F(SlabStatistics, of_prefilled_sheaves)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, 10);
    expect_values(cache, {{"sheaf_prefill_slow", 1},
                          {"barn_get_fail", 1},
                          {"sheaf_alloc", 1},
                          {"sheaf_refill", 32},
                          {"alloc_slab", 32 / per_slab}});
    void *object = ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
    ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
    EXPECT_EQ(cache.stat("alloc_fastpath") + cache.stat("alloc_slowpath"), 0)
        << "a prefilled object counts nothing";
    EXPECT_STAT(cache, "sheaf_return_fast", 1);
    cache.free(object);
    cache.clear_stats();
    sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, 100);
    ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
    EXPECT_STAT(cache, "sheaf_prefill_oversize", 1);
    EXPECT_STAT(cache, "alloc_slowpath", 100);
    EXPECT_STAT(cache, "sheaf_flush", 100);
    EXPECT_STAT(cache, "sheaf_alloc", 1);
    EXPECT_STAT(cache, "sheaf_free", 1);
    EXPECT_EQ(cache.stat("sheaf_return_fast") + cache.stat("sheaf_return_slow"), 0);
}

TEST_F(SlabStatistics, of_kfree_rcu)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    for (void *object : cache.alloc_many(64))
        ops().free_rcu(object, 0);
    rcu_barrier();
    expect_values(cache, {{"alloc_fastpath", 64},
                          {"barn_get_fail", 2},
                          {"sheaf_refill", 64},
                          {"alloc_slab", 64 / per_slab},
                          {"free_rcu_sheaf", 64},
                          // one for the refill, one for the second rcu sheaf: the first was the empty spare
                          {"sheaf_alloc", 2},
                          {"barn_put", 2}});
}

TEST_F(SlabStatistics, are_summed_over_cpus)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu++) {
        Pinned there(cpu);
        cache.free(cache.alloc());
    }
    EXPECT_STAT(cache, "alloc_fastpath", ops().nr_cpus());
    EXPECT_STAT(cache, "free_fastpath", ops().nr_cpus());
}

} // namespace
} // namespace kmirror::slab_test
