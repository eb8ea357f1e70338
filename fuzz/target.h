// SPDX-License-Identifier: GPL-2.0-only
//
// What a fuzz target is, and how it says that it has found something.
//
// Owns     nothing; targets are constant data, one in each *_fuzz.cpp.
// Locking  one thread runs one input at a time.
// Fails    by fail(): one line on stderr, then abort(), which every engine takes for a crash.
#ifndef KMIRROR_FUZZ_TARGET_H
#define KMIRROR_FUZZ_TARGET_H

#include "fuzz/sequence.h"

#include <cstdint>
#include <span>
#include <string>

namespace kmirror::fuzz {

struct Target {
    const char *name;
    const Grammar *grammar;  // nullptr: the input is plain text or bytes, without operations
    void (*run)(std::span<const std::uint8_t> input);
    bool must_fail = false;  // a planted bug: the rig works if it is found
};

extern const Target canary_fuzz, fault_config_fuzz, machine_string_fuzz, maple_diff_fuzz, maple_fault_fuzz, maple_store_fuzz,
    mm_fuzz, replay_log_fuzz, slub_debug_fuzz, slub_fuzz;

// Every target of this program.
std::span<const Target *const> targets();
const Target *find_target(std::string_view name);

// "fuzz: WHAT" on stderr, and the end of the process.
[[noreturn]] void fail(const std::string &what);

// How much a target tells while it runs: 0 nothing, 1 each operation as C, 2 the tree before it as well.
// From the environment variable V.
unsigned verbosity();

// The warnings of this process since the last call: WARN() is a finding in every target.
unsigned long new_warnings();

} // namespace kmirror::fuzz

#endif
