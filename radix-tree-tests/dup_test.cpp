// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a duplicate has the same contents and the same shape, shares no node with its source, and a
// duplication that fails leaves nothing behind.
#include "radix-tree-tests/tree.h"

#include <kmirror/fault.h>

namespace kmirror::testing {
namespace {

using MapleDup = MapleKinds;
KMIRROR_EVERY_KIND(MapleDup);

int dup(const JudgedTree &tree, JudgedTree &copy)
{
    const int error = ops()->dup(tree, copy, MAPLE_OPS_KERNEL);
    if (error == 0)
        copy.model = tree.model;
    return error;
}

TEST_P(MapleDup, of_trees_of_every_size_has_the_same_contents_and_shape)
{
    for (const unsigned long count : {0ul, 1ul, 2ul, 15ul, 16ul, 17ul, 100ul, 256ul, 1000ul, 5000ul}) {
        JudgedTree tree(GetParam()), copy(GetParam());
        fill(tree, count, 10, count % 2 ? 10 : 6);
        ASSERT_EQ(dup(tree, copy), 0);
        EXPECT_TRUE(copy.agrees()) << count;
        EXPECT_EQ(copy.height(), tree.height());
        EXPECT_EQ(copy.node_count(), tree.node_count());
    }
}

TEST_P(MapleDup, of_a_lone_entry_at_index_0_and_of_one_that_covers_everything)
{
    for (const unsigned long last : {0ul, ULONG_MAX}) {
        JudgedTree tree(GetParam()), copy(GetParam());
        tree.store(0, last, value(9));
        ASSERT_EQ(dup(tree, copy), 0);
        EXPECT_TRUE(copy.agrees());
    }
}

// Inner nodes whose last slot holds metadata, or a child: both are copied as what they are.
TEST_P(MapleDup, of_inner_nodes_of_every_fill_level)
{
    JudgedTree tree(GetParam());
    for (unsigned long i = 0; i < 400; i++) {
        tree.store(i * 10, i * 10 + 5, value(i));
        JudgedTree copy(GetParam());
        ASSERT_EQ(dup(tree, copy), 0);
        ASSERT_TRUE(copy.agrees()) << i;
    }
}

TEST_P(MapleDup, and_its_source_live_apart)
{
    JudgedTree tree(GetParam()), copy(GetParam());
    fill(tree, 500, 10, 10);
    ASSERT_EQ(dup(tree, copy), 0);
    for (unsigned long i = 0; i < 500; i += 3) {
        copy.store(i * 10 + 2, i * 10 + 7, value(7000 + i));
        tree.erase(i * 10);
    }
    EXPECT_TRUE(tree.agrees());
    EXPECT_TRUE(copy.agrees());
    tree.destroy();
    EXPECT_TRUE(copy.agrees());
}

TEST_P(MapleDup, under_both_locks_answers_the_same)
{
    JudgedTree tree(GetParam()), copy(GetParam());
    fill(tree, 80, 10, 5);
    ops()->lock(copy);
    ops()->lock_nested(tree);
    EXPECT_EQ(ops()->dup_locked(tree, copy, MAPLE_OPS_NOWAIT), 0);
    ops()->unlock(tree);
    ops()->unlock(copy);
    copy.model = tree.model;
    EXPECT_TRUE(copy.agrees());
}

TEST_P(MapleDup, into_a_tree_that_is_not_empty_or_of_another_kind_is_refused)
{
    JudgedTree tree(GetParam()), full(GetParam()), other(GetParam() ^ kAlloc), rcu(GetParam() ^ kRcu);
    fill(tree, 50, 10, 5);
    fill(full, 20, 7, 3);
    for (JudgedTree *copy : {&full, &other, &rcu}) {
        EXPECT_EQ(dup(tree, *copy), -EINVAL);
        EXPECT_TRUE(copy->agrees());
    }
}

// One allocation for the root, one request for the children of each inner node: every one of them fails once.
TEST_P(MapleDup, that_runs_out_of_memory_at_any_object_leaves_the_copy_empty)
{
    KMIRROR_NEEDS_FAULTS();
    JudgedTree tree(GetParam()), copy(GetParam());
    fill(tree, 700, 10, 6);
    const unsigned long nodes = tree.node_count(), before = nodes_alive();
    unsigned nth = 1, failures = 0;
    for (;; nth++) {
        kmirror_fail_nth(nth);
        const int error = dup(tree, copy);
        if (!kmirror_fail_nth(0))
            break;
        failures++;
        ASSERT_EQ(error, -ENOMEM) << nth;
        ASSERT_TRUE(copy.empty());
        ASSERT_EQ(copy.height(), 0u);
        ASSERT_EQ(ops()->nr_allocated(), before) << "allocation " << nth;
    }
    EXPECT_GE(failures, nodes);
    EXPECT_TRUE(copy.agrees());
    EXPECT_EQ(copy.node_count(), nodes);
    EXPECT_TRUE(tree.agrees());
}

KMIRROR_MOCK_TEST(MapleDupMock, succeeds_with_a_budget_of_exactly_its_nodes_and_fails_with_less)
{
    const Balance balance;
    JudgedTree tree, copy;
    fill(tree, 400, 10, 6);
    const unsigned nodes = unsigned(tree.node_count());
    for (unsigned budget = 0; budget < nodes; budget++) {
        ops()->set_non_kernel(budget);
        ASSERT_EQ(ops()->dup(tree, copy, MAPLE_OPS_NOWAIT), -ENOMEM) << budget << " of " << nodes;
        ASSERT_TRUE(copy.empty());
    }
    ops()->set_non_kernel(nodes);
    EXPECT_EQ(ops()->dup(tree, copy, MAPLE_OPS_NOWAIT), 0);
    ops()->set_non_kernel(0);
    copy.model = tree.model;
    EXPECT_TRUE(copy.agrees());
}

} // namespace
} // namespace kmirror::testing
