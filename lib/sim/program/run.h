// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/program/run.h: one run of a load on a simulated machine: warm up, count over whole grace periods, give
// everything back.
#pragma once

#include "lib/sim/engine.h"
#include "lib/sim/load/load.h"
#include "lib/sim/world/world.h"

#include <functional>
#include <string>
#include <vector>

namespace kmirror::sim {

struct RunSpec {
    Machine machine;
    const Load *load = nullptr;
    std::string generation = "sheaves";
    unsigned tasks = 1;
    int sheaf_capacity = -1;      // of the load's caches; -1: the generation's own rule
    unsigned warm = 4;            // grace periods before the counting; a load without callbacks: kPeriod each
    unsigned periods = 5;         // and during it
    Ps start_spread = 4 * kUs;    // over which the tasks begin
    bool lines = false;           // report the lines that moved
    bool finish = true;           // give everything back and look for what is left
    Engine::Setting setting;
};

// Without callbacks there is no grace period; this long counts as one.
inline constexpr Ps kPeriod = 8 * kMs;

struct MovedLine {
    std::string what, place;
    std::uint64_t count = 0;
    Ps time = 0;
};

struct RunResult {
    std::uint64_t iterations = 0;
    std::uint64_t all_iterations = 0;   // with the warm-up and the end
    Ps window = 0;
    unsigned periods = 0;          // grace periods in the window
    double drift = 0;              // second half of the window against the first, iterations; 0: equal
    Counts counts;
    std::vector<std::uint64_t> cpu_iterations;   // of the window
    std::vector<LockStat> locks;
    std::vector<MovedLine> lines;  // those that moved most
    std::uint64_t hash = 0;
    Ps max_stamp_wait = 0;
    Ps longest_period = 0;
    std::vector<std::string> wrong;
};

// Once for each process. `progress` hears of virtual time and iterations.
RunResult run(const RunSpec &spec, const std::function<void(Ps, std::uint64_t)> &progress);

// What a line holds, "list_lock of kmem_cache_node +0" or the like; labels.cpp.
std::string line_label(std::uint32_t number);
// The function and source line of an instrumented access.
std::string place_label(const void *place);

// Machine files that are part of the program.
struct BuiltinMachine {
    const char *name, *text;
};
extern const BuiltinMachine kMachines[];
extern const unsigned kMachineCount;

} // namespace kmirror::sim
