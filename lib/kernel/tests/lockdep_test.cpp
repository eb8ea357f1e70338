// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: with checks on, a lock order that contradicts an earlier one, a lock taken twice, and an assertion
// about a lock that is not held are reported, each once; correct code is silent.

#include "lib/kernel/tests/threads.h"
#include "tools/testing/harness.h"

#include <kmirror/lockstat.h>
#include <linux/local_lock.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include <csignal>

namespace {

using kmirror::testing::ExpectWarnings;
using kmirror::testing::in_child;
using kmirror::testing::rerun_this_test;
using kmirror::testing::run_threads;

class Lockdep : public ::testing::Test {
protected:
    void SetUp() override
    {
        kmirror_lockdep_reset();
        was_on_ = kmirror_lockdep_enabled();
        kmirror_lockdep_enable(true);
        violations_ = kmirror_lockdep_violations();
        spin_lock_init(&first);
        spin_lock_init(&second);
        raw_spin_lock_init(&third);
    }
    void TearDown() override
    {
        EXPECT_EQ(kmirror_lock_depth(), 0);
        kmirror_lockdep_enable(was_on_);
        kmirror_lockdep_reset();
    }
    unsigned long violations() const { return kmirror_lockdep_violations() - violations_; }

    spinlock_t first, second;
    raw_spinlock_t third;

private:
    bool was_on_ = false;
    unsigned long violations_ = 0;
};

TEST_F(Lockdep, OppositeOrderIsReportedOnce)
{
    for (int round = 0; round < 3; ++round) {
        spin_lock(&first);
        spin_lock(&second);
        spin_unlock(&second);
        spin_unlock(&first);
    }
    EXPECT_EQ(violations(), 0u);
    const ExpectWarnings expected(1);
    for (int round = 0; round < 3; ++round) {
        spin_lock(&second);
        spin_lock(&first);
        spin_unlock(&first);
        spin_unlock(&second);
    }
    EXPECT_EQ(violations(), 1u);
}

TEST_F(Lockdep, ACircleOfThreeIsReported)
{
    spin_lock(&first);
    spin_lock(&second);
    spin_unlock(&second);
    spin_unlock(&first);
    run_threads(1, [&](int) {
        spin_lock(&second);
        raw_spin_lock(&third);
        raw_spin_unlock(&third);
        spin_unlock(&second);
    });
    const ExpectWarnings expected(1);
    raw_spin_lock(&third);
    spin_lock(&first);
    spin_unlock(&first);
    raw_spin_unlock(&third);
    EXPECT_EQ(violations(), 1u);
}

TEST_F(Lockdep, AGivenOrderCounts)
{
    kmirror_lockdep_order("&first", "&third");
    const ExpectWarnings expected(1);
    raw_spin_lock(&third);
    spin_lock(&first);
    spin_unlock(&first);
    raw_spin_unlock(&third);
}

TEST_F(Lockdep, TrylockAndNestedAreNoOrder)
{
    spin_lock(&first);
    spin_lock(&second);
    spin_unlock(&first);
    EXPECT_TRUE(spin_trylock(&first)) << "cannot wait, hence cannot deadlock";
    spin_unlock(&first);
    spin_unlock(&second);

    spinlock_t pair[2];
    for (spinlock_t &lock : pair)
        spin_lock_init(&lock);
    spin_lock(&pair[0]);
    spin_lock_nested(&pair[1], SINGLE_DEPTH_NESTING);
    spin_unlock(&pair[1]);
    spin_unlock(&pair[0]);
    EXPECT_EQ(violations(), 0u);

    const ExpectWarnings expected(1);
    spin_lock(&pair[0]);
    spin_lock(&pair[1]);
    spin_unlock(&pair[1]);
    spin_unlock(&pair[0]);
    EXPECT_EQ(violations(), 1u);
}

TEST_F(Lockdep, HeldLocksAreKnown)
{
    EXPECT_FALSE(lockdep_is_held(&first));
    spin_lock(&first);
    EXPECT_TRUE(lockdep_is_held(&first));
    EXPECT_FALSE(lockdep_is_held(&second));
    EXPECT_EQ(kmirror_lock_depth(), 1);
    lockdep_assert_held(&first);
    lockdep_assert_not_held(&second);
    run_threads(1, [&](int) { EXPECT_FALSE(lockdep_is_held(&first)) << "another thread's"; });
    {
        const ExpectWarnings expected(2);
        lockdep_assert_held(&second);
        lockdep_assert_not_held(&first);
    }
    spin_unlock(&first);
    EXPECT_FALSE(lockdep_is_held(&first));

    static DECLARE_RWSEM(sem);
    EXPECT_FALSE(lock_is_held(&sem.dep_map));
    down_write(&sem);
    EXPECT_TRUE(lock_is_held(&sem.dep_map));
    EXPECT_TRUE(lockdep_is_held(&sem));
    up_write(&sem);
    EXPECT_FALSE(lock_is_held(&sem.dep_map));

    auto *local = alloc_percpu(local_trylock_t);
    EXPECT_FALSE(lockdep_is_held(this_cpu_ptr(local)));
    local_lock(local);
    EXPECT_TRUE(lockdep_is_held(this_cpu_ptr(local)));
    lockdep_assert_held(this_cpu_ptr(local));
    local_unlock(local);
    free_percpu(local);
}

TEST_F(Lockdep, GivingBackAFreeLockIsReported)
{
    const ExpectWarnings expected(1);
    raw_spin_unlock(&third);
    EXPECT_EQ(violations(), 1u);
}

TEST_F(Lockdep, TakingALockTwiceStops)
{
    if (in_child()) {
        spin_lock(&first);
        spin_lock(&first);
        return;
    }
    const auto child = rerun_this_test({});
    EXPECT_EQ(child.signal, SIGABRT) << child.output;
    EXPECT_NE(child.output.find("&first is taken twice"), std::string::npos) << child.output;
}

TEST(LockdepOff, SaysHeldAndChecksNothing)
{
    if (kmirror_lockdep_enabled())
        GTEST_SKIP() << "KMIRROR_LOCKDEP is set";
    DEFINE_SPINLOCK(lock);
    EXPECT_TRUE(lockdep_is_held(&lock));
    lockdep_assert_held(&lock);
    EXPECT_EQ(kmirror_lock_depth(), 0);
}

KMIRROR_TEST_IN(LockdepEnvironment, TurnsChecksOn, "KMIRROR_LOCKDEP=1", "KMIRROR_LOCKSTAT=1")
{
    EXPECT_TRUE(kmirror_lockdep_enabled());
    EXPECT_TRUE(kmirror_lockstat_enabled());
}

TEST(LockdepEnvironment, OtherValuesAreRefused)
{
    if (in_child())
        return;
    const auto child = rerun_this_test({"KMIRROR_LOCKDEP=maybe"});
    EXPECT_TRUE(child.exited && child.status == 2) << child.output;
}

}  // namespace
