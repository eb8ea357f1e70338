// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: when memory runs out, at whichever allocation, an operation answers -ENOMEM and the tree is as it
// was, or it finds another way and succeeds; nothing leaks. Every allocation of every store is made to fail.
#include "radix-tree-tests/tree.h"

#include <kmirror/fault.h>

#include <functional>

namespace kmirror::testing {
namespace {

// What an operation does to the tree, and to the model if it succeeded.
struct Operation {
    const char *name;
    std::function<int(JudgedTree &)> perform;
    std::function<void(RangeMap &)> expected;
};

int cursor_store(JudgedTree &tree, unsigned long first, unsigned long last, void *entry, unsigned gfp)
{
    const Locked locked(tree);
    Cursor cursor(tree, first, last);
    return ops()->mas_store_gfp(cursor, entry, gfp);
}

int prealloc_store(JudgedTree &tree, unsigned long first, unsigned long last, void *entry, unsigned gfp)
{
    const Locked locked(tree);
    Cursor cursor(tree, first, last);
    const int error = cursor.preallocate(entry, gfp);
    EXPECT_TRUE(error == 0 || cursor.reserved() == 0);
    if (error == 0)
        cursor.store_prealloc(entry);
    return error;
}

int plain_store(JudgedTree &tree, unsigned long first, unsigned long last, void *entry)
{
    const Locked locked(tree);
    Cursor cursor(tree, first, last);
    ops()->mas_store(cursor, entry);
    const int error = cursor.at().error;
    cursor.give_back();
    return error;
}

std::vector<Operation> stores_over(unsigned long first, unsigned long last, void *entry)
{
    const auto stored = [=](RangeMap &model) { model.store(first, last, entry); };
    return {
        {"mtree_store_range", [=](JudgedTree &tree) { return tree.Tree::store(first, last, entry); }, stored},
        {"mtree_store_range, GFP_NOWAIT",
         [=](JudgedTree &tree) { return ops()->store_range(tree, first, last, entry, MAPLE_OPS_NOWAIT); },
         stored},
        {"mas_store_gfp",
         [=](JudgedTree &tree) { return cursor_store(tree, first, last, entry, MAPLE_OPS_KERNEL); }, stored},
        {"mas_store", [=](JudgedTree &tree) { return plain_store(tree, first, last, entry); }, stored},
        {"mas_preallocate",
         [=](JudgedTree &tree) { return prealloc_store(tree, first, last, entry, MAPLE_OPS_KERNEL); },
         stored},
        {"mas_preallocate, GFP_NOWAIT",
         [=](JudgedTree &tree) { return prealloc_store(tree, first, last, entry, MAPLE_OPS_NOWAIT); },
         stored},
    };
}

// Fails the k-th allocation, for k = 1, 2, ..., once or from then on, until the operation survives.
// Returns how many times it answered -ENOMEM.
unsigned each_failure(JudgedTree &tree, const Operation &operation, bool (*arm)(unsigned))
{
    unsigned refused = 0;
    for (unsigned nth = 1;; nth++) {
        const unsigned long before = nodes_alive();
        arm(nth);
        const int error = operation.perform(tree);
        const bool fired = kmirror_fail_nth(0);
        if (error == 0)
            operation.expected(tree.model);
        EXPECT_TRUE(error == 0 || (error == -ENOMEM && fired))
            << operation.name << ", allocation " << nth << ": " << error;
        EXPECT_TRUE(tree.agrees()) << operation.name << ", allocation " << nth;
        if (error) {
            EXPECT_EQ(nodes_alive(), before) << operation.name << ", allocation " << nth;
            refused++;
        }
        if (!fired || error == 0 || ::testing::Test::HasFailure())
            return refused;
    }
}

using MapleNoMemory = MapleKinds;
KMIRROR_EVERY_KIND(MapleNoMemory);

// Each writer that needs nodes: span, split, rebalance, node store, root.
TEST_P(MapleNoMemory, leaves_the_tree_as_it_was_whichever_allocation_fails)
{
    KMIRROR_NEEDS_FAULTS();
    struct {
        unsigned long ranges, first, last;
        void *entry;
    } const cases[] = {
        {700, 1234, 5678, value(7)}, {700, 15, 6990, nullptr},     {700, 2002, 2002, value(7)},
        {700, 3333, 3334, nullptr},  {17, 41, 41, value(7)},       {0, 5, 9, value(7)},
        {0, 0, ULONG_MAX, value(7)}, {40, 0, ULONG_MAX, value(7)},
    };
    unsigned refused = 0;
    for (const auto &store : cases)
        for (bool (*arm)(unsigned) : {kmirror_fail_nth, kmirror_fail_from_nth})
            for (const Operation &operation : stores_over(store.first, store.last, store.entry)) {
                JudgedTree tree(GetParam());
                fill(tree, store.ranges, 10, 5);
                refused += each_failure(tree, operation, arm);
                if (HasFailure())
                    return;
            }
    EXPECT_GT(refused, 100u);
}

TEST_P(MapleNoMemory, of_an_insert_or_an_allocation_changes_nothing)
{
    KMIRROR_NEEDS_FAULTS();
    unsigned refused = 0;
    for (bool (*arm)(unsigned) : {kmirror_fail_nth, kmirror_fail_from_nth}) {
        JudgedTree tree(GetParam());
        fill(tree, 100, 10, 5);
        const Operation insert = {
            "mtree_insert",
            [](JudgedTree &tree) { return ops()->insert(tree, 507, value(1), MAPLE_OPS_NOWAIT); },
            [](RangeMap &model) { model.insert(507, 507, value(1)); }};
        refused += each_failure(tree, insert, arm);
        if (!(GetParam() & kAlloc))
            continue;
        // In the middle of each gap, so that a leaf needs two more slots.
        for (unsigned long i = 0; i < 40; i++) {
            const unsigned long at = i * 10 + 7;
            const Operation allocate = {
                "mtree_alloc_range",
                [=](JudgedTree &tree) {
                    unsigned long start = 0;
                    return ops()->alloc_range(tree, &start, value(1), 1, at, at, MAPLE_OPS_NOWAIT);
                },
                [=](RangeMap &model) { model.store(at, at, value(1)); }};
            refused += each_failure(tree, allocate, arm);
        }
    }
    EXPECT_GT(refused, 0u);
}

TEST_P(MapleNoMemory, of_an_erase_is_waited_out)
{
    KMIRROR_NEEDS_FAULTS();
    JudgedTree tree(GetParam());
    fill(tree, 400, 10, 5);
    for (unsigned long i = 0; i < 400; i++) {
        kmirror_fail_nth(1);
        tree.erase(i * 10);
        kmirror_fail_nth(0);
    }
    EXPECT_TRUE(tree.agrees());
    EXPECT_TRUE(tree.empty());
}

TEST_P(MapleNoMemory, that_comes_at_random_never_breaks_the_tree)
{
    KMIRROR_NEEDS_FAULTS();
    std::mt19937_64 random(seed());
    JudgedTree tree(GetParam());
    unsigned refused = 0;
    for (int step = 0; step < 1500; step++) {
        const unsigned long first = random() % 3000, last = first + random() % (step % 50 ? 12 : 900);
        void *entry = random() % 4 ? value(step) : nullptr;
        const std::vector<Operation> operations = stores_over(first, last, entry);
        const Operation &operation = operations[random() % operations.size()];
        kmirror_fail_from_nth(unsigned(random() % 12) + 1);
        const int error = operation.perform(tree);
        kmirror_fail_nth(0);
        if (error == 0)
            operation.expected(tree.model);
        refused += error == -ENOMEM;
        ASSERT_TRUE(tree.agrees()) << operation.name << ", step " << step;
    }
    EXPECT_GT(refused, 10u);
}

// A reservation that gets only a part of its nodes gives all of them back.
KMIRROR_MOCK_TEST(MapleNoMemoryMock, M37_a_budget_that_is_too_small_by_any_number_changes_nothing)
{
    const Balance balance;
    bool stored = false;
    for (unsigned budget = 0; !stored; budget++) {
        JudgedTree tree(kRcu);
        fill(tree, 60, 10, 5);
        const unsigned long before = nodes_alive();
        ops()->set_non_kernel(budget);
        stored = plain_store(tree, 15, 400, value(1)) == 0;
        ops()->set_non_kernel(0);
        if (stored)
            tree.model.store(15, 400, value(1));
        else
            ASSERT_EQ(nodes_alive(), before) << budget;
        ASSERT_TRUE(tree.agrees()) << budget;
        EXPECT_EQ(stored, budget >= 7) << budget;
    }
}

KMIRROR_MOCK_TEST(MapleNoMemoryMock, M38_only_a_store_that_needs_a_node_fails_for_memory)
{
    const Balance balance;
    Tree tree;
    EXPECT_EQ(ops()->insert(tree, 1, value(1), MAPLE_OPS_NOWAIT), -ENOMEM);
    EXPECT_TRUE(tree.empty());
    EXPECT_EQ(ops()->insert(tree, 0, value(0), MAPLE_OPS_NOWAIT), 0);
    EXPECT_EQ(ops()->nr_allocated(), 0u);
}

// The helper has allocated, then the store has become cheaper: what is left goes back.
KMIRROR_MOCK_TEST(MapleNoMemoryMock, M38_nodes_that_a_retry_no_longer_needs_are_given_back)
{
    const Balance balance;
    JudgedTree tree;
    Cursor cursor(tree, 1);
    ops()->lock(tree);
    ops()->mas_store(cursor, value(1));
    EXPECT_EQ(cursor.at().error, -ENOMEM);
    EXPECT_TRUE(ops()->mas_nomem(cursor, MAPLE_OPS_KERNEL));
    ops()->unlock(tree);
    EXPECT_GT(cursor.reserved(), 0u);

    tree.store(2, value(2));
    ops()->lock(tree);
    ops()->mas_store(cursor, value(1));
    EXPECT_EQ(cursor.at().error, 0);
    cursor.give_back();
    ops()->unlock(tree);
    tree.model.store(1, 1, value(1));
    EXPECT_EQ(cursor.reserved(), 0u);
    EXPECT_TRUE(tree.agrees());
}

void store_C_in_between(void *tree)
{
    auto *handle = static_cast<maple_ops_tree *>(tree);
    const Locked locked(handle);
    Cursor cursor(handle, 6, 10);
    ops()->mas_store(cursor, value('C'));
    EXPECT_EQ(cursor.at().error, 0);
    cursor.give_back();
}

// The lock is dropped to allocate, and the NULL that was there is somebody's entry now.
void expect_the_other_writer_to_win(int (*erase_A)(JudgedTree &))
{
    const Balance balance;
    JudgedTree tree(kRcu);
    tree.store(0, 5, value('A'));
    tree.store(11, 15, value('B'));
    ops()->set_private(static_cast<maple_ops_tree *>(tree));
    ops()->set_callback(store_C_in_between);
    EXPECT_EQ(erase_A(tree), 0);
    ops()->set_callback(nullptr);
    tree.model.erase(0);
    tree.model.store(6, 10, value('C'));
    EXPECT_EQ(tree.load(6), value('C'));
    EXPECT_TRUE(tree.agrees());
}

KMIRROR_MOCK_TEST(MapleNoMemoryMock, M17_an_erase_that_waits_for_memory_spares_what_came_in_between)
{
    expect_the_other_writer_to_win(
        [](JudgedTree &tree) { return tree.Tree::erase(3) == value('A') ? 0 : -1; });
}

KMIRROR_MOCK_TEST(MapleNoMemoryMock, M17_a_store_that_waits_for_memory_spares_what_came_in_between)
{
    expect_the_other_writer_to_win([](JudgedTree &tree) { return tree.Tree::store(0, 5, nullptr); });
}

KMIRROR_MOCK_TEST(MapleNoMemoryMock, every_node_is_counted)
{
    Tree tree;
    EXPECT_EQ(ops()->node_bytes(), 256u);
    ops()->zero_nr_tallocated();
    EXPECT_EQ(ops()->nr_allocated(), 0u);
    for (unsigned long i = 0; i < 1000; i++)
        ASSERT_EQ(tree.store(i * 10, i * 10 + 4, value(i)), 0);
    EXPECT_EQ(ops()->nr_allocated(), tree.node_count());
    EXPECT_GE(ops()->nr_tallocated(), tree.node_count());
    tree.destroy();
    ops()->rcu_barrier();
    EXPECT_EQ(ops()->nr_allocated(), 0u);
    ops()->cache_shrink();
}

} // namespace
} // namespace kmirror::testing
