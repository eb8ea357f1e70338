// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/lock_watch.h: what every lock tells while statistics or checks are on.
//
//   watch_before()     before waiting: recursion and order, while the report can still be printed
//   watch_acquired()   the lock is ours: entered in the thread's held locks, counted
//   watch_release()    still ours: hold time, taken off the list
//
// With both off a lock reads `kmirror_lock_watch` and calls none of these.
#pragma once

#include <linux/lockdep.h>

namespace kmirror::kernel {

enum Watch : unsigned int { kWatchStatistics = 1, kWatchOrder = 2, kWatchFaults = 4 };

struct LockSite {
    const void *lock; // what lockdep_is_held() is asked about
    u16 class_id;
    const lockdep_map *map = nullptr; // what lock_is_held() is asked about, if the lock has one
    bool shared = false;              // held by readers
    const void *caller = nullptr;     // who asks for it
};

inline bool lock_watched()
{
    return __atomic_load_n(&kmirror_lock_watch, __ATOMIC_RELAXED) != 0;
}

inline bool lock_watched_for(Watch what)
{
    return (__atomic_load_n(&kmirror_lock_watch, __ATOMIC_RELAXED) & what) != 0;
}

// While on, every try for a lock asks should_fail_trylock(): spinlocks leave their inlined way, and no thread
// is alone on its CPU for local locks. Any context that may block.
void route_trylocks(bool on);

u64 watch_clock();
void watch_before(const LockSite &site, int subclass);
void watch_acquired(const LockSite &site, bool contended, u64 waiting_since);
void watch_release(const LockSite &site, bool is_taken);

// lock_stat.cpp
void stat_acquired(const LockSite &site, bool contended, u64 wait_ns);
void stat_released(u16 class_id, u64 hold_ns);

// lock_class.cpp
inline constexpr unsigned int kMaxClasses = 256;
const char *class_name(u16 class_id);
unsigned int class_count();

// lock_order.cpp: class `inner` is about to be taken with `outer` held. Reports what contradicts earlier
// orders.
void order_taken(u16 outer, u16 inner, int subclass);
void count_violation();

// The class of a lock with a map, entered with the first watched operation of a static lock.
u16 class_of_map(lockdep_map &map);

}  // namespace kmirror::kernel
