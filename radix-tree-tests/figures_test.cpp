// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the algorithm is that of Linux 7.3, node by node: which writer a store gets, how many nodes it
// reserves and how many it makes, where nodes part, whom they share with, when a tree grows and shrinks.
//
// The figures were taken from this library in a state in which the kernel's white-box suite had passed on it
// (make check-kernel WHITEBOX=1). The sequences are our own. A change of a figure is a change of the
// algorithm: it is right only when that suite still passes.
#include "radix-tree-tests/figures_32.h"
#include "radix-tree-tests/figures_64.h"
#include "radix-tree-tests/insides.h"

#include "lib/maple_tree/destroy.h"

#include <functional>
#include <map>

namespace kmirror::testing {
namespace {

class MapleFigures : public MapleTest {};

// The figures of this machine.
constexpr bool kIs64 = sizeof(long) == 8;
constexpr std::span<const Figure> kShapes = kIs64 ? std::span<const Figure>(kShapes64) : std::span<const Figure>(kShapes32);
constexpr std::span<const Figure> kHeights = kIs64 ? std::span<const Figure>(kHeights64) : std::span<const Figure>(kHeights32);
constexpr std::span<const Figure> kCensus = kIs64 ? std::span<const Figure>(kCensus64) : std::span<const Figure>(kCensus32);

// ---- where nodes part and join

// Does `step` for 0, 1, ... and writes down the tree after each of the `at` steps: "16: 16 | 17: 2 / 8 9".
std::string history(JudgedTree &tree, const std::vector<unsigned> &at,
                    const std::function<void(JudgedTree &, unsigned)> &step)
{
    std::string text;
    unsigned done = 0;
    for (const unsigned stop : at) {
        for (; done < stop; done++)
            step(tree, done);
        text += (text.empty() ? "" : " | ") + std::to_string(stop) + ": " + fill_of(tree);
        EXPECT_TRUE(tree.agrees()) << "after " << stop;
    }
    return text;
}

void append_tight(JudgedTree &tree, unsigned i) { tree.store(i * 10, i * 10 + 9, value(i)); }
void append_loose(JudgedTree &tree, unsigned i) { tree.store(i * 10, i * 10 + 4, value(i)); }
void prepend_tight(JudgedTree &tree, unsigned i) { tree.store((500 - i) * 10, (500 - i) * 10 + 9, value(i)); }
// Between what is there: 0 and 1000, then 500, then 250 and 750, ...
void halve(JudgedTree &tree, unsigned i)
{
    unsigned long at = 0;
    for (unsigned bit = 0; bit < 10; bit++)
        at |= (i >> bit & 1ul) << (9 - bit);
    tree.store(at * 10, at * 10 + 9, value(i));
}
// Into one place again and again: the nodes around it fill up.
void pile_up(JudgedTree &tree, unsigned i) { tree.store(5000 + i, 5000 + i, value(i)); }

void erase_front(JudgedTree &tree, unsigned i) { tree.erase(i * 10); }
void erase_back(JudgedTree &tree, unsigned i) { tree.erase((199 - i) * 10); }
void erase_middle(JudgedTree &tree, unsigned i) { tree.erase((i % 2 ? 100 + i / 2 : 99 - i / 2) * 10); }
void erase_thirds(JudgedTree &tree, unsigned i) { tree.erase(i * 3 % 200 * 10); }
// Spans of growing width, all over the tree.
void span_value(JudgedTree &tree, unsigned i)
{
    const unsigned long first = i * 37 % 200 * 10 + 5;
    tree.store(first, first + i * 20 + 50, value(1000 + i));
}
void span_null(JudgedTree &tree, unsigned i)
{
    const unsigned long first = i * 53 % 200 * 10;
    tree.store(first, first + i * 10 + 79, nullptr);
}

// Two leaves are filled to the last slot, then what lies between them is stored over: the slots that are left
// and the new ones fill two nodes exactly.
constexpr unsigned kSlots = MAPLE_RANGE64_SLOTS;
void two_full(JudgedTree &tree, unsigned i, void *last)
{
    if (i < kSlots / 2 - 1) {
        tree.store(i * 10 + 5, i * 10 + 9, value(1000 + i));
    } else if (i < kSlots * 3 / 4 - 1) {
        const unsigned long entry = i + 3;
        tree.store(entry * 10 + 3, entry * 10 + 6, value(1000 + i));
    } else {
        tree.store(kSlots / 2 * 10, (kSlots / 2 + 1) * 10 + 4, last);
    }
}
void two_full_value(JudgedTree &tree, unsigned i) { two_full(tree, i, value(2000)); }
void two_full_null(JudgedTree &tree, unsigned i) { two_full(tree, i, nullptr); }

struct History {
    const char *name;
    unsigned start;     // entries [i * 10, i * 10 + 9] before the first step
    void (*step)(JudgedTree &, unsigned);
    std::vector<unsigned> at;
};

const History kHistories[] = {
    {"append tight", 0, append_tight, {1, 15, 16, 17, 24, 25, 33, 34, 100, 136, 137, 300}},
    {"append loose", 0, append_loose, {7, 8, 9, 12, 13, 17, 60, 100, 150}},
    {"prepend", 0, prepend_tight, {16, 17, 25, 34, 100, 150, 300}},
    {"halve", 0, halve, {16, 17, 20, 24, 33, 50, 64, 100, 200, 400}},
    {"pile up", 100, pile_up, {1, 4, 8, 16, 17, 32, 64, 128, 200}},
    {"erase front", 200, erase_front, {1, 4, 9, 10, 20, 50, 100, 150, 180, 192, 196, 199, 200}},
    {"erase back", 200, erase_back, {1, 4, 9, 10, 20, 50, 100, 150, 180, 192, 196, 199, 200}},
    {"erase middle", 200, erase_middle, {1, 2, 7, 20, 50, 100, 150, 180, 192, 199, 200}},
    {"erase thirds", 200, erase_thirds, {10, 30, 67, 90, 120, 134, 160, 190, 199, 200}},
    {"span value", 200, span_value, {1, 2, 3, 4, 6, 8, 10, 15, 20}},
    {"span null", 200, span_null, {1, 2, 3, 4, 6, 8, 10, 15, 20}},
    {"two full value", kSlots, two_full_value, {kSlots / 2 - 1, kSlots * 3 / 4 - 1, kSlots * 3 / 4}},
    {"two full null", kSlots, two_full_null, {kSlots / 2 - 1, kSlots * 3 / 4 - 1, kSlots * 3 / 4}},
};

TEST_F(MapleFigures, nodes_part_and_join_where_linux_7_3_does)
{
    for (const History &history_of : kHistories)
        for (const unsigned flags : {kPlain, kAlloc, kRcu, kAllocRcu}) {
            JudgedTree tree(flags);
            fill(tree, history_of.start, 10, 10);
            const std::string name = kind_name(flags & kAlloc) + " " + history_of.name;
            EXPECT_EQ(history(tree, history_of.at, history_of.step), figure(kShapes, name))
                << name << (flags & kRcu ? " with readers" : "");
        }
}

// ---- when a tree gets higher and lower

// After how many steps the height changed: "1>1 17>2".
std::string heights(JudgedTree &tree, unsigned steps, const std::function<void(JudgedTree &, unsigned)> &step)
{
    std::string text;
    unsigned before = tree.height();
    for (unsigned i = 0; i < steps; i++) {
        step(tree, i);
        if (tree.height() != before) {
            before = tree.height();
            text += (text.empty() ? "" : " ") + std::to_string(i + 1) + ">" + std::to_string(before);
        }
    }
    return text;
}

struct Growth {
    const char *name;
    unsigned start, steps;
    void (*step)(JudgedTree &, unsigned);
};

constexpr Growth kGrowths[] = {
    {"append tight", 0, 2500, append_tight},  {"append loose", 0, 1300, append_loose},
    {"prepend", 0, 500, prepend_tight},       {"halve", 0, 1000, halve},
    {"erase front", 200, 200, erase_front},   {"erase back", 200, 200, erase_back},
    {"erase middle", 200, 200, erase_middle}, {"erase thirds", 200, 200, erase_thirds},
};

TEST_F(MapleFigures, trees_grow_and_shrink_when_linux_7_3_s_do)
{
    for (const unsigned flags : {kPlain, kAlloc})
        for (const Growth &growth : kGrowths) {
            JudgedTree tree(flags);
            fill(tree, growth.start, 10, 10);
            const std::string name = kind_name(flags) + " " + growth.name;
            EXPECT_EQ(heights(tree, growth.steps, growth.step), figure(kHeights, name)) << name;
            EXPECT_TRUE(tree.agrees());
        }
}

// ---- what each store reserves and makes

// Counts of "type reserved/made/height after".
using Census = std::map<std::string, unsigned>;

// One store into a copy of the tree.
void take_census(const JudgedTree &tree, unsigned long first, unsigned long last, void *entry, Census *census)
{
    Tree copy(tree.flags());
    ASSERT_EQ(ops()->dup(tree, copy, MAPLE_OPS_KERNEL), 0);
    ops()->read_lock();
    ops()->lock(copy);
    const std::set<maple_node *> before = Nodes(copy).addresses();
    MA_STATE(mas, insides_of(copy), first, last);
    ASSERT_EQ(mas_preallocate(&mas, entry, GFP_KERNEL), 0);
    const unsigned reserved = mas.sheaf ? kmem_cache_sheaf_size(mas.sheaf) : mas.alloc != nullptr;
    std::string line = std::string(store_type_name(mas.store_type)) + " " + std::to_string(reserved) + "/";
    mas_store_prealloc(&mas, entry);
    line += std::to_string(nodes_new(before, Nodes(copy).addresses())) + "/" + std::to_string(copy.height());
    EXPECT_EQ(ops()->check(copy, true), 0u) << first << ".." << last;
    ops()->unlock(copy);
    ops()->read_unlock();
    ++(*census)[line];
}

std::string census_text(const Census &census)
{
    std::string text;
    for (const auto &[line, count] : census)
        text += (text.empty() ? "" : ", ") + line + " x" + std::to_string(count);
    return text;
}

struct Population {
    const char *name;
    unsigned count, size;       // entries [i * 10, i * 10 + size - 1]
    unsigned step;              // stores begin at each this many
};

constexpr Population kPopulations[] = {
    {"empty", 0, 0, 1},       {"root", 1, 0, 1},       {"7 loose", 7, 6, 1},        {"60 loose", 60, 6, 2},
    {"300 loose", 300, 6, 11}, {"120 tight", 120, 10, 5}, {"1200 loose", 1200, 6, 83},
};

// Stores that begin and end at every kind of place, short and long.
void census_of(unsigned flags, const Population &population)
{
    JudgedTree tree(flags);
    if (population.size == 0 && population.count == 1)
        tree.store(0, value(0));
    else
        fill(tree, population.count, 10, population.size);
    Census census;
    for (unsigned long i = 0; i < population.count + 1; i += population.step)
        for (const unsigned long at : {0ul, 2ul, 6ul, 7ul})
            for (const unsigned long size : {1ul, 4ul, 6ul, 10ul, 43ul, 90ul, 200ul, 1000ul})
                for (void *entry : {value(7), static_cast<void *>(nullptr)})
                    take_census(tree, i * 10 + at, i * 10 + at + size - 1, entry, &census);
    const std::string name = kind_name(flags) + " " + population.name;
    EXPECT_EQ(census_text(census), figure(kCensus, name)) << name;
}

KMIRROR_MOCK_TEST(MapleCensus, each_store_reserves_and_makes_the_nodes_that_linux_7_3_does)
{
    const Balance balance;
    for (const unsigned flags : kEveryKind)
        for (const Population &population : kPopulations)
            census_of(flags, population);
}

// ---- M22: which levels a rebalance is counted to reach

// What Linux 7.3 reserves for a rebalance in a tree of three levels: two nodes for each level below the lowest
// that has room for a slot more and can spare one, and one. A node that is not the root counts as one that can
// spare a slot only from two above the fewest on.
unsigned rebalance_nodes(unsigned root, unsigned parent, maple_type type)
{
    const unsigned fewest = maple::mt_min_slots[type] + 1u, most = maple::mt_slots[type];
    const unsigned room = parent < most ? 2 : root < most ? 1 : 0;
    const unsigned spare = parent > fewest + 1 ? 2 : root > 3 ? 1 : 0;
    return 2 * (3 - std::min(room, spare)) + 1;
}

// Plans to erase all of a leaf but its ends; gives the parent's slots if that is a rebalance, or 0.
unsigned plan_to_empty(maple_ops_tree *tree, unsigned long first, unsigned long last, unsigned root)
{
    MA_STATE(mas, insides_of(tree), first + 1, last - 1);
    EXPECT_EQ(mas_preallocate(&mas, nullptr, GFP_KERNEL), 0);
    unsigned slots = 0;
    if (mas.store_type == wr_rebalance) {
        const maple_type type = maple::mas_parent_type(&mas, mas.node);
        slots = maple::ma_child_count(maple::mte_parent(mas.node), type);
        EXPECT_EQ(kmem_cache_sheaf_size(mas.sheaf), rebalance_nodes(root, slots, type))
            << slots << " in the parent, " << root << " in the root";
    }
    mas_destroy(&mas);
    return slots;
}

KMIRROR_MOCK_TEST(MapleCensus, M22_a_rebalance_is_counted_to_the_level_that_can_spare_a_slot)
{
    const Balance balance;
    for (const auto &[flags, count] : {std::pair{kPlain, 1200u}, {kAlloc, 500u}}) {
        JudgedTree tree(flags);
        std::set<unsigned> met;
        for (unsigned i = 0; i < count; i++) {
            halve(tree, i);
            const Locked locked(tree);
            const Nodes nodes(tree);
            if (nodes.levels().size() != 3 || i % 20 != 0)
                continue;
            unsigned long first = 0;
            for (const Nodes::Node &leaf : nodes.levels()[2]) {
                if (leaf.max - first > 20 && leaf.max != ULONG_MAX)
                    met.insert(plan_to_empty(tree, first, leaf.max, nodes.levels()[0][0].slots()));
                first = leaf.max + 1;
            }
        }
        const unsigned fewest = maple::mt_min_slots[flags & kAlloc ? maple_arange_64 : maple_range_64] + 1u;
        for (const unsigned slots : {fewest + 1, fewest + 2})
            EXPECT_TRUE(!kIs64 || met.count(slots)) << kind_name(flags) << ", parents with " << slots;
    }
}

// ---- what becomes of the nodes that a store replaces

// A reader that stands on a node learns from its dead mark that the node has left the tree. Every replaced
// node bears it, none that lives on does.
TEST_F(MapleFigures, replaced_nodes_bear_the_dead_mark_and_no_others)
{
    for (const unsigned flags : {kRcu, kAllocRcu})
        for (const auto &[first, last] : {std::pair{54ul, 54ul}, {60ul, 69ul}, {300ul, 420ul}, {10ul, 2900ul},
                                          {0ul, 5ul}, {2990ul, 2995ul}, {0ul, 2980ul}, {1000ul, 1400ul}})
            for (void *entry : {value(1), static_cast<void *>(nullptr)}) {
                JudgedTree tree(flags);
                fill(tree, 300, 10, 6);
                const Reading reading;
                std::set<maple_node *> before, after;
                {
                    const Locked locked(tree);
                    before = Nodes(tree).addresses();
                    Cursor cursor(tree, first, last);
                    ASSERT_EQ(cursor.store(entry), 0);
                    after = Nodes(tree).addresses();
                }
                for (maple_node *node : before)
                    EXPECT_EQ(maple::ma_dead_node(node), !after.contains(node))
                        << kind_name(flags) << " " << first << ".." << last << (entry ? " entry" : " NULL");
                for (maple_node *node : after)
                    EXPECT_FALSE(maple::ma_dead_node(node));
            }
}

} // namespace
} // namespace kmirror::testing
