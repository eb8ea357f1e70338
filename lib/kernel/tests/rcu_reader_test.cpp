// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: synchronize_rcu() returns only after every read section that was open has ended.

#include <linux/rcupdate.h>
#include <linux/sched.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tools/testing/harness.h"

using namespace std::chrono_literals;
using kmirror::testing::ExpectWarnings;

namespace {

// A thread that stands in a read section until it is told to leave.
class Reader {
public:
    explicit Reader(unsigned depth = 1) : depth_(depth), thread_([this] { run(); })
    {
        while (!inside_)
            std::this_thread::yield();
    }
    ~Reader()
    {
        leave();
        thread_.join();
    }
    void leave() { leave_ = true; }

private:
    void run()
    {
        for (unsigned i = 0; i < depth_; ++i)
            rcu_read_lock();
        for (unsigned i = 1; i < depth_; ++i)
            rcu_read_unlock();
        inside_ = true;
        while (!leave_)
            std::this_thread::sleep_for(100us);
        rcu_read_unlock();
    }

    unsigned depth_;
    std::atomic<bool> inside_{false};
    std::atomic<bool> leave_{false};
    std::thread thread_;
};

// synchronize_rcu() on a thread of its own.
class Synchronizer {
public:
    Synchronizer()
        : thread_([this] {
              synchronize_rcu();
              done_ = true;
          })
    {
    }
    ~Synchronizer() { thread_.join(); }
    bool done_within(std::chrono::milliseconds limit)
    {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!done_ && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(100us);
        return done_;
    }

private:
    std::atomic<bool> done_{false};
    std::thread thread_;
};

TEST(RcuReader, BlocksTheGracePeriodUntilItsSectionEnds)
{
    Reader reader;
    Synchronizer synchronizer;
    EXPECT_FALSE(synchronizer.done_within(50ms));
    reader.leave();
    EXPECT_TRUE(synchronizer.done_within(10s));
}

TEST(RcuReader, NestedSectionsEndWithTheOutermost)
{
    Reader reader(5);
    Synchronizer synchronizer;
    EXPECT_FALSE(synchronizer.done_within(50ms));
    reader.leave();
    EXPECT_TRUE(synchronizer.done_within(10s));
}

TEST(RcuReader, EveryOneOfManyReadersIsWaitedFor)
{
    std::vector<std::unique_ptr<Reader>> readers;
    for (int i = 0; i < 8; ++i)
        readers.push_back(std::make_unique<Reader>());
    Synchronizer synchronizer;
    while (readers.size() > 1)
        readers.pop_back();
    EXPECT_FALSE(synchronizer.done_within(50ms));
    readers.clear();
    EXPECT_TRUE(synchronizer.done_within(10s));
}

TEST(RcuReader, HeldTellsWhetherTheThreadIsInASection)
{
    EXPECT_FALSE(rcu_read_lock_held());
    rcu_read_lock();
    rcu_read_lock();
    rcu_read_unlock();
    EXPECT_TRUE(rcu_read_lock_held());
    std::thread([] { EXPECT_FALSE(rcu_read_lock_held()); }).join();
    rcu_read_unlock();
    EXPECT_FALSE(rcu_read_lock_held());
}

TEST(RcuReader, ASectionOfAnExitedOrUnregisteredThreadHoldsNobodyUp)
{
    std::thread([] {
        rcu_read_lock();
        rcu_read_unlock();
    }).join();
    rcu_register_thread();
    rcu_register_thread();   // liburcu itself would abort here
    rcu_unregister_thread();
    rcu_unregister_thread();
    synchronize_rcu();
    rcu_read_lock();   // registers again
    rcu_read_unlock();
    synchronize_rcu();
}

TEST(RcuReader, ReadersNeverSeeAnObjectThatWasReclaimed)
{
    struct Object {
        std::atomic<unsigned long> alive;
    };
    Object objects[2] = {{1}, {0}};
    Object *current_object = &objects[0];
    std::atomic<bool> stop{false};
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i)
        readers.emplace_back([&] {
            while (!stop) {
                rcu_read_lock();
                const Object *const object = rcu_dereference(current_object);
                for (int k = 0; k < 20; ++k)
                    ASSERT_EQ(object->alive.load(std::memory_order_relaxed), 1u);
                rcu_read_unlock();
            }
        });
    for (int i = 0; i < 300; ++i) {
        Object *const before = current_object;
        Object *const after = before == objects ? &objects[1] : &objects[0];
        after->alive.store(1, std::memory_order_relaxed);
        rcu_assign_pointer(current_object, after);
        synchronize_rcu();
        before->alive.store(0, std::memory_order_relaxed);
    }
    stop = true;
    for (std::thread &reader : readers)
        reader.join();
}

KMIRROR_TEST_IN(RcuReader, WaitingForOneselfIsReportedAndReturns, "KMIRROR_LOGLEVEL=7")
{
    ExpectWarnings warnings(3);
    rcu_read_lock();
    synchronize_rcu();
    rcu_barrier();
    rcu_unregister_thread();
    rcu_read_unlock();
    synchronize_rcu();
}

KMIRROR_TEST_IN(RcuReader, UnlockWithoutLockIsReportedAndHarmless, "KMIRROR_LOGLEVEL=7")
{
    ExpectWarnings warnings(1);
    rcu_read_unlock();
    rcu_read_lock();
    EXPECT_TRUE(rcu_read_lock_held());
    rcu_read_unlock();
}

KMIRROR_TEST_IN(RcuReader, AThreadThatEndsInsideASectionIsReportedAndHoldsNobodyUp, "KMIRROR_LOGLEVEL=7")
{
    ExpectWarnings warnings(1);
    std::thread([] { rcu_read_lock(); }).join();
    synchronize_rcu();
}

KMIRROR_TEST_IN(RcuReader, ChecksFindADereferenceOutsideASection, "KMIRROR_LOCKDEP=1")
{
    int value = 3;
    int *pointer = &value;
    bool held = true;
    rcu_read_lock();
    EXPECT_EQ(*rcu_dereference(pointer), 3);
    rcu_read_unlock();
    EXPECT_EQ(*rcu_dereference_check(pointer, held), 3);
    EXPECT_EQ(*rcu_dereference_protected(pointer, held), 3);
    held = false;
    ExpectWarnings warnings(2);
    EXPECT_EQ(*rcu_dereference(pointer), 3);
    EXPECT_EQ(*rcu_dereference_protected(pointer, held), 3);
}

TEST(RcuReader, WithoutChecksTheConditionIsNotLookedAt)
{
    kmirror_rcu_check(false);
    int value = 4;
    int *pointer = &value;
    bool asked = false;
    EXPECT_EQ(*rcu_dereference_check(pointer, (asked = true)), 4);
    EXPECT_FALSE(asked);
    EXPECT_EQ(rcu_replace_pointer(pointer, nullptr, true), &value);
    EXPECT_EQ(rcu_access_pointer(pointer), nullptr);
    RCU_INIT_POINTER(pointer, &value);
    EXPECT_EQ(rcu_dereference_raw(pointer), &value);
}

}  // namespace
