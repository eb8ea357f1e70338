// SPDX-License-Identifier: GPL-2.0-only
//
// The comparison of two sets of runs: intervals against worked examples, and the printed table.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/kmirror/lkp_table.h"

namespace {

using namespace kmirror::command;

std::string printed(const LkpTable& table) {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* out = open_memstream(&text, &size);
    table.print(out);
    std::fclose(out);
    std::string result(text, size);
    std::free(text);
    return result;
}

TEST(LkpTable, MeanAndStandardDeviation) {
    const Sample sample = sample_of({2, 4, 4, 4, 5, 5, 7, 9});
    EXPECT_DOUBLE_EQ(sample.mean, 5);
    EXPECT_NEAR(sample.stddev, 2.138090, 1e-6);  // sqrt(32 / 7)
    EXPECT_EQ(sample_of({7}).stddev, 0);
    EXPECT_EQ(sample_of({}).mean, 0);
}

// Differences 1, 2, 3 of 10 each would be 10 %, 20 %, 30 %; in logarithms: mean 0.18012, deviation 0.08357; t of
// two degrees of freedom is 4.30265, so the half width is 4.30265 * 0.08357 / sqrt(3) = 0.20760.
TEST(LkpTable, PairedIsStudentsIntervalOfTheLogarithms) {
    const Change change = change_of({10, 10, 10}, {11, 12, 13}, Runs::Paired);
    EXPECT_TRUE(change.known);
    EXPECT_NEAR(change.share, 0.19722, 1e-4);
    EXPECT_NEAR(change.low, -0.02726, 2e-4);
    EXPECT_NEAR(change.high, 0.47352, 4e-4);
    EXPECT_FALSE(change.significant);
}

// Means 20 and 23, variances 0.5 and 2 of 4 values each: the error is sqrt(0.125 + 0.5) = 0.790569, the degrees of
// freedom are 0.625^2 / (0.125^2 / 3 + 0.5^2 / 3) = 4.41176, whose t is 2.6765.
TEST(LkpTable, ApartIsWelchsInterval) {
    const std::vector<double> base = {19.1339746, 20, 20, 20.8660254}, head = {21.2679492, 23, 23, 24.7320508};
    ASSERT_NEAR(sample_of(base).stddev, 0.707107, 1e-6);
    const Change change = change_of(base, head, Runs::Apart);
    EXPECT_NEAR(change.share, 0.15, 1e-9);
    EXPECT_NEAR(change.low, 0.15 - 2.6765 * 0.790569 / 20, 1e-4);
    EXPECT_NEAR(change.high, 0.15 + 2.6765 * 0.790569 / 20, 1e-4);
    EXPECT_TRUE(change.significant);
}

// What shook both sides of a round alike hides nothing when the rounds are known.
TEST(LkpTable, PairsSeeThroughWhatDisturbedBoth) {
    const std::vector<double> base = {100, 150, 80, 120}, head = {90, 135.5, 71.8, 108.2};
    EXPECT_TRUE(change_of(base, head, Runs::Paired).significant);
    EXPECT_FALSE(change_of(base, head, Runs::Apart).significant);
}

TEST(LkpTable, EqualValuesAreNoChange) {
    for (Runs runs : {Runs::Paired, Runs::Apart}) {
        const Change change = change_of({5, 5, 5}, {5, 5, 5}, runs);
        EXPECT_TRUE(change.known);
        EXPECT_EQ(change.share, 0);
        EXPECT_FALSE(change.significant);
    }
}

TEST(LkpTable, TooFewValuesHaveNoInterval) {
    const Change two = change_of({10, 10}, {20, 20}, Runs::Apart);
    EXPECT_DOUBLE_EQ(two.share, 1);
    EXPECT_FALSE(two.known || two.significant);
    EXPECT_FALSE(change_of({10, 10, 10, 10}, {20, 20, 20}, Runs::Paired).known);
    EXPECT_FALSE(change_of({0, 0, 0}, {20, 20, 20}, Runs::Apart).known);
}

TEST(LkpTable, PrintsBaseChangeAndHead) {
    LkpTable table("v6.12", "v7.3", Runs::Paired);
    table.row("brk1.ops_per_sec", {1000, 1010, 990}, {900, 911, 890});
    table.row("once.ops_per_sec", {1000}, {2000});
    const std::string text = printed(table);
    EXPECT_NE(text.find("    1.00k ±  1%     -9.97%*       900 ±  1%  [ -10.34%,   -9.59%]  brk1.ops_per_sec\n"), std::string::npos) << text;
    EXPECT_NE(text.find("+100.00% "), std::string::npos) << text;
    EXPECT_NE(text.find("too few runs  once.ops_per_sec\n"), std::string::npos) << text;
}

}  // namespace
