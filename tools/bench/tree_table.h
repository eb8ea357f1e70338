// SPDX-License-Identifier: GPL-2.0-only
//
// The tree's table (make bench, ARGS="--only tree"): each row of tree_rows.h with this library's tree in both modes,
// with the trees that KDIR names, and with range maps of C++.
//
// All columns of a row take turns, round by round. Timed is the processor time of the one thread that works,
// pinned to a processor. A column whose checksum differs from that of the first one is an error.
#pragma once

#include <string>

namespace kmirror::bench {

struct TreeOptions {
    std::string rows;       // rows whose id holds this
    unsigned rounds = 9;
    std::string json;       // where to write, or empty
};

// Exit status: 0; 1 when a checksum differs or the JSON could not be written.
int run_tree_table(const TreeOptions& options);

// The names of the columns, one a line. Returns 0.
int print_tree_columns();

// One round of one row by one column, for counting its instructions from outside: the work is done inside
// kmirror_counted_loop(). Prints how many operations it was. 2: there is no such row or column.
int run_tree_once(const std::string& row, const std::string& column);

}  // namespace kmirror::bench
