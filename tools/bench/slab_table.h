// SPDX-License-Identifier: GPL-2.0-only
//
// The allocator table: every cell measured in several rounds, all columns of a row next to each other in each
// round, so that what the machine does meanwhile meets all of them.
//
// Fails    a cell that could not be measured says why, and the rest goes on.
#pragma once

#include <string>

namespace kmirror::bench {

struct SlabOptions {
    unsigned rounds = 7;
    std::string rows;      // only rows whose id contains this
    std::string json;      // file to write
    std::string against;   // another kmirror-bench: only the pair, this build beside that one
};

// Exit status: 0, also with missed targets; 1 when a cell of ours could not be measured.
int run_slab_table(const SlabOptions& options);

// The allocation pair of this build beside that of options.against. 0: at most 2 % slower; 1: more, or no
// result.
int run_slab_against(const SlabOptions& options);

}  // namespace kmirror::bench
