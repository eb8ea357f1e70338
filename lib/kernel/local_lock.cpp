// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/local_lock.cpp: the general way of a local lock; the protocol is drawn in <linux/local_lock.h>.
//
// Owns     nothing: locks lie in per-CPU data.
// Locking  a section counts in preempt_count, so cpu_down() waits for it and the thread stays on its CPU.
// Fails    local_trylock() answers false when another thread on the CPU, or the caller, holds the lock, and
//          when it is told to (fail_trylock).

#include <linux/bug.h>
#include <linux/fault-inject.h>
#include <linux/local_lock.h>

#include <unistd.h>

namespace {

// (B5) The previous holder's section is complete before ours. Pairs with (B4) in local_lock.h. The owner bit
// is looked at after `shared` is ours: once it is clear it stays so, because an owner that is not alone comes
// through here.
bool take_shared(local_trylock_t &mine)
{
    u32 free = 0;
    if (!__atomic_compare_exchange_n(&mine.shared, &free, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return false;
    if (!__atomic_load_n(&mine.owner, __ATOMIC_SEQ_CST))
        return true;
    __atomic_store_n(&mine.shared, 0, __ATOMIC_RELEASE);
    return false;
}

// The holder usually is a thread without a processor: spin a little, offer ours, then sleep.
void wait_round(unsigned int round)
{
    constexpr unsigned int spins = 64, yields = 64;
    if (round < spins)
        cpu_relax();
    else if (round < spins + yields)
        yield();
    else
        usleep(50);
}

bool try_once(struct local_lock *lock)
{
    preempt_disable();
    if (take_shared(*SHIFT_PERCPU_PTR(lock, kmirror_task.percpu_offset)))
        return true;
    preempt_enable();
    return false;
}

}  // namespace

extern "C" {

bool kmirror_local_trylock(struct local_lock *lock)
{
    return !should_fail_trylock() && try_once(lock);
}

void kmirror_local_lock(struct local_lock *lock)
{
    for (unsigned int round = 0; !try_once(lock); ++round)
        wait_round(round);
}

void kmirror_local_unlock(struct local_lock *lock)
{
    local_unlock(lock);
}

int kmirror_local_lock_held(const struct local_lock *lock)
{
    return !READ_ONCE(kmirror_lock_watch) || (km_local_lock_taken(lock) && kmirror_task.preempt_count != 0);
}

void kmirror_local_lock_assert_held(const struct local_lock *lock, const char *text)
{
    WARN(!kmirror_local_lock_held(lock), "local lock %s is not held\n", text);
}

}  // extern "C"
