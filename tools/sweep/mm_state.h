// SPDX-License-Identifier: GPL-2.0-only
//
// What a program sees of an address space: which pages there are and what they are, however many mappings hold
// them. And a call on an address space as a scene of a sweep.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kmirror/mm.h>
#include <kmirror/sweep.h>

namespace kmirror::sweeping {

// Pages in a row that are alike.
struct Stretch {
    unsigned long start, end;
    unsigned long flags;
    std::string file;        // empty: none
    unsigned long offset;    // pages, of the first one; 0 without a file
    unsigned int policy;

    bool operator==(const Stretch&) const = default;
};
using MmState = std::vector<Stretch>;

MmState state_of(mm_struct* mm);

// Adds what lies behind all that is there; alike and adjoining it becomes one with the last.
void append(MmState& state, const Stretch& next);

// Empty, or where the two first differ.
std::string difference(const MmState& wanted, const MmState& seen);

// The same, when each page may be as in either of the two, or gone.
std::string strays(const MmState& before, const MmState& after, const MmState& seen);

// What does a call; below 0 is an error.
using MmCall = std::function<long(mm_struct*)>;

// What a failed allocation may leave. The kernel's exceptions stand in <kmirror/mm.h>.
enum AfterFailure : unsigned {
    kUnchanged = 0,    // done, or nothing
    kHalfDone = 1,     // or, by a call that fails, a part of it
    kSourceStays = 2,  // or, by a call that succeeds, what it moved in its old place as well
};

// A call on the address space that `make` makes: done like a twin's with no failure, or undone.
std::unique_ptr<SweepScene> mm_scene(std::function<mm_struct*()> make, MmCall call,
                                     unsigned allowed = kUnchanged);

}  // namespace kmirror::sweeping
