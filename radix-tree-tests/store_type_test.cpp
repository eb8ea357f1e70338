// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: every way to store is met at every fill level of the leaf it happens in and of that leaf's parent,
// in trees of every height from 0 to 5, with gaps and without, and none ever takes more nodes than it asked
// for.
//
// Trees are changed at random around places that wander; each step is planned with mas_preallocate(), which
// says what kind of store it will be and how many nodes it needs. The random numbers are the same in every
// run, so the table of what was met is too, and is compared with what is possible.
#include "radix-tree-tests/tree.h"

#include "lib/maple_tree/destroy.h"
#include "lib/maple_tree/maple_ops.h"
#include "lib/maple_tree/walk.h"

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

// What was met, by the kind of store.
struct Met {
    unsigned long times = 0;
    std::set<unsigned> heights, leaf_slots, parent_slots;
    unsigned long most_asked = 0, most_taken = 0;
};
using Table = std::array<Met, kTypes>;

unsigned parent_slots(const ma_state &mas)
{
    const maple_node *leaf = maple::mte_to_node(mas.node);
    maple_node *parent = maple::ma_parent(leaf).node();
    return maple::ma_child_count(parent, maple::mas_parent_type(&mas, mas.node));
}

void note_place(Met &met, const ma_state &mas)
{
    if (!mas_is_active(&mas) || !maple::mte_is_leaf(mas.node))
        return;
    met.leaf_slots.insert(mas.end + 1u);
    if (!maple::mte_is_root(mas.node))
        met.parent_slots.insert(parent_slots(mas));
}

// The store itself with mas_store(), which leaves in the cursor what it did not take.
void step(JudgedTree &tree, Table &table, unsigned long first, unsigned long last, void *entry)
{
    const Locked locked(tree);
    Cursor cursor(tree, first, last);
    ASSERT_EQ(cursor.preallocate(entry), 0);
    const ma_state &mas = *maple::ops_mas(static_cast<maple_ops_cursor *>(cursor));
    Met &met = table[mas.store_type];
    const unsigned long asked = cursor.reserved();
    note_place(met, mas);
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

// One step at a place: mostly what changes a leaf a little, sometimes what spans.
void play(JudgedTree &tree, Table &table, unsigned long place, std::mt19937_64 &random)
{
    const unsigned long first = place + random() % 60;
    const unsigned long lengths[] = {0, 0, random() % 3, random() % 10, random() % 40, random() % 400};
    const Range there = tree.model.at(first);
    void *const entry = random() % 2 ? value(random() % 1000) : nullptr;
    switch (random() % 8) {
    case 0: return step(tree, table, there.first, there.last, entry);       // all of a range
    case 1: return step(tree, table, there.first, first, entry);
    case 2: return step(tree, table, first, there.last, entry);
    default: return step(tree, table, first, first + lengths[random() % 6], entry);
    }
}

void wander(Table &table, unsigned flags, unsigned long count, unsigned long steps)
{
    std::mt19937_64 random(count + flags);
    JudgedTree tree(flags);
    for (unsigned long i = 0; i < count; i++)
        tree.store(i * 7 % count * 10, i * 7 % count * 10 + 4, value(i));
    unsigned long place = 0;
    for (unsigned long i = 0; i < steps && !::testing::Test::HasFatalFailure(); i++) {
        if (i % 40 == 0)
            place = i % 400 == 0 ? count * 10 : random() % (count * 10 + 1);
        play(tree, table, place, random);
        if (i % 256 == 255) {
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
            const unsigned long at[] = {0, 1, 2, random() % 9, random() % 30, ULONG_MAX - 1, ULONG_MAX};
            const unsigned long one = at[random() % 7], two = at[random() % 7];
            step(tree, table, std::min(one, two), std::max(one, two), random() % 3 ? value(i) : nullptr);
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
        std::printf("# %-14s %6lu times, heights %s; leaf slots %s; parent slots %s; asked %lu, took %lu\n",
                    kTypeNames[type], met.times, numbers(met.heights).c_str(),
                    numbers(met.leaf_slots).c_str(), numbers(met.parent_slots).c_str(), met.most_asked,
                    met.most_taken);
    }
}

// Every whole number from `from` to `to` is in `set`, or is said.
void expect_all(const std::set<unsigned> &set, unsigned from, unsigned to, const std::string &what)
{
    for (unsigned number = from; number <= to; number++)
        EXPECT_TRUE(set.count(number)) << what << " " << number << " was not met";
}

// The table is as full as it can be: slots of a leaf before the store, children of its parent.
void expect_full(const Table &table, unsigned flags, unsigned height)
{
    constexpr unsigned kLeaf = MAPLE_RANGE64_SLOTS;
    const unsigned inner = flags & kAlloc ? MAPLE_ARANGE64_SLOTS : MAPLE_RANGE64_SLOTS;
    const auto name = [](unsigned type) { return std::string(kTypeNames[type]) + ": "; };

    EXPECT_GT(table[wr_store_root].times, 0u);
    EXPECT_GT(table[wr_new_root].times, 0u);
    for (const unsigned type : {wr_exact_fit, wr_slot_store, wr_node_store, wr_split_store}) {
        expect_all(table[type].heights, 1, height, name(type) + "height");
        expect_all(table[type].parent_slots, 2, inner, name(type) + "parent with children");
    }
    for (const unsigned type : {wr_spanning_store, wr_rebalance})
        expect_all(table[type].heights, 2, height, name(type) + "height");
    if (!(flags & kRcu)) {
        expect_all(table[wr_append].heights, 1, height, name(wr_append) + "height");
        expect_all(table[wr_append].leaf_slots, 2, kLeaf - 1, name(wr_append) + "leaf slots");
    }
    for (const unsigned type : {wr_exact_fit, wr_node_store})
        expect_all(table[type].leaf_slots, 2, kLeaf, name(type) + "leaf slots");
    // A small leaf is only changed in place where no reader is.
    const unsigned small = flags & kRcu ? maple::mt_min_slots[maple_leaf_64] + 1u : 2;
    expect_all(table[wr_slot_store].leaf_slots, small, kLeaf, name(wr_slot_store) + "leaf slots");
    for (const unsigned type : {wr_split_store, wr_rebalance, wr_spanning_store})
        EXPECT_GE(table[type].most_taken, 3u) << kTypeNames[type];
    expect_all(table[wr_split_store].leaf_slots, kLeaf - 1, kLeaf, name(wr_split_store) + "leaf slots");
    expect_all(table[wr_rebalance].parent_slots, 2, inner, name(wr_rebalance) + "parent with children");
}


// In mock mode a reservation holds exactly what was asked for.
void every_way(unsigned flags)
{
    const Balance balance;
    Table table;
    from_and_to_nothing(table, flags);
    const unsigned long scale = KMIRROR_TSAN ? 4 : 1;
    for (const unsigned long count : {4ul, 12ul, 60ul, 200ul, 1000ul})
        wander(table, flags, count, 6000 / scale);
    if (flags & kAlloc)
        wander(table, flags, 5000, 2500 / scale);
    else
        wander(table, flags, 4000, 2500 / scale);
    print(table, flags);
    // The sizes above fill the nodes of 64 bit; wider ones stay lower.
    if (MAPLE_RANGE64_SLOTS == 16)
        expect_full(table, flags, flags & kAlloc ? 5 : 4);
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
