// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a tree under a lock of its user's (MT_FLAGS_LOCK_EXTERN) works through the advanced API, and never
// touches a lock of its own. Other lock modes only change flags.
#include "radix-tree-tests/tree.h"

#include <kmirror/fault.h>
#include <linux/maple_tree.h>
#include <linux/rwsem.h>

namespace kmirror::testing {
namespace {

class MapleExternLock : public MapleTest {};

TEST_F(MapleExternLock, random_stores_under_the_users_lock_agree_with_the_model)
{
    std::mt19937_64 random(seed());
    for (const unsigned flags : {kPlain, kAlloc, kAllocRcu}) {
        JudgedTree tree(flags | kExtern);
        for (int step = 0; step < 800; step++) {
            const unsigned long first = random() % 2000, last = first + random() % 30;
            void *entry = random() % 3 ? value(step) : nullptr;
            switch (random() % 3) {
            case 0: tree.mas_store(first, last, entry); break;
            case 1: tree.prealloc_store(first, last, entry); break;
            default: {
                const Locked locked(tree);
                Cursor cursor(tree, first);
                EXPECT_EQ(cursor.erase(), tree.model.erase(first));
            }
            }
            ASSERT_TRUE(tree.agrees()) << step;
        }
        JudgedTree copy(flags | kExtern);
        ops()->lock(copy);
        ops()->lock_nested(tree);
        EXPECT_EQ(ops()->dup_locked(tree, copy, MAPLE_OPS_NOWAIT), 0);
        ops()->unlock(tree);
        ops()->unlock(copy);
        copy.model = tree.model;
        EXPECT_TRUE(copy.agrees());
    }
}

// The library cannot drop a lock it does not know: it allocates while the user holds it.
TEST_F(MapleExternLock, running_out_of_memory_under_the_users_lock_changes_nothing)
{
    KMIRROR_NEEDS_FAULTS();
    JudgedTree tree(kExtern);
    for (unsigned long i = 0; i < 100; i++)
        tree.mas_store(i * 10, i * 10 + 4, value(i));
    {
        const Locked locked(tree);
        Cursor cursor(tree, 105, 806);
        kmirror_fail_from_nth(1);
        EXPECT_EQ(cursor.store(value(1)), -ENOMEM);
        EXPECT_EQ(cursor.range(nullptr), (Range{105, 806, nullptr}));
        EXPECT_TRUE(kmirror_fail_nth(0));
        EXPECT_EQ(cursor.reserved(), 0u);
    }
    EXPECT_TRUE(tree.agrees());
    tree.mas_store(105, 806, value(1));
    EXPECT_TRUE(tree.agrees());
}

TEST_F(MapleExternLock, works_for_a_statically_initialised_tree)
{
    static DECLARE_RWSEM(lock);
    static maple_tree tree = MTREE_INIT_EXT(tree, MT_FLAGS_LOCK_EXTERN, lock);
    EXPECT_TRUE(mt_external_lock(&tree));
    down_write(&lock);
    MA_STATE(mas, &tree, 10, 19);
    EXPECT_EQ(mas_store_gfp(&mas, value(1), GFP_KERNEL), 0);
    EXPECT_EQ(mas_walk(&mas), value(1));
    __mt_destroy(&tree);
    up_write(&lock);
    EXPECT_TRUE(mtree_empty(&tree));
}

TEST_F(MapleExternLock, other_lock_modes_behave_as_a_plain_tree)
{
    for (const unsigned flags : {unsigned{MAPLE_OPS_LOCK_IRQ}, unsigned{MAPLE_OPS_LOCK_BH}}) {
        JudgedTree tree(flags | kAlloc);
        fill(tree, 100, 10, 5);
        tree.erase(500);
        EXPECT_TRUE(tree.agrees());
        JudgedTree copy(flags | kAlloc);
        EXPECT_EQ(ops()->dup(tree, copy, MAPLE_OPS_KERNEL), 0);
        copy.model = tree.model;
        EXPECT_TRUE(copy.agrees());
    }
}

} // namespace
} // namespace kmirror::testing
