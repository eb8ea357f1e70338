// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: what a group is charged is what its live objects are, however they are allocated and freed; beyond
// its limit it gets nothing; and whatever happens to a slab's vector, no object is charged twice or for ever.

#include "slab/slab_test.h"

#include <kmirror/fault.h>
#include <kmirror/slab_info.h>
#include <kmirror/stop_point.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/memcontrol.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "lib/slub/obj_ext.h"

#include <atomic>
#include <cstring>
#include <thread>

namespace kmirror::slab_test {
namespace {

using kmirror::slub::OBJEXTS_ALLOC_FAIL;
using kmirror::slub::slab_ext_word;
using kmirror::slub::slab_obj_exts;
using kmirror::slub::slab_of_object;

#define MACHINE "KMIRROR_MACHINE=pack:1 core:2 pu:1"

struct AccountTest {
    AccountTest() { set_active_objcg(&group); }
    ~AccountTest()
    {
        set_active_objcg(nullptr);
        EXPECT_EQ(charged(), 0);
    }
    long charged() const { return atomic_long_read(&group.charged); }

    obj_cgroup group = OBJ_CGROUP_INIT;
};

slab_ops_cache_args accounted(unsigned size) { return args_of(size, SLAB_OPS_CACHE_ACCOUNT); }

long each(Cache &cache) { return long(cache.geometry().size + sizeof(void *)); }

KMIRROR_TEST_IN(SlabAccount, follows_objects_in_and_out_by_every_way, MACHINE)
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "nothing is counted in this build";
    Pinned here;
    AccountTest test;
    Cache cache(accounted(256));
    std::vector<void *> objects = cache.alloc_many(50);
    EXPECT_EQ(test.charged(), 50 * each(cache));
    std::vector<void *> bulk(100);
    ASSERT_TRUE(cache.alloc_bulk(100, bulk.data()));
    EXPECT_EQ(test.charged(), 150 * each(cache));
    cache.free_bulk(100, bulk.data());
    EXPECT_EQ(test.charged(), 50 * each(cache));
    slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, 5);
    EXPECT_EQ(test.charged(), 50 * each(cache)) << "a reserved object is nobody's yet";
    objects.push_back(ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf));
    EXPECT_EQ(test.charged(), 51 * each(cache));
    ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
    for (int i = 0; i < 40; i++)
        ops().free_rcu(objects[i], 64);
    ops().free_rcu_barrier();
    EXPECT_EQ(test.charged(), 11 * each(cache));
    std::vector<void *> rest(objects.begin() + 40, objects.end());
    ops().free_bulk(nullptr, rest.size(), rest.data());
    EXPECT_EQ(test.charged(), 0);
}

KMIRROR_TEST_IN(SlabAccount, is_for_those_who_asked, MACHINE)
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "nothing is counted in this build";
    Pinned here;
    AccountTest test;
    Cache plain(256);
    void *object = plain.alloc(), *asked = plain.alloc(SLAB_OPS_KERNEL | SLAB_OPS_ACCOUNT);
    EXPECT_EQ(test.charged(), each(plain));
    EXPECT_TRUE(kmem_cache_charge(object, GFP_KERNEL));
    EXPECT_TRUE(kmem_cache_charge(object, GFP_KERNEL)) << "once is enough";
    EXPECT_EQ(test.charged(), 2 * each(plain));
    set_active_objcg(nullptr);
    void *later = plain.alloc(SLAB_OPS_KERNEL | SLAB_OPS_ACCOUNT);
    EXPECT_EQ(test.charged(), 2 * each(plain)) << "nobody pays";
    std::thread([&] {
        plain.free(asked);
        plain.free(object);
        plain.free(later);
    }).join();
    EXPECT_EQ(test.charged(), 0) << "whoever frees it";
    set_active_objcg(&test.group);
    struct kmirror_slab_geometry of_class;
    kmirror_slab_geometry(__kmalloc_bucket(1000, 0), &of_class);
    const long each_of_class = long(of_class.size + sizeof(void *));
    void *kmalloced = kmalloc(1000, GFP_KERNEL_ACCOUNT);
    EXPECT_EQ(test.charged(), each_of_class);
    kfree(kmalloced);
    void *nolock = kmalloc_nolock(1000, __GFP_ACCOUNT, NUMA_NO_NODE);
    EXPECT_EQ(test.charged(), each_of_class);
    kfree_nolock(nolock);
}

KMIRROR_TEST_IN(SlabAccount, refuses_what_is_beyond_the_limit_and_takes_nothing, MACHINE)
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "nothing is counted in this build";
    Pinned here;
    AccountTest test;
    Cache cache(accounted(256));
    test.group.limit = 10 * each(cache);
    std::vector<void *> objects;
    while (void *object = cache.alloc(SLAB_OPS_KERNEL))
        objects.push_back(object);
    EXPECT_EQ(objects.size(), 10u);
    void *bulk[3];
    cache.free(objects.back());
    objects.pop_back();
    EXPECT_FALSE(cache.alloc_bulk(3, bulk));
    EXPECT_EQ(kmalloc(1000, GFP_KERNEL_ACCOUNT), nullptr);
    EXPECT_EQ(kmalloc_nolock(1000, __GFP_ACCOUNT, NUMA_NO_NODE), nullptr);
    EXPECT_EQ(test.charged(), 9 * each(cache));
    slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, 5);
    for (int i = 0; i < 5; i++)
        objects.push_back(ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf));
    EXPECT_EQ(test.charged(), 14 * each(cache)) << "what was promised is given, limit or not";
    ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
    cache.free(objects);
}

// Without memory for a vector the object is there, uncharged; the slab remembers, and forgets at its end.
KMIRROR_TEST_IN(SlabAccount, without_a_vector_objects_are_free_of_charge, MACHINE, "KMIRROR_SHEAF_CAPACITY=0")
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "nothing is counted in this build";
    Pinned here;
    AccountTest test;
    Cache cache(4000, SLAB_OPS_CACHE_ACCOUNT);
    set_active_objcg(nullptr);
    void *first = cache.alloc(); // the slab is there
    set_active_objcg(&test.group);
    kmirror_fail_from_nth(2); // the object's own request comes first
    void *object = cache.alloc();
    kmirror_fail_nth(0);
    ASSERT_NE(object, nullptr);
    slab *of_both = slab_of_object(object);
    ASSERT_EQ(of_both, slab_of_object(first));
    EXPECT_EQ(*slab_ext_word(of_both), OBJEXTS_ALLOC_FAIL);
    EXPECT_EQ(test.charged(), 0);
    cache.free(object);
    cache.free(first);
    EXPECT_EQ(cache.shrink(), 0);
    EXPECT_EQ(*slab_ext_word(of_both), 0u) << "the pages' next user must not find it";
    object = cache.alloc();
    EXPECT_EQ(test.charged(), each(cache));
    EXPECT_NE(slab_obj_exts(slab_of_object(object)), nullptr);
    slab *last = slab_of_object(object);
    cache.free(object);
    EXPECT_EQ(cache.shrink(), 0);
    EXPECT_EQ(*slab_ext_word(last), 0u);
}

// A mark that was set by who had no memory gives way to a vector, and never replaces one.
KMIRROR_TEST_IN(SlabAccount, a_vector_replaces_the_mark_and_not_the_other_way, MACHINE,
                "KMIRROR_SHEAF_CAPACITY=0")
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "nothing is counted in this build";
    Pinned here;
    AccountTest test;
    Cache cache(4000, SLAB_OPS_CACHE_ACCOUNT);
    std::vector<void *> objects;
    kmirror_fail_from_nth(3); // object and page are there, the vector is not
    objects.push_back(cache.alloc());
    kmirror_fail_nth(0);
    ASSERT_NE(objects[0], nullptr);
    EXPECT_EQ(*slab_ext_word(slab_of_object(objects[0])), OBJEXTS_ALLOC_FAIL);
    objects.push_back(cache.alloc());
    slabobj_ext *vector = slab_obj_exts(slab_of_object(objects[1]));
    ASSERT_NE(vector, nullptr);
    kmirror_fail_from_nth(2);
    objects.push_back(cache.alloc());
    kmirror_fail_nth(0);
    EXPECT_EQ(slab_obj_exts(slab_of_object(objects[2])), vector);
    EXPECT_EQ(test.charged(), 2 * each(cache));
    cache.free(objects);
}

// Two threads make the same slab's vector: while the first one's memory is asked for, the second installs his;
// then there is none for the first.
KMIRROR_TEST_IN(SlabAccount, who_has_no_memory_takes_the_vector_that_came_meanwhile, MACHINE,
                "KMIRROR_SHEAF_CAPACITY=0")
{
    if (!KMIRROR_FAULTS || !KMIRROR_STOP_POINTS)
        GTEST_SKIP() << "nothing fails or nobody can be held in this build";
    Pinned here;
    AccountTest test;
    Cache cache(accounted(16)); // a vector of 2048 bytes: its class is used by nobody else here
    set_active_objcg(nullptr);
    void *first = cache.alloc(); // the slab is there, and has no vector
    set_active_objcg(&test.group);
    kmem_cache *of_vectors = __kmalloc_bucket(2048, 0);
    std::vector<void *> taken;
    void *second = nullptr;
    const auto visit = [&](const char *function, const char *operation) {
        if (second || std::strcmp(function, "alloc_slab_page") || std::strcmp(operation, "alloc_pages"))
            return;
        second = cache.alloc();
        // What is left of the second's page would be found on the next try.
        for (struct kmirror_slab_counts left; kmirror_slab_counts(of_vectors, NUMA_NO_NODE, &left),
             left.used_objects < left.total_objects;)
            taken.push_back(kmalloc(2048, GFP_KERNEL));
        kmirror_fail_from_nth(1);
    };
    void *third;
    {
        const StopVisitor<decltype(visit)> meanwhile(visit);
        third = cache.alloc();
    }
    kmirror_fail_nth(0);
    ASSERT_NE(second, nullptr) << "no page was asked for";
    ASSERT_NE(third, nullptr);
    ASSERT_EQ(slab_of_object(second), slab_of_object(third));
    EXPECT_NE(slab_obj_exts(slab_of_object(third)), nullptr) << "the mark replaced a vector";
    EXPECT_EQ(test.charged(), 2 * each(cache));
    for (void *object : {first, second, third})
        cache.free(object);
    for (void *object : taken)
        kfree(object);
}

// Many threads at once on fresh slabs, half of whose vectors fail: one vector a slab, no charge lost.
KMIRROR_TEST_IN(SlabAccountConcurrent, installs_one_vector_a_slab, MACHINE)
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "nothing is counted in this build";
    AccountTest test;
    Cache cache(accounted(512));
    for (int round = 0; round < 30; round++) {
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; t++)
            threads.emplace_back([&, t] {
                set_active_objcg(&test.group);
                std::vector<void *> mine;
                for (int i = 0; i < 20; i++) {
                    if (t % 2)
                        kmirror_fail_nth(2);
                    if (void *object = ops().alloc(cache, SLAB_OPS_KERNEL))
                        mine.push_back(object);
                    kmirror_fail_nth(0);
                }
                for (void *object : mine)
                    ops().free(cache, object);
                set_active_objcg(nullptr);
            });
        for (std::thread &thread : threads)
            thread.join();
        EXPECT_EQ(test.charged(), 0);
        cache.shrink();
    }
}

} // namespace
} // namespace kmirror::slab_test
