// SPDX-License-Identifier: GPL-2.0-only
//
// Result sets beside each other, to the character as lkp's compare prints them, or with medians and intervals.
//
//   std::vector<Group> groups = align({a, b}, {.free = {"machine"}});
//   print_lkp(groups.front(), stdout);
//
// A group is one setting: the axes that all its columns share. An axis that is free is none: series that differ
// in it alone are one series, so that results of several machines can be held together.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tools/kmirror/results.h"

namespace kmirror::command {

struct Metric {
    std::string name;
    std::vector<std::vector<double>> values;  // by column; empty where it was not measured
};

struct Group {
    Axes axes;
    std::string compared;              // what the columns are: "commit", or the axis that was asked for
    std::vector<std::string> columns;  // at least two
    std::vector<Metric> metrics;
};

struct Alignment {
    std::vector<std::string> free;  // axes that make no difference
    std::string by;                 // an axis whose values are the columns; empty: each result set is one
    Axes only;                      // series that have these alone; empty: all
};

// Settings that at least two columns have, in the order of their first appearance.
std::vector<Group> align(const std::vector<Results>& results, const Alignment& alignment);

// lkp's table. A deviation is shown where it is more than 2 % of the mean; a metric that ends in % or is of
// perf-profile shows the difference; one that ends in .fail counts the runs in which it is not 0.
void print_lkp(const Group& group, std::FILE* out);

// Median, the change with its 95 % interval by Welch, and "significant" or "no significant change". Each column
// against the first.
void print_intervals(const Group& group, std::FILE* out);

}  // namespace kmirror::command
