// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the ring and chain helpers keep order and links, as in the kernel (shims that did nothing have
// lost slabs).

#include "lib/kernel/tests/threads.h"

#include <gtest/gtest.h>
#include <linux/list.h>
#include <linux/llist.h>

#include <deque>
#include <vector>

namespace {

using Numbers = std::vector<int>;

struct Item {
    int number = 0;
    list_head link = {};
    hlist_node hash = {};
    llist_node stacked = {};
};

// Forwards, after checking that the way back is the same.
Numbers numbers(list_head *head)
{
    Numbers forwards, backwards;
    Item *item;
    list_for_each_entry(item, head, link)
        forwards.push_back(item->number);
    list_for_each_entry_reverse(item, head, link)
        backwards.insert(backwards.begin(), item->number);
    EXPECT_EQ(forwards, backwards);
    return forwards;
}

// A ring with the given items at its end, in order.
class Ring {
public:
    explicit Ring(std::initializer_list<int> values)
    {
        INIT_LIST_HEAD(&head);
        for (const int value : values) {
            items.push_back({});
            items.back().number = value;
            list_add_tail(&items.back().link, &head);
        }
    }
    Ring(const Ring &) = delete;
    Ring &operator=(const Ring &) = delete;

    list_head head;
    std::deque<Item> items;
};

TEST(List, AddAndRemove)
{
    Ring ring{2, 3};
    Item first{1}, last{4};
    list_add(&first.link, &ring.head);
    list_add_tail(&last.link, &ring.head);
    EXPECT_EQ(numbers(&ring.head), (Numbers{1, 2, 3, 4}));
    list_del(&ring.items[0].link);
    EXPECT_EQ(ring.items[0].link.next, LIST_POISON1);
    EXPECT_EQ(ring.items[0].link.prev, LIST_POISON2);
    list_del_init(&first.link);
    EXPECT_TRUE(list_empty(&first.link));
    EXPECT_EQ(numbers(&ring.head), (Numbers{3, 4}));
    EXPECT_TRUE(list_is_first(&ring.items[1].link, &ring.head));
    EXPECT_TRUE(list_is_last(&last.link, &ring.head));
    EXPECT_FALSE(list_is_singular(&ring.head));
    list_del(&last.link);
    EXPECT_TRUE(list_is_singular(&ring.head));
    list_del(&ring.items[1].link);
    EXPECT_TRUE(list_empty(&ring.head) && list_empty_careful(&ring.head));
    EXPECT_EQ(list_first_entry_or_null(&ring.head, Item, link), nullptr);
}

TEST(List, Move)
{
    Ring from{1, 2, 3}, to{8, 9};
    list_move(&from.items[1].link, &to.head);
    list_move_tail(&from.items[0].link, &to.head);
    EXPECT_EQ(numbers(&from.head), (Numbers{3}));
    EXPECT_EQ(numbers(&to.head), (Numbers{2, 8, 9, 1}));
    list_rotate_left(&to.head);
    EXPECT_EQ(numbers(&to.head), (Numbers{8, 9, 1, 2}));
    Item other{7};
    list_replace_init(&to.items[0].link, &other.link);
    EXPECT_EQ(numbers(&to.head), (Numbers{7, 9, 1, 2}));
    EXPECT_TRUE(list_empty(&to.items[0].link));
}

TEST(List, SpliceAtBothEnds)
{
    Ring ring{1, 2}, front{3, 4}, back{5, 6}, none{};
    list_splice_init(&front.head, &ring.head);
    list_splice_tail_init(&back.head, &ring.head);
    list_splice(&none.head, &ring.head);
    list_splice_tail(&none.head, &ring.head);
    EXPECT_EQ(numbers(&ring.head), (Numbers{3, 4, 1, 2, 5, 6}));
    EXPECT_TRUE(list_empty(&front.head) && list_empty(&back.head));
}

TEST(List, BulkMoveAndCut)
{
    Ring from{1, 2, 3, 4, 5}, to{9};
    list_bulk_move_tail(&to.head, &from.items[1].link, &from.items[3].link);
    EXPECT_EQ(numbers(&from.head), (Numbers{1, 5}));
    EXPECT_EQ(numbers(&to.head), (Numbers{9, 2, 3, 4}));
    LIST_HEAD(cut);
    list_cut_position(&cut, &to.head, &from.items[2].link);
    EXPECT_EQ(numbers(&cut), (Numbers{9, 2, 3}));
    EXPECT_EQ(numbers(&to.head), (Numbers{4}));
    list_cut_position(&cut, &to.head, &from.items[3].link);
    EXPECT_EQ(numbers(&cut), (Numbers{4}));
    EXPECT_TRUE(list_empty(&to.head));
    list_cut_position(&to.head, &cut, &cut);
    EXPECT_TRUE(list_empty(&to.head));
    EXPECT_EQ(numbers(&cut), (Numbers{4}));
}

TEST(List, RemovingWhileWalking)
{
    Ring ring{1, 2, 3, 4, 5, 6};
    Item *item, *after;
    list_for_each_entry_safe(item, after, &ring.head, link)
        if (item->number % 2 == 0)
            list_del(&item->link);
    EXPECT_EQ(numbers(&ring.head), (Numbers{1, 3, 5}));
    list_head *position, *next;
    list_for_each_safe(position, next, &ring.head)
        list_del_init(position);
    EXPECT_TRUE(list_empty(&ring.head));
}

TEST(Hlist, AddWalkRemove)
{
    HLIST_HEAD(bucket);
    Item one{1}, two{2}, three{3};
    for (Item *item : {&three, &two, &one})
        hlist_add_head(&item->hash, &bucket);
    hlist_del_init(&two.hash);
    hlist_del_init(&two.hash);
    Numbers seen;
    Item *item;
    hlist_for_each_entry(item, &bucket, hash)
        seen.push_back(item->number);
    EXPECT_EQ(seen, (Numbers{1, 3}));
    EXPECT_TRUE(hlist_unhashed(&two.hash));
}

TEST(Llist, EveryPushIsTakenOnce)
{
    constexpr int threads = 4, each = 2000;
    LLIST_HEAD(stack);
    std::deque<Item> items(threads * each);
    std::vector<int> taken(items.size());
    kmirror::testing::run_threads(threads + 1, [&](int index) {
        for (int round = 0; index < threads && round < each; ++round) {
            Item &item = items[static_cast<std::size_t>(index * each + round)];
            item.number = index * each + round;
            llist_add(&item.stacked, &stack);
        }
        if (index < threads)
            return;
        for (int found = 0; found < threads * each;) {
            llist_node *position;
            llist_for_each(position, llist_reverse_order(llist_del_all(&stack))) {
                taken[static_cast<std::size_t>(llist_entry(position, Item, stacked)->number)]++;
                ++found;
            }
        }
    });
    EXPECT_EQ(taken, std::vector<int>(items.size(), 1));
    EXPECT_TRUE(llist_empty(&stack));
}

}  // namespace
