// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: with stepping on, a callback runs when its own CPU asks for it after the program has declared a
// grace period, oldest first, and not before; rcu_barrier() needs neither.

#include <kmirror/rcu.h>
#include <kmirror/topology.h>
#include <linux/rcupdate.h>

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "tools/testing/harness.h"

namespace {

struct Item {
    rcu_head head;
    std::vector<int> *ran = nullptr;
    int number = 0;
};

void note(rcu_head *head)
{
    Item *const item = reinterpret_cast<Item *>(head);
    item->ran->push_back(item->number);
}

struct Stepping {
    Stepping() { kmirror_rcu_stepping(true); }
    ~Stepping() { kmirror_rcu_stepping(false); }
};

class RcuSteps : public ::testing::Test {
protected:
    void queue(int number)
    {
        items_[number].ran = &ran;
        items_[number].number = number;
        call_rcu(&items_[number].head, note);
    }
    std::vector<int> ran;

private:
    Item items_[8];
};

using Numbers = std::vector<int>;

TEST_F(RcuSteps, runs_a_callback_after_a_step_and_only_when_asked_to)
{
    const Stepping stepping;
    queue(0);
    EXPECT_EQ(kmirror_rcu_run(), 0u);
    EXPECT_EQ(kmirror_rcu_step(), 1u);
    EXPECT_EQ(ran, Numbers{});
    EXPECT_EQ(kmirror_rcu_run(), 1u);
    EXPECT_EQ(ran, Numbers{0});
    EXPECT_EQ(kmirror_rcu_step(), 0u);
    EXPECT_EQ(kmirror_rcu_run(), 0u);
}

TEST_F(RcuSteps, keeps_the_order_over_several_steps)
{
    const Stepping stepping;
    queue(0);
    queue(1);
    EXPECT_EQ(kmirror_rcu_step(), 2u);
    queue(2);
    EXPECT_EQ(kmirror_rcu_step(), 1u);
    queue(3);
    EXPECT_EQ(kmirror_rcu_run(), 3u);
    EXPECT_EQ(ran, (Numbers{0, 1, 2}));
}

TEST_F(RcuSteps, a_barrier_runs_what_is_queued_on_every_cpu)
{
    const Stepping stepping;
    queue(0);
    std::thread([&] { queue(1); }).join();
    kmirror_rcu_step();
    queue(2);
    rcu_barrier();
    EXPECT_EQ(ran.size(), 3u);
}

TEST_F(RcuSteps, nothing_is_lost_when_stepping_ends)
{
    {
        const Stepping stepping;
        queue(0);
    }
    EXPECT_EQ(ran, Numbers{0});
    queue(1);
    rcu_barrier();
    EXPECT_EQ(ran, (Numbers{0, 1}));
}

KMIRROR_TEST_IN(RcuStepsCpus, each_cpu_runs_what_was_queued_on_it, "KMIRROR_MACHINE=core:2 pu:1")
{
    const Stepping stepping;
    std::vector<int> ran;
    Item mine, theirs;
    mine.ran = theirs.ran = &ran;
    mine.number = 0;
    theirs.number = 1;
    ASSERT_EQ(kmirror_cpu_lease(0), 0);
    call_rcu(&mine.head, note);
    ASSERT_EQ(kmirror_cpu_lease(1), 1);
    call_rcu(&theirs.head, note);
    EXPECT_EQ(kmirror_rcu_step(), 2u);
    EXPECT_EQ(kmirror_rcu_run(), 1u);
    EXPECT_EQ(ran, Numbers{1});
    ASSERT_EQ(kmirror_cpu_lease(0), 0);
    EXPECT_EQ(kmirror_rcu_run(), 1u);
    EXPECT_EQ(ran, (Numbers{1, 0}));
    kmirror_cpu_release();
}

// The callback of a callback waits for a step of its own.
TEST_F(RcuSteps, a_callback_may_queue_another)
{
    struct Chain {
        rcu_head head;
        int left;
    } chain = {{}, 3};
    const Stepping stepping;
    call_rcu(&chain.head, [](rcu_head *head) {
        Chain *const again = reinterpret_cast<Chain *>(head);
        if (--again->left)
            call_rcu(head, head->func);
    });
    kmirror_rcu_step();
    EXPECT_EQ(kmirror_rcu_run(), 1u);
    EXPECT_EQ(chain.left, 2);
    rcu_barrier();
    EXPECT_EQ(chain.left, 0);
}

}  // namespace
