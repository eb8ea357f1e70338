// SPDX-License-Identifier: GPL-2.0-only
//
// GoogleTest's start, and its --gtest_output over several groups: each run of a group writes a report of that
// group alone, and the file that the user named gets them all.
#pragma once

#include <string>

namespace kmirror::cmocka {

// InitGoogleTest() with the arguments of the process, once.
void start_googletest();

// How the process was started.
std::string program_name();

// Adds the report of the group that just ran to the user's file.
void merge_report();

}  // namespace kmirror::cmocka
