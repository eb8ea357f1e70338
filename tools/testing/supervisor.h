// SPDX-License-Identifier: GPL-2.0-only
//
// Runs the tests in a worker process and outlives it: a test that kills its process (a sanitizer's report,
// BUG, a crash, a hang) costs one `not ok` line, and a new worker goes on with the tests that are left.
#pragma once

namespace kmirror::testing {

// Runs this binary again as a worker, as often as needed, and prints the last line `N passed, N failed, N
// skipped`. Returns the exit status: 0, 1 when a test failed, 2 when the filter matches no test.
int supervise(int argc, char** argv);

}  // namespace kmirror::testing
