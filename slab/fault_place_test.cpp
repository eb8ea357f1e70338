// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: each place of allocator and tree that can run out of memory has a failure point of its own; made to
// fail it refuses what it is about, loses nothing, and works again afterwards.

#include "slab/failing.h"

#include <kmirror/harness.h>
#include <kmirror/printk.h>
#include <linux/maple_tree.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

#include <fiu-control.h>

namespace kmirror::slab_test {
namespace {

class FaultPlace : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!KMIRROR_FAULTS)
            GTEST_SKIP() << "this build has FAULTS=0";
        level_ = kmirror_set_loglevel(0); // a cache that cannot be created says so
        kmirror_fault_log_clear();
    }
    void TearDown() override
    {
        if (!KMIRROR_FAULTS)
            return;
        kmirror_fail_nth(0);
        for (unsigned i = 0; kmirror_fault_point(i); i++)
            kmirror_fault_disable(kmirror_fault_point(i));
        kmirror_fault_watch(false);
        kmirror_set_loglevel(level_);
    }

private:
    int level_ = 0;
};

void fail(const std::string &point, const std::string &more = "times=-1")
{
    char error[256] = "";
    const std::string text = point + ":probability=100,verbose=0,ignore-gfp-wait=N," + more;
    ASSERT_EQ(kmirror_fault_configure(text.c_str(), error, sizeof(error)), 0) << error;
}

struct kmem_cache *create(const char *name, unsigned sheaf_capacity = 16)
{
    struct kmem_cache_args args = {};
    args.sheaf_capacity = sheaf_capacity;
    return kmem_cache_create(name, 48, &args, 0);
}

void creation_fails_at(const char *point, const char *cache)
{
    SCOPED_TRACE(point);
    rcu_barrier();
    const LiveObjects before = live_objects();
    fail(point, "times=1,cache=" + std::string(cache));
    EXPECT_EQ(create(cache), nullptr);
    EXPECT_EQ(live_objects(), before);
    struct kmirror_injection one;
    ASSERT_EQ(kmirror_fault_log(&one, 1), 1u);
    EXPECT_STREQ(one.point, point);
    EXPECT_STREQ(one.cache, cache);
    struct kmem_cache *made = create(cache);
    ASSERT_NE(made, nullptr);
    kmem_cache_destroy(made);
    kmirror_fault_disable(point);
    kmirror_fault_log_clear();
}

TEST_F(FaultPlace, each_step_of_a_creation)
{
    const int random = kmirror_slab_switch(KMIRROR_SLAB_FREELIST_RANDOM, 1);
    for (const char *point : {"fail_cache_name", "fail_cache_alloc", "fail_cache_percpu",
                              "fail_cache_random_seq", "fail_cache_nodes", "fail_barn_alloc",
                              "fail_sheaf_alloc"})
        creation_fails_at(point, "fault_place");
    kmirror_slab_switch(KMIRROR_SLAB_FREELIST_RANDOM, random);
}

KMIRROR_TEST_IN(FaultPlaceWithCpuSlabs, the_cpus_slabs_are_per_cpu_memory_as_well, "KMIRROR_SLAB=double")
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "this build has FAULTS=0";
    kmirror_set_loglevel(0);
    fail("fail_cache_percpu", "interval=2,times=1"); // sheaves first
    EXPECT_EQ(create("fault_place"), nullptr);
    kmem_cache_destroy(create("fault_place"));
}

KMIRROR_TEST_IN(FaultPlaceOnNodes, the_barn_of_each_node, "KMIRROR_MACHINE=numa:3 core:1 pu:1")
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "this build has FAULTS=0";
    kmirror_set_loglevel(0);
    for (const char *point : {"fail_barn_alloc", "fail_cache_nodes"}) {
        for (const char *interval : {"interval=1", "interval=2", "interval=3"}) {
            fail(point, std::string("times=1,cache=fault_place,") + interval);
            EXPECT_EQ(create("fault_place"), nullptr) << point << " " << interval;
        }
        kmirror_fault_disable(point);
    }
    kmem_cache_destroy(create("fault_place"));
}

TEST_F(FaultPlace, a_second_name_is_forgotten_and_the_cache_shared_all_the_same)
{
    fail("fail_cache_alias");
    struct kmem_cache *first = kmem_cache_create("fault_place_1", 936, 0, 0, nullptr);
    struct kmem_cache *second = kmem_cache_create("fault_place_2", 936, 0, 0, nullptr);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(first, second);
    EXPECT_GE(kmirror_fault_count("fail_cache_alias"), 1u);
    kmem_cache_destroy(second);
    kmem_cache_destroy(first);
}

TEST_F(FaultPlace, without_a_sheaf_objects_come_and_go_by_slabs)
{
    WHERE_SHEAVES_ARE();
    const Pinned here;
    Cache cache(64, 0, 8);
    const long made = cache.sheaves_made();
    const unsigned long before = kmirror_fault_count("fail_sheaf_alloc");
    fail("fail_sheaf_alloc");
    std::vector<void *> objects = cache.alloc_many(60);
    cache.free(objects);
    EXPECT_GT(kmirror_fault_count("fail_sheaf_alloc"), before);
    cache.expect_sheaves_made(made);
    kmirror_fault_disable("fail_sheaf_alloc");
    cache.free(cache.alloc_many(60));
    cache.verify();
}

TEST_F(FaultPlace, a_prefill_is_refused_and_a_refill_leaves_the_sheaf)
{
    const Pinned here;
    for (const unsigned wanted : {4u, 40u}) { // an ordinary sheaf, and one made for this
        Cache cache(64, 0, 16);
        cache.shrink();
        fail("fail_sheaf_prefill", "times=1");
        EXPECT_EQ(ops().prefill(cache, SLAB_OPS_KERNEL, wanted), nullptr);
        slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, wanted);
        ASSERT_NE(sheaf, nullptr);
        slab_ops_sheaf *const same = sheaf;
        std::vector<void *> taken;
        while (ops().sheaf_size(sheaf))
            taken.push_back(ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf));
        fail("fail_sheaf_prefill", "times=1");
        EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, wanted), -ENOMEM);
        EXPECT_EQ(sheaf, same);
        EXPECT_EQ(ops().sheaf_size(sheaf), 0u);
        EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, wanted), 0);
        EXPECT_GE(ops().sheaf_size(sheaf), wanted);
        ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
        cache.free(taken);
        cache.verify();
    }
}

// Object k fails; the k - 1 before it are fetched and given back.
TEST_F(FaultPlace, a_bulk_request_at_object_k)
{
    const Pinned here;
    Cache cache(256, 0, 4);
    for (const unsigned k : {1u, 2u, 17u, 50u}) {
        cache.shrink();
        cache.clear_stats();
        kmirror_fault_log_clear();
        fail("fail_alloc_bulk", "probability=0,at=1:" + std::to_string(k));
        std::vector<void *> objects(50);
        EXPECT_FALSE(cache.alloc_bulk(50, objects.data())) << k;
        struct kmirror_injection one;
        ASSERT_EQ(kmirror_fault_log(&one, 1), 1u);
        EXPECT_STREQ(one.point, "fail_alloc_bulk");
        EXPECT_EQ(one.request, k);
        EXPECT_EQ(live_objects(cache), 0);
        if (KMIRROR_STATS) {
            EXPECT_EQ(cache.stat("alloc_slab") != 0, k > 1) << k;
        }
        kmirror_fault_disable("fail_alloc_bulk");
        EXPECT_TRUE(cache.alloc_bulk(50, objects.data()));
        cache.free_bulk(50, objects.data());
        cache.verify();
    }
}

TEST_F(FaultPlace, the_nodes_of_a_store)
{
    struct maple_tree tree;
    mt_init(&tree);
    for (unsigned long i = 0; i < 40; i++)
        ASSERT_EQ(mtree_store(&tree, i, xa_mk_value(i), GFP_KERNEL), 0);
    fail("fail_mas_alloc_nodes");
    const unsigned long before = kmirror_fault_count("fail_mas_alloc_nodes");
    EXPECT_EQ(mtree_store(&tree, 17, xa_mk_value(900), GFP_KERNEL), 0) << "in place: needs no node";
    EXPECT_EQ(kmirror_fault_count("fail_mas_alloc_nodes"), before);
    EXPECT_EQ(mtree_store_range(&tree, 8, 30, xa_mk_value(901), GFP_KERNEL), -ENOMEM);
    for (unsigned long i = 0; i < 40; i++)
        EXPECT_EQ(mtree_load(&tree, i), xa_mk_value(i == 17 ? 900 : i)) << i;
    MA_STATE(mas, &tree, 8, 30);
    mas_lock(&mas);
    EXPECT_EQ(mas_preallocate(&mas, xa_mk_value(902), GFP_NOWAIT), -ENOMEM);
    mas_unlock(&mas);
    fail("fail_mas_alloc_nodes", "times=1"); // what is asked for again with the lock dropped
    EXPECT_EQ(mtree_store_range(&tree, 8, 30, xa_mk_value(903), GFP_KERNEL), 0);
    EXPECT_EQ(kmirror_fault_count("fail_mas_alloc_nodes"), before + 4);
    EXPECT_EQ(mtree_load(&tree, 30), xa_mk_value(903));
    mtree_destroy(&tree);
}

TEST_F(FaultPlace, libfiu_may_name_the_cache)
{
    kmirror_fault_watch(true);
    ASSERT_EQ(fiu_enable("fail_cache_nodes/fault_place_b", 1, nullptr, 0), 0);
    struct kmem_cache *other = create("fault_place_a");
    EXPECT_NE(other, nullptr);
    EXPECT_EQ(create("fault_place_b"), nullptr);
    fiu_disable("fail_cache_nodes/fault_place_b");
    kmem_cache_destroy(other);
}

// The budgets of the kernel's tests are in the same log.
TEST_F(FaultPlace, budgets_of_the_harness_are_logged)
{
    const int mode = kmirror_harness_mode(KMIRROR_HARNESS_MOCK);
    struct kmem_cache *cache = create("fault_place", 0);
    const unsigned long before = kmirror_fault_count("harness_budget");
    kmem_cache_set_non_kernel(cache, 1);
    void *object = kmem_cache_alloc(cache, GFP_NOWAIT);
    EXPECT_NE(object, nullptr);
    kmirror_fault_log_clear();
    EXPECT_EQ(kmem_cache_alloc(cache, GFP_NOWAIT), nullptr);
    EXPECT_EQ(kmirror_fault_count("harness_budget"), before + 1);
    struct kmirror_injection one;
    ASSERT_EQ(kmirror_fault_log(&one, 1), 1u);
    EXPECT_STREQ(one.point, "harness_budget");
    EXPECT_STREQ(one.cache, "fault_place");
    kmem_cache_free(cache, object);
    kmem_cache_destroy(cache);
    kmirror_harness_mode(mode);
    EXPECT_EQ(kmirror_fault_configure("harness_budget:times=1", nullptr, 0), -EINVAL);
}

} // namespace
} // namespace kmirror::slab_test
