// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/program/schedule.h: one scenario under one schedule, in a child process: it may crash, hang or corrupt what it
// likes.
#pragma once

#include "lib/sim/explore.h"
#include "lib/sim/scenario/scenario.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace kmirror::sim {

enum class Verdict { Fine, Race, Wrong, Warned, Crashed, Deadlock, TooLong };
const char *verdict_name(Verdict verdict);

struct Outcome {
    Verdict verdict = Verdict::Fine;
    std::uint32_t steps = 0;
    Schedule schedule;
    std::string message;      // what was wrong, one line for each thing
};

// Makes the world of the scenario, whose state every child begins with. Once for each process.
void scenario_world(const Scenario &scenario);

// Runs the scenario in a child. `tell`: also the switches, on stdout, and what the code under test prints.
using StrategyMaker = std::function<std::unique_ptr<Strategy>()>;
Outcome run_schedule(const Scenario &scenario, const StrategyMaker &strategy, const Plant &plant, bool tell);
// Learns which lines are shared, always in the same way; before anything else. What it found, if it did.
Outcome learn_lines(const Scenario &scenario);

// Leaves switches out as long as something is wrong and it ends; at most `tries` runs.
Outcome shrink(const Scenario &scenario, const Plant &plant, Outcome failed, unsigned tries);

} // namespace kmirror::sim
