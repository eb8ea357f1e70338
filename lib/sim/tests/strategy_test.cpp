// SPDX-License-Identifier: GPL-2.0-only
//
// Strategies choose only what is ready, are deterministic in their seeds, and schedules survive being text.
#include <gtest/gtest.h>

#include "lib/sim/explore.h"

#include <algorithm>
#include <vector>

namespace {

using namespace kmirror::sim;

const std::vector<unsigned> kReady = {1, 4, 7};

// What a strategy chooses in so many decisions, the running CPU being the one chosen last.
std::vector<unsigned> choices(Strategy &strategy, unsigned count, bool gives_way = false) {
    std::vector<unsigned> chosen;
    int running = -1;
    for (std::uint32_t step = 0; step < count; step++) {
        chosen.push_back(strategy.choose({kReady, running, gives_way, step}));
        running = static_cast<int>(chosen.back());
    }
    return chosen;
}

unsigned changes(const std::vector<unsigned> &chosen) {
    unsigned count = 0;
    for (std::size_t i = 1; i < chosen.size(); i++) count += chosen[i] != chosen[i - 1];
    return count;
}

TEST(SimStrategy, by_default_the_running_cpu_goes_on_and_then_the_next_one) {
    EXPECT_EQ(default_choice({kReady, 4, false, 0}), 4u);
    EXPECT_EQ(default_choice({kReady, 4, true, 0}), 7u);
    EXPECT_EQ(default_choice({kReady, 7, true, 0}), 1u);
    EXPECT_EQ(default_choice({kReady, -1, false, 0}), 1u);
}

TEST(SimStrategy, at_random_only_ready_cpus_are_chosen_and_all_of_them) {
    const auto strategy = random_strategy(5, 2);
    const std::vector<unsigned> chosen = choices(*strategy, 300);
    for (unsigned cpu : kReady) EXPECT_GT(std::ranges::count(chosen, cpu), 20) << cpu;
    EXPECT_EQ(std::ranges::count(chosen, 1u) + std::ranges::count(chosen, 4u) + std::ranges::count(chosen, 7u), 300);
}

TEST(SimStrategy, the_rate_says_how_often_it_switches) {
    EXPECT_GT(changes(choices(*random_strategy(5, 2), 1000)), 200u);
    EXPECT_LT(changes(choices(*random_strategy(5, 50), 1000)), 40u);
}

TEST(SimStrategy, equal_seeds_choose_alike_and_others_do_not) {
    EXPECT_EQ(choices(*random_strategy(9, 3), 200), choices(*random_strategy(9, 3), 200));
    EXPECT_NE(choices(*random_strategy(9, 3), 200), choices(*random_strategy(10, 3), 200));
    EXPECT_EQ(choices(*pct_strategy(9, 3, 200), 200), choices(*pct_strategy(9, 3, 200), 200));
}

TEST(SimStrategy, pct_switches_only_at_its_points) {
    for (std::uint64_t seed = 1; seed < 50; seed++) {
        EXPECT_EQ(changes(choices(*pct_strategy(seed, 1, 100), 100)), 0u);
        EXPECT_LE(changes(choices(*pct_strategy(seed, 3, 100), 100)), 2u);
    }
}

TEST(SimStrategy, pct_reaches_each_cpu_first_and_each_depth) {
    unsigned first[8] = {}, deep = 0;
    for (std::uint64_t seed = 1; seed < 100; seed++) {
        const std::vector<unsigned> chosen = choices(*pct_strategy(seed, 3, 100), 100);
        first[chosen[0]]++;
        deep += changes(chosen) == 2;
    }
    for (unsigned cpu : kReady) EXPECT_GT(first[cpu], 10u) << cpu;
    EXPECT_GT(deep, 20u);
}

TEST(SimStrategy, under_pct_who_waits_for_another_lets_the_others_go) {
    const std::vector<unsigned> chosen = choices(*pct_strategy(3, 1, 100), 9, true);
    for (unsigned cpu : kReady) EXPECT_EQ(std::ranges::count(chosen, cpu), 3) << cpu;
}

TEST(SimStrategy, a_replay_switches_where_it_is_told_and_only_to_who_is_ready) {
    const auto strategy = replay_strategy({{2, 7}, {4, 3}, {5, 4}});
    EXPECT_EQ(choices(*strategy, 7), (std::vector<unsigned>{1, 1, 7, 7, 7, 4, 4}));
}

TEST(SimStrategy, schedules_survive_being_text) {
    const Schedule schedule = {{0, 2}, {17, 0}, {400000, 31}};
    Schedule back;
    EXPECT_EQ(schedule_text(schedule), "0:2 17:0 400000:31");
    ASSERT_TRUE(schedule_parse(schedule_text(schedule), back));
    EXPECT_EQ(back, schedule);
    ASSERT_TRUE(schedule_parse("", back));
    EXPECT_TRUE(back.empty());
}

TEST(SimStrategy, what_is_no_schedule_is_refused) {
    Schedule schedule;
    for (const char *text : {"5", "5:", ":1", "5:1,6:2", "5:1 5:2", "6:1 5:2", "5:32", "5:-1", "x:1", "5:1 x"})
        EXPECT_FALSE(schedule_parse(text, schedule)) << text;
}

} // namespace
