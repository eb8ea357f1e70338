// SPDX-License-Identifier: GPL-2.0-only
//
// What the parts of kmirror stress hand each other: runs, verdict, and their two presentations.
#pragma once

#include "slab/stress_load.h"
#include "tools/kmirror/results.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kmirror::command {

inline constexpr const char *kAllocatorLoad = "allocator";
inline constexpr const char *kTreeLoad = "tree";
inline constexpr const char *kListLock = "&n->list_lock";
inline constexpr const char *kBarnLock = "&barn->lock";
inline constexpr const char *kTreeLock = "&mt->ma_lock";

// list_lock has to be taken at least this many times as often without sheaves as with sheaves of 32.
inline constexpr double kLeastRatio = 10;

struct StressRun {
    const char *load;       // kAllocatorLoad or kTreeLoad
    std::string generation; // of the allocator
    int capacity;           // objects in a sheaf; 0: no sheaves
    stress::Figures figures;
};

struct StressVerdict {
    bool compared = false;               // generation sheaves ran; the next three are of it
    double with_32 = 0;                  // list_lock acquisitions for 1000 operations, sheaves of 32
    double without = 0;                  // the same without sheaves
    std::uint64_t contended_without = 0; // times it had to be waited for then
    bool faulty = false;                 // failures were injected into these: the three are shown, not judged
    std::vector<std::string> wrong;      // empty: everything held
};

// The parts of a list with commas; at least one, perhaps empty.
std::vector<std::string> split(const std::string &list);

// The part of a whole; 0 of nothing.
double share(std::uint64_t part, std::uint64_t whole);

// Judge options that several commands have: kDone, or what a bad option returned.
int check_cpus(unsigned cpus);
int check_json(const std::string &file);

// The names of --slab, with commas, or "all", or empty for the process's own. False: there is one nobody knows.
bool parse_generations(const std::string &text, std::vector<std::string> &out);
inline constexpr const char *kGenerationsAllowed =
    "it takes all, or with commas: cpu-slab, cpu-slab+sheaves, double, sheaves";

// "sheaves of 32" or "no sheaves".
std::string capacity_text(int capacity);

// Tables and verdict on stdout.
void print_stress(const std::vector<StressRun> &runs, const stress::Plan &plan, const StressVerdict &verdict);

// One value each: the runs are not repeated.
std::vector<Series> stress_series(const std::vector<StressRun> &runs);

// Schema "kmirror-stress", version 3: since then there are series.
Json stress_json(const std::vector<StressRun> &runs, const stress::Plan &plan, const StressVerdict &verdict);

} // namespace kmirror::command
