// SPDX-License-Identifier: GPL-2.0-only
//
// What a failed test says about failures that libkmirror injected into it. A program without that library has none.
#pragma once

#include <string>

namespace kmirror::cmocka {

// Before a test: what was injected until now is not its own. `test` is its name for --gtest_filter.
void forget_injections(const std::string& test);

// After one: which failures were injected, where, and the command that has them again; empty: none.
std::string take_injections();

}  // namespace kmirror::cmocka
