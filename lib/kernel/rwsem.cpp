// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/rwsem.cpp: readers and writers.
//
//   reader   no writer bit: count += 2, in. Else: through the gate, in order with the writers.
//   writer   takes the gate and keeps it, sets the writer bit, sleeps on count until only that bit is left
//
// Owns     nothing. Fails never.
//
// (RW1) the writer bit is set only by who holds the gate, and cleared before the gate is opened
// (RW2) while the writer bit is set, count only falls

#include "lib/kernel/lock_watch.h"
#include "lib/kernel/spinlock.h"

#include <linux/rwsem.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace kmirror::kernel;

namespace {

constexpr u32 kWriter = 1, kReader = 2;

LockSite site_of(rw_semaphore &sem, bool shared)
{
    return {&sem, class_of_map(sem.dep_map), &sem.dep_map, shared};
}

// (W1) What the last writer did is seen by the reader. Pairs with (W2).
bool try_enter_as_reader(rw_semaphore &sem)
{
    u32 count = READ_ONCE(sem.count);
    while (!(count & kWriter))
        if (__atomic_compare_exchange_n(&sem.count, &count, count + kReader, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

// Behind the gate nobody can set the writer bit, (RW1).
void enter_through_gate(rw_semaphore &sem)
{
    queued_lock(queued(sem.gate));
    __atomic_fetch_add(&sem.count, kReader, __ATOMIC_ACQUIRE); // (W1)
    queued_unlock(queued(sem.gate));
}

// (W3) What the readers did comes before the writer's section. Pairs with (W4).
void wait_for_readers(rw_semaphore &sem)
{
    for (;;) {
        const u32 count = __atomic_load_n(&sem.count, __ATOMIC_ACQUIRE);
        if (count == kWriter)
            return;
        syscall(SYS_futex, &sem.count, FUTEX_WAIT_PRIVATE, count, nullptr, nullptr, 0);
    }
}

// Both parts of down_write(); true if it had to wait.
bool enter_as_writer(rw_semaphore &sem)
{
    const bool queued_up = !queued_trylock(queued(sem.gate));
    if (queued_up)
        queued_lock(queued(sem.gate));
    const bool readers = __atomic_fetch_or(&sem.count, kWriter, __ATOMIC_ACQUIRE) != 0;
    if (readers)
        wait_for_readers(sem);
    return queued_up || readers;
}

}  // namespace

extern "C" {

void kmirror_init_rwsem(struct rw_semaphore *sem, const char *name, struct lock_class_key *key)
{
    *sem = {};
    sem->dep_map = {name, kmirror_lock_class(name, key)};
}

void down_read(struct rw_semaphore *sem)
{
    if (!lock_watched()) {
        if (!try_enter_as_reader(*sem))
            enter_through_gate(*sem);
        return;
    }
    LockSite site = site_of(*sem, true);
    site.caller = __builtin_return_address(0);
    watch_before(site, 0);
    const u64 start = watch_clock();
    const bool contended = !try_enter_as_reader(*sem);
    if (contended)
        enter_through_gate(*sem);
    watch_acquired(site, contended, start);
}

int down_read_trylock(struct rw_semaphore *sem)
{
    const bool entered = try_enter_as_reader(*sem);
    if (entered && lock_watched())
        watch_acquired(site_of(*sem, true), false, watch_clock());
    return entered;
}

void up_read(struct rw_semaphore *sem)
{
    if (lock_watched())
        watch_release(site_of(*sem, true), READ_ONCE(sem->count) >= kReader);
    // (W4) Pairs with (W3). The last reader in front of a writer wakes it; only the address is used after
    // that.
    if (__atomic_sub_fetch(&sem->count, kReader, __ATOMIC_RELEASE) == kWriter)
        syscall(SYS_futex, &sem->count, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

static void write_lock(struct rw_semaphore *sem, int subclass, const void *caller)
{
    if (!lock_watched()) {
        enter_as_writer(*sem);
        return;
    }
    LockSite site = site_of(*sem, false);
    site.caller = caller;
    watch_before(site, subclass);
    const u64 start = watch_clock();
    const bool contended = enter_as_writer(*sem);
    watch_acquired(site, contended, start);
}

void down_write_nested(struct rw_semaphore *sem, int subclass)
{
    write_lock(sem, subclass, __builtin_return_address(0));
}

void down_write(struct rw_semaphore *sem)
{
    write_lock(sem, 0, __builtin_return_address(0));
}

int down_write_trylock(struct rw_semaphore *sem)
{
    if (!queued_trylock(queued(sem->gate)))
        return 0;
    u32 nobody = 0;
    if (!__atomic_compare_exchange_n(&sem->count, &nobody, kWriter, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
        queued_unlock(queued(sem->gate));
        return 0;
    }
    if (lock_watched())
        watch_acquired(site_of(*sem, false), false, watch_clock());
    return 1;
}

void up_write(struct rw_semaphore *sem)
{
    if (lock_watched())
        watch_release(site_of(*sem, false), (READ_ONCE(sem->count) & kWriter) != 0);
    __atomic_fetch_and(&sem->count, ~kWriter, __ATOMIC_RELEASE); // (W2), pairs with (W1)
    queued_unlock(queued(sem->gate));
}

void downgrade_write(struct rw_semaphore *sem)
{
    if (lock_watched()) {
        watch_release(site_of(*sem, false), true);
        watch_acquired(site_of(*sem, true), false, watch_clock());
    }
    __atomic_store_n(&sem->count, kReader, __ATOMIC_RELEASE); // (W2); (RW2): nobody else changes it
    queued_unlock(queued(sem->gate));
}

int rwsem_is_locked(struct rw_semaphore *sem)
{
    return READ_ONCE(sem->count) != 0;
}

}  // extern "C"
