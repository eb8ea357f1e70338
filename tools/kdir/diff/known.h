// SPDX-License-Identifier: GPL-2.0-only
//
// What is known of a kernel's maple tree, as far as a sequence without failures of memory can meet it: how each
// bug is told from a difference that nobody knows.
//
//   U1  a cursor that met a limit before it had a node follows NULL                       crashes
//   U2  the end of an RCU tree without gaps takes metadata for a child                    damages the heap
//   U3  an erased entry over every index leaves a node with one NULL                      judged by its result
//   U6  an insert over every index overwrites a tree of one leaf                          judged by its result
//   U7  a search from above up to the last index finds no gap that begins at 0            judged by its result
//   U8  a lower limit is forgotten where nothing but an entry at index 0 is               judged by its result
//   U9  the end of an RCU tree without gaps cuts the address of a sixteenth child         frees a wrong address
//   U10 a store that makes the only node leaves the cursor with another node's end, or none
//   D1  no bug: NULL over every index, and a refused insert, take nodes that are not used
//   D2  no bug: the state of a cursor in a tree without nodes
//   D3  no bug: where a search that finds nothing leaves its cursor
//   D4  no bug: before 7.0 mas_store() over more than one leaf answers with what is elsewhere
//
// Those that would end the process are foreseen from the state before the step; the step is then done in a way
// that does not meet them. tools/kdir/maple/known is the same for single tests.
//
// Owns     counters of a process.
// Locking  one thread.
// Fails    never.
#ifndef KMIRROR_TOOLS_KDIR_DIFF_KNOWN_H
#define KMIRROR_TOOLS_KDIR_DIFF_KNOWN_H

#include "fuzz/maple_oracle.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace kmirror::diff {

enum class Bug : unsigned { U1, U2, U3, U6, U7, U8, U9, U10, D1, D2, D3, D4, Count };
inline constexpr unsigned kBugs = unsigned(Bug::Count);

struct BugText {
    const char *name;
    const char *what;
};
const BugText &text_of(Bug bug);
// "U2"; nothing when there is no such bug here.
std::optional<Bug> bug_of(std::string_view name);
// "U1 U2 ...": what bug_of() takes.
std::string all_bugs();

class Known {
public:
    // A hunted bug is a difference like any other: the process may crash by it.
    void hunt(Bug bug) { hunted_[unsigned(bug)] = true; }
    // Is it this one, and known? Counts it then.
    bool note(Bug bug, bool is_it)
    {
        const bool known = is_it && !hunted_[unsigned(bug)];
        seen_[unsigned(bug)] += known;
        return known;
    }
    unsigned long seen(Bug bug) const { return seen_[unsigned(bug)]; }

private:
    std::array<bool, kBugs> hunted_{};
    std::array<unsigned long, kBugs> seen_{};
};

// ---- foreseen

// Would the step read through the cursor's missing node? `at`: where the kernel's cursor stands.
bool meets_u1(const fuzz::Step &step, const maple_ops_position &at);
// Would the step free, in RCU mode, an inner node with 15 children and metadata behind them (U2), or with 16 (U9)?
// `map`: the tree before the step. Takes the lock.
std::optional<Bug> meets_u2_or_u9(const fuzz::Step &step, const model::RangeMap &map, const maple_ops *ops,
                                  maple_ops_tree *tree);
// The same for the end of the whole tree.
std::optional<Bug> end_meets_u2_or_u9(const maple_ops *ops, maple_ops_tree *tree);

// Has the step left a cursor whose end is wrong? `levels`: of the tree before the step.
bool is_u10(const fuzz::Step &step, unsigned levels, const maple_ops *ops, maple_ops_tree *tree);

// ---- told from the answer; `map` is the tree before the step

bool is_u6(const fuzz::Step &step, const fuzz::Answer &expected, const fuzz::Answer &found);
bool is_u7(const fuzz::Step &step, const fuzz::Answer &expected, const fuzz::Answer &found,
           const maple_ops_tree *theirs);
bool is_u8(const fuzz::Step &step, const model::RangeMap &map, const fuzz::Answer &found);
// Theirs takes nodes to store NULL over every index, or to insert where something is; ours does not.
bool is_d1(const fuzz::Step &step, const fuzz::Answer &expected, const model::RangeMap &after);
// Neither cursor has a node. The caller knows that neither tree has one.
bool is_d2(const maple_ops_position &ours, const maple_ops_position &theirs);
bool is_d3(const fuzz::Step &step, const fuzz::Answer &expected);
bool is_d4(const fuzz::Step &step);
// After a step that left nothing in the map: one leaf is still there. Takes the lock.
bool is_u3(const model::RangeMap &map, const maple_ops *ops, maple_ops_tree *tree);

} // namespace kmirror::diff

#endif
