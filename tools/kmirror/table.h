// SPDX-License-Identifier: GPL-2.0-only
//
// A small table for people: a header line, a rule, rows; every column as wide as its widest cell.
//
//   Table t({"sheaves", "ops/s per CPU", "p99 ns"});
//   t.row({"32", count(5123456), fixed(812, 0)});
//   t.print(stdout);
//
// The first column is set to the left, all others to the right. A row that is shorter than the header is
// filled with blanks; a longer one is a bug and ends the process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace kmirror::command {

class Table {
public:
    explicit Table(std::vector<std::string> header);
    void row(std::vector<std::string> cells);
    void print(std::FILE* out) const;

private:
    std::vector<std::vector<std::string>> rows_;  // the header is row 0
};

// 1234567 as "1,234,567".
std::string count(std::uint64_t value);

// `value` with that many decimals.
std::string fixed(double value, int decimals);

// 5.12e6 as "5.12M": three digits and a letter of k M G T.
std::string short_number(double value);

// 0.0312 as "3.12%".
std::string percent(double share);

}  // namespace kmirror::command
