// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/spinlock.h: the queued lock under spinlock_t, raw_spinlock_t, mutex and rw_semaphore, unwatched.
#pragma once

#include <linux/spinlock.h>

// One waiting thread, on its own stack; spinlock.cpp draws the queue.
struct kmirror_lock_waiter {
    kmirror_lock_waiter *next;
    u32 state;
};

namespace kmirror::kernel {

enum WaiterState : u32 { kWaiting, kAsleep, kHanding, kHead };

// Where a lock keeps its three words.
struct QueuedLock {
    u32 &word;
    u16 &steal;
    kmirror_lock_waiter *&tail;
};

inline QueuedLock queued(spinlock_t &lock)
{
    return {lock.word, lock.steal, lock.tail};
}

inline QueuedLock queued(raw_spinlock_t &lock)
{
    return {lock.word, lock.steal, lock.tail};
}

// Takes the lock if it is free and nobody is queued.
bool queued_trylock(QueuedLock lock);
// Takes the lock; queues if need be.
void queued_lock(QueuedLock lock);
void queued_unlock(QueuedLock lock);

}  // namespace kmirror::kernel
