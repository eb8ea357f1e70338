// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/spinlock.cpp: the queued lock, and spinlock_t and raw_spinlock_t on it.
//
// Waiters form a queue of records on their own stacks. The first one, the head, alone competes for the word;
// the others watch their own record until they are made head. Everybody spins briefly and then sleeps:
//
//   tail ----------------------------+            state of a record, and who sets it
//            head    next    next    v            kWaiting   its owner, spinning
//   word <-- (w) --> (w) --> (w) --> (w)          kAsleep    its owner, about to sleep on it
//                                                 kHanding   the old head, while it moves a sleeper
//                                                 kHead      the old head, who has the lock now
//
// The word follows glibc's mutex protocol (0 free, 1 taken, 2 taken and somebody may sleep on it), so that
// pthread_mutex_lock() may be used on the same object: who leaves a lock that was 2 wakes one sleeper of the
// word, who wakes up takes it with 2 again. A sleeper that becomes head is therefore not woken but moved: it
// goes on sleeping, on the word, until the lock is given back.
//
// Between giving back and the head's waking up the lock would lie idle. `steal` opens it to running threads
// for that time: it is set while the head sleeps and cleared by the head as soon as it runs, and then the
// queue is strict.
//
// Owns     nothing; a record lives while its owner is in queued_lock().
// Locking  is what it does. Rank: none; locks of this file are the ranks of others.
// Fails    never.
//
// (Q1) a head runs or sleeps on the word, and sleeps only after having seen the word at 2
// (Q2) `steal` is written by the head, or on its behalf by the old head before it makes it head
// (Q3) nobody touches a record after it became kHead, but its owner

#include "lib/kernel/spinlock.h"

#include <linux/bug.h>
#include <linux/fault-inject.h>
#include <linux/preempt.h>

#include "lib/kernel/lock_watch.h"

#include <atomic>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kmirror::kernel {
namespace {

constexpr u32 kFree = 0, kTaken = 1, kSlept = 2;

// Rounds of cpu_relax(): some microseconds for the head, less for who has others before it.
constexpr unsigned int kHeadSpins = 200;
constexpr unsigned int kQueueSpins = 100;

// With one processor the holder cannot run while we spin.
unsigned int spins(unsigned int rounds)
{
    static std::atomic<int> processors;
    int known = processors.load(std::memory_order_relaxed);
    if (known == 0) {
        known = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
        processors.store(known, std::memory_order_relaxed);
    }
    return known > 1 ? rounds : 0;
}

void sleep_on(const u32 &word, u32 expected)
{
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

// Moves the sleeper of `from` to `to` if `from` still is `expected`. True if there was one.
bool move_sleeper(const u32 &from, u32 expected, const u32 &to)
{
    return syscall(SYS_futex, &from, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1UL, &to, expected) > 0;
}

// (Q4) What the last holder did is seen by the next. Pairs with (Q5).
bool try_word(u32 &word, u32 taken)
{
    u32 free = kFree;
    return __atomic_compare_exchange_n(&word, &free, taken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

bool spin_for_word(QueuedLock lock, u32 taken)
{
    for (unsigned int round = spins(kHeadSpins); round != 0; --round) {
        if (READ_ONCE(lock.word) == kFree && try_word(lock.word, taken))
            return true;
        cpu_relax();
    }
    return READ_ONCE(lock.word) == kFree && try_word(lock.word, taken);
}

// The head's wait. Once it slept others may sleep on the word too, so it takes the lock with kSlept. It may
// be overtaken during its first sleep only; one that was moved to the word has had that.
void take_as_head(QueuedLock lock, bool was_moved)
{
    bool may_be_overtaken = !was_moved;
    if (READ_ONCE(lock.steal))
        WRITE_ONCE(lock.steal, 0);
    for (u32 taken = was_moved ? kSlept : kTaken; !spin_for_word(lock, taken); taken = kSlept) {
        if (may_be_overtaken)
            WRITE_ONCE(lock.steal, 1);
        const bool got = __atomic_exchange_n(&lock.word, kSlept, __ATOMIC_ACQUIRE) == kFree; // (Q4)
        if (!got)
            sleep_on(lock.word, kSlept);
        if (may_be_overtaken)
            WRITE_ONCE(lock.steal, 0);
        may_be_overtaken = false;
        if (got)
            return;
    }
}

// Waits until the record is head. True if it slept, and so was moved to the word.
bool wait_turn(kmirror_lock_waiter &self)
{
    for (unsigned int round = spins(kQueueSpins); round != 0; --round) {
        if (__atomic_load_n(&self.state, __ATOMIC_ACQUIRE) == kHead)
            return false;
        cpu_relax();
    }
    u32 expected = kWaiting;
    if (!__atomic_compare_exchange_n(&self.state, &expected, kAsleep, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false; // kHead: (Q3) holds, nobody moves a record that was not asleep
    while (__atomic_load_n(&self.state, __ATOMIC_ACQUIRE) == kAsleep)
        sleep_on(self.state, kAsleep);
    // (Q3) The old head is about to be done with the record.
    while (__atomic_load_n(&self.state, __ATOMIC_ACQUIRE) != kHead)
        yield();
    return true;
}

// We have the lock; the next waiter may compete for the word from now on.
void make_head(QueuedLock lock, kmirror_lock_waiter &next)
{
    u32 state = kWaiting;
    if (__atomic_compare_exchange_n(&next.state, &state, kHead, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    __atomic_store_n(&next.state, kHanding, __ATOMIC_RELEASE);
    WRITE_ONCE(lock.steal, 1); // (Q2)
    if (move_sleeper(next.state, kHanding, lock.word))
        __atomic_store_n(&lock.word, kSlept, __ATOMIC_RELAXED); // (Q1); ours, so nobody takes it meanwhile
    __atomic_store_n(&next.state, kHead, __ATOMIC_RELEASE);
}

void leave_queue(QueuedLock lock, kmirror_lock_waiter &self)
{
    kmirror_lock_waiter *last = &self;
    if (__atomic_compare_exchange_n(&lock.tail, &last, nullptr, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    // Somebody has queued behind us and is about to say so.
    kmirror_lock_waiter *next;
    while (!(next = __atomic_load_n(&self.next, __ATOMIC_ACQUIRE)))
        cpu_relax();
    make_head(lock, *next);
}

}  // namespace

bool queued_trylock(QueuedLock lock)
{
    return !READ_ONCE(lock.tail) && try_word(lock.word, kTaken);
}

void queued_lock(QueuedLock lock)
{
    if (queued_trylock(lock))
        return;
    if (READ_ONCE(lock.steal) && READ_ONCE(lock.word) == kFree && try_word(lock.word, kTaken))
        return;
    kmirror_lock_waiter self = {nullptr, kWaiting};
    kmirror_lock_waiter *before = __atomic_exchange_n(&lock.tail, &self, __ATOMIC_ACQ_REL);
    bool was_moved = false;
    if (before) {
        __atomic_store_n(&before->next, &self, __ATOMIC_RELEASE);
        was_moved = wait_turn(self);
    }
    take_as_head(lock, was_moved);
    leave_queue(lock, self);
}

void queued_unlock(QueuedLock lock)
{
    // (Q5) The section is complete before the lock is free. Pairs with (Q4).
    if (__atomic_exchange_n(&lock.word, kFree, __ATOMIC_RELEASE) == kSlept)
        kmirror_spin_wake(&lock.word);
}

namespace {

// A static lock names its class with its first watched operation.
u16 class_of(spinlock_t &lock)
{
    u16 id = READ_ONCE(lock.class_id);
    if (id == 0 && lock.name) {
        id = kmirror_lock_class(lock.name, nullptr);
        WRITE_ONCE(lock.class_id, id);
    }
    return id;
}

u16 class_of(raw_spinlock_t &lock)
{
    return READ_ONCE(lock.class_id);
}

// pthread_mutex_lock() may have left its marks; glibc asserts that a lock it takes has none.
void forget_pthread_owner(spinlock_t &lock)
{
    WRITE_ONCE(lock.owner, 0);
    WRITE_ONCE(lock.users, 0);
}

void forget_pthread_owner(raw_spinlock_t &)
{
}

// The watcher's records are the interrupted thread's, who may be in the middle of one.
bool watched_here()
{
    return lock_watched() && !in_nmi();
}

// Waiting for a lock whose holder cannot run before we are done would never end.
[[gnu::cold]] void warn_wait_in_nmi()
{
    WARN_ONCE(true, "a lock is waited for in a section that may only try\n");
}

template <class Lock>
void lock_any(Lock &lock, int subclass, const void *caller)
{
    if (unlikely(in_nmi()))
        warn_wait_in_nmi();
    if (likely(!watched_here())) {
        queued_lock(queued(lock));
        return;
    }
    const LockSite site = {.lock = &lock, .class_id = class_of(lock), .caller = caller};
    watch_before(site, subclass);
    const u64 start = watch_clock();
    const bool contended = !queued_trylock(queued(lock));
    if (contended)
        queued_lock(queued(lock));
    watch_acquired(site, contended, start);
}

template <class Lock>
int trylock_any(Lock &lock)
{
    if (should_fail_trylock())
        return false;
    const bool taken = queued_trylock(queued(lock));
    if (taken && watched_here())
        watch_acquired({&lock, class_of(lock)}, false, watch_clock());
    return taken;
}

template <class Lock>
void unlock_any(Lock &lock)
{
    if (unlikely(watched_here()))
        watch_release({&lock, class_of(lock)}, READ_ONCE(lock.word) != kFree);
    forget_pthread_owner(lock);
    queued_unlock(queued(lock));
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

void kmirror_spin_wake(u32 *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void kmirror_spin_lock(spinlock_t *lock)
{
    lock_any(*lock, 0, __builtin_return_address(0));
}

void kmirror_spin_lock_nested(spinlock_t *lock, int subclass)
{
    lock_any(*lock, subclass, __builtin_return_address(0));
}

int kmirror_spin_trylock(spinlock_t *lock)
{
    return trylock_any(*lock);
}

void kmirror_spin_unlock(spinlock_t *lock)
{
    unlock_any(*lock);
}

void kmirror_raw_spin_lock(raw_spinlock_t *lock)
{
    lock_any(*lock, 0, __builtin_return_address(0));
}

void kmirror_raw_spin_lock_nested(raw_spinlock_t *lock, int subclass)
{
    lock_any(*lock, subclass, __builtin_return_address(0));
}

int kmirror_raw_spin_trylock(raw_spinlock_t *lock)
{
    return trylock_any(*lock);
}

void kmirror_raw_spin_unlock(raw_spinlock_t *lock)
{
    unlock_any(*lock);
}

void kmirror_spin_lock_init(spinlock_t *lock, const char *name, struct lock_class_key *key)
{
    *lock = {};
    lock->class_id = kmirror_lock_class(name, key);
}

void kmirror_raw_spin_lock_init(raw_spinlock_t *lock, const char *name, struct lock_class_key *key)
{
    *lock = {};
    lock->class_id = kmirror_lock_class(name, key);
}

}  // extern "C"
