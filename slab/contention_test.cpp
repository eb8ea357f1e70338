// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: with grace periods by number of operations, how often list_lock and the barn's lock are taken is a
// property of the generation and its sheaves: equal in every run, and what was counted in the kernels.
#include "slab/generation.h"
#include "slab/stress_load.h"

namespace kmirror::stress {
namespace {

using slab_test::OfGeneration;

// The published machine: 64 objects of 256 bytes in a slab.
constexpr const char *kMachine = "KMIRROR_MACHINE=numa:4 core:48 pu:1";
constexpr const char *kListLock = "&n->list_lock", *kBarnLock = "&barn->lock";

Figures counted(const char *load, const char *generation, int capacity, unsigned cpus)
{
    const OfGeneration in(generation);
    Crew crew({.cpus = cpus, .threads = cpus, .seed = 1, .grace_period = 2500});
    const auto made = load_by_name(load)->make(crew.plan(), capacity);
    Figures figures = crew.run_rounds(*made, 4, 4, [](std::uint64_t) {});
    for (const std::string &wrong : figures.wrong)
        ADD_FAILURE() << load << ", " << generation << ": " << wrong;
    EXPECT_EQ(figures.operations, cpus * 4u * 2500u);
    return figures;
}

KMIRROR_TEST_IN(Contention, of_one_cpu_is_the_same_in_every_run, kMachine)
{
    for (const char *load : {"mmap2", "kfree_rcu_flood"})
        for (const char *generation : {"cpu-slab", "cpu-slab+sheaves", "double", "sheaves"}) {
            const int capacity = generation == std::string("cpu-slab") ? 0 : 32;
            const Figures first = counted(load, generation, capacity, 1);
            const Figures second = counted(load, generation, capacity, 1);
            for (const char *lock : {kListLock, kBarnLock})
                EXPECT_EQ(first.lock(lock).acquisitions, second.lock(lock).acquisitions)
                    << load << ", " << generation << ", " << lock;
            EXPECT_EQ(first.slabs, second.slabs) << load << ", " << generation;
        }
}

// mmap2 takes and frees two nodes. One list_lock acquisition when a slab on the chain of a CPU becomes empty
// and half a one for the drain make 47 for 1000 iterations, as in 6.12 itself.
KMIRROR_TEST_IN(Contention, of_cpu_slabs_is_that_of_the_kernel, kMachine)
{
    const Figures figures = counted("mmap2", "cpu-slab", 0, 2);
    EXPECT_NEAR(figures.acquisitions_per_1000(kListLock), 47, 2);
    EXPECT_EQ(figures.lock(kBarnLock).acquisitions, 0u);
}

// Two barn operations for each 32 of 2000 allocations: the emptied sheaf goes, an empty one comes.
KMIRROR_TEST_IN(Contention, of_sheaves_above_cpu_slabs_moves_to_the_barn, kMachine)
{
    const Figures opt_in = counted("mmap2", "cpu-slab+sheaves", 32, 2);
    EXPECT_NEAR(opt_in.acquisitions_per_1000(kBarnLock), 125, 3);
    const Figures both = counted("mmap2", "double", 32, 2);
    EXPECT_GT(both.acquisitions_per_1000(kBarnLock), 125);
}

// Without CPU slabs refills and every change of a slab's state go to list_lock.
KMIRROR_TEST_IN(Contention, of_sheaves_alone_is_at_list_lock, kMachine)
{
    const Figures sheaves = counted("mmap2", "sheaves", 32, 2);
    EXPECT_GT(sheaves.acquisitions_per_1000(kListLock), 100);
    EXPECT_LT(sheaves.acquisitions_per_1000(kListLock), 220);
    EXPECT_LT(sheaves.acquisitions_per_1000(kBarnLock), 25);
    EXPECT_GT(counted("mmap2", "sheaves", 0, 2).acquisitions_per_1000(kListLock), 2000);
}

KMIRROR_TEST_IN(ConcurrentContention, loads_of_every_kind_end_valid_and_empty, "KMIRROR_MACHINE=numa:2 core:2 pu:1")
{
    for (const std::span<const LoadKind> kinds : {mm_loads(), slab_loads()})
        for (const LoadKind &kind : kinds)
            for (const int capacity : {0, 32}) {
                Crew crew({.cpus = 4, .threads = 4, .seed = 1, .grace_period = 300});
                const auto load = kind.make(crew.plan(), capacity);
                const Figures figures = crew.run_rounds(*load, 0, 2, [](std::uint64_t) {});
                for (const std::string &wrong : figures.wrong)
                    ADD_FAILURE() << kind.name << ", " << capacity << ": " << wrong;
                EXPECT_GE(figures.operations, 4u * 2u * 300u) << kind.name;
            }
}

} // namespace
} // namespace kmirror::stress
