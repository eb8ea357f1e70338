// SPDX-License-Identifier: GPL-2.0-only
//
// A maple sequence, done on an implementation and judged after every step.
//
// Owns     the trees of the sequence that runs; none is left afterwards, and no node.
// Bounds   see maple_oracle.h. A tree is compared with its map from end to end, and validated, after each step
//          that it is small enough for; else the range that changed is, and all of it now and then and at the
//          end. Check::Every compares everything after every step.
// Locking  one thread.
// Fails    returns what is wrong, in one sentence with the number and text of the operation.
#ifndef KMIRROR_FUZZ_MAPLE_RUN_H
#define KMIRROR_FUZZ_MAPLE_RUN_H

#include "fuzz/maple_oracle.h"
#include "fuzz/target.h"

#include <functional>

namespace kmirror::fuzz {

enum class Check { Budget, Every };

// Called before each step that means something, and what it must answer.
using StepListener = std::function<void(const Step &step, const Answer &expected, const MapleTable &table)>;

// Kinds of the trees that a setup asks for.
std::array<unsigned, kMapleTrees> maple_kinds(const Setup &setup);

struct MapleRunOptions {
    const maple_ops *ops = nullptr;  // nullptr: the mirror's
    Check check = Check::Budget;
    StepListener listener;           // may be empty
    // Of the sequence. One more operation than maple_grammar() has: it lets requests for memory fail.
    const Grammar *grammar = nullptr;  // nullptr: maple_grammar()
};

// Empty: all is well.
std::string run_maple(const Sequence &sequence, const MapleRunOptions &options);

// Runs an input: run_maple(), the balance of nodes, warnings. Ends the process by fail().
void run_maple_input(const Target &target, std::span<const std::uint8_t> input, const maple_ops *ops);

} // namespace kmirror::fuzz

#endif
