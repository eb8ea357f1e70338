// SPDX-License-Identifier: GPL-2.0-only
//
// Sequences in a child process, so that a kernel's tree may crash; and the smallest sequence that still does.
//
// Owns     the children, one at a time: none is left behind.
// Bounds   a child that makes no progress for kMostSeconds counts as crashed; shrinking ends after kMostTries.
// Locking  one thread in the parent, which never touches the library: a fork takes no lock along.
// Fails    ends the process with status 2 when there can be no child.
#ifndef KMIRROR_TOOLS_KDIR_DIFF_SUPERVISE_H
#define KMIRROR_TOOLS_KDIR_DIFF_SUPERVISE_H

#include "tools/kdir/diff/pair.h"

#include <string>
#include <vector>

namespace kmirror::diff {

struct Plan {
    std::uint64_t operations = 10000;  // at least, after those of the files
    std::uint64_t seed = 1;
    std::vector<Bug> hunted;
    std::vector<std::string> files;
    std::vector<fuzz::Sequence> read;  // of the files, by read_sequences()
};

// What the child has done so far; the parent sees it, even of a child that crashed.
struct Progress {
    PairCounts counts;
    unsigned long sequences = 0;
    bool same_shape = false;         // heights, nodes, slots and allocations were compared
    unsigned long at = 0;            // the one that runs: first those of the files, then drawn ones
    std::array<unsigned long, kBugs> seen{};
    char difference[2000] = "";      // empty: the child crashed, or all is well
    bool is_settled = true;          // the difference is that of sequence `at`; else of one of the last kSettleEvery
};

// Empty: plan.read holds every file's sequence.
std::string read_sequences(Plan &plan);
fuzz::Sequence sequence_of(const Plan &plan, unsigned long at);

// Nodes and warnings are counted after so many sequences.
inline constexpr unsigned long kSettleEvery = 64;

// Does the plan. False: there is an unknown difference in sequence progress.at.
bool supervise(const Plan &plan, Progress &progress);

// One sequence in a child of its own: its difference, or how the child ended; empty: none. `dumps` prints both trees.
std::string in_child(const Plan &plan, const fuzz::Sequence &sequence, bool dumps);

fuzz::Sequence shrink(const Plan &plan, fuzz::Sequence sequence);

// The sequence as a function for lib/test_maple_tree.c, made in a child.
std::string code_of(const fuzz::Sequence &sequence);

} // namespace kmirror::diff

#endif
