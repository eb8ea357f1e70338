// SPDX-License-Identifier: GPL-2.0-only
//
// What every operation must answer, told from std::maps alone: the judging side of a maple target.
//
// A cursor is judged from the state it says that it is in (status, range): where it goes from there, and what
// it finds, follows from the map.
//
// Owns     a RangeMap for each tree.
// Bounds   kMostRanges for each tree, kMostSteps of runs for a sequence: operations beyond are skipped.
// Locking  none.
// Fails    never.
#ifndef KMIRROR_FUZZ_MAPLE_ORACLE_H
#define KMIRROR_FUZZ_MAPLE_ORACLE_H

#include "fuzz/maple_table.h"

#include <array>

namespace kmirror::fuzz {

class MapleOracle {
public:
    explicit MapleOracle(const std::array<unsigned, kMapleTrees> &flags);

    // Makes a step of an operation: its numbers, by what the trees hold now.
    Step resolve(const Operation &operation, const MapleTable &table) const;
    // Does the step to the maps, and says what it must answer. `at`: the cursor's position before it.
    Answer expect(const Step &step, const maple_ops_position &at);

    const model::RangeMap &map(unsigned tree) const { return trees_[tree].map; }

private:
    static constexpr unsigned long kMostSteps = 3072;

    struct Tree {
        model::RangeMap map;
        unsigned flags = 0;
        unsigned long next = 0;  // of the cyclic allocations
        bool wrapped = false;    // the last one took ULONG_MAX
    };

    unsigned long resolve(const Operand &operand, unsigned tree, const MapleTable &table) const;
    void resolve_run(Step &step) const;
    bool has_meaning(const Step &step) const;
    Answer expect_simple(Tree &tree, const Step &step);
    Answer expect_read(const Tree &tree, const Step &step) const;
    Answer expect_whole(Tree &tree, const Step &step);
    Answer expect_run(Tree &tree, const Step &step);
    Answer expect_search(const Tree &tree, const Step &step) const;
    Answer expect_write(Tree &tree, const Step &step, const maple_ops_position &at);

    std::array<Tree, kMapleTrees> trees_;
    unsigned long steps_ = 0;
};

// Where a cursor goes (maple_oracle_cursor.cpp).
Answer expect_cursor(const model::RangeMap &map, const Step &step, const maple_ops_position &at);

} // namespace kmirror::fuzz

#endif
