// SPDX-License-Identifier: GPL-2.0-only
//
// A maple sequence as code: what it does, with every number known, and what each call must answer.
//
//   Kernel      a function in the style of lib/test_maple_tree.c, to be pasted there
//   GoogleTest  a TEST for radix-tree-tests/
//
// Trees with an external lock are printed with their own: the calls are the same. Values are xa_mk_value(n),
// or numbers in the shape of pointers.
//
// Owns     nothing.
// Fails    never; a sequence that crashes the implementation ends with the call that does.
#ifndef KMIRROR_FUZZ_MAPLE_PRINT_H
#define KMIRROR_FUZZ_MAPLE_PRINT_H

#include "fuzz/maple_run.h"

namespace kmirror::fuzz {

enum class Code { Kernel, GoogleTest };

// The statements of one step, each with `indent` before it and a newline behind it.
std::string step_code(const Step &step, const Answer &expected, Code code, const std::string &indent);

// Does the sequence, and gives the statements of each step to `sink` before the step is done: what they are up
// to a crash is known then. `how` says on what, and of which grammar; its listener is not called.
using StatementSink = std::function<void(const std::string &statements)>;
void maple_statements(const Sequence &sequence, const MapleRunOptions &how, Code code, const StatementSink &sink);

// The whole function or test, named `name`, around such statements.
std::string maple_function(const Setup &setup, const std::string &statements, Code code, const std::string &name);

// Both at once. `ops` is only asked where cursors stand; the sequence is done.
std::string maple_code(const Sequence &sequence, Code code, const std::string &name, const maple_ops *ops);

// Prints each step as kernel code on stderr before it is done; from 2 on, the tree before it as well.
StepListener maple_narrator(unsigned verbosity);

// A patch against the text of lib/test_maple_tree.c that adds `function` and calls it. Empty: `wrong` says
// why not.
std::string kernel_test_patch(const std::string &test_file, const std::string &function,
                              const std::string &name, std::string &wrong);

} // namespace kmirror::fuzz

#endif
