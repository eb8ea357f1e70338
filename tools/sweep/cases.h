// SPDX-License-Identifier: GPL-2.0-only
//
// The calls that a sweep runs with each allocation failing: `kmirror sweep` prints a line for each, and make
// check runs them with bounds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kmirror/sweep.h>

namespace kmirror::sweeping {

struct Case {
    std::string call;    // the function, by its kernel name
    std::string shape;   // the state that it runs on
    std::function<std::unique_ptr<SweepScene>()> make;
};

std::vector<Case> tree_cases();
std::vector<Case> slab_cases();    // with block_cases()
std::vector<Case> block_cases();
std::vector<Case> mm_cases();

// All of them.
std::vector<Case> all_cases();

}  // namespace kmirror::sweeping
