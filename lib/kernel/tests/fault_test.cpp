// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: what fails is what was asked to fail, on the thread and at the point that was named.

#include <kmirror/fault.h>
#include <linux/errno.h>
#include <linux/fault-inject.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/random.h>

#include <fiu-control.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tools/testing/harness.h"

namespace {

// Faults are process-wide: leaves none switched on.
class Fault : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!KMIRROR_FAULTS)
            GTEST_SKIP() << "this build has FAULTS=0";
    }
    void TearDown() override
    {
        kmirror_fail_nth(0);
        kmirror_fault_watch(false);
        kmirror_fault_disable("failslab");
        kmirror_fault_disable("fail_page_alloc");
    }
};

bool page_fails(gfp_t gfp = GFP_KERNEL)
{
    struct page *const page = alloc_frozen_pages(gfp | __GFP_NOWARN, 0);
    if (page == nullptr)
        return true;
    free_frozen_pages(page, 0);
    return false;
}

TEST_F(Fault, NothingFailsByItself)
{
    for (int i = 0; i < 100; ++i)
        ASSERT_FALSE(page_fails());
    EXPECT_FALSE(should_failslab(nullptr, GFP_NOWAIT));
}

TEST_F(Fault, APointFailsUntilItIsDisabledAndCounts)
{
    const unsigned long before = kmirror_fault_count("fail_page_alloc");
    ASSERT_EQ(kmirror_fault_enable("fail_page_alloc", 1, 0), 0);
    EXPECT_TRUE(page_fails());
    EXPECT_TRUE(page_fails(GFP_NOWAIT));
    EXPECT_FALSE(page_fails(GFP_KERNEL | __GFP_NOFAIL));
    EXPECT_EQ(kmirror_fault_count("fail_page_alloc"), before + 2);
    EXPECT_EQ(kmirror_fault_disable("fail_page_alloc"), 0);
    EXPECT_FALSE(page_fails());
    EXPECT_EQ(kmirror_fault_disable("fail_page_alloc"), 0);
}

TEST_F(Fault, OnceIsOnceForAllThreads)
{
    ASSERT_EQ(kmirror_fault_enable("fail_page_alloc", 1, KMIRROR_FAULT_ONCE), 0);
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i)
                failures += page_fails();
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(failures, 1);
}

TEST_F(Fault, AProbabilityIsKeptAndRepeatsWithTheSeed)
{
    ASSERT_EQ(kmirror_fault_enable("fail_page_alloc", 0.25, 0), 0);
    std::vector<bool> runs[2];
    for (std::vector<bool> &run : runs) {
        kmirror_random_seed(kmirror::testing::seed());
        for (int i = 0; i < 2000; ++i)
            run.push_back(page_fails());
    }
    EXPECT_EQ(runs[0], runs[1]);
    const auto failed = std::count(runs[0].begin(), runs[0].end(), true);
    EXPECT_GT(failed, 350);
    EXPECT_LT(failed, 650);
}

TEST_F(Fault, TheNthRequestOfThisThreadFailsAndNoOther)
{
    for (unsigned nth = 1; nth <= 5; ++nth) {
        kmirror_fail_nth(nth);
        std::thread([] { EXPECT_FALSE(page_fails()); }).join();
        for (unsigned i = 1; i <= 8; ++i)
            ASSERT_EQ(page_fails(), i == nth);
        EXPECT_EQ(kmirror_fail_seen(), 8u);
        EXPECT_TRUE(kmirror_fail_nth(0));
    }
    kmirror_fail_nth(9);
    EXPECT_FALSE(page_fails());
    EXPECT_FALSE(kmirror_fail_nth(0)) << "it has not come that far";
}

TEST_F(Fault, FromTheNthOnAllFail)
{
    kmirror_fail_from_nth(3);
    EXPECT_FALSE(page_fails());
    EXPECT_FALSE(page_fails());
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(page_fails());
    EXPECT_FALSE(page_fails(GFP_KERNEL | __GFP_NOFAIL));
    EXPECT_TRUE(kmirror_fail_nth(0));
    EXPECT_FALSE(page_fails());
}

TEST_F(Fault, LibfiusOwnControlsReachThePointsWhenWatched)
{
    kmirror_fault_watch(true);
    ASSERT_EQ(fiu_enable("fail_page_alloc", 1, nullptr, 0), 0);
    EXPECT_TRUE(page_fails());
    kmirror_fault_watch(false);
    EXPECT_FALSE(page_fails());
    fiu_disable("fail_page_alloc");
}

TEST_F(Fault, WhatCannotBeEnabledIsRefused)
{
    EXPECT_EQ(kmirror_fault_enable("no_such_point", 1, 0), -EINVAL);
    EXPECT_EQ(kmirror_fault_enable("failslab", 0, 0), -EINVAL);
    EXPECT_EQ(kmirror_fault_enable("failslab", 1.5, 0), -EINVAL);
    EXPECT_EQ(kmirror_fault_enable("failslab", 1, 8), -EINVAL);
    EXPECT_EQ(kmirror_fault_disable("no_such_point"), -EINVAL);
    EXPECT_EQ(kmirror_fault_count("no_such_point"), 0u);
    EXPECT_FALSE(page_fails());
}

TEST_F(Fault, SwitchingWhileOthersAllocateIsSafe)
{
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            while (!stop)
                page_fails();
        });
    for (int i = 0; i < 200; ++i) {
        kmirror_fault_enable("fail_page_alloc", 0.5, 0);
        kmirror_fault_disable("fail_page_alloc");
    }
    stop = true;
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_FALSE(page_fails());
}

}  // namespace
