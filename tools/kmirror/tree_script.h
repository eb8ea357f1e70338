// SPDX-License-Identifier: GPL-2.0-only
//
// What `kmirror tree` reads: one operation a line.
//
//   # anything               a comment, also behind an operation
//   tree [alloc] [rcu]       kind of the tree, before the first operation; without this line: alloc rcu.
//                            `tree` alone: neither gaps nor lockless readers
//   store FIRST LAST VALUE   overwrites the range
//   insert FIRST LAST VALUE  only where nothing is
//   clear FIRST LAST         nothing is in the range afterwards
//   erase INDEX              takes out the whole range that holds INDEX
//   alloc SIZE VALUE [MIN MAX]        stores at the lowest gap of SIZE indices in MIN-MAX
//   alloc_high SIZE VALUE [MIN MAX]   at the highest
//
// Numbers are decimal, or hexadecimal with 0x; `max` is the last index. Values are below 2^63.
//
// Fails    with the line: "FILE:LINE: what is wrong; what is allowed". Nothing is stored then.
#pragma once

#include <string>
#include <vector>

namespace kmirror::command {

struct TreeStep {
    enum class Kind { Store, Insert, Clear, Erase, Alloc, AllocHigh };

    Kind kind;
    unsigned line;
    std::string text;          // as it was written, blanks and comment taken off
    unsigned long first = 0;   // Alloc*: the lower limit
    unsigned long last = 0;    // Alloc*: the upper limit
    unsigned long size = 0;    // Alloc* only
    unsigned long value = 0;
};

struct TreeScript {
    bool gaps = true;
    bool rcu = true;
    std::vector<TreeStep> steps;
};

// Reads `file`, or stdin for "-". False and one line in `error`.
bool read_tree_script(const std::string& file, TreeScript& script, std::string& error);

}  // namespace kmirror::command
