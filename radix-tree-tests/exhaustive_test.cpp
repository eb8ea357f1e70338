// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: nothing that can be done in a few steps breaks a tree. Every sequence of stores, NULL stores,
// erases and inserts over a small set of indices is done, to a stated depth, from trees in which something is
// about to happen (no node yet, a leaf about to be full or too small, the seam of two leaves, of two
// parents); after each step the tree agrees with the model and obeys its rules, in allocation trees every gap
// search over every window of the indices agrees too, and in the end no node is lost.
//
// A state is a tree's contents with their places in the nodes: two sequences that lead to the same one are
// the same from there on, so it is left once. KMIRROR_EXHAUSTIVE_DEPTH goes further than the default.
#include "radix-tree-tests/tree.h"

#include <cinttypes>
#include <cstdlib>
#include <memory>
#include <unordered_set>
#include <vector>

namespace kmirror::testing {
namespace {

using Base = void (*)(JudgedTree &);

struct Space {
    const char *name;
    Base base;
    std::vector<unsigned long> at;  // the indices at which ranges begin and end
    unsigned depth;
};

// What a reader, a writer and an iteration can tell of the tree, as one number: ranges, entries, and where
// the nodes that hold them begin, end and how they are filled.
std::uint64_t state_of(const JudgedTree &tree)
{
    std::uint64_t hash = 1469598103934665603u;
    const auto mix = [&hash](std::uint64_t word) { hash = (hash ^ word) * 1099511628211u ^ hash >> 29; };
    const Locked locked(tree);
    Cursor cursor(tree, 0);
    void *entry = cursor.walk();
    for (;;) {
        const maple_ops_position at = cursor.at();
        mix(at.last);
        mix(reinterpret_cast<std::uintptr_t>(entry));
        if (at.status == MAPLE_OPS_ACTIVE) {
            mix(at.max);
            mix(at.offset);
        }
        if (at.last == ULONG_MAX)
            break;
        entry = cursor.next_range();
    }
    mix(tree.height());
    mix(ops()->node_count(tree));
    return hash;
}

struct Counts {
    unsigned long states = 0, steps = 0;
};

class Explorer {
public:
    Explorer(unsigned flags, const Space &space) : flags_(flags), space_(space) {}

    Counts explore(unsigned depth)
    {
        std::vector<std::unique_ptr<JudgedTree>> level, next;
        level.push_back(std::make_unique<JudgedTree>(flags_));
        space_.base(*level.back());
        seen_.insert(state_of(*level.back()));
        for (unsigned step = 1; step <= depth && !::testing::Test::HasFailure(); step++) {
            const bool last = step == depth;
            for (const auto &tree : level)
                leave(*tree, step, last ? nullptr : &next);
            level.swap(next);
            next.clear();
        }
        counts_.states = seen_.size();
        return counts_;
    }

private:
    // Every step that leads out of `from`. New states go to `next`, if there is one.
    void leave(const JudgedTree &from, unsigned step, std::vector<std::unique_ptr<JudgedTree>> *next)
    {
        for (std::size_t i = 0; i < space_.at.size(); i++) {
            for (std::size_t j = i; j < space_.at.size(); j++) {
                const unsigned long first = space_.at[i], last = space_.at[j];
                go(from, next, [=](JudgedTree &tree) { tree.prealloc_store(first, last, value(step)); });
                go(from, next, [=](JudgedTree &tree) { tree.store(first, last, nullptr); });
                if (i == 0 || j == i)
                    go(from, next, [=](JudgedTree &tree) { tree.insert(first, last, value(step)); });
            }
            go(from, next, [=, at = space_.at[i]](JudgedTree &tree) { tree.erase(at); });
        }
    }

    template <class Step>
    void go(const JudgedTree &from, std::vector<std::unique_ptr<JudgedTree>> *next, Step step)
    {
        if (::testing::Test::HasFailure())
            return;
        auto tree = std::make_unique<JudgedTree>(flags_);
        ASSERT_EQ(ops()->dup(from, *tree, MAPLE_OPS_KERNEL), 0);
        tree->model = from.model;
        step(*tree);
        counts_.steps++;
        const bool is_new = seen_.insert(state_of(*tree)).second;
        if (!is_new)
            return;
        ASSERT_TRUE(tree->agrees()) << space_.name << ", " << kind_name(flags_);
        if (flags_ & kAlloc)
            search_everywhere(*tree);
        if (next)
            next->push_back(std::move(tree));
    }

    void search_everywhere(const JudgedTree &tree) const
    {
        for (std::size_t i = 0; i < space_.at.size(); i++)
            for (std::size_t j = i; j < space_.at.size(); j++) {
                const unsigned long min = space_.at[i], room = space_.at[j] - min;
                for (const unsigned long size : {1ul, 2ul, room / 2 + 1, room, room + 1})
                    if (size != 0 && room >= size - 1) {
                        ASSERT_EQ(tree.model.gap_differences(ops(), tree, min, space_.at[j], size), "");
                    }
            }
    }

    unsigned flags_;
    const Space &space_;
    std::unordered_set<std::uint64_t> seen_;
    Counts counts_;
};

void nothing(JudgedTree &) {}
void everything(JudgedTree &tree) { tree.store(0, ULONG_MAX, value(900)); }
// One leaf with `count` single entries from index 100 on, every second index.
template <unsigned long count>
void singles(JudgedTree &tree)
{
    for (unsigned long i = 0; i < count; i++)
        tree.store(100 + 2 * i, value(1000 + i));
}
template <unsigned long count>
void ranges(JudgedTree &tree)
{
    fill(tree, count, 10, 10);
}

unsigned deeper(unsigned depth)
{
    const char *wish = std::getenv("KMIRROR_EXHAUSTIVE_DEPTH");
    const unsigned wanted = wish ? unsigned(std::strtoul(wish, nullptr, 10)) : 0;
    return wanted ? wanted : depth;
}

// The ends of the index space; a leaf that fills up, at its begin, in its middle and its end; one that is
// split and joined again; the seam of two leaves and of two parents in a tree of three levels.
const Space kSpaces[] = {
    {"no node", nothing, {0, 1, 2, 5, ULONG_MAX - 1, ULONG_MAX}, 3},
    {"one range", everything, {0, 1, 7, ULONG_MAX - 1, ULONG_MAX}, 3},
    {"leaf with 13 slots", singles<6>, {99, 100, 103, 105, 111}, 2},
    {"leaf with 15 slots", singles<7>, {0, 99, 101, 106, ULONG_MAX}, 2},
    {"two leaves", ranges<20>, {69, 75, 79, 80, 89, 100, 150}, 2},
    {"leaves at their minimum", ranges<17>, {0, 39, 70, 80, 95, 169}, 2},
    {"three levels", ranges<200>, {639, 650, 719, 720, 800}, 2},
};

class MapleExhaustive : public MapleKinds {};
KMIRROR_EVERY_KIND(MapleExhaustive);

TEST_P(MapleExhaustive, every_sequence_of_steps_leads_to_a_sound_tree_that_agrees_with_the_model)
{
    Counts sum;
    for (const Space &space : kSpaces) {
        const unsigned depth = deeper(space.depth);
        const Counts counts = Explorer(GetParam(), space).explore(depth);
        std::printf("# %s, %s: depth %u, %lu steps, %lu states\n", kind_name(GetParam()).c_str(), space.name,
                    depth, counts.steps, counts.states);
        sum.states += counts.states;
        sum.steps += counts.steps;
        if (HasFailure())
            return;
    }
    std::printf("# %s: %lu steps, %lu states\n", kind_name(GetParam()).c_str(), sum.steps, sum.states);
    EXPECT_GT(sum.states, 1000u) << "states that differ are taken for the same";
}

} // namespace
} // namespace kmirror::testing
