// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: every way to store is met at every fill level of the leaf it happens in, of the nodes one and two
// levels above that leaf, and of the root, in trees of every height from 0 to 5, with gaps and without; and
// none ever takes more nodes than it asked for. A span has no one leaf: the lowest node that counts is the one
// in which it begins to span.
//
// Trees are changed at random around places that wander; each step is planned with mas_preallocate(), which
// says what kind of store it will be and how many nodes it needs. The random numbers are the same in every
// run, so the table of what was met is too, and is compared with what is possible.
#include "radix-tree-tests/tree.h"

#include "lib/maple_tree/destroy.h"
#include "lib/maple_tree/walk.h"

#include <kmirror/maple_ops_fill.h>
#include <linux/maple_tree.h>

#include <algorithm>
#include <array>
#include <set>

namespace kmirror::testing {
namespace {

constexpr unsigned kTypes = wr_slot_store + 1;
constexpr const char *kTypeNames[kTypes] = {"invalid",        "new root", "store root", "exact fit",
                                            "spanning store", "split",    "rebalance",  "append",
                                            "node store",     "slot store"};

constexpr unsigned kHeights = 6;        // and 0

// What was met, by the kind of store: slots in use before it, of leaves (level 0) and of inner nodes by their
// level above them, those of roots apart.
struct Met {
    unsigned long times = 0;
    std::set<unsigned> heights, roots;
    std::array<std::set<unsigned>, kHeights> slots;
    unsigned long most_asked = 0, most_taken = 0;
};
using Table = std::array<Met, kTypes>;

// The node where the plan ended and all above it.
void note_place(Met &met, const ma_state &mas, unsigned height)
{
    if (!mas_is_active(&mas))
        return;
    maple_node *node = maple::mte_to_node(mas.node);
    unsigned level = height - 1u - mas.depth, slots = mas.end + 1u;
    for (; !maple::ma_is_root(node); level++) {
        met.slots[level].insert(slots);
        node = maple::ma_parent(node).node();
        slots = maple::ma_child_count(node, maple::mt_is_alloc(mas.tree) ? maple_arange_64 : maple_range_64);
    }
    (level == 0 ? met.slots[0] : met.roots).insert(slots);
}

// The store itself with mas_store(), which leaves in the cursor what it did not take.
void step(JudgedTree &tree, Table &table, unsigned long first, unsigned long last, void *entry)
{
    const Locked locked(tree);
    Cursor cursor(tree, first, last);
    ASSERT_EQ(cursor.preallocate(entry), 0);
    const ma_state &mas = *ops_mas(static_cast<maple_ops_cursor *>(cursor));
    Met &met = table[mas.store_type];
    const unsigned long asked = cursor.reserved();
    note_place(met, mas, tree.height());
    met.heights.insert(tree.height());
    met.times++;
    ops()->mas_store(cursor, entry);
    ASSERT_EQ(cursor.at().error, 0);
    ASSERT_LE(cursor.reserved(), asked) << "[" << first << ", " << last << "]";
    met.most_asked = std::max(met.most_asked, asked);
    met.most_taken = std::max(met.most_taken, asked - cursor.reserved());
    cursor.give_back();
    tree.model.store(first, last, entry);
}

unsigned long below(std::mt19937_64 &random, unsigned long limit)
{
    return static_cast<unsigned long>(random() % limit);
}

// One step at a place: mostly what changes a leaf a little, sometimes what spans.
void play(JudgedTree &tree, Table &table, unsigned long place, std::mt19937_64 &random)
{
    const unsigned long first = place + below(random, 60);
    const unsigned long lengths[] = {0, 0, below(random, 3), below(random, 10), below(random, 40),
                                     below(random, 400)};
    const Range there = tree.model.at(first);
    void *const entry = below(random, 2) ? value(below(random, 1000)) : nullptr;
    switch (below(random, 8)) {
    case 0: return step(tree, table, there.first, there.last, entry);       // all of a range
    case 1: return step(tree, table, there.first, first, entry);
    case 2: return step(tree, table, first, there.last, entry);
    case 3: return step(tree, table, first, first + below(random, 60), nullptr);
    default: return step(tree, table, first, first + lengths[below(random, 6)], entry);
    }
}

void wander(Table &table, unsigned flags, unsigned long count, unsigned long steps)
{
    std::mt19937_64 random(count + flags);
    JudgedTree tree(flags);
    for (unsigned long i = 0; i < count; i++)
        tree.store(i * 7 % count * 10, i * 7 % count * 10 + 4, value(i));
    const unsigned long check_each = count > 1000 ? 4096 : 256;
    unsigned long place = 0;
    for (unsigned long i = 0; i < steps && !::testing::Test::HasFatalFailure(); i++) {
        if (i % 40 == 0)
            place = i % 400 == 0 ? count * 10 : below(random, count * 10 + 1);
        if (i % 100 == 99)      // thin out the levels above as well
            step(tree, table, place, place + below(random, count), nullptr);
        play(tree, table, place, random);
        if (i % check_each == check_each - 1) {
            ops()->rcu_barrier();
            ASSERT_TRUE(tree.agrees()) << i;
        }
    }
    ASSERT_TRUE(tree.agrees());
}

// Trees that begin and end with no node: the ways to make, replace and lose a root.
void from_and_to_nothing(Table &table, unsigned flags)
{
    std::mt19937_64 random(flags);
    for (unsigned round = 0; round < 150 && !::testing::Test::HasFatalFailure(); round++) {
        JudgedTree tree(flags);
        for (unsigned i = 0; i < 12; i++) {
            const unsigned long at[] = {0, 1, 2, below(random, 9), below(random, 30), ULONG_MAX - 1,
                                        ULONG_MAX};
            const unsigned long one = at[below(random, 7)], two = at[below(random, 7)];
            step(tree, table, std::min(one, two), std::max(one, two), below(random, 3) ? value(i) : nullptr);
        }
        step(tree, table, 0, ULONG_MAX, round % 2 ? value(1) : nullptr);
        ASSERT_TRUE(tree.agrees()) << round;
    }
}

std::string numbers(const std::set<unsigned> &set)
{
    std::string text;
    for (const unsigned number : set)
        text += (text.empty() ? "" : " ") + std::to_string(number);
    return text;
}

void print(const Table &table, unsigned flags)
{
    std::printf("# %s\n", kind_name(flags).c_str());
    for (unsigned type = wr_new_root; type < kTypes; type++) {
        const Met &met = table[type];
        std::printf("# %-14s %6lu times, heights %s; asked %lu, took %lu; slots of leaves %s",
                    kTypeNames[type], met.times, numbers(met.heights).c_str(), met.most_asked, met.most_taken,
                    numbers(met.slots[0]).c_str());
        for (unsigned level = 1; level < kHeights; level++)
            std::printf("; %u above %s", level, numbers(met.slots[level]).c_str());
        std::printf("; roots %s\n", numbers(met.roots).c_str());
    }
}

// Every whole number from `from` to `to` is in `set`, or is said.
void expect_all(const std::set<unsigned> &set, unsigned from, unsigned to, const std::string &what)
{
    for (unsigned number = from; number <= to; number++)
        EXPECT_TRUE(set.count(number)) << what << " " << number << " was not met";
}

// The table is as full as it can be.
void expect_full(const Table &table, unsigned flags)
{
    constexpr unsigned kLeaf = MAPLE_RANGE64_SLOTS, kFewest = maple::mt_min_slots[maple_leaf_64] + 1u;
    const maple_type inner_type = flags & kAlloc ? maple_arange_64 : maple_range_64;
    const unsigned inner = maple::mt_slots[inner_type], fewest = maple::mt_min_slots[inner_type] + 1u;
    const auto name = [](unsigned type) { return std::string(kTypeNames[type]) + ": "; };
    const auto met_leaf = [&](unsigned type, unsigned from, unsigned to) {
        expect_all(table[type].slots[0], from, to, name(type) + "leaf with slots");
    };

    EXPECT_GT(table[wr_store_root].times, 0u);
    EXPECT_GT(table[wr_new_root].times, 0u);
    for (unsigned type = wr_exact_fit; type < kTypes; type++) {
        if (type == wr_append && flags & kRcu)
            continue;
        const bool needs_parent = type == wr_spanning_store || type == wr_rebalance;
        expect_all(table[type].heights, needs_parent ? 2 : 1, kHeights - 1, name(type) + "height");
        expect_all(table[type].roots, 2, inner, name(type) + "root with slots");
        for (const unsigned level : {1u, 2u})
            expect_all(table[type].slots[level], fewest, inner,
                       name(type) + std::to_string(level) + " above the leaf, slots");
    }
    for (const unsigned type : {wr_exact_fit, wr_node_store})
        met_leaf(type, 2, kLeaf);
    // A small leaf is only changed in place where no reader is.
    met_leaf(wr_slot_store, flags & kRcu ? kFewest : 2, kLeaf);
    if (!(flags & kRcu))
        met_leaf(wr_append, 2, kLeaf - 1);
    met_leaf(wr_split_store, kLeaf - 1, kLeaf);
    met_leaf(wr_rebalance, kFewest, kLeaf);
    for (const unsigned type : {wr_split_store, wr_rebalance, wr_spanning_store})
        EXPECT_GE(table[type].most_taken, 3u) << kTypeNames[type];
}

// In mock mode a reservation holds exactly what was asked for.
void every_way(unsigned flags)
{
    const Balance balance;
    Table table;
    from_and_to_nothing(table, flags);
    const unsigned long scale = KMIRROR_TSAN ? 4 : 1;
    const unsigned long high = flags & kAlloc ? 900 : 4000, highest = flags & kAlloc ? 5000 : 20000;
    for (const unsigned long count : {4ul, 12ul, 60ul, 90ul, 120ul, 135ul, 150ul, 165ul, 180ul, 1000ul})
        wander(table, flags, count, 5000 / scale);
    for (const unsigned long count : {high, high + 200, high + 400, highest})
        wander(table, flags, count, 4000 / scale);
    print(table, flags);
    // The sizes above fill the nodes of 64 bit; wider ones stay lower.
    if (MAPLE_RANGE64_SLOTS == 16 && scale == 1)
        expect_full(table, flags);
}

KMIRROR_MOCK_TEST(MapleStoreTypeMock, plain_trees_meet_every_way_and_no_store_takes_more_than_it_asked_for)
{
    every_way(kPlain);
}

KMIRROR_MOCK_TEST(MapleStoreTypeMock, alloc_trees_meet_every_way_and_no_store_takes_more_than_it_asked_for)
{
    every_way(kAlloc);
}

KMIRROR_MOCK_TEST(MapleStoreTypeMock, plain_rcu_trees_meet_every_way_and_no_store_takes_more_than_asked_for)
{
    every_way(kRcu);
}

KMIRROR_MOCK_TEST(MapleStoreTypeMock, alloc_rcu_trees_meet_every_way_and_no_store_takes_more_than_asked_for)
{
    every_way(kAllocRcu);
}

} // namespace
} // namespace kmirror::testing
