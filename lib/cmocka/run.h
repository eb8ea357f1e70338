// SPDX-License-Identifier: GPL-2.0-only
//
// How one function of a test is run, and how a macro leaves it.
//
// Owns     the frames that a failing macro jumps back to (one list per thread, innermost first), and the
//          record of what went wrong while a test was running.
// Locking  the record has a mutex: any thread may fail the test.
// Fails    by siglongjmp in the thread that runs the function; by the end of the thread (or by returning,
//          cmocka_set_thread_failure) in another one; by testing::AssertionException where no function is
//          run at all, as in a plain TEST().
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kmirror::cmocka {

enum class End { Returned, Failed, Skipped, Stopped };

// Runs body as one function of the test called name: signals are caught, left-over expectations and (with
// check_leaks) blocks newer than checkpoint fail it. What failed is in the record.
End run_function(const char* name, const std::function<void()>& body, bool check_leaks,
                 unsigned long checkpoint);

// Adds a failure to the record and to GoogleTest's. The macros then leave(End::Failed) in a statement of its
// own: a string that lives across the jump would never be freed.
void record_failure(const char* file, int line, const std::string& text);

// The texts recorded since the last call, one string; empty: none failed.
std::string take_failures();

// Leaves the function that is run. Returns only in a second thread that is told to go on.
void leave(End how);

// printf into a string.
std::string text_of(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace kmirror::cmocka
