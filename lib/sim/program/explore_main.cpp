// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror-sim explore: scenarios under many schedules.
//
//   kmirror-sim explore [NAME=VALUE...]
//     scenario=NAME        all when not said, in turn
//     schedules=200        of each
//     seed=1               of the first schedule; the next one's is one more
//     strategy=mixed       random, pct or mixed: random with rare and with frequent switches, and pct, in turn
//     depth=3              of pct
//     plant=WHAT           a bug in the world below: early-rcu, half-compare, weak, or unlocked:CLASS
//     replay="12:1 40:0"   that one schedule, with its steps
//     scenario=list        what there is
//
// Exit status: 0 nothing was found, 1 something was, and how to replay it is said, 2 bad input.
#include "lib/sim/program/explore_main.h"

#include "lib/sim/program/schedule.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace kmirror::sim {
namespace {

constexpr unsigned kShrinkTries = 400;

struct Wishes {
    const Scenario *scenario = nullptr;    // null: all
    unsigned schedules = 200, depth = 3;
    std::uint64_t seed = 1;
    std::string strategy = "mixed", plant_text;
    Plant plant;
    std::optional<Schedule> replay;
};

int refuse(const std::string &name, const std::string &value, const std::string &allowed)
{
    std::fprintf(stderr, "kmirror: --%s %s is not possible; %s\n", name.c_str(), value.c_str(), allowed.c_str());
    return 2;
}

template <class Number> bool read_number(const std::string &text, Number lowest, Number highest, Number &value)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= lowest && value <= highest;
}

std::string scenario_names()
{
    std::string names;
    for (unsigned i = 0; i < kScenarioCount; i++)
        names += std::string(i == 0 ? "" : ", ") + kScenarios[i]->name;
    return names;
}

int read_scenario(const std::string &value, Wishes &wishes)
{
    for (unsigned i = 0; i < kScenarioCount; i++)
        if (value == kScenarios[i]->name)
            wishes.scenario = kScenarios[i];
    return wishes.scenario || value == "all" ? 0 : refuse("scenario", value, "it takes all or one of: " + scenario_names());
}

int read_plant(const std::string &value, Wishes &wishes)
{
    constexpr std::string_view lock = "unlocked:";
    wishes.plant_text = value;
    if (value == "early-rcu")
        wishes.plant.early_rcu = true;
    else if (value == "half-compare")
        wishes.plant.half_compare = true;
    else if (value == "weak")
        wishes.plant.weak = true;
    else if (value.starts_with(lock) && value.size() > lock.size())
        wishes.plant.unlocked = value.substr(lock.size());
    else
        return refuse("plant", value, "it takes early-rcu, half-compare, weak or unlocked:CLASS");
    return 0;
}

int read_wish(const std::string &name, const std::string &value, Wishes &wishes)
{
    if (name == "scenario")
        return read_scenario(value, wishes);
    if (name == "plant")
        return read_plant(value, wishes);
    if (name == "strategy") {
        wishes.strategy = value;
        return value == "mixed" || value == "random" || value == "pct" ? 0 : refuse(name, value, "it takes mixed, random or pct");
    }
    if (name == "replay") {
        wishes.replay.emplace();
        return schedule_parse(value, *wishes.replay) ? 0 : refuse(name, value, "it takes STEP:CPU pairs, as they are printed");
    }
    if (name == "schedules")
        return read_number(value, 1u, 10'000'000u, wishes.schedules) ? 0 : refuse(name, value, "it takes 1 to 10000000");
    if (name == "depth")
        return read_number(value, 1u, 100u, wishes.depth) ? 0 : refuse(name, value, "it takes 1 to 100");
    if (name == "seed")
        return read_number(value, std::uint64_t{1}, std::uint64_t{1} << 62, wishes.seed) ? 0 : refuse(name, value, "it takes a number from 1");
    return refuse(name, value, "there is no such setting");
}

StrategyMaker strategy_of(const Wishes &wishes, std::uint64_t seed, std::uint32_t steps)
{
    constexpr unsigned often = 3, rarely = 40;
    if (wishes.replay)
        return [&wishes] { return replay_strategy(*wishes.replay); };
    const bool pct = wishes.strategy == "pct" || (wishes.strategy == "mixed" && seed % 3 == 2);
    if (pct)
        return [=, depth = wishes.depth] { return pct_strategy(seed, depth, steps); };
    return [=] { return random_strategy(seed, seed % 3 == 0 ? often : rarely); };
}

void tell(const Scenario &scenario, const Wishes &wishes, const Outcome &outcome, std::uint64_t seed)
{
    std::printf("%s: %s with seed %llu, after %u switches of %u steps\n%s", scenario.name, verdict_name(outcome.verdict),
                static_cast<unsigned long long>(seed), static_cast<unsigned>(outcome.schedule.size()), outcome.steps,
                outcome.message.c_str());
    const Outcome shorter = shrink(scenario, wishes.plant, outcome, kShrinkTries);
    std::printf("the shortest found has %zu switches:\n", shorter.schedule.size());
    const Schedule &schedule = shorter.schedule;
    run_schedule(scenario, [&schedule] { return replay_strategy(schedule); }, wishes.plant, true);
    std::printf("replay: kmirror-sim explore scenario=%s %s%s%sreplay=\"%s\"\n", scenario.name,
                wishes.plant_text.empty() ? "" : "plant='", wishes.plant_text.c_str(),
                wishes.plant_text.empty() ? "" : "' ", schedule_text(schedule).c_str());
}

int replay(const Scenario &scenario, const Wishes &wishes)
{
    const Outcome outcome = run_schedule(scenario, strategy_of(wishes, 1, 1), wishes.plant, true);
    std::printf("%s: %s after %u steps\n%s", scenario.name, verdict_name(outcome.verdict), outcome.steps,
                outcome.message.c_str());
    return outcome.verdict == Verdict::Fine ? 0 : 1;
}

int explore(const Scenario &scenario, const Wishes &wishes)
{
    using Clock = std::chrono::steady_clock;
    scenario_world(scenario);
    if (const Outcome outcome = learn_lines(scenario); outcome.verdict != Verdict::Fine) {
        std::printf("%s: %s while its lines were learnt\n%s", scenario.name, verdict_name(outcome.verdict), outcome.message.c_str());
        return 1;
    }
    if (wishes.replay)
        return replay(scenario, wishes);
    const Clock::time_point start = Clock::now();
    std::uint64_t steps = 0;
    const Outcome first = run_schedule(scenario, [] { return replay_strategy({}); }, wishes.plant, false);
    for (unsigned i = 0; i < wishes.schedules; i++) {
        const std::uint64_t seed = wishes.seed + i;
        const Outcome outcome = run_schedule(scenario, strategy_of(wishes, seed, first.steps), wishes.plant, false);
        steps += outcome.steps;
        if (outcome.verdict == Verdict::Fine)
            continue;
        std::printf("%s: found by schedule %u of %u\n", scenario.name, i + 1, wishes.schedules);
        tell(scenario, wishes, outcome, seed);
        return 1;
    }
    std::printf("%-10s %u schedules, %llu decisions each, nothing found, %.0f a second\n", scenario.name, wishes.schedules,
                static_cast<unsigned long long>(steps / wishes.schedules),
                wishes.schedules / std::chrono::duration<double>(Clock::now() - start).count());
    return 0;
}

// A world is made once for each process.
int explore_all(const Wishes &wishes)
{
    int worst = 0;
    for (unsigned i = 0; i < kScenarioCount; i++) {
        std::fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) {
            const int status = explore(*kScenarios[i], wishes);
            std::fflush(stdout);
            _exit(status);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    return worst;
}

} // namespace

int explore_main(int argc, char **argv)
{
    Wishes wishes;
    if (argc == 1 && std::strcmp(argv[0], "scenario=list") == 0) {
        for (unsigned i = 0; i < kScenarioCount; i++)
            std::printf("%-10s %s, %s, %s\n", kScenarios[i]->name, kScenarios[i]->what, kScenarios[i]->topology,
                        kScenarios[i]->generation);
        return 0;
    }
    for (int i = 0; i < argc; i++) {
        const std::string argument = argv[i];
        const auto equals = argument.find('=');
        if (equals == std::string::npos)
            return refuse(argument, "", "settings are NAME=VALUE");
        if (const int status = read_wish(argument.substr(0, equals), argument.substr(equals + 1), wishes))
            return status;
    }
    if (wishes.replay && !wishes.scenario)
        return refuse("replay", "", "it needs scenario=");
    return wishes.scenario ? explore(*wishes.scenario, wishes) : explore_all(wishes);
}

} // namespace kmirror::sim
