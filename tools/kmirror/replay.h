// SPDX-License-Identifier: GPL-2.0-only
//
// What kmirror replay finds out, and its presentation.
#pragma once

#include "tools/kmirror/commands.h"
#include "tools/kmirror/replay_world.h"

#include <string>
#include <vector>

namespace kmirror::replay {

// What --stats adds, taken while every address space still stands.
struct CacheCount {
    std::string name;
    std::uint64_t objects; // in use, those in sheaves included
    std::uint64_t slabs;
    std::uint64_t sheaf_capacity;
};

struct Outcome {
    Tally tally;
    std::size_t lines = 0; // of the log
    int pid = 0;
    std::string why_pid; // how it was chosen
    bool opened = false; // its maps file was opened in the log
    std::vector<MapLine> maps;
    bool compared = false;
    bool equal = false;
    std::size_t equal_line = 0; // of the log, behind which the state is the file's
    std::string difference;     // if not equal: the first, at the point that comes nearest
    std::size_t taken = 0;      // lines of the file that exec made
    std::size_t states = 0;     // compared
    unsigned long violations = 0;
    std::vector<CacheCount> caches;
};

// Replays the log. LogError when log or maps cannot be right: `maps_is_wrong` then tells which of the two.
Outcome replay_log(const command::ReplayOptions &options, std::string &store_list, bool &maps_is_wrong);

void print_outcome(const Outcome &outcome, const command::ReplayOptions &options);
// Schema "kmirror-replay", version 1. False and `error` when it cannot be written.
bool write_outcome(const Outcome &outcome, const command::ReplayOptions &options, std::string &error);

} // namespace kmirror::replay
