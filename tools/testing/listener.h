// SPDX-License-Identifier: GPL-2.0-only
//
// Prints each test as one line and fails a test that printed a warning nobody expected.
//
//   ok 12 - Suite.Name
//   ok 13 - Suite.Other # SKIP needs two nodes
//   # file.cpp:40: what was expected and what was seen
//   not ok 14 - Suite.Third # seed 7; replay: make check-unit FILTER='Suite.Third' KMIRROR_SEED=7
//
// After every test one record goes to the run log (runlog.h), so that a run that dies can be taken up again.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tools/testing/runlog.h"

namespace kmirror::testing {

// The line that ends a test, without its newline. `word` is "ok" or "not ok"; `note` may be empty.
std::string result_line(const char* word, unsigned number, const std::string& name, const std::string& note);

// The note of a failed test: its seed, and the command that runs it again.
std::string replay_note(const std::string& name);
// The command in it.
std::string replay_command(const std::string& name);

class Listener final : public ::testing::EmptyTestEventListener {
public:
    // Numbers start at `first_number`; records go to `log`.
    Listener(const RunLog& log, unsigned first_number) : log_(log), number_(first_number) {}

    // The first lines are then KTAP's: its version, and how many results follow, `more` of them extra cases.
    void begin_with_plan(unsigned more) { more_planned_ = static_cast<int>(more); }

    void OnTestIterationStart(const ::testing::UnitTest& all, int iteration) override;
    void OnTestStart(const ::testing::TestInfo& test) override;
    void OnTestPartResult(const ::testing::TestPartResult& part) override;
    void OnTestEnd(const ::testing::TestInfo& test) override;

    // A check that is no GoogleTest case, such as the leak check at the end: counted and printed like one.
    void extra_case(const std::string& name, bool passed);

private:
    static constexpr unsigned kFailuresShown = 8;

    void check_warnings();
    void finish(const std::string& name, Outcome outcome, const std::string& note);

    const RunLog& log_;
    unsigned number_;
    unsigned long unexpected_at_start_ = 0;
    std::string skip_reason_;
    unsigned failures_ = 0;  // of the running test
    int more_planned_ = -1;  // -1: no plan
};

}  // namespace kmirror::testing
