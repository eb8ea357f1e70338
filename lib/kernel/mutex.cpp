// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/mutex.cpp: struct mutex, a queued lock with a name. Owns nothing, fails never.

#include "lib/kernel/lock_watch.h"
#include "lib/kernel/spinlock.h"

#include <linux/mutex.h>

using namespace kmirror::kernel;

namespace {

LockSite site_of(mutex &lock)
{
    return {&lock, class_of_map(lock.dep_map), &lock.dep_map};
}

}  // namespace

extern "C" {

void kmirror_mutex_init(struct mutex *lock, const char *name, struct lock_class_key *key)
{
    *lock = {};
    lock->dep_map = {name, kmirror_lock_class(name, key)};
}

static void lock_mutex(struct mutex *lock, unsigned int subclass, const void *caller)
{
    if (!lock_watched()) {
        queued_lock(queued(lock->queue));
        return;
    }
    LockSite site = site_of(*lock);
    site.caller = caller;
    watch_before(site, static_cast<int>(subclass));
    const u64 start = watch_clock();
    const bool contended = !queued_trylock(queued(lock->queue));
    if (contended)
        queued_lock(queued(lock->queue));
    watch_acquired(site, contended, start);
}

void mutex_lock_nested(struct mutex *lock, unsigned int subclass)
{
    lock_mutex(lock, subclass, __builtin_return_address(0));
}

void mutex_lock(struct mutex *lock)
{
    lock_mutex(lock, 0, __builtin_return_address(0));
}

int mutex_trylock(struct mutex *lock)
{
    const bool taken = queued_trylock(queued(lock->queue));
    if (taken && lock_watched())
        watch_acquired(site_of(*lock), false, watch_clock());
    return taken;
}

void mutex_unlock(struct mutex *lock)
{
    if (lock_watched())
        watch_release(site_of(*lock), mutex_is_locked(lock));
    queued_unlock(queued(lock->queue));
}

bool mutex_is_locked(struct mutex *lock)
{
    return raw_spin_is_locked(&lock->queue);
}

}  // extern "C"
