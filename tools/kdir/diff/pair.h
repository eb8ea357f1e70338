// SPDX-License-Identifier: GPL-2.0-only
//
// A maple sequence, done on this library's tree and on a kernel's at once, with the model as the judge.
//
//   step -> model: the answer            both trees answer it
//        -> cursors stand alike          status, range, and in trees of one shape the slot
//        -> trees are alike              ranges in both directions, rules, height, number of nodes
//
// What is known of the kernel's tree (known.h) is counted; both trees and cursors are then brought to one state,
// and the sequence goes on.
//
// Owns     the trees of the sequence that runs.
// Bounds   as fuzz/maple_run.h: whole trees are compared as often as they are small enough for, and at the end.
// Locking  one thread.
// Fails    returns the first difference, in one sentence with the number and text of the operation.
#ifndef KMIRROR_TOOLS_KDIR_DIFF_PAIR_H
#define KMIRROR_TOOLS_KDIR_DIFF_PAIR_H

#include "tools/kdir/diff/known.h"

#include <string>

namespace kmirror::diff {

struct PairOptions {
    const maple_ops *ours = nullptr;
    const maple_ops *theirs = nullptr;
    bool same_shape = false;  // theirs plans nodes as ours: heights, nodes, allocations and slots are compared
    Known *known = nullptr;
    bool dumps = false;       // both trees on stdout after a difference
};

struct PairCounts {
    unsigned long operations = 0;  // that meant something, done on both
    unsigned long stores = 0;      // of runs as well
    unsigned long compared = 0;    // whole trees, with their model and with each other
};

// Empty: all is well, or known. Adds to `counts`.
std::string run_pair(const fuzz::Sequence &sequence, const PairOptions &options, PairCounts &counts);

} // namespace kmirror::diff

#endif
