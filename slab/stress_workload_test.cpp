// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: every workload runs in every generation, with an address space for each task and with one for all, ends
// valid and empty, and says what it did.
#include "slab/generation.h"
#include "slab/stress_load.h"

namespace kmirror::stress {
namespace {

using slab_test::kGenerations;
using slab_test::OfGeneration;

constexpr const char *kMachine = "KMIRROR_MACHINE=numa:2 core:2 pu:1";

Figures short_run(const LoadKind &kind, bool one_mm)
{
    Crew crew({.cpus = 4, .threads = 4, .seed = 1, .grace_period = 100, .one_mm = one_mm});
    const auto load = kind.make(crew.plan(), 32);
    return crew.run_rounds(*load, 0, 2, [](std::uint64_t) {});
}

void expect_well(const LoadKind &kind, const Figures &figures, const char *where)
{
    for (const std::string &wrong : figures.wrong)
        ADD_FAILURE() << kind.name << ", " << where << ": " << wrong;
    EXPECT_GT(figures.operations, 0u) << kind.name;
    EXPECT_EQ(figures.rates.size(), 4u) << kind.name;
}

KMIRROR_TEST_IN(ConcurrentWorkloads, run_in_every_generation, kMachine)
{
    for (const char *generation : kGenerations) {
        const OfGeneration in(generation);
        for (const LoadKind *kind : all_loads())
            expect_well(*kind, short_run(*kind, false), generation);
    }
}

KMIRROR_TEST_IN(ConcurrentWorkloads, share_an_address_space_as_threads_do, kMachine)
{
    for (const LoadKind &kind : mm_loads()) {
        const Figures figures = short_run(kind, true);
        expect_well(kind, figures, "one mm");
        EXPECT_GE(figures.lock("&mm->mmap_lock").acquisitions, figures.operations) << kind.name;
    }
}

TEST(Workloads, have_names_of_their_own)
{
    for (const LoadKind *kind : all_loads())
        EXPECT_EQ(load_by_name(kind->name), kind);
    EXPECT_EQ(load_by_name("mmap"), nullptr);
}

TEST(Workloads, fairness_is_one_when_all_are_as_fast)
{
    Figures figures;
    EXPECT_EQ(figures.fairness(), 0);
    figures.rates = {5, 5, 5, 5};
    EXPECT_DOUBLE_EQ(figures.fairness(), 1);
    figures.rates = {8, 0, 0, 0};
    EXPECT_DOUBLE_EQ(figures.fairness(), 0.25);
}

KMIRROR_TEST_IN(ConcurrentWorkloads, stop_when_they_are_asked_to_and_keep_what_they_have, kMachine)
{
    Crew crew({.cpus = 2, .threads = 2, .seed = 1, .warm = true});
    const auto load = load_by_name("mmap2")->make(crew.plan(), 32);
    const Figures figures = crew.run(*load, kMostExtraSeconds * 1000, [](std::uint64_t) { request_stop(); });
    EXPECT_GT(figures.operations, 0u);
    ASSERT_EQ(figures.memory.size(), 1u);
    EXPECT_GT(figures.memory[0].memory.slabs, 0u);
    EXPECT_EQ(figures.wrong, std::vector<std::string>{});
}

} // namespace
} // namespace kmirror::stress
