// SPDX-License-Identifier: GPL-2.0-only
//
// What the parts of kmirror stress --workload hand each other: the repeats of a setting, and the presentations.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "slab/stress_load.h"
#include "tools/kmirror/commands.h"
#include "tools/kmirror/results.h"
#include "tools/kmirror/stress_counters.h"

namespace kmirror::command {

// Read options that several commands have. False: the text is not possible. The functions beside them say what is.
bool parse_loads(const std::string &text, std::vector<const stress::LoadKind *> &loads);
std::string workload_names();
bool parse_capacities(const std::string &text, std::vector<int> &capacities);
std::string capacities_allowed();

struct WorkloadRun {
    stress::Figures figures;
    Counters counters;  // of the processor, over the run
};

// One setting with its repeats.
struct WorkloadSetting {
    const stress::LoadKind *load;
    std::string generation;
    int capacity;    // objects in a sheaf; 0: none
    unsigned tasks;
    bool threads;    // one address space; else one for each task
    std::vector<WorkloadRun> runs;

    std::string name() const;
    const char *mode() const { return threads ? "thread" : "process"; }
    const char *per_task() const { return threads ? "per_thread_ops" : "per_process_ops"; }
};

// The figures of all repeats, for comparisons.
std::vector<Series> workload_series(const WorkloadSetting &setting);

void print_workloads(const std::vector<WorkloadSetting> &settings, const StressOptions &options, bool stopped);

// One subtest of KTAP with a result for each setting; a comment tells what was wrong, or how fast it was.
void print_ktap(const std::vector<WorkloadSetting> &settings, std::FILE *out);

// Who had to wait for a lock, most often first.
struct LockPoint {
    unsigned long ip;
    std::uint64_t contended;
    std::string name;  // function+offset/size
};
std::vector<LockPoint> points_of(const kmirror_lock_stat &lock);

// The lock classes of a run in the form of /proc/lock_stat, version 0.4: times in microseconds, and under each class
// the call sites that had to wait. What is not counted here is 0 (bounces between CPUs, shortest times) or left out
// (the sites of those that were waited for).
void print_lock_stat(const std::vector<kmirror_lock_stat> &locks, std::FILE *out);

// Schema "kmirror-stress", version 3.
Json workload_json(const std::vector<WorkloadSetting> &settings, const StressOptions &options, bool stopped);

// Of all settings: what went wrong, one line each.
std::vector<std::string> wrong_of(const std::vector<WorkloadSetting> &settings);

}  // namespace kmirror::command
