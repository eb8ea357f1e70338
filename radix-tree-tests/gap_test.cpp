// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: gap searches and allocations of an allocation tree find the lowest (highest) fitting gap of their
// window, and only refuse when there is none.
#include "radix-tree-tests/tree.h"

namespace kmirror::testing {
namespace {

class MapleGap : public MapleTest {};

// A tree of `count` ranges with gaps of many sizes.
void scatter(JudgedTree &tree, unsigned long count, std::mt19937_64 &random)
{
    unsigned long at = random() % 20;
    for (unsigned long i = 0; i < count; i++) {
        const unsigned long size = 1 + random() % 9;
        tree.store(at, at + size - 1, value(i));
        at += size + (random() % 3 ? random() % 6 : random() % 60);
    }
}

void expect_gaps(const JudgedTree &tree, unsigned long min, unsigned long max, unsigned long size)
{
    EXPECT_EQ(tree.model.gap_differences(ops(), tree, min, max, size), "");
}

TEST_F(MapleGap, both_searches_agree_with_a_linear_look_at_every_window_of_a_small_tree)
{
    for (const unsigned flags : {kAlloc, kAllocRcu}) {
        JudgedTree tree(flags);
        for (const unsigned long index : {0ul, 3ul, 4ul, 9ul, 10ul, 11ul, 17ul})
            tree.store(index, value(index));
        for (unsigned long min = 0; min < 20; min++)
            for (unsigned long max = min; max < 21; max++)
                for (unsigned long size = 1; size <= max - min + 1; size++)
                    expect_gaps(tree, min, max, size);
    }
}

TEST_F(MapleGap, both_searches_agree_with_a_linear_look_in_high_trees)
{
    std::mt19937_64 random(seed());
    for (const unsigned long count : {5ul, 40ul, 200ul, 1200ul}) {
        JudgedTree tree(kAlloc);
        scatter(tree, count, random);
        ASSERT_TRUE(tree.agrees());
        const unsigned long end = tree.model.ranges().rbegin()->second.last;
        for (int round = 0; round < 400; round++) {
            unsigned long min = random() % (end + 40), max = random() % (end + 40);
            if (min > max)
                std::swap(min, max);
            const unsigned long size = 1 + random() % 60;
            if (max - min >= size - 1)
                expect_gaps(tree, min, max, size);
        }
        expect_gaps(tree, 0, ULONG_MAX, 1);
        expect_gaps(tree, 0, ULONG_MAX, 1000);
        expect_gaps(tree, end, ULONG_MAX, ULONG_MAX - end);
    }
}

TEST_F(MapleGap, gaps_stay_right_while_a_tree_changes)
{
    std::mt19937_64 random(seed());
    JudgedTree tree(kAlloc);
    scatter(tree, 150, random);
    const unsigned long end = tree.model.ranges().rbegin()->second.last;
    for (int round = 0; round < 1500; round++) {
        const unsigned long first = random() % end, last = first + random() % 25;
        switch (random() % 3) {
        case 0: tree.erase(first); break;
        case 1: tree.store(first, last, nullptr); break;
        default: tree.store(first, first + random() % 4, value(round)); break;
        }
        const unsigned long size = 1 + random() % 30;
        expect_gaps(tree, first / 2, end, size);
        expect_gaps(tree, 0, last + 30, size);
        ASSERT_TRUE(tree.agrees()) << round;
    }
}

TEST_F(MapleGap, allocations_fill_a_window_from_its_lower_end)
{
    JudgedTree tree(kAlloc);
    tree.store(25, 34, value(1));
    const unsigned long expected[] = {10, 15, 20, 35, 40, 45};
    for (const unsigned long at : expected) {
        unsigned long start = 0;
        EXPECT_EQ(ops()->alloc_range(tree, &start, value(2), 5, 10, 49, MAPLE_OPS_KERNEL), 0);
        EXPECT_EQ(start, at);
        tree.model.store(at, at + 4, value(2));
    }
    unsigned long start = 77;
    EXPECT_EQ(ops()->alloc_range(tree, &start, value(2), 1, 10, 49, MAPLE_OPS_KERNEL), -EBUSY);
    EXPECT_TRUE(tree.agrees());
}

TEST_F(MapleGap, allocations_from_above_fill_a_window_from_its_upper_end)
{
    JudgedTree tree(kAlloc);
    tree.store(25, 34, value(1));
    const unsigned long expected[] = {45, 40, 35, 20, 15, 10};
    for (const unsigned long at : expected) {
        unsigned long start = 0;
        EXPECT_EQ(ops()->alloc_rrange(tree, &start, value(2), 5, 10, 49, MAPLE_OPS_KERNEL), 0);
        EXPECT_EQ(start, at);
        tree.model.store(at, at + 4, value(2));
    }
    unsigned long start = 77;
    EXPECT_EQ(ops()->alloc_rrange(tree, &start, value(2), 1, 10, 49, MAPLE_OPS_KERNEL), -EBUSY);
    EXPECT_TRUE(tree.agrees());
}

TEST_F(MapleGap, cyclic_allocation_goes_on_behind_the_last_one_and_comes_round_once)
{
    JudgedTree tree(kAlloc);
    unsigned long next = 3, start = 0;
    for (unsigned long i = 3; i <= 9; i++) {
        EXPECT_EQ(ops()->alloc_cyclic(tree, &start, value(i), 0, 9, &next, MAPLE_OPS_KERNEL), 0);
        EXPECT_EQ(start, i);
        EXPECT_EQ(next, i + 1);
        tree.model.store(i, i, value(i));
    }
    EXPECT_EQ(ops()->alloc_cyclic(tree, &start, value(0), 0, 9, &next, MAPLE_OPS_KERNEL), 1);
    EXPECT_EQ(start, 0u);
    tree.model.store(0, 0, value(0));
    for (const unsigned long i : {1ul, 2ul}) {
        EXPECT_EQ(ops()->alloc_cyclic(tree, &start, value(i), 0, 9, &next, MAPLE_OPS_KERNEL), 0);
        EXPECT_EQ(start, i);
        tree.model.store(i, i, value(i));
    }
    const unsigned long kept = next;
    EXPECT_EQ(ops()->alloc_cyclic(tree, &start, value(3), 0, 9, &next, MAPLE_OPS_KERNEL), -EBUSY);
    EXPECT_EQ(next, kept);
    EXPECT_TRUE(tree.agrees());
}

TEST_F(MapleGap, cyclic_allocation_through_a_cursor_answers_the_same)
{
    JudgedTree tree(kAlloc);
    unsigned long next = 0, start = 0;
    const Locked locked(tree);
    Cursor cursor(tree, 0);
    for (unsigned long i = 5; i <= 7; i++) {
        EXPECT_EQ(ops()->mas_alloc_cyclic(cursor, &start, value(i), 5, 7, &next, MAPLE_OPS_KERNEL), 0);
        EXPECT_EQ(start, i);
    }
    EXPECT_EQ(ops()->mas_alloc_cyclic(cursor, &start, value(9), 5, 7, &next, MAPLE_OPS_KERNEL), -EBUSY);
}

TEST_F(MapleGap, a_window_that_cannot_hold_the_size_is_an_error_of_the_caller)
{
    JudgedTree tree(kAlloc);
    tree.store(5, value(1));
    const Reading reading;
    Cursor cursor(tree, 0);
    EXPECT_EQ(cursor.empty_area(0, 9, 11), -EINVAL);
    EXPECT_EQ(cursor.empty_area_rev(0, 9, 11), -EINVAL);
    EXPECT_EQ(cursor.empty_area(9, 0, 1), -EINVAL);
    EXPECT_EQ(cursor.empty_area_rev(9, 0, 1), -EINVAL);
    EXPECT_EQ(cursor.empty_area(0, 9, 0), -EINVAL);
    EXPECT_EQ(cursor.empty_area_rev(0, 9, 0), -EINVAL);
}

TEST_F(MapleGap, a_full_tree_has_no_gap)
{
    JudgedTree tree(kAlloc);
    tree.store(0, ULONG_MAX, value(1));
    expect_gaps(tree, 0, ULONG_MAX, 1);
    for (unsigned long i = 0; i < 60; i++)
        tree.store(i * 8, i * 8 + 7, value(i));
    expect_gaps(tree, 0, ULONG_MAX, 1);
    tree.store(333, nullptr);
    expect_gaps(tree, 0, ULONG_MAX, 1);
    expect_gaps(tree, 0, ULONG_MAX, 2);
}

} // namespace
} // namespace kmirror::testing
