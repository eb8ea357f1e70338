// SPDX-License-Identifier: GPL-2.0-only
//
// Runs of kmirror-sim: one process each, several at a time, and what they printed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kmirror::command {

// What a run is asked for; lib/sim/program/main.cpp reads it.
struct SimSpec {
    std::string machine, load, generation;
    unsigned tasks = 1;
    int sheaves = -1;
    std::uint64_t seed = 1;
    unsigned warm = 4, periods = 5;
    unsigned lines = 0;
    std::vector<std::string> changes;   // of costs, "l3=20"
    std::vector<std::string> more;      // "name=value", as they are
};

struct SimLock {
    std::uint64_t acquisitions = 0, contended = 0;
    double wait_ns = 0, wait_max_ns = 0, hold_ns = 0, hold_max_ns = 0;   // sums, but for the longest
};

struct SimLine {
    std::string what, place;
    std::uint64_t count = 0;
    double ns = 0;
};

// What it printed.
struct SimRun {
    SimSpec spec;
    std::map<std::string, double> figures;
    std::map<std::string, SimLock> locks;
    std::vector<SimLine> lines;
    std::vector<std::uint64_t> cpu_iterations;
    std::vector<std::string> wrong;
    std::string hash;
    int status = 0;

    double figure(const std::string& name) const;
    // Iterations a second of one task.
    double per_task() const;
    double acquisitions_per_1000(const std::string& lock) const;
    // Share of the tasks' time that is spent waiting for the lock.
    double wait_share(const std::string& lock) const;
    double hold_ns(const std::string& lock) const;
    double contended_share(const std::string& lock) const;
    // The class with the longest wait; empty when nobody waited.
    std::string worst_lock() const;
};

// Runs all of them, `jobs` at a time (0: as many as the host has processors), in the order given. `progress` hears of
// the run that moved on, its virtual milliseconds and iterations, and how many are done. False, said on stderr, when
// kmirror-sim cannot be started; a run that fails has its status and a line in `wrong`.
using SimProgress = std::function<void(const SimSpec& spec, double milliseconds, std::uint64_t iterations, std::size_t done)>;
bool run_simulations(const std::vector<SimSpec>& specs, unsigned jobs, std::vector<SimRun>& runs,
                     const SimProgress& progress);

}  // namespace kmirror::command
