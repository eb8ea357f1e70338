// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/strategy.cpp: who goes on, drawn or replayed; and schedules as text.
//
// Owns     what a strategy has drawn. Deterministic in its seed. Fails never.
#include "lib/sim/explore.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

namespace kmirror::sim {

namespace {

bool is_ready(const Choice &choice, unsigned cpu)
{
    return std::binary_search(choice.ready.begin(), choice.ready.end(), cpu);
}

class RandomStrategy final : public Strategy {
public:
    RandomStrategy(std::uint64_t seed, unsigned one_in) : draw_(seed), one_in_(one_in) {}

    unsigned choose(const Choice &choice) override
    {
        if (draw_() % one_in_ != 0)
            return default_choice(choice);
        return choice.ready[draw_() % choice.ready.size()];
    }

private:
    std::mt19937_64 draw_;
    unsigned one_in_;
};

class PctStrategy final : public Strategy {
public:
    PctStrategy(std::uint64_t seed, unsigned depth, std::uint32_t steps) : draw_(seed), lowest_(0)
    {
        for (std::int64_t &priority : priority_)
            priority = static_cast<std::int64_t>(draw_() >> 2) + 1;
        for (unsigned i = 1; i < depth; i++)
            points_.push_back(static_cast<std::uint32_t>(draw_() % steps));
    }

    unsigned choose(const Choice &choice) override
    {
        if (choice.running >= 0 && (choice.gives_way || std::ranges::count(points_, choice.step) != 0))
            priority_[static_cast<unsigned>(choice.running)] = --lowest_;
        return *std::ranges::max_element(choice.ready, {}, [this](unsigned cpu) { return priority_[cpu]; });
    }

private:
    std::mt19937_64 draw_;
    std::array<std::int64_t, kRaceTasks> priority_{};
    std::vector<std::uint32_t> points_;
    std::int64_t lowest_;
};

class ReplayStrategy final : public Strategy {
public:
    explicit ReplayStrategy(Schedule schedule) : schedule_(std::move(schedule)) {}

    unsigned choose(const Choice &choice) override
    {
        while (at_ < schedule_.size() && schedule_[at_].step < choice.step)
            at_++;
        if (at_ < schedule_.size() && schedule_[at_].step == choice.step && is_ready(choice, schedule_[at_].cpu))
            return schedule_[at_].cpu;
        return default_choice(choice);
    }

private:
    Schedule schedule_;
    std::size_t at_ = 0;
};

} // namespace

unsigned default_choice(const Choice &choice)
{
    if (choice.running >= 0 && !choice.gives_way)
        return static_cast<unsigned>(choice.running);
    const auto next = std::ranges::find_if(
        choice.ready, [&choice](unsigned cpu) { return static_cast<int>(cpu) > choice.running; });
    return next != choice.ready.end() ? *next : choice.ready[0];
}

std::unique_ptr<Strategy> random_strategy(std::uint64_t seed, unsigned one_in)
{
    return std::make_unique<RandomStrategy>(seed, one_in);
}

std::unique_ptr<Strategy> pct_strategy(std::uint64_t seed, unsigned depth, std::uint32_t steps)
{
    return std::make_unique<PctStrategy>(seed, depth, steps);
}

std::unique_ptr<Strategy> replay_strategy(Schedule schedule)
{
    return std::make_unique<ReplayStrategy>(std::move(schedule));
}

// ---- schedules as text

std::string schedule_text(const Schedule &schedule)
{
    std::string text;
    for (const Switch &each : schedule)
        text += (text.empty() ? "" : " ") + std::to_string(each.step) + ":" + std::to_string(each.cpu);
    return text;
}

bool schedule_parse(std::string_view text, Schedule &schedule)
{
    schedule.clear();
    const char *at = text.data(), *const end = at + text.size();
    while (at != end) {
        Switch next = {};
        const auto step = std::from_chars(at, end, next.step);
        if (step.ec != std::errc() || step.ptr == end || *step.ptr != ':')
            return false;
        const auto cpu = std::from_chars(step.ptr + 1, end, next.cpu);
        if (cpu.ec != std::errc() || next.cpu >= kRaceTasks || (cpu.ptr != end && *cpu.ptr != ' '))
            return false;
        if (!schedule.empty() && schedule.back().step >= next.step)
            return false;
        schedule.push_back(next);
        at = cpu.ptr == end ? end : cpu.ptr + 1;
    }
    return true;
}

} // namespace kmirror::sim
