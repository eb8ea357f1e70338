// SPDX-License-Identifier: GPL-2.0-only
//
// The sequences of maple_store_fuzz in which allocations fail: `fail nth=3` lets the third request for memory
// of the next operation fail. What runs out of memory says so and changes nothing; what may not fail does not.
#include "fuzz/maple_run.h"
#include "fuzz/target.h"

namespace kmirror::fuzz {
namespace {

const Grammar &fault_grammar()
{
    static const Grammar grammar = [] {
        Grammar with_failures = maple_grammar();
        with_failures.operations.push_back({"fail", {{"nth", Slot::Operand0, 64}}, 20});
        return with_failures;
    }();
    return grammar;
}

} // namespace

const Target maple_fault_fuzz = {
    "maple_fault_fuzz", &fault_grammar(), [](std::span<const std::uint8_t> input) {
        run_maple_input(maple_fault_fuzz, input, kmirror_maple_ops());
    }};

} // namespace kmirror::fuzz
