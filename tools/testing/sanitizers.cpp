// SPDX-License-Identifier: GPL-2.0-only
//
// How the sanitizers run in our programs. Read by their runtimes before main; without a sanitizer nobody
// calls these.
//
// Suppressions name functions and files of liburcu and libtbb only: neither is built for the thread
// sanitizer, so it sees their memory accesses but not all of their synchronisation. A report that names only
// our code is never hidden.

// The leak check is run, and counted as a case, at the end of the tests (main.cpp).
// A 32-bit process runs out of the frames that the check for their use after a return needs, and then looks for
// a free one at each call.
extern "C" const char* __asan_default_options() {
#define KMIRROR_ASAN_OPTIONS "leak_check_at_exit=0:strict_string_checks=1:check_initialization_order=1"
    return sizeof(long) == 8 ? "detect_stack_use_after_return=1:" KMIRROR_ASAN_OPTIONS
                             : "detect_stack_use_after_return=0:" KMIRROR_ASAN_OPTIONS;
}

extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

// A report ends the process, so that it belongs to the test that ran.
extern "C" const char* __tsan_default_options() { return "halt_on_error=1:second_deadlock_stack=1"; }

extern "C" const char* __tsan_default_suppressions() {
    return "called_from_lib:libtbb.so\n"
           "race:libtbb.so\n"
           "called_from_lib:liburcu-memb.so\n"
           "race:liburcu-memb.so\n"
           "race:liburcu-common.so\n";
}
