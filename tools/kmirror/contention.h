// SPDX-License-Identifier: GPL-2.0-only
//
// What the parts of kmirror contention hand each other: one run of a load in one setting, and the presentations.
#pragma once

#include "slab/stress_load.h"
#include "tools/kmirror/json.h"
#include "tools/kmirror/results.h"

#include <string>
#include <vector>

namespace kmirror::command {

// Medians over the repeats.
struct ContentionRow {
    const stress::LoadKind *load;
    std::string generation;
    int capacity;                  // objects in a sheaf; 0: no sheaves
    double operations_per_second;  // of all CPUs together
    double list_lock_per_1000, barn_lock_per_1000;
    double list_contended, barn_contended; // share of the acquisitions
    double list_hold_ns, barn_hold_ns;     // mean
    double slabs;                  // after the last round
};

// The order that slab/contention.md explains; a line for each comparison that does not hold.
std::vector<std::string> judge_order(const std::vector<ContentionRow> &rows);

void print_contention(const std::vector<ContentionRow> &rows, const stress::Plan &plan,
                      const std::vector<std::string> &wrong);

// The figures of all repeats of a row, for comparisons.
std::vector<Series> contention_series(const ContentionRow &row, const std::vector<stress::Figures> &runs);

// Schema "kmirror-contention", version 2: since then it has series.
Json contention_json(const std::vector<ContentionRow> &rows, const std::vector<Series> &series,
                     const stress::Plan &plan, const std::vector<std::string> &wrong);

} // namespace kmirror::command
