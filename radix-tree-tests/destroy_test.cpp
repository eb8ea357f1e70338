// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: destroying a tree, or storing over a part of it, gives back every node exactly once, and in RCU
// mode not before the readers inside have left. The fixture counts the nodes.
#include "radix-tree-tests/tree.h"

#include <utility>

namespace kmirror::testing {
namespace {

using MapleDestroy = MapleKinds;
KMIRROR_EVERY_KIND(MapleDestroy);

TEST_P(MapleDestroy, of_trees_of_every_height_frees_each_node_once)
{
    for (const unsigned long count : {0ul, 1ul, 10ul, 16ul, 17ul, 150ul, 260ul, 2000ul, 6000ul}) {
        const unsigned long before = nodes_alive();
        JudgedTree tree(GetParam());
        fill(tree, count, 10, 8);
        EXPECT_EQ(nodes_alive(), before + tree.node_count());
        tree.destroy();
        EXPECT_TRUE(tree.empty());
        EXPECT_EQ(nodes_alive(), before) << count;
    }
}

// Fill an inner node child by child: with 15 of them slot 15 holds the metadata, with 16 a child.
TEST_P(MapleDestroy, of_inner_nodes_of_every_fill_level_frees_each_node_once)
{
    const unsigned long before = nodes_alive();
    for (unsigned long count = 16; count < 400; count += 3) {
        JudgedTree tree(GetParam());
        fill(tree, count, 4, 4);
        ASSERT_EQ(nodes_alive(), before + tree.node_count());
        tree.destroy();
        ASSERT_EQ(nodes_alive(), before) << count;
    }
}

TEST_P(MapleDestroy, of_entries_that_look_like_pointers_never_follows_them)
{
    static char objects[4096] __attribute__((aligned(256)));
    Tree tree(GetParam());
    for (unsigned long i = 0; i < sizeof(objects) / 4; i++)
        ASSERT_EQ(tree.store(i * 3, i * 3 + 1, objects + i * 4), 0);
    tree.expect_sound();
}

TEST_P(MapleDestroy, under_the_callers_lock_empties_the_tree_as_well)
{
    JudgedTree tree(GetParam());
    fill(tree, 300, 10, 5);
    {
        const Locked locked(tree);
        ops()->destroy_locked(tree);
    }
    tree.model.clear();
    EXPECT_TRUE(tree.agrees());
    fill(tree, 30, 10, 5);
    EXPECT_TRUE(tree.agrees());
}

// A spanning store drops whole subtrees at once; so does storing over everything.
TEST_P(MapleDestroy, of_subtrees_by_one_wide_store_frees_each_node_once)
{
    constexpr std::pair<unsigned long, unsigned long> wide[] = {
        {5, 19990}, {1, ULONG_MAX}, {0, 15000}, {7003, 19999}, {0, ULONG_MAX}, {4321, 4999}};
    for (const auto &[first, last] : wide)
        for (void *entry : {value(5), static_cast<void *>(nullptr)}) {
            const unsigned long before = nodes_alive();
            JudgedTree tree(GetParam());
            fill(tree, 2000, 10, 9);
            tree.store(first, last, entry);
            ASSERT_TRUE(tree.agrees()) << first << ".." << last;
            ASSERT_EQ(nodes_alive(), before + tree.node_count()) << first << ".." << last;
        }
}

// The free walk of Linux 7.3 follows slot 15 of an inner node with exactly 15 children.
TEST(MapleDestroyRcu, never_takes_the_metadata_of_an_inner_node_for_a_child)
{
    const Balance balance;
    std::mt19937_64 random(seed());
    constexpr unsigned long count = 10000;
    JudgedTree tree(kRcu);
    fill(tree, count, 16, 8);
    for (unsigned long i = 0; i < count; i++) {
        const unsigned long which = random() % count;
        tree.erase(which * 16);
        tree.store(which * 16, which * 16 + 7, value(which));
    }
    EXPECT_TRUE(tree.agrees());
}

// The same at the smallest size: every number of children that a root can have.
TEST(MapleDestroyRcu, of_a_root_with_any_number_of_children_frees_each_node_once)
{
    const Balance balance;
    bool seen[32] = {};
    const unsigned long before = nodes_alive();
    for (unsigned long count = 17; count < 300; count++) {
        JudgedTree tree(kRcu);
        fill(tree, count, 2, 1);
        if (tree.height() == 2)
            seen[tree.node_count() - 1] = true;
        tree.destroy();
        ASSERT_EQ(nodes_alive(), before) << count;
    }
    for (unsigned children = 3; children <= 16; children++)
        EXPECT_TRUE(seen[children]) << children << " children were never tried";
}

TEST(MapleDestroyRcu, waits_for_the_readers_that_are_inside)
{
    const Balance balance;
    JudgedTree tree(kRcu);
    fill(tree, 500, 10, 5);
    const unsigned long nodes = nodes_alive();
    ops()->read_lock();
    Cursor cursor(tree, 2500);
    EXPECT_EQ(cursor.walk(), value(250));
    tree.destroy();
    EXPECT_EQ(ops()->nr_allocated(), nodes);
    // The reader's nodes are still readable, and it notices that they have left the tree.
    EXPECT_EQ(cursor.next(), nullptr);
    EXPECT_EQ(cursor.prev(), nullptr);
    ops()->read_unlock();
}

TEST(MapleDestroyRcu, of_many_trees_with_one_wait_at_the_end_frees_each_node_once)
{
    const Balance balance;
    for (unsigned long i = 0; i < 200; i++) {
        JudgedTree tree(i % 2 ? kRcu : kAllocRcu);
        fill(tree, i, 3, 2);
    }
}

} // namespace
} // namespace kmirror::testing
