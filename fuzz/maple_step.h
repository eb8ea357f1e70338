// SPDX-License-Identifier: GPL-2.0-only
//
// One operation of a maple sequence, with its numbers known, and what it answers.
//
//   record (sequence.h) -> oracle: step and the answer it must have -> table: the answer it has -> compare
//
// Owns     nothing.
// Fails    never.
#ifndef KMIRROR_FUZZ_MAPLE_STEP_H
#define KMIRROR_FUZZ_MAPLE_STEP_H

#include "fuzz/sequence.h"

#include <kmirror/maple_ops.h>
#include <kmirror/model.h>

#include <string>
#include <vector>

namespace kmirror::fuzz {

// In the order of maple_grammar().operations.
enum class MapleOp : std::uint8_t {
    // simple API
    Store, StoreRange, Clear, Insert, InsertRange, Erase, Alloc, AllocHigh, AllocCyclic,
    Load, Find, FindAfter, Next, Prev, Each, Empty,
    // whole trees
    Destroy, Dup, SetRcu, ClearRcu, CacheShrink,
    // many at once
    StoreRun, EraseRun, ClearRun,
    // the tree's cursor
    CursorSet, CursorMove, CursorPause, CursorReset, CursorWalk, CursorNext, CursorNextRange, CursorPrev,
    CursorPrevRange, CursorFind, CursorFindRange, CursorFindRev, CursorFindRangeRev, CursorEach,
    CursorEachRev, CursorGap, CursorGapHigh, CursorStore, CursorStoreGfp, CursorPrealloc, CursorPreallocDrop,
    CursorErase, CursorAllocCyclic, CursorBulk,
    Count
};

inline constexpr unsigned kMapleTrees = 3;
inline constexpr std::uint64_t kMostRun = 1024;   // steps of one *Run operation
inline constexpr std::size_t kMostRanges = 8192;  // of one tree: a sequence that would go beyond stops there

const Grammar &maple_grammar();

// The values of the field `value`: NULL is said by operations of their own, the rest are integers, then
// pointers, which nodes could be taken for.
inline constexpr unsigned kMapleValues = 4096;
inline constexpr unsigned kPointersFrom = 3072;
void *maple_value(unsigned value);

struct Step {
    MapleOp op = MapleOp::Empty;
    unsigned tree = 0;
    unsigned other = 0;         // Dup: the copy
    unsigned long first = 0;    // or index, or lower limit
    unsigned long last = 0;     // or upper limit
    unsigned long size = 0;     // of a gap; length of a range of a run
    unsigned long stride = 0;   // runs
    unsigned long count = 0;    // runs
    unsigned value = 0;         // maple_value(); NULL where clears
    bool clears = false;
    unsigned gfp = MAPLE_OPS_KERNEL;
    unsigned fail_nth = 0;      // this request for memory of it fails; 0: none
    bool skipped = false;       // means nothing here: an allocation in a tree without gaps, a full tree

    void *entry() const { return clears ? nullptr : maple_value(value); }
    void *entry_of_run(unsigned long i) const { return maple_ops_value(value + i); }
    unsigned long first_of_run(unsigned long i) const { return first + i * stride; }
    unsigned long last_of_run(unsigned long i) const { return first_of_run(i) + (size - 1); }
};

struct Answer {
    int error = 0;
    void *entry = nullptr;
    bool has_range = false;     // first and last mean something
    unsigned long first = 0, last = 0;
    unsigned long count = 0;    // visits, successes of a run
    std::uint64_t visited = 0;  // hash of what was visited

    bool operator==(const Answer &) const = default;
};

std::string to_string(const Answer &answer);

// One visit more.
inline void visit(Answer &answer, unsigned long first, unsigned long last, const void *entry)
{
    answer.count++;
    for (const std::uint64_t word : {std::uint64_t{first}, std::uint64_t{last},
                                     std::uint64_t(reinterpret_cast<std::uintptr_t>(entry))})
        answer.visited = (answer.visited ^ word) * 1099511628211u ^ answer.visited >> 29;
}

} // namespace kmirror::fuzz

#endif
