// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: each thread has its own sequence, the seed repeats it, and bounds are kept.

#include <linux/random.h>
#include <linux/string.h>
#include <linux/errno.h>

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "tools/testing/harness.h"

namespace {

TEST(Random, TheSameSeedGivesTheSameSequence)
{
    kmirror_random_seed(42);
    const u64 first = get_random_u64();
    const u64 second = get_random_u64();
    EXPECT_NE(first, second);
    kmirror_random_seed(42);
    EXPECT_EQ(get_random_u64(), first);
    EXPECT_EQ(get_random_u64(), second);
}

TEST(Random, ThreadsDiffer)
{
    std::set<u64> seen;
    for (int i = 0; i < 16; ++i)
        std::thread([&] { seen.insert(get_random_u64()); }).join();
    EXPECT_EQ(seen.size(), 16u);
}

TEST(Random, BoundsAreKeptAndAllValuesComeUp)
{
    std::set<u32> below, within;
    for (int i = 0; i < 1000; ++i) {
        below.insert(get_random_u32_below(5));
        within.insert(get_random_u32_inclusive(10, 12));
    }
    EXPECT_EQ(below, (std::set<u32>{0, 1, 2, 3, 4}));
    EXPECT_EQ(within, (std::set<u32>{10, 11, 12}));
    EXPECT_EQ(get_random_u32_below(0), 0u);
    EXPECT_EQ(get_random_u32_inclusive(7, 7), 7u);
    std::vector<unsigned char> bytes(13, 0);
    get_random_bytes(bytes.data(), 12);
    EXPECT_EQ(bytes[12], 0);
}

TEST(KernelString, MemchrInvFindsTheFirstOtherByte)
{
    unsigned char bytes[40];
    memset(bytes, 0x6b, sizeof(bytes));
    EXPECT_EQ(memchr_inv(bytes, 0x6b, sizeof(bytes)), nullptr);
    EXPECT_EQ(memchr_inv(bytes, 0x6b, 0), nullptr);
    bytes[39] = 1;
    bytes[17] = 2;
    EXPECT_EQ(memchr_inv(bytes, 0x6b, sizeof(bytes)), bytes + 17);
    EXPECT_EQ(memchr_inv(bytes + 18, 0x6b, 22), bytes + 39);
}

TEST(KernelString, StrscpyAlwaysTerminates)
{
    char room[4] = {'#', '#', '#', '#'};
    EXPECT_EQ(strscpy(room, "abc", 4), 3);
    EXPECT_STREQ(room, "abc");
    EXPECT_EQ(strscpy(room, "wxyz", 4), -E2BIG);
    EXPECT_STREQ(room, "wxy");
    EXPECT_EQ(strscpy(room, "q", 0), -E2BIG);
    EXPECT_STREQ(room, "wxy");
}

}  // namespace
