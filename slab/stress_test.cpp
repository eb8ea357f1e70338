// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the stress loads show what they are for (sheaves spare list_lock), end by themselves, give
// everything back, leave no thread behind, and notice when something is wrong.

#include "slab/slab_test.h"
#include "slab/stress_load.h"

#include <kmirror/fault.h>
#include <linux/slab.h>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace kmirror::stress {
namespace {

using slab_test::debugging;
using slab_test::generation_is;

using slab_test::ops;

TEST(StressHistogram, gives_percentiles_within_a_sixteenth_and_the_exact_maximum)
{
    Histogram histogram;
    EXPECT_EQ(histogram.percentile(0.5), 0u);
    for (std::uint64_t ns = 1; ns <= 100000; ns++)
        histogram.record(ns);
    EXPECT_EQ(histogram.count(), 100000u);
    EXPECT_EQ(histogram.max(), 100000u);
    for (double share : {0.01, 0.5, 0.9, 0.99, 0.999})
        EXPECT_NEAR(double(histogram.percentile(share)), share * 100000, share * 100000 / 16);
    EXPECT_EQ(histogram.percentile(1.0), 100000u);
}

TEST(StressHistogram, keeps_the_smallest_and_the_largest_times)
{
    Histogram histogram, other;
    histogram.record(0);
    EXPECT_EQ(histogram.percentile(1.0), 0u);
    other.record(~std::uint64_t{0});
    histogram.merge(other);
    EXPECT_EQ(histogram.max(), ~std::uint64_t{0});
    EXPECT_EQ(histogram.count(), 2u);
    EXPECT_EQ(histogram.percentile(0.4), 0u);
}

long threads_of_this_process()
{
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
}

std::string all(const std::vector<std::string> &lines)
{
    std::string text;
    for (const std::string &line : lines)
        text += line + "; ";
    return text;
}

Figures run_allocator(Crew &crew, int sheaf_capacity)
{
    const auto load = new_allocator_load(crew.plan(), sheaf_capacity);
    return crew.run(*load, 0.3, [](std::uint64_t) {});
}

void expect_sheaves_to_spare_list_lock(Plan plan)
{
    plan.seed = kmirror::testing::seed();
    SCOPED_TRACE("KMIRROR_SEED=" + std::to_string(plan.seed));
    Crew crew(plan);
    const Figures with = run_allocator(crew, 32), without = run_allocator(crew, 0);
    EXPECT_EQ(all(with.wrong) + all(without.wrong), "");
    EXPECT_GT(with.operations, 1000u);
    EXPECT_GT(with.latency.count(), with.operations / kSampled / 4);
    EXPECT_GT(with.acquisitions_per_1000("&barn->lock"), 1) << "sheaves travel through the barn";
    EXPECT_GT(with.acquisitions_per_1000("&n->list_lock"), 1) << "bursts reach the slabs";
    EXPECT_EQ(without.lock("&barn->lock").acquisitions, 0u);
    // Who is stopped while it holds a shared CPU's lock sends the others past the sheaves: no factor is sure
    // then.
    const double factor = plan.threads > plan.cpus ? 1 : 10;
    EXPECT_GE(without.acquisitions_per_1000("&n->list_lock"),
              factor * with.acquisitions_per_1000("&n->list_lock"));
}

KMIRROR_TEST_IN(ConcurrentStress, shows_that_sheaves_spare_list_lock_on_4_cpus, "KMIRROR_MACHINE=core:4 pu:1")
{
    SHEAVES_ONLY();
    WITHOUT_DEBUGGING();
    expect_sheaves_to_spare_list_lock({.cpus = 4, .threads = 4});
}

KMIRROR_TEST_IN(ConcurrentStress, shows_that_sheaves_spare_list_lock_on_4_nodes,
                "KMIRROR_MACHINE=pack:2 numa:2 core:2 pu:1")
{
    SHEAVES_ONLY();
    WITHOUT_DEBUGGING();
    expect_sheaves_to_spare_list_lock({.cpus = 8, .threads = 3});
}

KMIRROR_TEST_IN(ConcurrentStress, shows_that_sheaves_spare_list_lock_on_1_cpu_that_threads_share,
                "KMIRROR_MACHINE=core:1 pu:1")
{
    SHEAVES_ONLY();
    WITHOUT_DEBUGGING();
    expect_sheaves_to_spare_list_lock({.cpus = 1, .threads = 3});
}

KMIRROR_TEST_IN(ConcurrentStress, of_the_tree_finds_every_answer_right, "KMIRROR_MACHINE=core:4 pu:1")
{
    Crew crew({.cpus = 4, .threads = 4, .seed = kmirror::testing::seed()});
    for (int sheaf_capacity : {32, 4, 0}) {
        const auto load = new_tree_load(crew.plan(), sheaf_capacity);
        const Figures figures = crew.run(*load, 0.2, [](std::uint64_t) {});
        EXPECT_EQ(all(figures.wrong), "") << sheaf_capacity;
        EXPECT_GT(figures.lock("&mt->ma_lock").acquisitions, 0u);
    }
}

KMIRROR_TEST_IN(ConcurrentStress, leaves_no_thread_and_no_cpu_behind, "KMIRROR_MACHINE=core:4 pu:1")
{
    {
        Crew first({.cpus = 4, .threads = 4}); // starts what stays: the grace-period threads
        run_allocator(first, 32);
    }
    const long before = threads_of_this_process();
    for (int round = 0; round < 2; round++) {
        Crew crew({.cpus = 4, .threads = 4});
        run_allocator(crew, 32);
        EXPECT_GT(threads_of_this_process(), before);
    }
    EXPECT_LE(threads_of_this_process(), before);
}

// A load that is told what to do.
struct Scripted final : Load {
    std::function<void(Lane &)> work;
    std::vector<std::string> complaints;
    std::uint64_t without_memory = 0;

    void batch(Lane &lane) override { work(lane); }
    std::uint64_t refused() const override { return without_memory; }
    std::vector<std::string> finish() override { return complaints; }
};

KMIRROR_TEST_IN(ConcurrentStress, runs_a_lane_on_its_cpu_and_never_twice_at_a_time,
                "KMIRROR_MACHINE=core:4 pu:1")
{
    std::atomic<int> inside[4] = {};
    std::atomic<unsigned> wrong{0}, batches{0};
    Scripted load;
    load.work = [&](Lane &lane) {
        wrong += ops().cpu() != int(lane.cpu);
        wrong += inside[lane.cpu].fetch_add(1) != 0;
        lane.timed([] { std::this_thread::sleep_for(std::chrono::microseconds(100)); });
        inside[lane.cpu]--;
        batches++;
    };
    Crew crew({.cpus = 4, .threads = 4});
    const Figures figures = crew.run(load, 0.1, [](std::uint64_t) {});
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(figures.operations, batches);
    EXPECT_GE(figures.latency.percentile(0.5), 100000u);
}

KMIRROR_TEST_IN(ConcurrentStress, goes_on_until_it_has_seen_enough_but_not_for_ever,
                "KMIRROR_MACHINE=core:2 pu:1")
{
    Scripted load;
    load.work = [](Lane &lane) { lane.operations++; };
    load.complaints = {"something"};
    Crew crew({.cpus = 2, .threads = 2});
    int asked = 0;
    const Figures figures = crew.run(load, 0.01, [](std::uint64_t) {}, [&] { return ++asked > 3; });
    EXPECT_EQ(asked, 4);
    EXPECT_EQ(all(figures.wrong), "something; ");
}

KMIRROR_TEST_IN(ConcurrentStress, reports_a_cpu_that_is_gone, "KMIRROR_MACHINE=core:3 pu:1")
{
    ASSERT_EQ(ops().cpu_set_online(2, false), 0);
    Scripted load;
    load.work = [](Lane &lane) { lane.operations++; };
    Crew crew({.cpus = 3, .threads = 3});
    const Figures figures = crew.run(load, 0.01, [](std::uint64_t) {});
    EXPECT_NE(all(figures.wrong).find("did not get their CPU"), std::string::npos);
}

// One page in a row of requests fails; the load tells of `refused` operations.
std::string after_one_injected_failure(std::uint64_t refused)
{
    Scripted load;
    load.without_memory = refused;
    load.work = [](Lane &lane) {
        if (lane.operations++ != 0)
            return;
        kmirror_fail_nth(1);
        EXPECT_EQ(kmalloc(100000, GFP_KERNEL | __GFP_NOWARN), nullptr);
        kmirror_fail_nth(0);
    };
    Crew crew({.cpus = 1, .threads = 1});
    const Figures figures = crew.run_rounds(load, 0, 2, [](std::uint64_t) {});
    EXPECT_EQ(figures.injected, 1u);
    EXPECT_EQ(figures.refused, refused);
    return all(figures.wrong);
}

TEST(StressFaults, what_was_injected_is_not_wrong_and_what_was_not_is)
{
    if (!KMIRROR_FAULTS)
        GTEST_SKIP() << "this build has FAULTS=0";
    EXPECT_EQ(after_one_injected_failure(1), "");
    EXPECT_EQ(after_one_injected_failure(2), "2 operations got no memory, and 1 failures were injected; ");
}

} // namespace
} // namespace kmirror::stress
