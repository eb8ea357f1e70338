// SPDX-License-Identifier: GPL-2.0-only
//
// The rows of the tree's table: what is timed, on which map, and what is wanted.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/tree_loops.h"

namespace kmirror::bench {

// The map that a loop gets.
enum class Map {
    shared,     // filled in random order; a loop leaves it as it found it
    gaps,       // the same, with gaps tracked
    empty,      // and emptied again behind the loop
    copy,       // a fresh copy in each round; so TREE_DESTROY
    target,     // shared, and `other` is empty
    live,       // gaps; goes on from round to round
    process     // gaps; mappings of a process, goes on from round to round
};

struct TreeRow {
    std::string name;
    std::size_t entries;
    tree_loop loop;
    Map map;
    std::size_t steps;
    double target;              // ours / 7.3
    unsigned long least = 0, most = 0;
    bool in_order = false;      // TREE_INSERT
    // The loop of those who have not this one, for the ratio.
    tree_loop instead = loop;

    unsigned flags() const { return map == Map::gaps || map == Map::live || map == Map::process ? TREE_GAPS : 0; }
    std::string id() const { return name + "/" + std::to_string(entries); }
};

const std::vector<TreeRow>& tree_rows();

// What was tried, what bounds it and what would be next, for a row that missed its target. Empty: nobody has
// looked yet.
std::string reason_for(const TreeRow& row);

}  // namespace kmirror::bench
