// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: alloc_percpu() gives a zeroed, aligned copy for each possible CPU, free_percpu() makes room again,
// and the this_cpu operations count exactly where they say so.

#include "lib/kernel/tests/threads.h"
#include "tools/testing/harness.h"

#include <kmirror/topology.h>
#include <linux/percpu.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using kmirror::testing::ExpectWarnings;
using kmirror::testing::run_threads;

TEST(Percpu, CopiesAreZeroedApartAndAligned)
{
    const std::size_t before = kmirror_percpu_used();
    for (const std::size_t align : {1UL, 16UL, 64UL, 4096UL}) {
        auto *first = static_cast<char *>(__alloc_percpu(100, align));
        auto *second = static_cast<char *>(__alloc_percpu(100, align));
        ASSERT_TRUE(first && second);
        EXPECT_TRUE(first + 100 <= second || second + 100 <= first);
        unsigned int cpu;
        for_each_possible_cpu(cpu) {
            char *copy = per_cpu_ptr(first, cpu);
            EXPECT_EQ(reinterpret_cast<std::size_t>(copy) % align, 0u);
            for (int byte = 0; byte < 100; ++byte)
                ASSERT_EQ(copy[byte], 0);
            std::memset(copy, static_cast<int>(cpu) + 1, 100);
        }
        for_each_possible_cpu(cpu)
            EXPECT_EQ(per_cpu_ptr(first, cpu)[99], static_cast<char>(cpu + 1));
        EXPECT_EQ(*this_cpu_ptr(first), static_cast<char>(smp_processor_id() + 1));
        free_percpu(first);
        auto *again = static_cast<char *>(__alloc_percpu(100, align));
        EXPECT_EQ(again[50], 0) << "zeroed again";
        free_percpu(again);
        free_percpu(second);
    }
    EXPECT_EQ(kmirror_percpu_used(), before);
}

TEST(Percpu, AFullUnitIsNullAndFreedAreasMerge)
{
    constexpr std::size_t piece = PERCPU_UNIT_SIZE / 16;
    std::vector<void *> pieces;
    while (void *area = __alloc_percpu(piece, 16))
        pieces.push_back(area);
    EXPECT_GE(pieces.size(), 12u);
    EXPECT_LE(pieces.size(), 16u);
    // Freed in an order that needs merging on both sides.
    for (std::size_t index = 0; index < pieces.size(); index += 2)
        free_percpu(pieces[index]);
    for (std::size_t index = 1; index < pieces.size(); index += 2)
        free_percpu(pieces[index]);
    void *large = __alloc_percpu(piece * (pieces.size() - 1), 16);
    EXPECT_TRUE(large);
    free_percpu(large);
    free_percpu(nullptr);
}

TEST(Percpu, ImpossibleRequestsAreRefused)
{
    const ExpectWarnings expected(4);
    EXPECT_EQ(__alloc_percpu(0, 8), nullptr);
    EXPECT_EQ(__alloc_percpu(8, 3), nullptr);
    EXPECT_EQ(__alloc_percpu(8, 1UL << 20), nullptr);
    EXPECT_EQ(__alloc_percpu(PERCPU_UNIT_SIZE + 1, 8), nullptr);
}

struct Counters {
    unsigned long atomic, word;
    int number;
};

TEST(Percpu, ThisCpuOperations)
{
    auto *counters = alloc_percpu(Counters);
    kmirror_cpu_release();
    run_threads(8, [&](int) {
        for (int round = 0; round < 5000; ++round)
            this_cpu_inc(counters->atomic);
    });
    unsigned long sum = 0;
    unsigned int cpu;
    for_each_possible_cpu(cpu)
        sum += per_cpu_ptr(counters, cpu)->atomic;
    EXPECT_EQ(sum, 40000u) << "exact although threads share CPUs";

    preempt_disable();
    __this_cpu_add(counters->number, 5);
    __this_cpu_dec(counters->number);
    raw_cpu_inc(counters->number);
    this_cpu_sub(counters->number, 2);
    EXPECT_EQ(this_cpu_read(counters->number), 3);
    EXPECT_EQ(this_cpu_add_return(counters->number, 4), 7);
    this_cpu_write(counters->word, 9);
    EXPECT_EQ(this_cpu_cmpxchg(counters->word, 8, 1), 9u);
    EXPECT_EQ(this_cpu_cmpxchg(counters->word, 9, 1), 9u);
    EXPECT_EQ(this_cpu_xchg(counters->word, 2), 1u);
    EXPECT_EQ(get_cpu_ptr(counters)->word, 2u);
    put_cpu_ptr(counters);
    preempt_enable();
    free_percpu(counters);
}

TEST(Percpu, FreeOfAnythingElseStops)
{
    if (kmirror::testing::in_child()) {
        auto *area = static_cast<char *>(__alloc_percpu(64, 16));
        free_percpu(area + 16);
        return;
    }
    const auto child = kmirror::testing::rerun_this_test({});
    EXPECT_EQ(child.signal, SIGABRT) << child.output;
}

#if KMIRROR_ASAN
TEST(Percpu, SanitizerSeesUseAfterFreeAndOverrun)
{
    if (kmirror::testing::in_child()) {
        auto *area = static_cast<volatile char *>(__alloc_percpu(40, 16));
        if (std::getenv("OVERRUN"))
            area[40] = 1;
        free_percpu(const_cast<char *>(area));
        area[0] = 1;
        return;
    }
    for (const char *how : {"OVERRUN=1", "AFTER_FREE=1"}) {
        const auto child = kmirror::testing::rerun_this_test({how});
        EXPECT_FALSE(child.passed());
        EXPECT_NE(child.output.find("use-after-poison"), std::string::npos) << how << child.output;
    }
}
#endif

}  // namespace
