// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: bit, rounding, atomic and error-pointer helpers give the kernel's answers, at the edges too.

#include "lib/kernel/tests/threads.h"

#include <gtest/gtest.h>
#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kconfig.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/nodemask.h>

#include <bitset>
#include <vector>

namespace {

TEST(Bitops, Positions)
{
    EXPECT_EQ(__ffs(1), 0u);
    EXPECT_EQ(__ffs(1UL << (BITS_PER_LONG - 1)), BITS_PER_LONG - 1u);
    EXPECT_EQ(__fls(1), 0u);
    EXPECT_EQ(__fls(~0UL), BITS_PER_LONG - 1u);
    EXPECT_EQ(ffz(0), 0u);
    EXPECT_EQ(ffz(0xffff), 16u);
    EXPECT_EQ(fls(0), 0);
    EXPECT_EQ(fls(1), 1);
    EXPECT_EQ(fls(0x80000000u), 32);
    EXPECT_EQ(fls64(0), 0);
    EXPECT_EQ(fls64(~0ULL), 64);
    EXPECT_EQ(hweight32(0xf0f0u), 8u);
    EXPECT_EQ(hweight64(~0ULL), 64u);
    EXPECT_EQ(hweight8(0x1ff), 8u);
    EXPECT_EQ(rol32(0x80000001u, 1), 3u);
    EXPECT_EQ(ror32(1, 1), 0x80000000u);
    EXPECT_EQ(rol64(5, 0), 5u);
    EXPECT_EQ(ror64(1, 1), 1ULL << 63);
    EXPECT_EQ(GENMASK(7, 4), 0xf0u);
    EXPECT_EQ(GENMASK(BITS_PER_LONG - 1, 0), ~0UL);
    EXPECT_EQ(BIT(27), 1UL << 27);
}

TEST(Bitops, FindAgreesWithABitset)
{
    constexpr unsigned long size = 200;
    DECLARE_BITMAP(words, 256) = {};
    std::bitset<size> model;
    for (unsigned long bit : {0UL, 1UL, 63UL, 64UL, 100UL, 127UL, 128UL, 199UL}) {
        __set_bit(bit, words);
        model[bit] = true;
    }
    set_bit(220, words); // behind the end
    for (unsigned long from = 0; from <= size; ++from) {
        unsigned long one = from, zero = from;
        while (one < size && !model[one])
            ++one;
        while (zero < size && model[zero])
            ++zero;
        EXPECT_EQ(find_next_bit(words, size, from), one) << from;
        EXPECT_EQ(find_next_zero_bit(words, size, from), zero) << from;
    }
    EXPECT_EQ(bitmap_weight(words, size), model.count());
    unsigned long bit, seen = 0;
    for_each_set_bit(bit, words, size)
        seen += model[bit];
    EXPECT_EQ(seen, model.count());
    EXPECT_TRUE(test_and_clear_bit(64, words));
    EXPECT_FALSE(test_and_clear_bit(64, words));
    EXPECT_FALSE(test_and_set_bit(64, words));
    EXPECT_TRUE(__test_and_set_bit(64, words));
    EXPECT_TRUE(__test_and_clear_bit(64, words));
    EXPECT_FALSE(test_bit(64, words));
}

TEST(Bitops, Rounding)
{
    EXPECT_EQ(ALIGN(0u, 8u), 0u);
    EXPECT_EQ(ALIGN(1UL, 4096u), 4096u);
    EXPECT_EQ(ALIGN(0x100000001UL, 16), 0x100000010UL);
    EXPECT_EQ(ALIGN_DOWN(0x10000000fUL, 8u), 0x100000008UL);
    EXPECT_TRUE(IS_ALIGNED(64, 32));
    EXPECT_FALSE(IS_ALIGNED(65, 32));
    EXPECT_EQ(DIV_ROUND_UP(10, 3), 4);
    EXPECT_EQ(roundup(10, 6), 12);
    EXPECT_EQ(round_up(17, 16), 32);
    EXPECT_EQ(round_down(31, 16), 16);
    EXPECT_EQ(roundup_pow_of_two(1), 1u);
    EXPECT_EQ(roundup_pow_of_two(65), 128u);
    EXPECT_EQ(rounddown_pow_of_two(127), 64u);
    EXPECT_TRUE(is_power_of_2(4096) && !is_power_of_2(0) && !is_power_of_2(6));
    EXPECT_EQ(ilog2(1), 0);
    EXPECT_EQ(ilog2(4097), 12);
    EXPECT_EQ(order_base_2(1), 0);
    EXPECT_EQ(order_base_2(4097), 13);
    EXPECT_EQ(int_sqrt(0), 0u);
    EXPECT_EQ(int_sqrt(99), 9u);
    EXPECT_EQ(int_sqrt(100), 10u);
    EXPECT_EQ(int_sqrt(~0UL), (1ul << BITS_PER_LONG / 2) - 1);
    EXPECT_EQ(min_t(unsigned int, -1, 5), 5u);
    EXPECT_EQ(clamp_t(int, 9, 1, 4), 4);
}

TEST(Bitops, ErrorPointers)
{
    int object = 0;
    EXPECT_TRUE(IS_ERR(ERR_PTR(-ENOMEM)));
    EXPECT_EQ(PTR_ERR(ERR_PTR(-ENOMEM)), -ENOMEM);
    EXPECT_TRUE(IS_ERR(ERR_PTR(-MAX_ERRNO)));
    EXPECT_FALSE(IS_ERR(ERR_PTR(-MAX_ERRNO - 1)));
    EXPECT_FALSE(IS_ERR(&object) || IS_ERR(nullptr));
    EXPECT_TRUE(IS_ERR_OR_NULL(nullptr));
    EXPECT_EQ(PTR_ERR_OR_ZERO(&object), 0);
}

TEST(Bitops, LimitsAndConfiguration)
{
    static_assert(U8_MAX == 255 && S8_MIN == -128 && U16_MAX == 65535 && S32_MIN == INT_MIN);
    static_assert(U64_MAX == ULLONG_MAX && ULONG_MAX == ~0UL && S64_MIN == LLONG_MIN);
    static_assert(IS_ENABLED(CONFIG_64BIT) == (sizeof(long) == 8) && IS_BUILTIN(CONFIG_SMP) && !IS_ENABLED(CONFIG_OF_NOTHING));
#define CONFIG_ONLY_A_MODULE_MODULE 1
    static_assert(IS_ENABLED(CONFIG_ONLY_A_MODULE) && !IS_BUILTIN(CONFIG_ONLY_A_MODULE));
    static_assert(sizeof(atomic_t) == 4 && sizeof(atomic_long_t) == sizeof(long) &&
                  sizeof(rcu_head) == 2 * sizeof(void *));
}

TEST(Atomic, ReturnsAsNamed)
{
    atomic_t v = ATOMIC_INIT(5);
    EXPECT_EQ(atomic_add_return(3, &v), 8);
    EXPECT_EQ(atomic_fetch_add(2, &v), 8);
    EXPECT_EQ(atomic_fetch_sub_release(1, &v), 10);
    EXPECT_FALSE(atomic_dec_and_test(&v));
    EXPECT_EQ(atomic_xchg(&v, 1), 8);
    EXPECT_TRUE(atomic_dec_and_test(&v));
    EXPECT_FALSE(atomic_inc_not_zero(&v));
    EXPECT_EQ(atomic_dec_if_positive(&v), -1);
    EXPECT_EQ(atomic_read(&v), 0);
    EXPECT_TRUE(atomic_add_unless(&v, 4, 9));
    EXPECT_FALSE(atomic_add_unless(&v, 1, 4));
    EXPECT_EQ(atomic_cmpxchg(&v, 3, 7), 4);
    EXPECT_EQ(atomic_cmpxchg(&v, 4, 7), 4);
    atomic_or(8, &v);
    atomic_and(~1, &v);
    atomic_xor(2, &v);
    EXPECT_EQ(atomic_read_acquire(&v), 12);
    EXPECT_TRUE(atomic_add_negative(-13, &v));
    atomic_long_t wide = ATOMIC_LONG_INIT(1L << 30);
    EXPECT_EQ(atomic_long_inc_return(&wide), (1L << 30) + 1);
    long expected = 0;
    EXPECT_FALSE(atomic_long_try_cmpxchg(&wide, &expected, 5));
    EXPECT_EQ(expected, (1L << 30) + 1);
    EXPECT_TRUE(atomic_long_try_cmpxchg(&wide, &expected, 5));
}

TEST(Atomic, VariablesExchange)
{
    int object = 0, *pointer = nullptr;
    EXPECT_EQ(cmpxchg(&pointer, nullptr, &object), nullptr);
    EXPECT_EQ(cmpxchg(&pointer, nullptr, nullptr), &object);
    int *expected = nullptr;
    EXPECT_FALSE(try_cmpxchg(&pointer, &expected, nullptr));
    EXPECT_EQ(expected, &object);
    EXPECT_EQ(xchg(&pointer, nullptr), &object);
    u8 small = 250;
    EXPECT_EQ(xchg(&small, 3), 250);
    WRITE_ONCE(small, 7);
    EXPECT_EQ(READ_ONCE(small), 7);
}

TEST(Atomic, NoUpdateIsLost)
{
    atomic64_t v = ATOMIC64_INIT(0);
    unsigned long words[2] = {};
    kmirror::testing::run_threads(4, [&](int index) {
        for (int round = 0; round < 5000; ++round) {
            atomic64_inc(&v);
            change_bit(static_cast<unsigned long>(index) + BITS_PER_LONG - 2, words);
        }
    });
    EXPECT_EQ(atomic64_read(&v), 20000);
    EXPECT_EQ(words[0] | words[1], 0u);
}

TEST(Masks, CpuAndNodeSets)
{
    cpumask mask = {};
    EXPECT_TRUE(cpumask_empty(&mask));
    cpumask_set_cpu(0, &mask);
    EXPECT_EQ(cpumask_first(&mask), 0u);
    EXPECT_GE(cpumask_next(0, &mask), nr_cpu_ids);
    EXPECT_EQ(cpumask_weight(&mask), 1u);
    cpumask copy;
    cpumask_copy(&copy, &mask);
    cpumask_clear_cpu(0, &mask);
    EXPECT_TRUE(cpumask_empty(&mask) && cpumask_test_cpu(0, &copy));

    nodemask_t nodes;
    nodes_clear(nodes);
    EXPECT_TRUE(nodes_empty(nodes));
    node_set(3, nodes);
    node_set(63, nodes);
    std::vector<int> seen;
    int node;
    for_each_node_mask(node, nodes)
        seen.push_back(node);
    EXPECT_EQ(seen, (std::vector{3, 63}));
    node_clear(3, nodes);
    EXPECT_EQ(nodes_weight(nodes), 1);
}

}  // namespace
