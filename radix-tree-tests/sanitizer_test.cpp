// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: sanitizers see into the tree. A race planted in a reader, in a writer or in an rcu callback is
// reported by the thread sanitizer; a node read after it was freed, or after its grace period, by the address
// sanitizer. Each bug runs in a child, whose report the parent reads; the right order of the same steps stays
// silent.
#include "radix-tree-tests/tree.h"

#include "lib/maple_tree/maple_node.h"

#include <gmock/gmock.h>

#include <kmirror/config.h>

#include <atomic>
#include <thread>

namespace kmirror::testing {
namespace {

using maple::ma_slots;
using maple::mte_node_type;
using maple::mte_to_node;

// The bug in the child, its report in the parent.
void expect_report(bool sanitizer, void (*bug)(), const char *report)
{
    if (!sanitizer)
        GTEST_SKIP() << "needs another sanitizer";
    if (in_child())
        return bug();
    const ChildResult child = rerun_this_test({});
    EXPECT_FALSE(child.passed()) << "nobody noticed:\n" << child.output;
    EXPECT_THAT(child.output, ::testing::HasSubstr(report));
}

void expect_race(void (*bug)()) { expect_report(KMIRROR_TSAN, bug, "ThreadSanitizer: data race"); }
void expect_poisoned(void (*bug)())
{
    expect_report(KMIRROR_ASAN, bug, "AddressSanitizer: use-after-poison");
}

// The node that a tree's only leaf is.
maple_node *leaf_of(maple_ops_tree *tree)
{
    const auto *mt = reinterpret_cast<const maple_tree *>(tree);
    return mte_to_node(maple::mte_safe_root(maple::mt_root(mt)));
}

std::atomic<unsigned long> sink;

void both(void (*one)(maple_ops_tree *), void (*other)(maple_ops_tree *), unsigned flags)
{
    Tree tree(flags);
    for (unsigned long i = 0; i < 5; i++)
        EXPECT_EQ(tree.store(i * 10, i * 10 + 4, value(i)), 0);
    std::thread first(one, static_cast<maple_ops_tree *>(tree)),
        second(other, static_cast<maple_ops_tree *>(tree));
    first.join();
    second.join();
}

void exchange_entries(maple_ops_tree *tree)
{
    for (unsigned long i = 0; i < 2000; i++)
        EXPECT_EQ(ops()->store_range(tree, 20, 24, value(i), MAPLE_OPS_KERNEL), 0);
}

TEST(MapleSanitizerConcurrent, sees_a_race_planted_in_a_reader)
{
    expect_race([] {
        // Looks into the leaf without the accesses that are made for it.
        both(exchange_entries, [](maple_ops_tree *tree) {
            const Reading reading;
            for (unsigned long i = 0; i < 2000; i++)
                sink += reinterpret_cast<unsigned long>(leaf_of(tree)->mr64.slot[4]);
        }, kRcu);
    });
}

TEST(MapleSanitizerConcurrent, sees_a_race_planted_in_a_writer)
{
    expect_race([] {
        // Rewrites the leaf in place, and has forgotten the lock.
        both(exchange_entries, [](maple_ops_tree *tree) {
            for (unsigned long i = 0; i < 2000; i++) {
                Cursor cursor(tree, 0, 4 + i % 2);
                ops()->mas_store(cursor, value(i));
            }
        }, kPlain);
    });
}

struct Retired {
    rcu_head rcu;
    unsigned long word;
};

TEST(MapleSanitizerConcurrent, sees_a_race_planted_in_a_callback)
{
    expect_race([] {
        // The callback looks at a tree's leaf while a writer may be in it.
        static maple_ops_tree *shared;
        static Retired retired[200];
        Tree tree;
        shared = tree;
        for (unsigned long i = 0; i < 5; i++)
            EXPECT_EQ(tree.store(i * 10, i * 10 + 4, value(i)), 0);
        for (Retired &object : retired) {
            call_rcu(&object.rcu, [](rcu_head *) { leaf_of(shared)->mr64.slot[4] = value(7); });
            exchange_entries(tree);
        }
        rcu_barrier();
    });
}

TEST(MapleSanitizerConcurrent, stays_silent_when_the_same_steps_are_taken_in_order)
{
    both(exchange_entries, [](maple_ops_tree *tree) {
        for (unsigned long i = 0; i < 2000; i++)
            sink += reinterpret_cast<unsigned long>(ops()->load(tree, 22));
    }, kRcu);
    both(exchange_entries, [](maple_ops_tree *tree) {
        for (unsigned long i = 0; i < 2000; i++)
            EXPECT_EQ(ops()->store_range(tree, 0, 4 + i % 2, value(i), MAPLE_OPS_KERNEL), 0);
    }, kPlain);
    ops()->rcu_barrier();
}

TEST(MapleSanitizer, sees_a_node_read_after_its_grace_period)
{
    expect_poisoned([] {
        Tree tree(kRcu);
        EXPECT_EQ(tree.store(10, 19, value(1)), 0);
        const maple_node *leaf = leaf_of(tree);
        ops()->read_lock();
        tree.destroy();
        sink += leaf->mr64.pivot[6]; // still allowed
        ops()->read_unlock();
        ops()->rcu_barrier();
        sink += leaf->mr64.pivot[6];
    });
}

TEST(MapleSanitizer, sees_a_replaced_node_read_after_its_grace_period)
{
    expect_poisoned([] {
        Tree tree(kRcu);
        EXPECT_EQ(tree.store(10, 19, value(1)), 0);
        const maple_node *leaf = leaf_of(tree);
        EXPECT_EQ(tree.store(30, 39, value(2)), 0);
        ops()->rcu_barrier();
        sink += leaf->mr64.pivot[6];
    });
}

TEST(MapleSanitizer, sees_a_node_read_after_a_tree_without_readers_freed_it)
{
    expect_poisoned([] {
        Tree tree;
        EXPECT_EQ(tree.store(10, 19, value(1)), 0);
        const maple_node *leaf = leaf_of(tree);
        tree.destroy();
        sink += leaf->mr64.pivot[6];
    });
}

TEST(MapleSanitizer, sees_a_cursor_used_after_the_read_section_it_belongs_to)
{
    expect_poisoned([] {
        Tree tree(kRcu);
        for (unsigned long i = 0; i < 100; i++)
            EXPECT_EQ(tree.store(i * 10, value(i)), 0);
        ops()->read_lock();
        Cursor cursor(tree, 500);
        cursor.walk();
        ops()->read_unlock();
        tree.destroy();
        ops()->rcu_barrier();
        const Reading reading;
        cursor.next(); // without mas_pause() or mas_reset()
    });
}

} // namespace
} // namespace kmirror::testing
