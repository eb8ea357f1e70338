// SPDX-License-Identifier: GPL-2.0-only
//
// The test framework keeps its promises: what must fail fails, in words that lead back to the test. Each case
// plants the fault in a child process and reads what the child printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include <linux/bug.h>

#include "tools/testing/harness.h"
#include "tools/testing/listener.h"

namespace {

using kmirror::testing::ChildResult;
using kmirror::testing::ExpectWarnings;
using kmirror::testing::in_child;
using kmirror::testing::rerun_this_test;
using kmirror::testing::seed;
using ::testing::HasSubstr;

TEST(TestRunner, AWarningNobodyExpectedFailsTheTest) {
    if (in_child()) {
        WARN(1, "planted");
        return;
    }
    const ChildResult child = rerun_this_test({});
    EXPECT_EQ(child.status, 1);
    EXPECT_THAT(child.output, HasSubstr("1 unexpected warning(s)"));
    EXPECT_THAT(child.output, HasSubstr("not ok 1 - TestRunner.AWarningNobodyExpectedFailsTheTest"));
}

TEST(TestRunner, KtapBeginsWithItsVersionAndAPlan) {
    const kmirror::testing::RunLog log(-1);
    kmirror::testing::Listener listener(log, 1);
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    testing::internal::CaptureStdout();
    listener.OnTestIterationStart(all, 0);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    listener.begin_with_plan(1);
    testing::internal::CaptureStdout();
    listener.OnTestIterationStart(all, 0);
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "KTAP version 1\n1.." + std::to_string(all.test_to_run_count() + 1) + "\n");
}

TEST(TestRunner, AnExpectedWarningPasses) {
    if (in_child()) {
        ExpectWarnings two(2);
        WARN(1, "planted");
        WARN(1, "planted");
        return;
    }
    const ChildResult child = rerun_this_test({});
    EXPECT_TRUE(child.passed()) << child.output;
}

TEST(TestRunner, AnExpectedWarningThatDoesNotComeFails) {
    if (in_child()) {
        ExpectWarnings one(1);
        return;
    }
    const ChildResult child = rerun_this_test({});
    EXPECT_EQ(child.status, 1) << child.output;
}

TEST(TestRunner, OfManyFailuresTheFirstAreShown) {
    if (in_child()) {
        for (int i = 1; i <= 20; ++i) ADD_FAILURE() << "planted <" << i << ">";
        return;
    }
    const ChildResult child = rerun_this_test({});
    EXPECT_THAT(child.output, HasSubstr("planted <8>\n# and 12 more\nnot ok 1 - "));
}

TEST(TestRunner, AFailureShowsSeedAndReplayCommand) {
    if (in_child()) {
        FAIL() << "seed " << seed();
    }
    const ChildResult child = rerun_this_test({"KMIRROR_SEED=77", "KMIRROR_REPLAY=make check"});
    EXPECT_THAT(child.output, HasSubstr("# seed 77; replay: make check FILTER='TestRunner.AFailureShows"
                                        "SeedAndReplayCommand' KMIRROR_SEED=77\n"));
}

TEST(TestRunner, AChildHasItsEnvironmentAndTheSameSeed) {
    if (in_child()) {
        EXPECT_STREQ(std::getenv("KMIRROR_PLANTED"), "yes it is");
        EXPECT_EQ(std::to_string(seed()), std::getenv("KMIRROR_SEED_OF_PARENT"));
        return;
    }
    const ChildResult child =
        rerun_this_test({"KMIRROR_PLANTED=yes it is", "KMIRROR_SEED_OF_PARENT=" + std::to_string(seed())});
    EXPECT_TRUE(child.passed()) << child.output;
}

KMIRROR_TEST_IN(TestRunner, TestInRunsItsBodyInTheChild, "KMIRROR_PLANTED=1") {
    EXPECT_TRUE(in_child());
    EXPECT_STREQ(std::getenv("KMIRROR_PLANTED"), "1");
}

TEST(TestRunner, AHangingTestEnds) {
    if (in_child()) {
        for (volatile bool hang = true; hang;) {
        }
    }
    const ChildResult child = rerun_this_test({"KMIRROR_TEST_TIMEOUT=1"});
    EXPECT_FALSE(child.exited);
    EXPECT_EQ(child.signal, SIGALRM);
}

}  // namespace
