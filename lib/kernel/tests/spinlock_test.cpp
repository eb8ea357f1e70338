// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: both lock types exclude, serve waiters in the order they came, keep going when there are more
// threads than processors, and spinlock_t may be mixed with pthread_mutex_lock() on the same object.

#include "lib/kernel/spinlock.h"
#include "lib/kernel/tests/threads.h"
#include "tools/testing/harness.h"

#include <linux/bit_spinlock.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <vector>

namespace {

using kmirror::testing::run_threads;
using kmirror::testing::wait_until;

static_assert(sizeof(void *) == 4 || (sizeof(spinlock_t) == 40 && sizeof(raw_spinlock_t) == 16));

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

// The lock is free, but a first waiter (played by the test) is about to take it: newcomers queue up behind it
// unless it sleeps.
TEST(QueuedLock, NewcomersOvertakeOnlyASleepingHead)
{
    kmirror_lock_waiter head = {nullptr, kmirror::kernel::kHead};
    raw_spinlock_t lock = __RAW_SPIN_LOCK_UNLOCKED(lock);
    lock.tail = &head;
    EXPECT_FALSE(raw_spin_trylock(&lock));
    lock.steal = 1;
    raw_spin_lock(&lock);
    EXPECT_EQ(lock.tail, &head) << "it queued";
    raw_spin_unlock(&lock);

    WRITE_ONCE(lock.steal, 0);
    std::atomic<bool> has_it{false};
    std::jthread newcomer([&] {
        raw_spin_lock(&lock);
        has_it = true;
        raw_spin_unlock(&lock);
    });
    EXPECT_TRUE(wait_until([&] { return __atomic_load_n(&head.next, __ATOMIC_ACQUIRE) || has_it; }));
    msleep(3);
    EXPECT_FALSE(has_it) << "it overtook a head that was awake";
    if (kmirror_lock_waiter *const waiter = head.next) {
        __atomic_store_n(&waiter->state, kmirror::kernel::kHead, __ATOMIC_RELEASE);
        kmirror_spin_wake(&waiter->state);
    }
}

// A head that never slept takes the lock with 1; if the next waiter sleeps by then, the lock must still wake
// it. The head loses its processor while it spins: a timer's handler holds it until the other one is asleep.
struct StoppedHead {
    raw_spinlock_t lock = __RAW_SPIN_LOCK_UNLOCKED(lock);
    std::atomic<bool> timer_fired{false}, spinning{false}, may_go{false};
};
StoppedHead *stopped_head;

void stop_head(int)
{
    StoppedHead &head = *stopped_head;
    head.spinning = READ_ONCE(head.lock.tail) && READ_ONCE(head.lock.word) == 1;
    head.timer_fired = true;
    while (head.spinning && !head.may_go)
        yield();
}

// Fires SIGUSR1 at the calling thread once, some microseconds from now.
class OneShot {
public:
    explicit OneShot(int microseconds)
    {
        sigevent event = {};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGUSR1;
        event._sigev_un._tid = kmirror_task_pid();
        timer_create(CLOCK_MONOTONIC, &event, &timer_);
        const itimerspec when = {{}, {0, microseconds * 1000L}};
        timer_settime(timer_, 0, &when, nullptr);
    }
    ~OneShot() { timer_delete(timer_); }

private:
    timer_t timer_;
};

// False if the timer did not meet the head spinning.
bool hand_over_to_a_sleeper(int microseconds)
{
    StoppedHead shared;
    stopped_head = &shared;
    raw_spin_lock(&shared.lock);
    std::jthread head([&] {
        const OneShot timer(microseconds);
        raw_spin_lock(&shared.lock);
        raw_spin_unlock(&shared.lock);
        EXPECT_TRUE(wait_until([&] { return shared.timer_fired.load(); }));
    });
    EXPECT_TRUE(wait_until([&] { return shared.timer_fired.load(); }));
    const bool spinning = shared.spinning;
    std::jthread next;
    if (spinning) {
        const void *const first = READ_ONCE(shared.lock.tail);
        next = std::jthread([&] {
            raw_spin_lock(&shared.lock);
            raw_spin_unlock(&shared.lock);
        });
        EXPECT_TRUE(wait_until([&] { return READ_ONCE(shared.lock.tail) != first; }));
        msleep(3);
    }
    raw_spin_unlock(&shared.lock);
    shared.may_go = true;
    return spinning;
}

TEST(QueuedLock, AHeadThatSpunWakesTheSleeperBehindIt)
{
    signal(SIGUSR1, stop_head);
    bool spinning = false;
    for (int round = 0; round < 1000 && !spinning; ++round)
        spinning = hand_over_to_a_sleeper(1 + round % 12);
    signal(SIGUSR1, SIG_DFL);
    if (!spinning)
        GTEST_SKIP() << "the host never let the head spin while the holder ran";
}

// ---- spinlock_t and pthread_mutex_t on one object ----

union Shared {
    Shared() : mutex(PTHREAD_MUTEX_INITIALIZER) {}
    pthread_mutex_t mutex;
    spinlock_t spin;
};

TEST(SpinlockPthread, WhatPthreadInitLeavesIsUnlocked)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "spinlock_t and pthread_mutex_t share an object of 64 bit only";
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
    if (sizeof(long) != 8)
        GTEST_SKIP() << "spinlock_t and pthread_mutex_t share an object of 64 bit only";
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
    if (sizeof(long) != 8)
        GTEST_SKIP() << "spinlock_t and pthread_mutex_t share an object of 64 bit only";
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

// One thread that takes the lock its way, holds it until told, and gives it back.
class Taker {
public:
    Taker(Shared &shared, bool with_pthread)
        : thread_([this, &shared, with_pthread] {
              with_pthread ? void(pthread_mutex_lock(&shared.mutex)) : spin_lock(&shared.spin);
              has_it = true;
              EXPECT_TRUE(wait_until([this] { return give_back.load(); }));
              with_pthread ? void(pthread_mutex_unlock(&shared.mutex)) : spin_unlock(&shared.spin);
          })
    {
    }
    std::atomic<bool> has_it{false}, give_back{false};

private:
    std::jthread thread_;
};

// Sleepers of the word and sleepers of the queue, arranged so that one wake-up must lead to the next.
TEST(SpinlockPthread, OneSleeperWakesTheNextOfTheOtherKind)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "spinlock_t and pthread_mutex_t share an object of 64 bit only";
    Shared shared;
    spin_lock(&shared.spin);
    Taker first(shared, false); // head, asleep on the word
    EXPECT_TRUE(wait_until([&] { return READ_ONCE(shared.spin.word) == 2; }));
    Taker second(shared, true); // on the word as well
    msleep(5);
    first.give_back = true;
    spin_unlock(&shared.spin);
    EXPECT_TRUE(wait_until([&] { return second.has_it.load(); }));
    second.give_back = true;
}

TEST(SpinlockPthread, AMovedSleeperWakesWhoCameToTheWordLater)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "spinlock_t and pthread_mutex_t share an object of 64 bit only";
    Shared shared;
    spin_lock(&shared.spin);
    Taker head(shared, false);
    EXPECT_TRUE(wait_until([&] { return READ_ONCE(shared.spin.word) == 2; }));
    const void *const last = READ_ONCE(shared.spin.tail);
    Taker moved(shared, false); // asleep in the queue, moved to the word when `head` has the lock
    EXPECT_TRUE(wait_until([&] { return READ_ONCE(shared.spin.tail) != last; }));
    msleep(5);
    spin_unlock(&shared.spin);
    EXPECT_TRUE(wait_until([&] { return head.has_it.load(); }));
    Taker later(shared, true);
    msleep(5);
    moved.give_back = head.give_back = true;
    EXPECT_TRUE(wait_until([&] { return later.has_it.load(); }));
    later.give_back = true;
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
