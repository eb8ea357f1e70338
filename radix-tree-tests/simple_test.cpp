// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the simple API (mtree_*, mt_*) answers as documented, for each kind of tree.
#include "radix-tree-tests/tree.h"

#include <vector>

namespace kmirror::testing {
namespace {

using MapleSimple = MapleKinds;
KMIRROR_EVERY_KIND(MapleSimple);

TEST_P(MapleSimple, an_empty_tree_maps_every_index_to_nothing)
{
    const JudgedTree tree(GetParam());
    EXPECT_TRUE(tree.empty());
    EXPECT_EQ(tree.height(), 0u);
    EXPECT_EQ(tree.node_count(), 0u);
    for (const unsigned long index : {0ul, 1ul, 4096ul, ULONG_MAX})
        EXPECT_EQ(tree.load(index), nullptr);
    EXPECT_TRUE(tree.agrees());
}

TEST_P(MapleSimple, a_stored_entry_is_found_at_its_index_and_nowhere_else)
{
    for (const unsigned long index : {0ul, 1ul, 7ul, ULONG_MAX / 3, ULONG_MAX - 1, ULONG_MAX}) {
        JudgedTree tree(GetParam());
        tree.store(index, value(3));
        EXPECT_EQ(tree.load(index), value(3));
        EXPECT_EQ(tree.load(index - 1), nullptr);
        EXPECT_EQ(tree.load(index + 1), nullptr);
        EXPECT_FALSE(tree.empty());
        EXPECT_TRUE(tree.agrees());
    }
}

TEST_P(MapleSimple, an_entry_at_index_0_alone_needs_no_node)
{
    JudgedTree tree(GetParam());
    tree.store(0, value(1));
    EXPECT_EQ(tree.height(), 0u);
    EXPECT_EQ(tree.node_count(), 0u);
    tree.store(1, value(2));
    EXPECT_EQ(tree.height(), 1u);
    EXPECT_EQ(tree.node_count(), 1u);
    EXPECT_TRUE(tree.agrees());
}

TEST_P(MapleSimple, a_range_is_found_at_each_of_its_indices)
{
    JudgedTree tree(GetParam());
    tree.store(100, 199, value(1));
    EXPECT_EQ(tree.load(99), nullptr);
    for (unsigned long index = 100; index < 200; index++)
        EXPECT_EQ(tree.load(index), value(1));
    EXPECT_EQ(tree.load(200), nullptr);
}

TEST_P(MapleSimple, a_store_inside_a_range_leaves_both_ends_of_it)
{
    JudgedTree tree(GetParam());
    tree.store(0, ULONG_MAX, value(1));
    EXPECT_TRUE(tree.agrees());
    tree.store(50, 59, value(2));
    EXPECT_TRUE(tree.agrees());
    EXPECT_EQ(tree.load(49), value(1));
    EXPECT_EQ(tree.load(60), value(1));
    tree.store(0, 49, nullptr);
    tree.store(60, ULONG_MAX, nullptr);
    EXPECT_TRUE(tree.agrees());
}

TEST_P(MapleSimple, storing_nothing_erases_exactly_the_range)
{
    JudgedTree tree(GetParam());
    fill(tree, 40, 10, 10);
    tree.store(15, 24, nullptr);
    EXPECT_TRUE(tree.agrees());
    tree.store(0, 399, nullptr);
    EXPECT_TRUE(tree.agrees());
    EXPECT_TRUE(tree.empty());
}

TEST_P(MapleSimple, an_insert_refuses_what_is_occupied_and_changes_nothing)
{
    JudgedTree tree(GetParam());
    fill(tree, 30, 10, 5);
    EXPECT_EQ(ops()->insert(tree, 12, value(99), MAPLE_OPS_KERNEL), -EEXIST);
    for (const Range &range :
         {Range{10, 14, nullptr}, {5, 10, nullptr}, {14, 20, nullptr}, {0, ULONG_MAX, nullptr}})
        EXPECT_EQ(ops()->insert_range(tree, range.first, range.last, value(99), MAPLE_OPS_KERNEL), -EEXIST);
    EXPECT_TRUE(tree.agrees());

    tree.insert(15, 19, value(99));
    tree.insert(1000, ULONG_MAX, value(98));
    EXPECT_TRUE(tree.agrees());
}

TEST_P(MapleSimple, an_erase_takes_the_whole_range_and_returns_its_entry)
{
    JudgedTree tree(GetParam());
    fill(tree, 60, 10, 5);
    for (unsigned long i = 0; i < 60; i++) {
        EXPECT_EQ(tree.Tree::erase(i * 10 + 7), nullptr);
        tree.erase((i * 37 % 60) * 10 + i % 5);
        ASSERT_TRUE(tree.agrees());
    }
    EXPECT_TRUE(tree.empty());
    EXPECT_EQ(tree.node_count(), 0u);
}

TEST_P(MapleSimple, the_zero_entry_occupies_its_range_but_reads_as_nothing)
{
    Tree tree(GetParam());
    EXPECT_EQ(tree.store(10, 19, ops()->zero_entry()), 0);
    EXPECT_EQ(tree.store(30, value(1)), 0);
    EXPECT_EQ(tree.load(15), nullptr);
    EXPECT_EQ(ops()->insert(tree, 15, value(2), MAPLE_OPS_KERNEL), -EEXIST);

    unsigned long index = 0;
    EXPECT_EQ(ops()->find(tree, &index, ULONG_MAX), value(1));
    EXPECT_EQ(index, 31u);

    const Reading reading;
    Cursor cursor(tree, 12);
    EXPECT_EQ(cursor.walk(), ops()->zero_entry());
    EXPECT_EQ(cursor.range(nullptr), (Range{10, 19, nullptr}));
}

TEST_P(MapleSimple, find_moves_the_index_behind_the_range_it_found)
{
    JudgedTree tree(GetParam());
    fill(tree, 20, 10, 5);
    unsigned long index = 12;
    EXPECT_EQ(ops()->find(tree, &index, ULONG_MAX), value(1));
    EXPECT_EQ(index, 15u);
    EXPECT_EQ(ops()->find(tree, &index, ULONG_MAX), value(2));
    EXPECT_EQ(index, 25u);
    EXPECT_EQ(ops()->find(tree, &index, 29), nullptr);
    EXPECT_EQ(index, 25u);
    EXPECT_EQ(ops()->find(tree, &index, 30), value(3));
    index = 40;
    EXPECT_EQ(ops()->find(tree, &index, 39), nullptr);
}

TEST_P(MapleSimple, find_after_ends_when_the_index_has_wrapped)
{
    Tree tree(GetParam());
    EXPECT_EQ(tree.store(ULONG_MAX - 4, ULONG_MAX, value(1)), 0);
    unsigned long index = 5;
    EXPECT_EQ(ops()->find_after(tree, &index, ULONG_MAX), value(1));
    EXPECT_EQ(index, 0u);
    EXPECT_EQ(ops()->find_after(tree, &index, ULONG_MAX), nullptr);
    EXPECT_EQ(ops()->find(tree, &index, ULONG_MAX), value(1));
}

TEST_P(MapleSimple, next_and_prev_give_the_nearest_entry_within_the_limit)
{
    JudgedTree tree(GetParam());
    fill(tree, 40, 10, 5);
    for (unsigned long index = 0; index < 420; index++) {
        for (const unsigned long limit : {0ul, 5ul, 100ul, 204ul, 205ul, 210ul, 400ul, ULONG_MAX}) {
            const auto above = tree.model.next(index, limit);
            const auto below = tree.model.prev(index, limit);
            // A limit inside the range at `index` ends the step before it begins.
            const Range here = tree.model.at(index);
            EXPECT_EQ(ops()->next(tree, index, limit), above && limit > here.last ? above->entry : nullptr)
                << "next " << index << " max " << limit;
            EXPECT_EQ(ops()->prev(tree, index, limit), below && limit < here.first ? below->entry : nullptr)
                << "prev " << index << " min " << limit;
        }
    }
}

struct Visits {
    std::vector<void *> entries;
    size_t end_after;
};

int record(void *arg, unsigned long, unsigned long, void *entry)
{
    auto *visits = static_cast<Visits *>(arg);
    visits->entries.push_back(entry);
    return visits->entries.size() == visits->end_after;
}

TEST_P(MapleSimple, mt_for_each_visits_every_entry_in_order_up_to_the_limit)
{
    JudgedTree tree(GetParam());
    fill(tree, 50, 10, 5);
    Visits all{{}, 1000};
    EXPECT_EQ(ops()->each(tree, 0, ULONG_MAX, record, &all), 50u);
    for (size_t i = 0; i < all.entries.size(); i++)
        EXPECT_EQ(all.entries[i], value(i));

    Visits some{{}, 1000};
    EXPECT_EQ(ops()->each(tree, 14, 100, record, &some), 10u);
    EXPECT_EQ(some.entries.front(), value(1));
    EXPECT_EQ(some.entries.back(), value(10));

    Visits few{{}, 3};
    EXPECT_EQ(ops()->each(tree, 0, ULONG_MAX, record, &few), 3u);
}

TEST_P(MapleSimple, a_destroyed_tree_is_empty_and_works_again)
{
    JudgedTree tree(GetParam());
    for (int round = 0; round < 3; round++) {
        fill(tree, 300, 10, 5);
        EXPECT_GE(tree.height(), 2u);
        tree.destroy();
        EXPECT_EQ(tree.height(), 0u);
        EXPECT_TRUE(tree.agrees());
    }
}

TEST_P(MapleSimple, the_mode_for_readers_can_be_switched_while_the_tree_holds_entries)
{
    JudgedTree tree(GetParam());
    fill(tree, 100, 10, 5);
    EXPECT_EQ(ops()->in_rcu(tree), (GetParam() & kRcu) != 0);
    for (int round = 0; round < 4; round++) {
        const bool on = round % 2 == 0;
        on ? ops()->set_in_rcu(tree) : ops()->clear_in_rcu(tree);
        EXPECT_EQ(ops()->in_rcu(tree), on);
        for (unsigned long i = 0; i < 100; i++)
            tree.store(i * 10 + 3, i * 10 + 8, value(1000 + i));
        tree.store(100, 499, value(7));
        ASSERT_TRUE(tree.agrees());
    }
}

// The loops for benchmarks do what they say, and count it.
TEST_P(MapleSimple, loops_repeat_single_operations)
{
    Tree tree(GetParam());
    EXPECT_EQ(ops()->loop_store(tree, 100, 10, 5, 200), 200u);
    EXPECT_EQ(tree.load(100), value(0));
    EXPECT_EQ(tree.load(2094), value(199));
    EXPECT_EQ(tree.load(2095), nullptr);
    EXPECT_EQ(ops()->loop_load(tree, 102, 5, 400), 200u);
    EXPECT_EQ(ops()->loop_each(tree, 2), 400u);
    EXPECT_EQ(ops()->loop_each_rev(tree, 2), 400u);
    EXPECT_EQ(ops()->loop_find(tree, 2), 400u);
    EXPECT_EQ(ops()->loop_prealloc(tree, 105, 10, 3, 100), 100u);
    EXPECT_EQ(ops()->loop_each(tree, 1), 300u);
    EXPECT_EQ(ops()->loop_alloc(tree, 0, 99, 10, 11), GetParam() & kAlloc ? 10u : 0u);
    EXPECT_EQ(ops()->loop_erase(tree, 100, 10, 250), 200u);
    EXPECT_EQ(ops()->loop_dup(tree, 3), 3u);
    EXPECT_EQ(ops()->loop_random(tree, 5000, 4, 500, 0, seed()), 500u);
    EXPECT_GT(ops()->loop_random(tree, 5000, 4, 500, 100, seed()), 0u);
    EXPECT_GT(ops()->loop_random_load(tree, 5000, 5000, seed()), 0u);
    tree.expect_sound();
    ops()->cache_shrink();
}

// What nobody can ask for never shows: the table promises each of its members.
TEST(MapleOpsTable, every_operation_is_there)
{
    const maple_ops *table = ops();
    EXPECT_EQ(table->version, unsigned(KMIRROR_MAPLE_OPS_VERSION));
    EXPECT_EQ(table->nr_bytes, sizeof(maple_ops));
    EXPECT_STREQ(table->name, "kmirror");
    const auto *members = reinterpret_cast<void *const *>(&table->zero_entry);
    const auto *end = reinterpret_cast<void *const *>(table + 1);
    for (auto *member = members; member != end; member++)
        EXPECT_NE(*member, nullptr) << "member " << member - members << " behind the name";
    EXPECT_EQ(kmirror_maple_ops(), table);
}

} // namespace
} // namespace kmirror::testing
