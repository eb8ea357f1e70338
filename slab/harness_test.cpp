// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: in mock mode a cache behaves as the allocator of the kernel's userspace tests: a budget for
// requests that may not wait, one deferred call-back after a failure, prefilled sheaves that hold exactly
// what was asked for.

#include "slab/slab_test.h"

#include <kmirror/harness.h>
#include <linux/rcupdate.h>

namespace kmirror::slab_test {
namespace {

#define IN_MOCK_MODE "KMIRROR_HARNESS=mock"

#define NEEDS_MOCK_MODE                                              \
    if (!KMIRROR_FAULTS)                                              \
        GTEST_SKIP() << "there is no mock mode with FAULTS=0"

void set_budget(Cache &cache, unsigned objects) { kmem_cache_set_non_kernel(as_kmem_cache(cache), objects); }
long allocated(Cache &cache) { return long(kmem_cache_nr_allocated(as_kmem_cache(cache))); }
long tallied(Cache &cache) { return long(kmem_cache_nr_tallocated(as_kmem_cache(cache))); }

KMIRROR_TEST_IN(SlabMock, without_a_budget_only_waiting_requests_succeed, IN_MOCK_MODE)
{
    NEEDS_MOCK_MODE;
    Cache cache(256, 0, 32);
    EXPECT_EQ(cache.alloc(SLAB_OPS_NOWAIT), nullptr);
    void *objects[4];
    EXPECT_FALSE(cache.alloc_bulk(4, objects, SLAB_OPS_NOWAIT));
    EXPECT_EQ(ops().prefill(cache, SLAB_OPS_NOWAIT, 1), nullptr);
    void *object = cache.alloc();
    EXPECT_NE(object, nullptr);
    cache.free(object);
}

KMIRROR_TEST_IN(SlabMock, each_object_costs_one_of_the_budget, IN_MOCK_MODE)
{
    NEEDS_MOCK_MODE;
    Cache cache(256, 0, 32);
    set_budget(cache, 10);
    void *objects[10];
    for (int i = 0; i < 3; i++)
        ASSERT_NE(objects[i] = cache.alloc(SLAB_OPS_NOWAIT), nullptr);
    ASSERT_TRUE(cache.alloc_bulk(4, objects + 3, SLAB_OPS_NOWAIT));
    slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_NOWAIT, 2);
    ASSERT_NE(sheaf, nullptr);
    ASSERT_NE(objects[7] = cache.alloc(SLAB_OPS_NOWAIT), nullptr);
    EXPECT_EQ(cache.alloc(SLAB_OPS_NOWAIT), nullptr) << "the eleventh";
    ops().return_sheaf(cache, SLAB_OPS_NOWAIT, sheaf);
    for (int i = 0; i < 8; i++)
        cache.free(objects[i]);
}

KMIRROR_TEST_IN(SlabMock, a_request_beyond_the_budget_fails_whole_and_uses_it_up, IN_MOCK_MODE)
{
    NEEDS_MOCK_MODE;
    Cache cache(256, 0, 32);
    void *objects[8];
    set_budget(cache, 5);
    EXPECT_FALSE(cache.alloc_bulk(8, objects, SLAB_OPS_NOWAIT));
    EXPECT_EQ(allocated(cache), 0);
    EXPECT_EQ(cache.counts().used_objects, 0u);
    EXPECT_EQ(cache.alloc(SLAB_OPS_NOWAIT), nullptr) << "nothing is left of it";
    set_budget(cache, 5);
    EXPECT_EQ(ops().prefill(cache, SLAB_OPS_NOWAIT, 8), nullptr);
    EXPECT_EQ(cache.alloc(SLAB_OPS_NOWAIT), nullptr);
    EXPECT_EQ(cache.counts().used_objects, 0u);
}

KMIRROR_TEST_IN(SlabMock, a_prefilled_sheaf_holds_exactly_what_was_asked_for, IN_MOCK_MODE)
{
    NEEDS_MOCK_MODE;
    Cache cache(256, 0, 32);
    for (unsigned n : {1u, 3u, 32u, 70u}) {
        slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, n);
        ASSERT_NE(sheaf, nullptr);
        EXPECT_EQ(ops().sheaf_size(sheaf), n);
        void *object = ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
        EXPECT_EQ(ops().sheaf_size(sheaf), n - 1);
        ASSERT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, n + 2), 0);
        EXPECT_EQ(ops().sheaf_size(sheaf), n + 2);
        ASSERT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, 1), 0);
        EXPECT_EQ(ops().sheaf_size(sheaf), n + 2) << "what is there is enough";
        ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
        cache.free(object);
    }
}

struct Calls {
    Cache *cache;
    int count = 0;
    void *object = nullptr;
};

// As a concurrent writer would: uses the same cache, and so must not find a lock held.
void call_back(void *data)
{
    auto *calls = static_cast<Calls *>(data);
    calls->count++;
    calls->object = calls->cache->alloc();
}

void arm(Cache &cache, Calls &calls)
{
    kmem_cache_set_callback(as_kmem_cache(cache), call_back);
    kmem_cache_set_private(as_kmem_cache(cache), &calls);
}

KMIRROR_TEST_IN(SlabMock, a_failure_calls_back_once_at_the_next_request, IN_MOCK_MODE)
{
    NEEDS_MOCK_MODE;
    Cache cache(256, 0, 32);
    Calls calls{&cache};
    arm(cache, calls);
    void *quiet = cache.alloc();
    EXPECT_EQ(calls.count, 0) << "nothing has failed";
    EXPECT_EQ(cache.alloc(SLAB_OPS_NOWAIT), nullptr);
    EXPECT_EQ(calls.count, 0) << "not within the failing request";
    void *next = cache.alloc();
    EXPECT_EQ(calls.count, 1);
    EXPECT_NE(calls.object, nullptr);
    void *after = cache.alloc();
    EXPECT_EQ(calls.count, 1) << "once a failure";
    for (void *object : {quiet, next, after, calls.object})
        cache.free(object);
}

KMIRROR_TEST_IN(SlabMock, a_failure_calls_back_before_a_prefill_or_a_bulk_free, IN_MOCK_MODE)
{
    NEEDS_MOCK_MODE;
    Cache cache(256, 0, 32);
    Calls calls{&cache};
    arm(cache, calls);
    EXPECT_EQ(cache.alloc(SLAB_OPS_NOWAIT), nullptr);
    slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, 2);
    EXPECT_EQ(calls.count, 1);
    cache.free(calls.object);
    EXPECT_EQ(cache.alloc(SLAB_OPS_NOWAIT), nullptr);
    void *objects[2] = {ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf),
                        ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf)};
    cache.free_bulk(2, objects);
    EXPECT_EQ(calls.count, 2);
    cache.free(calls.object);
    ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
}

KMIRROR_TEST_IN(SlabMock, counts_objects_out_and_handed_out, IN_MOCK_MODE)
{
    NEEDS_MOCK_MODE;
    Cache cache(256, 0, 32);
    std::vector<void *> objects = cache.alloc_many(20);
    EXPECT_EQ(allocated(cache), 20);
    EXPECT_EQ(tallied(cache), 20);
    EXPECT_EQ(kmem_cache_get_alloc(as_kmem_cache(cache)), 20u * 256u);
    kmem_cache_zero_nr_tallocated(as_kmem_cache(cache));
    EXPECT_EQ(tallied(cache), 0);
    cache.free_bulk(5, objects.data());
    for (int i = 5; i < 10; i++)
        ops().free_rcu(objects[i], 64);
    ops().free_rcu_barrier();
    EXPECT_EQ(allocated(cache), 10);
    for (int i = 10; i < 20; i++)
        i % 2 ? ops().kfree(objects[i]) : cache.free(objects[i]);
    EXPECT_EQ(allocated(cache), 0);
    EXPECT_EQ(tallied(cache), 0);
}

KMIRROR_TEST_IN(SlabMock, does_not_charge_the_sheafs_own_memory, IN_MOCK_MODE)
{
    NEEDS_MOCK_MODE;
    Cache cache(256, 0, 32);
    set_budget(cache, 3);
    slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_NOWAIT, 3);
    ASSERT_NE(sheaf, nullptr) << "three objects, and a sheaf that costs nothing";
    ops().return_sheaf(cache, SLAB_OPS_NOWAIT, sheaf);
}

TEST(SlabHarness, in_kernel_mode_requests_that_may_not_wait_succeed)
{
    ASSERT_FALSE(kmirror_harness_exact());
    Cache cache(256, 0, 32);
    set_budget(cache, 0);
    void *object = cache.alloc(SLAB_OPS_NOWAIT);
    EXPECT_NE(object, nullptr);
    cache.free(object);
}

} // namespace
} // namespace kmirror::slab_test
