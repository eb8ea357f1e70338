// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: statistics count every acquisition under the name of the lock's init site, with what it waited and
// held.

#include "lib/kernel/tests/threads.h"
#include "tools/testing/harness.h"

#include <gmock/gmock.h>
#include <kmirror/lockstat.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include <atomic>
#include <string>
#include <vector>

namespace {

using kmirror::testing::run_threads;
using kmirror::testing::wait_until;

struct Node {
    raw_spinlock_t list_lock;
    spinlock_t tree_lock;
};

class LockStat : public ::testing::Test {
protected:
    void SetUp() override
    {
        kmirror_lockstat_reset();
        kmirror_lockstat_enable(true);
    }
    void TearDown() override { kmirror_lockstat_enable(false); }

    static kmirror_lock_stat of(const char *name)
    {
        kmirror_lock_stat stat = {};
        kmirror_lockstat_get(name, &stat);
        return stat;
    }
};

TEST_F(LockStat, CountsByTheNameOfTheInitSite)
{
    Node one, other;
    Node *n = &one;
    raw_spin_lock_init(&n->list_lock);
    n = &other;
    raw_spin_lock_init(&n->list_lock);
    spin_lock_init(&n->tree_lock);
    for (int round = 0; round < 3; ++round) {
        raw_spin_lock(&one.list_lock);
        raw_spin_unlock(&one.list_lock);
    }
    raw_spin_lock(&other.list_lock);
    raw_spin_unlock(&other.list_lock);
    EXPECT_TRUE(spin_trylock(&other.tree_lock));
    EXPECT_FALSE(spin_trylock(&other.tree_lock));
    spin_unlock(&other.tree_lock);
    EXPECT_EQ(of("&n->list_lock").acquisitions, 4u) << "two locks, one class";
    EXPECT_EQ(of("&n->list_lock").contended, 0u);
    EXPECT_EQ(of("&n->tree_lock").acquisitions, 1u);

    std::vector<kmirror_lock_stat> all(64);
    const std::size_t used = kmirror_lockstat_snapshot(all.data(), all.size());
    EXPECT_EQ(kmirror_lockstat_snapshot(nullptr, 0), used);
    unsigned long sum = 0;
    for (std::size_t index = 0; index < std::min(used, all.size()); ++index)
        sum += std::string(all[index].name) == "&n->list_lock" ? all[index].acquisitions : 0;
    EXPECT_EQ(sum, 4u);
    kmirror_lockstat_reset();
    EXPECT_EQ(of("&n->list_lock").acquisitions, 0u);
}

TEST_F(LockStat, TimesWaitingAndHolding)
{
    raw_spinlock_t timed_lock;
    raw_spin_lock_init(&timed_lock);
    raw_spin_lock(&timed_lock);
    std::jthread waiter([&] {
        raw_spin_lock(&timed_lock);
        raw_spin_unlock(&timed_lock);
    });
    EXPECT_TRUE(wait_until([&] { return raw_spin_is_contended(&timed_lock); }));
    msleep(5);
    raw_spin_unlock(&timed_lock);
    waiter.join();
    const kmirror_lock_stat stat = of("&timed_lock");
    EXPECT_EQ(stat.acquisitions, 2u);
    EXPECT_EQ(stat.contended, 1u);
    EXPECT_GE(stat.wait_ns_max, 4000000u);
    EXPECT_GE(stat.hold_ns_max, 4000000u);
    EXPECT_LT(stat.hold_ns_max, 5000000000u);
    EXPECT_EQ(stat.wait_ns_total, stat.wait_ns_max);
    EXPECT_GE(stat.hold_ns_total, stat.hold_ns_max);
}

[[gnu::noinline]] void ask_for_spinlock(raw_spinlock_t &lock)
{
    raw_spin_lock(&lock);
    raw_spin_unlock(&lock);
}

[[gnu::noinline]] void ask_for_mutex(mutex &lock)
{
    mutex_lock(&lock);
    mutex_unlock(&lock);
}

[[gnu::noinline]] void ask_for_semaphore(rw_semaphore &sem)
{
    down_write(&sem);
    up_write(&sem);
}

std::string caller_of(const kmirror_lock_point &point)
{
    char name[KSYM_SYMBOL_LEN] = "";
    sprint_symbol(name, point.ip);
    return name;
}

TEST_F(LockStat, NamesTheCallSiteThatHadToWait)
{
    raw_spinlock_t asked_lock;
    raw_spin_lock_init(&asked_lock);
    ask_for_spinlock(asked_lock);
    EXPECT_EQ(of("&asked_lock").points[0].ip, 0u) << "nobody waited";
    raw_spin_lock(&asked_lock);
    std::jthread waiter([&] { ask_for_spinlock(asked_lock); });
    EXPECT_TRUE(wait_until([&] { return raw_spin_is_contended(&asked_lock); }));
    raw_spin_unlock(&asked_lock);
    waiter.join();
    const kmirror_lock_stat stat = of("&asked_lock");
    EXPECT_EQ(stat.points[0].contended, 1u);
    EXPECT_THAT(caller_of(stat.points[0]), testing::HasSubstr("ask_for_spinlock"));
    EXPECT_EQ(stat.points[1].ip, 0u);
    kmirror_lockstat_reset();
    EXPECT_EQ(of("&asked_lock").points[0].ip, 0u);
}

TEST_F(LockStat, NamesTheCallSiteOfMutexAndSemaphore)
{
    static DEFINE_MUTEX(asked_mutex);
    static DECLARE_RWSEM(asked_sem);
    mutex_lock(&asked_mutex);
    std::jthread waiter([&] { ask_for_mutex(asked_mutex); });
    EXPECT_TRUE(wait_until([&] { return raw_spin_is_contended(&asked_mutex.queue); }));
    mutex_unlock(&asked_mutex);
    waiter.join();
    EXPECT_THAT(caller_of(of("asked_mutex").points[0]), testing::HasSubstr("ask_for_mutex"));

    down_read(&asked_sem);
    std::jthread writer([&] { ask_for_semaphore(asked_sem); });
    EXPECT_TRUE(wait_until([&] { return !down_read_trylock(&asked_sem) || (up_read(&asked_sem), false); }));
    up_read(&asked_sem);
    writer.join();
    EXPECT_THAT(caller_of(of("asked_sem").points[0]), testing::HasSubstr("ask_for_semaphore"));
}

TEST_F(LockStat, CountsMutexAndSemaphore)
{
    static DEFINE_MUTEX(named_mutex);
    static DECLARE_RWSEM(named_sem);
    mutex_lock(&named_mutex);
    mutex_unlock(&named_mutex);
    down_read(&named_sem);
    up_read(&named_sem);
    down_write(&named_sem);
    downgrade_write(&named_sem);
    up_read(&named_sem);
    EXPECT_EQ(of("named_mutex").acquisitions, 1u);
    EXPECT_EQ(of("named_sem").acquisitions, 3u);
}

TEST_F(LockStat, AllThreadsAreCounted)
{
    raw_spinlock_t busy_lock;
    raw_spin_lock_init(&busy_lock);
    unsigned long count = 0;
    run_threads(6, [&](int) {
        for (int round = 0; round < 1000; ++round) {
            raw_spin_lock(&busy_lock);
            ++count;
            raw_spin_unlock(&busy_lock);
        }
    });
    EXPECT_EQ(count, 6000u);
    EXPECT_EQ(of("&busy_lock").acquisitions, 6000u);
}

TEST_F(LockStat, SwitchedWhileLocksAreHeld)
{
    raw_spinlock_t held_lock;
    raw_spin_lock_init(&held_lock);
    raw_spin_lock(&held_lock);
    kmirror_lockstat_enable(false);
    raw_spin_unlock(&held_lock);
    raw_spin_lock(&held_lock);
    msleep(2);
    kmirror_lockstat_enable(true);
    raw_spin_unlock(&held_lock);
    EXPECT_EQ(of("&held_lock").acquisitions, 1u);
    EXPECT_EQ(of("&held_lock").hold_ns_total, 0u) << "nobody saw both ends of a section";
    EXPECT_TRUE(raw_spin_trylock(&held_lock));
    raw_spin_unlock(&held_lock);
}

}  // namespace
