// SPDX-License-Identifier: GPL-2.0-only
//
// A group of tests while it runs, and what became of them: the one record that GoogleTest's cases fill and
// that the formats of CMOCKA_MESSAGE_OUTPUT print.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kmirror::cmocka {

enum class Status { NotRun, Passed, Failed, Skipped, Error };

// A function of a test: fills the state, returns non-zero when it failed. Empty: there is none.
using Step = std::function<int(void** state)>;

struct Case {
    std::string name;
    Step setup, body, teardown;
    void* initial_state = nullptr;

    Status status = Status::NotRun;
    std::string message{};  // why it is not Passed
    double seconds = 0;
};

struct Group {
    std::string name;   // of the GoogleTest suite
    std::string title;  // as the test calls it
    std::vector<Case> cases;
    Step setup, teardown;

    const Case* last_run = nullptr;
    void* state = nullptr;
    unsigned long checkpoint = 0;
    std::string setup_message, teardown_message;  // empty: it did not fail
    bool leaked = false;                          // blocks are left that no test was charged with

    size_t number(Status status) const;
    size_t executed() const { return cases.size() - number(Status::NotRun); }
    int failures() const;  // what _cmocka_run_group_tests() returns
};

// Registers the cases as tests of one GoogleTest suite, runs them, and returns failures().
int run_group(Group group);

}  // namespace kmirror::cmocka
