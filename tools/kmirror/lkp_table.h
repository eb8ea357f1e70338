// SPDX-License-Identifier: GPL-2.0-only
//
// The comparison that kernel performance reports print: the values of a base, the change, the values of what is
// compared with it; with the interval that holds the true change, and a mark where it is no chance.
//
//   LkpTable table("v6.12", "v7.3", Runs::Paired);
//   table.row("brk1.ops_per_sec", base, head);
//   table.print(stdout);
//
//             v6.12                      v7.3
//       353.1k ±  1%      -5.52%*     333.6k ±  2%   [ -6.31%,  -4.72%]  brk1.ops_per_sec
//
// Owns     the rows.
// Fails    never; a row of too few values (kLeastRuns) has no interval and no mark.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace kmirror::command {

inline constexpr std::size_t kLeastRuns = 3;
inline constexpr double kConfidence = 0.95;

// Paired: value i of both sides was measured side by side, in round i, so that what disturbed one disturbed the
// other. Apart: two sets of runs that know nothing of each other.
enum class Runs { Paired, Apart };

struct Sample {
    double mean = 0;
    double stddev = 0;  // of single values, n - 1 degrees of freedom; 0 for a single one
};
Sample sample_of(const std::vector<double>& values);

// How far `head` is from `base`, as a share of `base`: 0.02 is 2 % more.
struct Change {
    double share = 0;
    double low = 0, high = 0;    // the kConfidence interval; meaningful when known
    bool known = false;          // enough values, and a base that is not 0
    bool significant = false;    // the interval does not hold 0
};

// Paired: Student's interval of the mean of log(head / base), so every value is positive; the sides have the
// same number of values. Apart: Welch's interval of the difference of the means, by the base's mean.
Change change_of(const std::vector<double>& base, const std::vector<double>& head, Runs runs);

class LkpTable {
public:
    LkpTable(std::string base, std::string head, Runs runs);
    void row(std::string metric, std::vector<double> base, std::vector<double> head);
    void print(std::FILE* out) const;

private:
    struct Row {
        std::string metric;
        std::vector<double> base, head;
    };

    std::string base_, head_;
    Runs runs_;
    std::vector<Row> rows_;
};

}  // namespace kmirror::command
