// SPDX-License-Identifier: GPL-2.0-only
//
// Measured figures as every result file holds them, whatever made it: series with axes. README.md of this folder
// has the schema.
//
//   Results results{"before", "", {{{{"workload", "mmap2"}, {"tasks", "4"}}, "per_process_ops", {1e6, 1.1e6}}}};
//   put_series(json, results.series);
//
// Owns     copies of all text.
// Fails    reading refuses a file of another schema and a series without values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/kmirror/json.h"

namespace kmirror::command {

// Where a series was measured, such as generation=sheaves; in the order in which they are shown.
using Axes = std::vector<std::pair<std::string, std::string>>;

// Empty when there is no such axis.
std::string axis_of(const Axes& axes, const std::string& name);

// One figure of one setting over its repeats.
struct Series {
    Axes axes;
    std::string metric;
    std::vector<double> values;
};

struct Results {
    std::string name;  // a file's name without folder and .json
    std::string made_by;  // its schema
    std::vector<Series> series;
};

// "/series" of the document, schema version 1 of it.
void put_series(Json& json, const std::vector<Series>& series);

// "/machine" and "/build": the simulated machine, the allocator's implementation, the host, compiler, sanitizer
// and git state of this program.
void put_origin(Json& json);

// False and `error` when the file cannot be read or holds no series.
bool read_results(const std::string& file, Results& results, std::string& error);

}  // namespace kmirror::command
