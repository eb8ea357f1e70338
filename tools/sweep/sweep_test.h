// SPDX-License-Identifier: GPL-2.0-only
//
// What the tests of sweeps share: cases swept with bounds.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kmirror/fault.h>
#include <kmirror/printk.h>
#include <kmirror/sweep.h>

#include "tools/sweep/cases.h"

namespace kmirror::sweeping {

class Sweep : public ::testing::Test {
protected:
    void SetUp() override {
        if (!KMIRROR_FAULTS) GTEST_SKIP() << "this build has FAULTS=0";
    }
};

// Failures that were injected; at most `most` runs a mode.
inline unsigned long sweep_one(const Case& one, unsigned modes, unsigned long most) {
    const int level = kmirror_set_loglevel(0);   // the calls' own words about each failure
    const kmirror_sweep_result result = kmirror::sweep(one.make, modes, most);
    kmirror_set_loglevel(level);
    EXPECT_STREQ(result.first, "") << one.call << ", " << one.shape;
    return result.injected;
}

// The largest shapes take the most time: of those, one call in four.
inline void sweep_all(const std::vector<Case>& cases, unsigned long most, const std::string& largest = "") {
    unsigned long injected = 0;
    unsigned large = 0, swept = 0;
    for (const Case& one : cases) {
        if (!largest.empty() && one.shape.find(largest) != std::string::npos && large++ % 4 != 0) continue;
        injected += sweep_one(one, KMIRROR_SWEEP_ONCE | KMIRROR_SWEEP_FROM, most);
        ++swept;
    }
    EXPECT_GT(injected, swept);
}

}  // namespace kmirror::sweeping
