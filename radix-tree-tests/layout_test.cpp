// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the public header means the same to a C and to a C++ compiler, and everything in it works from C.
// The layout itself is asserted at compile time, in public_in_c.c and in <linux/maple_tree.h>.
#include "radix-tree-tests/public_in_c.h"
#include "radix-tree-tests/tree.h"

#include <linux/maple_tree.h>

namespace kmirror::testing {
namespace {

class MaplePublic : public MapleTest {};

TEST_F(MaplePublic, layout_is_the_same_in_c_and_in_cplusplus)
{
    const unsigned long here[] = {sizeof(maple_tree),
                                  sizeof(ma_state),
                                  sizeof(ma_wr_state),
                                  sizeof(maple_node),
                                  sizeof(struct maple_copy),
                                  sizeof(ma_topiary),
                                  offsetof(ma_state, offset),
                                  offsetof(ma_state, end),
                                  offsetof(ma_wr_state, vacant_height),
                                  offsetof(struct maple_copy, height)};
    for (int i = 0; i < int(std::size(here)); i++)
        EXPECT_EQ(layout_in_c(i), here[i]) << "number " << i;
}

TEST_F(MaplePublic, every_macro_works_in_c)
{
    EXPECT_EQ(public_macros_in_c(), 0) << "the line of public_in_c.c";
}

TEST_F(MaplePublic, every_function_of_the_simple_interface_works_in_c)
{
    EXPECT_EQ(public_functions_in_c(), 0) << "the line of public_in_c.c";
}

TEST_F(MaplePublic, every_function_of_the_advanced_interface_works_in_c)
{
    EXPECT_EQ(public_cursor_in_c(), 0) << "the line of public_in_c.c";
}

TEST_F(MaplePublic, a_lock_of_the_users_works_in_c)
{
    EXPECT_EQ(public_outside_lock_in_c(), 0) << "the line of public_in_c.c";
}

KMIRROR_MOCK_TEST(MaplePublicMock, the_harness_hooks_work_in_c)
{
    EXPECT_EQ(public_harness_in_c(), 0) << "the line of public_in_c.c";
}

TEST_F(MaplePublic, dumps_print_the_same_from_c)
{
    ::testing::internal::CaptureStdout();
    public_dumps_in_c();
    fflush(stdout);
    const std::string text = ::testing::internal::GetCapturedStdout();
    EXPECT_NE(text.find("7-9"), std::string::npos);
    EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 8);
}

TEST_F(MaplePublic, macros_work_in_cplusplus)
{
    maple_tree tree = MTREE_INIT(tree, MT_FLAGS_USE_RCU);
    MA_STATE(mas, &tree, 3, 4);
    MA_WR_STATE(wr_mas, &mas, value(1));
    EXPECT_EQ(wr_mas.mas, &mas);
    mas_lock(&mas);
    EXPECT_EQ(mas_store_gfp(&mas, value(1), GFP_KERNEL), 0);
    mas_unlock(&mas);
    unsigned long index = 0;
    void *entry;
    unsigned seen = 0;
    mt_for_each(&tree, entry, index, ULONG_MAX)
        seen++;
    EXPECT_EQ(seen, 1u);
    mtree_destroy(&tree);
}

// What a user sees when something is wrong, or wants to see.
TEST_F(MaplePublic, dumps_print_every_node_and_the_cursor)
{
    JudgedTree tree(kAlloc);
    fill(tree, 40, 10, 5);
    const Locked locked(tree);
    Cursor cursor(tree, 12);
    cursor.walk();
    ::testing::internal::CaptureStdout();
    ops()->dump(tree, false);
    ops()->dump(tree, true);
    ops()->cursor_dump(cursor);
    fflush(stdout);
    const std::string text = ::testing::internal::GetCapturedStdout();
    EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 90);
    EXPECT_NE(text.find("390-394"), std::string::npos) << "a range in decimal";
    EXPECT_NE(text.find("186-18a"), std::string::npos) << "and in hex";
}

// The checkers see what they promise to see: a tree broken by hand is reported by both.
TEST_F(MaplePublic, both_checkers_report_a_broken_tree)
{
    JudgedTree tree(kAlloc);
    fill(tree, 100, 10, 5);
    auto *mt = reinterpret_cast<maple_tree *>(static_cast<maple_ops_tree *>(tree));
    const Locked locked(tree);
    EXPECT_EQ(ops()->check(tree, false), 0u);
    const unsigned flags = mt->ma_flags;
    mt->ma_flags += 1 << MT_FLAGS_HEIGHT_OFFSET;
    EXPECT_GT(ops()->check(tree, false), 0u);
    mt->ma_flags = flags;

    MA_STATE(mas, mt, 505, 505);
    mas_walk(&mas);
    auto *leaf = reinterpret_cast<maple_node *>(reinterpret_cast<unsigned long>(mas.node) & ~MAPLE_NODE_MASK);
    unsigned long *pivot = &leaf->mr64.pivot[mas.offset];
    const unsigned long right = *pivot;
    *pivot += 2;
    EXPECT_GT(ops()->check(tree, false), 0u) << "the gap is not what the parent says";
    *pivot = right;
    EXPECT_EQ(ops()->check(tree, false), 0u);
}

} // namespace
} // namespace kmirror::testing
