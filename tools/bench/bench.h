// SPDX-License-Identifier: GPL-2.0-only
//
// Names and numbers of the benchmarks. A benchmark is `group/operation/size/who`: the same first three parts
// by two implementations make one row of the table (report.cpp). What is timed is a loop behind the table of
// operations, so that the indirect call is paid once per loop.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

namespace kmirror::bench {

inline constexpr const char* kOurs = "kmirror";

// Registers `group/operation/size/who`. `loop` does `steps` operations each time it is called; `before` and
// `after` are called around each loop and are not timed.
struct Case {
    std::string name;
    std::size_t steps = 1;
    std::function<void()> loop;
    std::function<void()> before = {};
    std::function<void()> after = {};
};
void add(const Case& what);

// The cases of the tree; called once, before the benchmarks run.
void add_tree_cases();

}  // namespace kmirror::bench
