// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: WARN is counted, shows place, message and a stack with names, and goes on; BUG ends the
// process.

#include <kmirror/printk.h>
#include <linux/bug.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tools/testing/harness.h"

using kmirror::testing::ExpectWarnings;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

namespace {

[[gnu::noinline]] bool a_function_that_warns(int value)
{
    const bool hit = WARN(value > 2, "value is %d\n", value);
    asm volatile("");   // not a tail call
    return hit;
}

TEST(Bug, WarnGivesItsConditionAndCounts)
{
    ExpectWarnings warnings(2);
    CaptureStderr();
    EXPECT_FALSE(WARN_ON(false));
    EXPECT_TRUE(WARN_ON(true));
    EXPECT_TRUE(a_function_that_warns(3));
    EXPECT_FALSE(a_function_that_warns(2));
    EXPECT_EQ(warnings.seen(), 2u);
    GetCapturedStderr();
}

TEST(Bug, WarnShowsPlaceMessageAndStack)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    ExpectWarnings warnings(1);
    CaptureStderr();
    a_function_that_warns(7);
    const std::string report = GetCapturedStderr();
    EXPECT_THAT(report, HasSubstr("WARNING"));
    EXPECT_THAT(report, HasSubstr("bug_test.cpp:"));
    EXPECT_THAT(report, HasSubstr("value is 7"));
    EXPECT_THAT(report, HasSubstr("a_function_that_warns(int)"));
}

TEST(Bug, WarnOnceReportsTheFirstHitOnly)
{
    unsigned long hits = 0;
    const unsigned long before = kmirror_warn_count();
    ExpectWarnings warnings(1);
    CaptureStderr();
    for (int i = 0; i < 3; ++i)
        hits += WARN_ON_ONCE(i >= 0);
    GetCapturedStderr();
    EXPECT_EQ(hits, 3u);
    EXPECT_EQ(kmirror_warn_count() - before, 1u);
}

TEST(Bug, WarningsOfManyThreadsAreAllCounted)
{
    ExpectWarnings warnings(8);
    CaptureStderr();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            WARN(true, "one\n");
            WARN(true, "two\n");
        });
    for (std::thread &thread : threads)
        thread.join();
    GetCapturedStderr();
}

TEST(Bug, DumpStackNamesTheCaller)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    CaptureStderr();
    dump_stack();
    EXPECT_THAT(GetCapturedStderr(), HasSubstr("DumpStackNamesTheCaller"));
}

// Runs this test again in a child, which must die by abort(), and gives what it printed.
std::string last_words()
{
    const auto child = kmirror::testing::rerun_this_test({});
    EXPECT_FALSE(child.exited);
    EXPECT_EQ(child.signal, SIGABRT);
    return child.output;
}

TEST(Bug, BugOnEndsTheProcessWithTheCondition)
{
    if (kmirror::testing::in_child()) {
        BUG_ON(1 + 1 == 3);
        const volatile int odd = 1;
        BUG_ON(odd % 2 == 1);
    }
    EXPECT_THAT(last_words(), HasSubstr("odd % 2 == 1"));
}

TEST(Bug, PanicEndsTheProcessWithTheMessage)
{
    if (kmirror::testing::in_child())
        panic("no more %s", "coffee");
    EXPECT_THAT(last_words(), HasSubstr("no more coffee"));
}

}  // namespace
