// SPDX-License-Identifier: GPL-2.0-only
//
// What a test may use beyond GoogleTest.
//
//   KMIRROR_TEST_IN(Suite, Name, "KMIRROR_MACHINE=pack:2 numa:2 core:4 pu:1") { body }
//       A test whose body runs in a child process with that environment: machine, memory limits and harness
//       mode are read once per process. The parent fails (or skips) with what the child printed.
//   ExpectWarnings w(2);
//       Exactly two WARNs are printed while w lives. Outside such a scope one WARN fails the test.
//   seed()
//       Seeds every random test. The line of a failed test shows it with the command that replays it.
//   rerun_this_test(), in_child()
//       For a test that must see its own process die: a planted race, a read after free.
//
// Locking: all of it belongs to the thread that runs the test, except seed() and in_child(), which any thread
// may call.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kmirror::testing {

// The seed of this process: KMIRROR_SEED, or else drawn at start.
std::uint64_t seed();

// True in a process started by KMIRROR_TEST_IN or rerun_this_test().
bool in_child();

// How a child process ended, and what it wrote to stdout and stderr.
struct ChildResult {
    bool exited = false;     // by itself, with `status`
    int status = 0;          // exit status; 77 means that the test skipped itself
    int signal = 0;          // else: the signal that ended it
    bool timed_out = false;  // it was killed after test_timeout_seconds()
    std::string output;

    bool passed() const { return exited && status == 0; }
};

// Runs the current test once more, alone, in a child process with `environment` ("NAME=value") added.
// In the child in_child() is true and the seed is the same.
ChildResult rerun_this_test(const std::vector<std::string>& environment);

// Seconds a test may take before it counts as hanging: KMIRROR_TEST_TIMEOUT, or 120.
unsigned test_timeout_seconds();

// Expects exactly `expected` warnings (WARN, WARN_ON, WARN_ON_ONCE that fired) during its life.
class ExpectWarnings {
public:
    explicit ExpectWarnings(unsigned long expected);
    ~ExpectWarnings();
    ExpectWarnings(const ExpectWarnings&) = delete;
    ExpectWarnings& operator=(const ExpectWarnings&) = delete;

    // Warnings so far in this scope.
    unsigned long seen() const;

private:
    unsigned long expected_;
    unsigned long at_start_;
};

// Warnings that scopes of this process have answered for; the listener subtracts them.
unsigned long warnings_expected();

// Body of KMIRROR_TEST_IN.
void run_in_child(const std::vector<std::string>& environment, void (*body)());

}  // namespace kmirror::testing

#define KMIRROR_TEST_IN(Suite, Name, ...)                                                                  \
    static void kmirror_body_##Suite##_##Name();                                                           \
    TEST(Suite, Name) { ::kmirror::testing::run_in_child({__VA_ARGS__}, &kmirror_body_##Suite##_##Name); } \
    static void kmirror_body_##Suite##_##Name()
