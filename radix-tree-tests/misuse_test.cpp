// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a call that makes no sense is answered as in the kernel, with -EINVAL and sometimes a warning, and
// the tree stays as it was.
#include "radix-tree-tests/tree.h"

namespace kmirror::testing {
namespace {

using MapleMisuse = MapleKinds;
KMIRROR_EVERY_KIND(MapleMisuse);

TEST_P(MapleMisuse, of_an_inverted_range_is_refused)
{
    JudgedTree tree(GetParam());
    fill(tree, 50, 10, 5);
    EXPECT_EQ(ops()->store_range(tree, 9, 8, value(1), MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_EQ(ops()->store_range(tree, ULONG_MAX, 0, nullptr, MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_EQ(ops()->insert_range(tree, 508, 507, value(1), MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_TRUE(tree.agrees());
}

TEST_P(MapleMisuse, of_an_inverted_range_in_a_cursor_is_refused)
{
    JudgedTree tree(GetParam());
    fill(tree, 50, 10, 5);
    {
        const Locked locked(tree);
        Cursor cursor(tree, 9, 8);
        EXPECT_EQ(ops()->mas_store(cursor, value(1)), nullptr);
        EXPECT_EQ(cursor.at().error, -EINVAL);
        cursor.give_back();
        Cursor other(tree, 99, 8);
        EXPECT_EQ(other.store(value(1)), -EINVAL);
        Cursor third(tree, 99, 8);
        EXPECT_EQ(third.preallocate(value(1)), -EINVAL);
        EXPECT_EQ(third.reserved(), 0u);
        third.give_back();
    }
    EXPECT_TRUE(tree.agrees());
}

TEST_P(MapleMisuse, of_an_allocation_that_cannot_fit_its_window_is_refused)
{
    if (!(GetParam() & kAlloc))
        GTEST_SKIP() << "no gaps are tracked";
    JudgedTree tree(GetParam());
    fill(tree, 50, 10, 5);
    unsigned long start = 77;
    EXPECT_EQ(ops()->alloc_range(tree, &start, value(1), 0, 0, 100, MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_EQ(ops()->alloc_range(tree, &start, value(1), 5, 100, 3, MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_EQ(ops()->alloc_rrange(tree, &start, value(1), 6, 5, 9, MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_EQ(start, 77u);
    EXPECT_TRUE(tree.agrees());
}

TEST_P(MapleMisuse, of_an_allocation_from_a_tree_without_gaps_is_refused)
{
    if (GetParam() & kAlloc)
        GTEST_SKIP() << "gaps are tracked";
    JudgedTree tree(GetParam());
    fill(tree, 50, 10, 5);
    unsigned long start = 77, next = 3;
    EXPECT_EQ(ops()->alloc_range(tree, &start, value(1), 1, 0, 100, MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_EQ(ops()->alloc_rrange(tree, &start, value(1), 1, 0, 100, MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_EQ(ops()->alloc_cyclic(tree, &start, value(1), 0, 100, &next, MAPLE_OPS_KERNEL), -EINVAL);
    EXPECT_EQ(start, 77u);
    EXPECT_EQ(next, 3u);
    EXPECT_TRUE(tree.agrees());
}

// Warned about once for each place that refuses, so in a process of its own.
KMIRROR_TEST_IN(MapleMisuseOnce, of_a_reserved_value_is_refused_with_a_warning, "KMIRROR_HARNESS=kernel")
{
    const Balance balance;
    JudgedTree tree(kAlloc);
    fill(tree, 50, 10, 5);
    void *reserved = ops()->reserved_entry();
    unsigned long start = 77, next = 3;
    {
        ExpectWarnings first(1);
        EXPECT_EQ(ops()->store(tree, 7, reserved, MAPLE_OPS_KERNEL), -EINVAL);
        EXPECT_EQ(ops()->store_range(tree, 7, 9, reserved, MAPLE_OPS_KERNEL), -EINVAL);
        EXPECT_EQ(ops()->insert_range(tree, 7, 9, reserved, MAPLE_OPS_KERNEL), -EINVAL);
    }
    {
        ExpectWarnings second(1);
        EXPECT_EQ(ops()->alloc_range(tree, &start, reserved, 1, 0, 100, MAPLE_OPS_KERNEL), -EINVAL);
        EXPECT_EQ(ops()->alloc_rrange(tree, &start, reserved, 1, 0, 100, MAPLE_OPS_KERNEL), -EINVAL);
        EXPECT_EQ(ops()->alloc_cyclic(tree, &start, reserved, 0, 100, &next, MAPLE_OPS_KERNEL), -EINVAL);
    }
    EXPECT_EQ(start, 77u);
    EXPECT_EQ(next, 3u);
    EXPECT_TRUE(tree.agrees());
}

TEST(MapleMisuseLock, of_the_reader_mode_switch_with_an_external_lock_needs_that_lock)
{
    const Balance balance;
    Tree tree(kExtern);
    const Locked locked(tree);
    ops()->set_in_rcu(tree);
    EXPECT_TRUE(ops()->in_rcu(tree));
    ops()->clear_in_rcu(tree);
    EXPECT_FALSE(ops()->in_rcu(tree));
}

// With held-lock checks on, a store without the lock is reported.
KMIRROR_TEST_IN(MapleMisuseLock, of_a_store_without_the_lock_is_reported, "KMIRROR_LOCKDEP=1")
{
    const Balance balance;
    for (const unsigned flags : {kPlain, kExtern}) {
        Tree tree(flags);
        Cursor cursor(tree, 5, 9);
        {
            const Locked locked(tree);
            EXPECT_EQ(cursor.store(value(1)), 0);
        }
        ExpectWarnings expected(1);
        EXPECT_EQ(ops()->node_count(tree), 1u);
    }
}

} // namespace
} // namespace kmirror::testing
