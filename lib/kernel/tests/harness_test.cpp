// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: mock mode refuses and counts as the kernel's radix-tree tests expect, kernel mode does
// neither.

#include <kmirror/harness.h>
#include <linux/errno.h>
#include <linux/fault-inject.h>
#include <linux/slab.h>
#include <trace/events/kmem.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing/harness.h"

namespace {

struct kmem_cache *new_cache()
{
    return kmem_cache_create("harness_test", 64, 8, SLAB_NO_MERGE, nullptr);
}

#define MOCK_TEST(Name)                                                          \
    static void body_of_##Name();                                                \
    TEST(Harness, Name)                                                          \
    {                                                                            \
        if (!KMIRROR_FAULTS)                                                     \
            GTEST_SKIP() << "this build has FAULTS=0";                           \
        kmirror::testing::run_in_child({"KMIRROR_HARNESS=mock"}, body_of_##Name); \
    }                                                                            \
    static void body_of_##Name()

MOCK_TEST(WithoutReclaimTheBudgetDecidesOneUnitAnObject)
{
    EXPECT_TRUE(kmirror_harness_exact());
    struct kmem_cache *const s = new_cache();
    EXPECT_TRUE(should_failslab(s, GFP_NOWAIT));
    EXPECT_FALSE(should_failslab(s, GFP_KERNEL));
    kmem_cache_set_non_kernel(s, 2);
    EXPECT_FALSE(should_failslab(s, GFP_KERNEL)) << "a request that may reclaim costs nothing";
    EXPECT_FALSE(should_failslab(s, GFP_NOWAIT));
    EXPECT_FALSE(should_failslab(s, GFP_ATOMIC));
    EXPECT_TRUE(should_failslab(s, GFP_NOWAIT));
    kmem_cache_destroy(s);
}

MOCK_TEST(AFailureArmsTheCallbackForTheNextRequestOnly)
{
    static int calls;
    static struct kmem_cache *s;
    s = new_cache();
    int mark = 0;
    kmem_cache_set_private(s, &mark);
    kmem_cache_set_callback(s, [](void *private_data) {
        ++calls;
        ++*static_cast<int *>(private_data);
        EXPECT_TRUE(should_failslab(s, GFP_NOWAIT)) << "a failure in the callback does not call it again";
    });
    EXPECT_TRUE(should_failslab(s, GFP_NOWAIT));
    EXPECT_EQ(calls, 0);
    EXPECT_FALSE(should_failslab(s, GFP_KERNEL));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(mark, 1);
    EXPECT_FALSE(should_failslab(s, GFP_KERNEL));
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(should_failslab(s, GFP_NOWAIT));
    trace_kmem_cache_free(s, 1);
    EXPECT_EQ(calls, 1) << "a single free does not call it";
    trace_kmem_cache_free(s, 2);
    EXPECT_EQ(calls, 2);
    trace_kmem_cache_alloc(s, 3);
    kmem_cache_destroy(s);
}

MOCK_TEST(ObjectsOutAndHandedOutAreCounted)
{
    struct kmem_cache *const s = new_cache();
    void *const first = kmem_cache_alloc(s, GFP_KERNEL);
    void *const second = kmem_cache_alloc(s, GFP_KERNEL);
    EXPECT_EQ(kmem_cache_nr_allocated(s), 2u);
    EXPECT_EQ(kmem_cache_nr_tallocated(s), 2u);
    EXPECT_EQ(kmem_cache_get_alloc(s), 128u);
    kmem_cache_zero_nr_tallocated(s);
    kmem_cache_free(s, first);
    EXPECT_EQ(kmem_cache_nr_allocated(s), 1u);
    EXPECT_EQ(kmem_cache_nr_tallocated(s), 0u);
    kmem_cache_free(s, second);
    EXPECT_EQ(kmem_cache_nr_allocated(s), 0u);
    kmem_cache_destroy(s);
}

MOCK_TEST(ARequestThatIsRefusedHandsNothingOut)
{
    struct kmem_cache *const s = new_cache();
    kmem_cache_set_non_kernel(s, 3);
    void *objects[5];
    EXPECT_FALSE(kmem_cache_alloc_bulk(s, GFP_NOWAIT, 5, objects));
    EXPECT_EQ(kmem_cache_nr_allocated(s), 0u);
    EXPECT_EQ(kmem_cache_alloc(s, GFP_NOWAIT), nullptr) << "the rest of the budget is used up";
    kmem_cache_destroy(s);
}

MOCK_TEST(APrefilledSheafHoldsExactlyWhatWasAskedFor)
{
    struct kmem_cache *const s = new_cache();
    struct slab_sheaf *const sheaf = kmem_cache_prefill_sheaf(s, GFP_KERNEL, 7);
    ASSERT_NE(sheaf, nullptr);
    EXPECT_EQ(kmem_cache_sheaf_size(sheaf), 7u);
    void *const object = kmem_cache_alloc_from_sheaf(s, GFP_KERNEL, sheaf);
    EXPECT_EQ(kmem_cache_sheaf_size(sheaf), 6u);
    kmem_cache_free(s, object);
    kmem_cache_return_sheaf(s, GFP_KERNEL, sheaf);
    EXPECT_EQ(kmem_cache_nr_allocated(s), 0u);
    kmem_cache_destroy(s);
}

KMIRROR_TEST_IN(Harness, KernelModeRefusesAndCountsNothing, "KMIRROR_HARNESS=kernel")
{
    struct kmem_cache *const s = new_cache();
    EXPECT_FALSE(kmirror_harness_exact());
    EXPECT_FALSE(should_failslab(s, GFP_NOWAIT));
    void *const object = kmem_cache_alloc(s, GFP_NOWAIT);
    EXPECT_NE(object, nullptr);
    EXPECT_EQ(kmem_cache_nr_allocated(s), 0u);
    kmem_cache_free(s, object);
    kmem_cache_destroy(s);
}

KMIRROR_TEST_IN(Harness, AProgramMayChooseTheModeItself, "KMIRROR_LOGLEVEL=7")
{
    EXPECT_EQ(kmirror_harness_mode(7), -EINVAL);
    if (KMIRROR_FAULTS) {
        EXPECT_EQ(kmirror_harness_mode(KMIRROR_HARNESS_MOCK), KMIRROR_HARNESS_KERNEL);
        EXPECT_TRUE(kmirror_harness_exact());
        EXPECT_EQ(kmirror_harness_mode(KMIRROR_HARNESS_KERNEL), KMIRROR_HARNESS_MOCK);
    } else {
        EXPECT_EQ(kmirror_harness_mode(KMIRROR_HARNESS_MOCK), -EOPNOTSUPP);
    }
    EXPECT_FALSE(kmirror_harness_exact());
}

TEST(Harness, AnUnknownModeEndsTheProcessWithOneLine)
{
    if (kmirror::testing::in_child()) {
        kmirror_harness_exact();
        return;
    }
    const auto child = kmirror::testing::rerun_this_test({"KMIRROR_HARNESS=real"});
    EXPECT_EQ(child.status, 2);
    EXPECT_THAT(child.output, ::testing::HasSubstr("KMIRROR_HARNESS"));
    EXPECT_THAT(child.output, ::testing::HasSubstr("real"));
}

}  // namespace
