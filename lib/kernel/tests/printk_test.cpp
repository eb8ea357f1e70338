// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: a message goes where its level says, whole, or nowhere.

#include <kmirror/printk.h>
#include <linux/printk.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tools/testing/harness.h"

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

namespace {

struct Output {
    std::string out, err;
};

Output output_of(const std::function<void()> &body)
{
    std::fflush(nullptr);
    CaptureStdout();
    CaptureStderr();
    body();
    std::fflush(nullptr);
    return {GetCapturedStdout(), GetCapturedStderr()};
}

TEST(Printk, WarningsAndWorseGoToStderrTheRestToStdout)
{
    const Output output = output_of([] {
        pr_err("e%d\n", 1);
        pr_warn("w\n");
        pr_notice("n\n");
        pr_info("i\n");
        printk("plain %s\n", "text");
    });
    EXPECT_EQ(output.err, "e1\nw\n");
    EXPECT_EQ(output.out, "n\ni\nplain text\n");
}

TEST(Printk, ContinuationsFollowTheirMessage)
{
    const Output output = output_of([] {
        pr_err("a");
        pr_cont("b\n");
        pr_info("c");
        pr_cont("d\n");
        pr_debug("dropped");
        pr_cont("too\n");
    });
    EXPECT_EQ(output.err, "ab\n");
    EXPECT_EQ(output.out, "cd\n");
}

TEST(Printk, TheLimitDropsWhatIsAboveIt)
{
    const int before = kmirror_set_loglevel(4);
    const Output quiet = output_of([] {
        pr_warn("w\n");
        pr_err("e\n");
        printk("plain\n");
    });
    EXPECT_EQ(kmirror_set_loglevel(8), 4);
    const Output loud = output_of([] { pr_debug("d\n"); });
    EXPECT_EQ(kmirror_set_loglevel(99), 8);
    EXPECT_EQ(kmirror_set_loglevel(before), 8);
    EXPECT_EQ(quiet.err, "e\n");
    EXPECT_EQ(quiet.out, "plain\n");
    EXPECT_EQ(loud.out, "d\n");
}

TEST(Printk, LongMessagesAndKernelPointersArePrintedWhole)
{
    const std::string text(5000, 'x');
    int length = 0;
    const Output output = output_of([&] {
        length = printk("%s\n", text.c_str());
        printk("100%% %px %pK.\n", reinterpret_cast<void *>(0x10), reinterpret_cast<void *>(0x20));
    });
    EXPECT_EQ(length, 5001);
    EXPECT_EQ(output.out, text + "\n100% 0x10 0x20.\n");
}

TEST(Printk, OnceMeansOnce)
{
    const Output output = output_of([] {
        for (int i = 0; i < 3; ++i)
            pr_warn_once("again\n");
    });
    EXPECT_EQ(output.err, "again\n");
}

KMIRROR_TEST_IN(Printk, TheEnvironmentSetsTheLimit, "KMIRROR_LOGLEVEL=0")
{
    const Output output = output_of([] { pr_emerg("x\n"); });
    EXPECT_EQ(output.err, "");
}

TEST(Printk, AnImpossibleLimitEndsTheProcessWithOneLine)
{
    if (kmirror::testing::in_child()) {
        pr_info("x\n");
        return;
    }
    const auto child = kmirror::testing::rerun_this_test({"KMIRROR_LOGLEVEL=loud"});
    EXPECT_EQ(child.status, 2);
    EXPECT_THAT(child.output, HasSubstr("KMIRROR_LOGLEVEL"));
    EXPECT_THAT(child.output, HasSubstr("loud"));
}

}  // namespace
