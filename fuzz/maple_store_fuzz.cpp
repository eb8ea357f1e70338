// SPDX-License-Identifier: GPL-2.0-only
//
// Sequences of every public operation on three trees of any kind, judged by a map after each step.
#include "fuzz/maple_run.h"
#include "fuzz/target.h"

namespace kmirror::fuzz {

const Target maple_store_fuzz = {
    "maple_store_fuzz", &maple_grammar(),
    [](std::span<const std::uint8_t> input) { run_maple_input(maple_store_fuzz, input, kmirror_maple_ops()); }};

} // namespace kmirror::fuzz
