// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: a callback runs once, after a grace period, on a thread of the library, and rcu_barrier()
// waits for those queued before it and for nothing else.

#include <linux/rcupdate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "tools/testing/harness.h"

using namespace std::chrono_literals;
using kmirror::testing::ExpectWarnings;

namespace {

using Clock = std::chrono::steady_clock;

struct Item {
    rcu_head head;
    std::atomic<int> runs{0};
    std::vector<Item *> *order = nullptr;
};

void count_run(rcu_head *head)
{
    Item *const item = reinterpret_cast<Item *>(head);
    if (item->order != nullptr)
        item->order->push_back(item);
    ++item->runs;
}

bool eventually(const std::function<bool()> &condition)
{
    const auto end = Clock::now() + 10s;
    while (!condition() && Clock::now() < end)
        std::this_thread::sleep_for(100us);
    return condition();
}

TEST(RcuCallback, RunsAfterTheReadersHaveLeftAndNotBefore)
{
    Item item;
    rcu_read_lock();
    call_rcu(&item.head, count_run);
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(item.runs, 0);
    rcu_read_unlock();
    EXPECT_TRUE(eventually([&] { return item.runs == 1; }));
}

TEST(RcuCallback, RunsSoonWithoutAnybodyWaiting)
{
    for (int i = 0; i < 20; ++i) {
        Item item;
        call_rcu(&item.head, count_run);
        EXPECT_TRUE(eventually([&] { return item.runs == 1; }));
    }
}

TEST(RcuCallback, ThoseOfOneThreadRunInOrderAndOnce)
{
    std::vector<Item> items(1000);
    std::vector<Item *> order;
    for (Item &item : items) {
        item.order = &order;
        call_rcu(&item.head, count_run);
    }
    rcu_barrier();
    ASSERT_EQ(order.size(), items.size());
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(RcuCallback, BarrierWaitsForAllThreadsCallbacks)
{
    constexpr int kThreads = 8;
    constexpr int kEach = 2000;
    std::vector<std::vector<Item>> items(kThreads);
    std::vector<std::thread> threads;
    for (std::vector<Item> &mine : items)
        threads.emplace_back([&mine] {
            mine = std::vector<Item>(kEach);
            for (Item &item : mine)
                call_rcu(&item.head, count_run);
        });
    for (std::thread &thread : threads)
        thread.join();
    rcu_barrier();
    for (const std::vector<Item> &mine : items)
        for (const Item &item : mine)
            ASSERT_EQ(item.runs, 1);
}

TEST(RcuCallback, ConcurrentBarriersEachWaitForTheirOwnCallbacks)
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 30; ++i) {
                Item items[3];
                for (Item &item : items)
                    call_rcu(&item.head, count_run);
                rcu_barrier();
                for (const Item &item : items)
                    ASSERT_EQ(item.runs, 1);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

TEST(RcuCallback, BarrierWaitsForTheBatchThatIsRunning)
{
    static std::atomic<bool> started, go;
    started = go = false;
    Item slow, second;
    call_rcu(&slow.head, [](rcu_head *head) {
        started = true;
        while (!go)
            std::this_thread::yield();
        count_run(head);
    });
    EXPECT_TRUE(eventually([] { return started.load(); }));
    std::atomic<bool> returned{false};
    std::thread waiter([&] {
        rcu_barrier();
        returned = true;
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(returned);
    go = true;
    waiter.join();
    EXPECT_EQ(slow.runs, 1);
}

// The middle one of many: other programs may keep this one from running in some of them. `body` gives its own
// time.
Clock::duration median(size_t rounds, const std::function<Clock::duration()> &body)
{
    std::vector<Clock::duration> times(rounds);
    std::generate(times.begin(), times.end(), body);
    std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
    return times[rounds / 2];
}

Clock::duration time_barrier()
{
    const auto start = Clock::now();
    rcu_barrier();
    return Clock::now() - start;
}

TEST(RcuCallback, BarrierWithNothingQueuedWaitsForNoPoll)
{
    rcu_barrier();
    EXPECT_LT(median(1000, time_barrier), 500us);     // far below a poll, far above what it takes
}

TEST(RcuCallback, MayQueueMoreAndMayReadAndMayFreeItself)
{
    struct Chain {
        rcu_head head;
        int left;
        std::atomic<int> *runs;
        static void step(rcu_head *head)
        {
            auto *const chain = reinterpret_cast<Chain *>(head);
            rcu_read_lock();
            ++*chain->runs;
            rcu_read_unlock();
            if (chain->left != 0)
                call_rcu(&(new Chain{{}, chain->left - 1, chain->runs})->head, step);
            delete chain;
        }
    };
    std::atomic<int> runs{0};
    call_rcu(&(new Chain{{}, 9, &runs})->head, Chain::step);
    EXPECT_TRUE(eventually([&] { return runs == 10; }));
    rcu_barrier();
}

TEST(RcuCallback, AHurriedOneRunsLikeTheOthers)
{
    Item item;
    call_rcu_hurry(&item.head, count_run);
    EXPECT_TRUE(eventually([&] { return item.runs == 1; }));
}

KMIRROR_TEST_IN(RcuCallback, WaitingInsideACallbackIsReported, "KMIRROR_LOGLEVEL=7")
{
    ExpectWarnings warnings(2);
    Item item;
    call_rcu(&item.head, [](rcu_head *head) {
        synchronize_rcu();
        rcu_barrier();
        count_run(head);
    });
    rcu_barrier();
    EXPECT_EQ(item.runs, 1);
}

KMIRROR_TEST_IN(RcuCallback, FourNodesHaveFourLanesAndOneBarrierWaitsForAll,
                "KMIRROR_MACHINE=pack:4 numa:1 core:2 pu:1")
{
    std::vector<std::thread> threads;
    std::vector<Item> items(8);
    for (Item &item : items)
        threads.emplace_back([&item] { call_rcu(&item.head, count_run); });
    for (std::thread &thread : threads)
        thread.join();
    rcu_barrier();
    for (const Item &item : items)
        EXPECT_EQ(item.runs, 1);
}

// At exit the process still runs what is queued and leaves no thread behind.
TEST(RcuCallback, WhatIsQueuedAtExitStillRuns)
{
    static Item item;
    if (kmirror::testing::in_child()) {
        call_rcu(&item.head, [](rcu_head *) {
            std::fputs("ran at exit\n", stderr);
        });
        std::exit(0);
    }
    const auto child = kmirror::testing::rerun_this_test({});
    EXPECT_TRUE(child.passed()) << child.output;
    EXPECT_NE(child.output.find("ran at exit"), std::string::npos) << child.output;
}

}  // namespace
