// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: both lock types exclude, serve waiters in the order they came, keep going when there are more threads than
// processors, and spinlock_t may be mixed with pthread_mutex_lock() on the same object.

#include "lib/kernel/tests/threads.h"
#include "tools/testing/harness.h"

#include <linux/bit_spinlock.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include <atomic>
#include <cstring>
#include <vector>

namespace {

using kmirror::testing::run_threads;
using kmirror::testing::wait_until;

static_assert(sizeof(spinlock_t) == 40 && sizeof(raw_spinlock_t) == 16);

// One face for both types, so that every test runs for both.
struct Spin {
    spinlock_t word = __SPIN_LOCK_UNLOCKED(word);
    void lock() { spin_lock(&word); }
    bool try_lock() { return spin_trylock(&word) != 0; }
    void unlock() { spin_unlock(&word); }
    void *tail() { return READ_ONCE(word.tail); }
};

struct RawSpin {
    raw_spinlock_t word = __RAW_SPIN_LOCK_UNLOCKED(word);
    void lock() { raw_spin_lock(&word); }
    bool try_lock() { return raw_spin_trylock(&word) != 0; }
    void unlock() { raw_spin_unlock(&word); }
    void *tail() { return READ_ONCE(word.tail); }
};

struct Mutex {
    mutex word = __MUTEX_INITIALIZER(word);
    void lock() { mutex_lock(&word); }
    bool try_lock() { return mutex_trylock(&word) != 0; }
    void unlock() { mutex_unlock(&word); }
    void *tail() { return READ_ONCE(word.queue.tail); }
};

template <class Lock>
class QueuedLocks : public ::testing::Test {};
using LockTypes = ::testing::Types<Spin, RawSpin, Mutex>;
TYPED_TEST_SUITE(QueuedLocks, LockTypes);

TYPED_TEST(QueuedLocks, ExcludeMoreThreadsThanProcessors)
{
    constexpr int threads = 8, rounds = 4000;
    TypeParam lock;
    unsigned long count = 0, inside = 0, not_alone = 0;
    run_threads(threads, [&](int index) {
        for (int round = 0; round < rounds; ++round) {
            if (index == 0 && lock.try_lock()) {
                // A trylock that succeeded excludes just as well.
            } else {
                lock.lock();
            }
            not_alone += inside++ != 0;
            ++count;
            if (round % 500 == 0)
                yield(); // a holder that loses its processor
            --inside;
            lock.unlock();
        }
    });
    EXPECT_EQ(count, static_cast<unsigned long>(threads) * rounds);
    EXPECT_EQ(not_alone, 0u);
    EXPECT_EQ(lock.tail(), nullptr);
    EXPECT_TRUE(lock.try_lock());
}

TYPED_TEST(QueuedLocks, TrylockFailsWhileHeldAndAfterwardsNot)
{
    TypeParam lock;
    EXPECT_TRUE(lock.try_lock());
    run_threads(1, [&](int) { EXPECT_FALSE(lock.try_lock()); });
    lock.unlock();
    run_threads(1, [&](int) {
        EXPECT_TRUE(lock.try_lock());
        lock.unlock();
    });
}

// Threads queue one after the other while the lock is held; `sleep` lets each of them fall asleep first.
template <class Lock>
std::vector<int> order_of_service(int threads, bool sleep)
{
    Lock lock;
    std::vector<int> served;
    std::vector<std::jthread> waiters;
    lock.lock();
    for (int index = 0; index < threads; ++index) {
        void *const last = lock.tail();
        waiters.emplace_back([&, index] {
            lock.lock();
            served.push_back(index);
            lock.unlock();
        });
        EXPECT_TRUE(wait_until([&] { return lock.tail() != last; }));
        if (sleep)
            msleep(2);
    }
    lock.unlock();
    waiters.clear();
    return served;
}

TYPED_TEST(QueuedLocks, WaitersAreServedInOrder)
{
    const std::vector<int> order = {0, 1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(order_of_service<TypeParam>(8, false), order);
    EXPECT_EQ(order_of_service<TypeParam>(8, true), order) << "asleep";
}

// A long section makes everybody sleep; then the lock must not be lost in any hand-over.
TYPED_TEST(QueuedLocks, SleepersAreAllWoken)
{
    TypeParam lock;
    std::atomic<int> served{0};
    run_threads(12, [&](int) {
        for (int round = 0; round < 5; ++round) {
            lock.lock();
            if (served++ % 7 == 0)
                usleep_range(300, 400);
            lock.unlock();
        }
    });
    EXPECT_EQ(served, 60);
    EXPECT_TRUE(lock.try_lock());
}

// The lock is free, but a first waiter is about to take it: newcomers queue up unless that one sleeps.
TEST(QueuedLock, NewcomersOvertakeOnlyASleepingHead)
{
    raw_spinlock_t lock = __RAW_SPIN_LOCK_UNLOCKED(lock);
    auto *const someone = reinterpret_cast<kmirror_lock_waiter *>(&lock);
    lock.tail = someone;
    EXPECT_FALSE(raw_spin_trylock(&lock));
    lock.steal = 1;
    raw_spin_lock(&lock);
    EXPECT_EQ(lock.word, 1u);
    EXPECT_EQ(lock.tail, someone) << "did not queue";
    raw_spin_unlock(&lock);
}

// ---- spinlock_t and pthread_mutex_t on one object ----

union Shared {
    Shared() : mutex(PTHREAD_MUTEX_INITIALIZER) {}
    pthread_mutex_t mutex;
    spinlock_t spin;
};

TEST(SpinlockPthread, WhatPthreadInitLeavesIsUnlocked)
{
    Shared shared;
    std::memset(static_cast<void *>(&shared), 0, sizeof(shared));
    EXPECT_TRUE(spin_trylock(&shared.spin));
    spin_unlock(&shared.spin);
    ASSERT_EQ(pthread_mutex_init(&shared.mutex, nullptr), 0);
    EXPECT_TRUE(spin_trylock(&shared.spin));
    spin_unlock(&shared.spin);
    EXPECT_EQ(pthread_mutex_destroy(&shared.mutex), 0);
}

TEST(SpinlockPthread, EachSeesTheOthersLock)
{
    Shared shared;
    spin_lock(&shared.spin);
    EXPECT_EQ(pthread_mutex_trylock(&shared.mutex), EBUSY);
    spin_unlock(&shared.spin);
    EXPECT_EQ(pthread_mutex_lock(&shared.mutex), 0);
    EXPECT_FALSE(spin_trylock(&shared.spin));
    EXPECT_EQ(pthread_mutex_unlock(&shared.mutex), 0);
}

// Under the thread sanitizer each call keeps to its kind: the sanitizer's own books do not mix them.
TEST(SpinlockPthread, BothKindsExcludeAndWakeEachOther)
{
    Shared shared;
    unsigned long count = 0, inside = 0, not_alone = 0;
    run_threads(6, [&](int index) {
        for (int round = 0; round < 3000; ++round) {
            const bool with_pthread = (index + round) % 2 == 0;
            with_pthread ? void(pthread_mutex_lock(&shared.mutex)) : spin_lock(&shared.spin);
            not_alone += inside++ != 0;
            ++count;
            if (round % 1000 == 0)
                usleep_range(200, 300);
            --inside;
            const bool unlock_with_pthread = KMIRROR_TSAN ? with_pthread : round % 3 == 0;
            unlock_with_pthread ? void(pthread_mutex_unlock(&shared.mutex)) : spin_unlock(&shared.spin);
        }
    });
    EXPECT_EQ(count, 18000u);
    EXPECT_EQ(not_alone, 0u);
    EXPECT_TRUE(spin_trylock(&shared.spin));
}

TEST(BitSpinlock, Excludes)
{
    unsigned long word = 1, count = 0;
    run_threads(4, [&](int) {
        for (int round = 0; round < 2000; ++round) {
            bit_spin_lock(5, &word);
            ++count;
            bit_spin_unlock(5, &word);
        }
    });
    EXPECT_EQ(count, 8000u);
    EXPECT_EQ(word, 1u);
    bit_spin_lock(5, &word);
    EXPECT_FALSE(bit_spin_trylock(5, &word));
    EXPECT_TRUE(bit_spin_is_locked(5, &word));
    __bit_spin_unlock(5, &word);
    EXPECT_EQ(word, 1u);
}

}  // namespace
