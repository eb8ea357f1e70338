// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the tree has the shape of Linux 7.3's: the same split points and minimum fill, hence the same
// heights and node counts, and reservations of the same size. The numbers below were printed by the kernel's
// own lib/maple_tree.c.
#include "radix-tree-tests/tree.h"

#include <utility>

namespace kmirror::testing {
namespace {

enum Order { kUp, kDown, kScattered };

struct Shape {
    unsigned flags;
    Order order;
    unsigned long ranges, size;     // of [i * 10, i * 10 + size - 1]
    unsigned height;
    unsigned long nodes;
};

// size 5: with gaps, two slots a range; size 10: without.
constexpr Shape kShapes[] = {
    {kPlain, kUp, 16, 5, 2, 4},         {kPlain, kUp, 16, 10, 2, 3},
    {kPlain, kUp, 100, 5, 2, 14},       {kPlain, kUp, 100, 10, 2, 8},
    {kPlain, kUp, 256, 5, 3, 37},       {kPlain, kUp, 256, 10, 3, 21},
    {kPlain, kUp, 1000, 5, 3, 136},     {kPlain, kUp, 1000, 10, 3, 73},
    {kPlain, kUp, 5000, 5, 4, 672},     {kPlain, kUp, 5000, 10, 4, 360},
    {kPlain, kDown, 100, 5, 2, 15},     {kPlain, kDown, 256, 5, 3, 41},
    {kPlain, kDown, 1000, 5, 3, 154},   {kPlain, kDown, 5000, 5, 4, 767},
    {kPlain, kDown, 5000, 10, 4, 360},  {kPlain, kScattered, 100, 5, 2, 16},
    {kPlain, kScattered, 100, 10, 2, 9}, {kPlain, kScattered, 256, 5, 3, 43},
    {kPlain, kScattered, 1000, 5, 3, 164}, {kPlain, kScattered, 1000, 10, 3, 81},
    {kPlain, kScattered, 5000, 5, 4, 817}, {kPlain, kScattered, 5000, 10, 4, 393},
    {kAlloc, kUp, 17, 5, 2, 4},         {kAlloc, kUp, 100, 5, 3, 16},
    {kAlloc, kUp, 256, 10, 3, 21},      {kAlloc, kUp, 1000, 5, 4, 143},
    {kAlloc, kUp, 1000, 10, 3, 76},     {kAlloc, kUp, 5000, 5, 4, 705},
    {kAlloc, kUp, 5000, 10, 4, 376},    {kAlloc, kDown, 1000, 5, 4, 162},
    {kAlloc, kDown, 5000, 5, 4, 804},   {kAlloc, kScattered, 100, 5, 3, 18},
    {kAlloc, kScattered, 1000, 5, 4, 174}, {kAlloc, kScattered, 5000, 5, 5, 868},
    {kAlloc, kScattered, 5000, 10, 4, 421},
};

class MapleShape : public MapleTest {};

TEST_F(MapleShape, trees_have_the_heights_and_node_counts_of_linux_7_3)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "figures_test.cpp has the figures of 32 bit";
    for (const Shape &shape : kShapes)
        for (const unsigned rcu : {kPlain, kRcu}) {
            Tree tree(shape.flags | rcu);
            for (unsigned long i = 0; i < shape.ranges; i++) {
                const unsigned long at = shape.order == kUp     ? i
                                         : shape.order == kDown ? shape.ranges - 1 - i
                                                                : i * 7 % shape.ranges;
                ASSERT_EQ(tree.store(at * 10, at * 10 + shape.size - 1, value(at)), 0);
            }
            EXPECT_EQ(tree.height(), shape.height) << kind_name(shape.flags) << " " << shape.ranges;
            EXPECT_EQ(tree.node_count(), shape.nodes) << kind_name(shape.flags) << " " << shape.ranges;
            tree.expect_sound();
        }
}

// 101 ranges [i * 10, i * 10 + 5]: nodes that a reservation for each store holds. Mock mode makes it exact.
struct Reservation {
    unsigned long first, last;
    bool entry;
    unsigned long plain, alloc;     // nodes; the heights are 2 and 3
    unsigned long more_in_rcu;
};

constexpr Reservation kReservations[] = {
    {6, 9, true, 0, 0, 0},              // exact fit of a gap
    {6, 10, true, 0, 0, 0},             // slot store
    {0, 5, true, 0, 0, 0},              // exact fit of an entry
    {0, 5, false, 0, 0, 1},             // a NULL that joins its neighbour: node store
    {800, 805, true, 0, 0, 0},
    {800, 809, true, 0, 0, 1},          // node store
    {1006, 1100, true, 0, 0, 1},        // append
    {54, 54, true, 3, 3, 0},            // split of a leaf, room above it
    {1008, 1100, true, 3, 3, 0},
    {470, 500, true, 7, 10, 0},         // spans
    {470, 500, false, 7, 10, 0},
    {1, 100, true, 7, 10, 0},
    {0, 200, true, 7, 10, 0},
    {1, ULONG_MAX, false, 7, 10, 0},
    {0, ULONG_MAX, true, 7, 10, 0},
};

void expect_reservations(unsigned flags)
{
    JudgedTree tree(flags);
    for (unsigned long i = 0; i <= 100; i++)
        tree.store(i * 10, i * 10 + 5, value(i));
    for (const Reservation &store : kReservations) {
        const Locked locked(tree);
        Cursor cursor(tree, store.first, store.last);
        ASSERT_EQ(cursor.preallocate(store.entry ? value(1) : nullptr), 0);
        const unsigned long expected = (flags & kAlloc ? store.alloc : store.plain) +
                                       (flags & kRcu ? store.more_in_rcu : 0);
        EXPECT_EQ(cursor.reserved(), expected)
            << kind_name(flags) << " [" << store.first << ", " << store.last << "] " << store.entry;
        cursor.give_back();
        EXPECT_EQ(cursor.reserved(), 0u);
    }
    EXPECT_TRUE(tree.agrees());
}

KMIRROR_MOCK_TEST(MapleReservation, holds_the_kernels_number_of_nodes_for_each_kind_of_store)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "figures_test.cpp has the figures of 32 bit";
    const Balance balance;
    for (const unsigned flags : kEveryKind)
        expect_reservations(flags);
}

// A root with three children is no place where rebalancing surely ends: the kernel counts it as one that may
// collapse.
KMIRROR_MOCK_TEST(MapleReservation, M23_counts_a_root_with_three_children_as_one_that_may_collapse)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "figures_test.cpp has the figures of 32 bit";
    const Balance balance;
    for (const auto &[flags, count] :
         {std::pair{kPlain, 500ul}, {kRcu, 620ul}, {kAlloc, 320ul}, {kAllocRcu, 380ul}}) {
        JudgedTree tree(flags);
        fill(tree, count, 10, 10);
        EXPECT_EQ(tree.height(), 3u);
        const unsigned long first = count / 2 * 10;
        const Locked locked(tree);
        Cursor cursor(tree, first, first + 90);
        ASSERT_EQ(cursor.preallocate(nullptr), 0);
        EXPECT_EQ(cursor.reserved(), 10u) << kind_name(flags) << " " << count;
        cursor.give_back();
    }
}

// A second reservation on the same cursor replaces the first; a store uses at most what is held.
KMIRROR_MOCK_TEST(MapleReservation, can_be_made_twice_and_is_enough)
{
    const Balance balance;
    for (const unsigned flags : kEveryKind)
        for (const Reservation &store : kReservations) {
            JudgedTree tree(flags);
            for (unsigned long i = 0; i <= 100; i++)
                tree.store(i * 10, i * 10 + 5, value(i));
            void *entry = store.entry ? value(1) : nullptr;
            {
                const Locked locked(tree);
                Cursor cursor(tree, store.first, store.last);
                ASSERT_EQ(cursor.preallocate(entry), 0);
                ASSERT_EQ(cursor.preallocate(entry), 0);
                const unsigned long held = cursor.reserved(), before = ops()->nr_tallocated();
                cursor.store_prealloc(entry);
                EXPECT_EQ(cursor.reserved(), 0u);
                EXPECT_LE(ops()->nr_tallocated(), before + held);
            }
            tree.model.store(store.first, store.last, entry);
            ASSERT_TRUE(tree.agrees()) << store.first << ".." << store.last;
        }
}

// One node is held outside of a sheaf; a larger plan takes a sheaf and gives it back.
KMIRROR_MOCK_TEST(MapleReservation, M37_of_one_node_is_given_back_when_a_larger_one_follows)
{
    const Balance balance;
    JudgedTree tree(kAllocRcu);
    for (unsigned long i = 0; i <= 100; i++)
        tree.store(i * 10, i * 10 + 5, value(i));
    {
        const Locked locked(tree);
        Cursor cursor(tree, 800, 809);
        ASSERT_EQ(cursor.preallocate(value(1)), 0);
        EXPECT_EQ(cursor.reserved(), 1u);
        cursor.set(470, 500);
        ASSERT_EQ(cursor.preallocate(value(1)), 0);
        EXPECT_GT(cursor.reserved(), 1u);
        cursor.store_prealloc(value(1));
    }
    tree.model.store(470, 500, value(1));
    EXPECT_TRUE(tree.agrees());
}

// Rebalancing climbs while parents run short, and a root with two children can
// collapse. A count that is one level short empties the reservation, which the library notices. High trees
// are eaten in several orders.
void eat(unsigned flags, unsigned long count, unsigned long stride, unsigned long width)
{
    JudgedTree tree(flags);
    for (unsigned long i = 0; i < count; i++)
        tree.store(i * 7 % count * 10, i * 7 % count * 10 + 5, value(i));
    for (unsigned long i = 0; i < count; i++) {
        const unsigned long at = i * stride % count * 10;
        tree.prealloc_store(at, at + width, i % 16 == 15 ? value(i) : nullptr);
        if (i % 256 == 255) {
            ASSERT_TRUE(tree.agrees()) << i << " of " << count << ", stride " << stride;
        }
    }
    ASSERT_TRUE(tree.agrees());
}

KMIRROR_MOCK_TEST(MapleReservation, M22_M23_is_enough_while_high_trees_are_eaten_in_any_order)
{
    const Balance balance;
    for (const unsigned flags : {kAlloc, kAllocRcu, kPlain})
        for (const unsigned long stride : {1ul, 2999ul, 13ul, 101ul})
            for (const unsigned long width : {5ul, 38ul})
                eat(flags, flags == kPlain ? 1500 : 3000, stride, width);
}

KMIRROR_MOCK_TEST(MapleReservation, that_the_budget_cannot_serve_fails_and_holds_nothing)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "figures_test.cpp has the figures of 32 bit";
    const Balance balance;
    JudgedTree tree(kAllocRcu);
    for (unsigned long i = 0; i <= 100; i++)
        tree.store(i * 10, i * 10 + 5, value(i));
    const Locked locked(tree);
    for (unsigned budget = 0; budget <= 10; budget++) {
        Cursor cursor(tree, 470, 500);
        ops()->set_non_kernel(budget);
        EXPECT_EQ(cursor.preallocate(value(1), MAPLE_OPS_NOWAIT), budget < 10 ? -ENOMEM : 0) << budget;
        EXPECT_EQ(cursor.reserved(), budget < 10 ? 0u : 10u);
        cursor.give_back();
    }
    ops()->set_non_kernel(0);
}

// With sheaves a reservation may hold more than was asked for; it still never allocates while it stores.
TEST_F(MapleShape, a_reservation_without_mock_mode_is_enough_as_well)
{
    for (const unsigned flags : kEveryKind) {
        JudgedTree tree(flags);
        fill(tree, 600, 10, 5);
        for (unsigned long i = 0; i < 300; i++)
            tree.prealloc_store(i * 17, i * 17 + i, i % 3 ? value(i) : nullptr);
        EXPECT_TRUE(tree.agrees());
    }
}

TEST_F(MapleShape, a_reservation_can_be_given_back_or_moved_to_another_range)
{
    JudgedTree tree(kAlloc);
    fill(tree, 600, 10, 5);
    {
        const Locked locked(tree);
        Cursor cursor(tree, 100, 2000);
        ASSERT_EQ(cursor.preallocate(value(1)), 0);
        cursor.set(300, 301);
        ASSERT_EQ(cursor.preallocate(value(2)), 0);
        cursor.store_prealloc(value(2));
        EXPECT_EQ(cursor.reserved(), 0u);
    }
    tree.model.store(300, 301, value(2));
    EXPECT_TRUE(tree.agrees());
}

TEST_F(MapleShape, expected_entries_reserve_for_a_run_of_appends)
{
    if (!ops()->mas_expected_entries)
        GTEST_SKIP() << "this kernel's tree has no such function";
    for (const unsigned flags : {kPlain, kAlloc}) {
        JudgedTree tree(flags);
        {
            const Locked locked(tree);
            Cursor cursor(tree, 0);
            ASSERT_EQ(ops()->mas_expected_entries(cursor, 500), 0);
            for (unsigned long i = 0; i < 500; i++) {
                cursor.set(i * 10, i * 10 + 9);
                ASSERT_EQ(cursor.store(value(i)), 0);
                tree.model.store(i * 10, i * 10 + 9, value(i));
            }
            cursor.give_back();
            EXPECT_EQ(cursor.reserved(), 0u);
        }
        EXPECT_TRUE(tree.agrees());
    }
}

} // namespace
} // namespace kmirror::testing
