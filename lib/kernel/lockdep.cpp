// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/lockdep.cpp: the locks each thread holds, and the one flag that turns watching on.
//
// Owns     kmirror_lock_watch and one list of held locks per thread, made with the thread's first watched
//          lock.
// Bounds   kDepth locks at a time; what is taken beyond is not recorded, said once.
// Locking  a list is its thread's alone. The flag is read relaxed: a thread that is late counts a little
//          later.
// Fails    never. Taking a lock twice is a panic when checks are on: going on would hang.
//
// (H1) entries of a list from before the last switch-on are void: unlocks were not seen meanwhile

#include "lib/kernel/cpu.h"
#include "lib/kernel/lock_watch.h"
#include "lib/kernel/setting.h"

#include <kmirror/lockstat.h>

#include <linux/bug.h>
#include <linux/sched.h>

#include <atomic>
#include <cstdlib>
#include <pthread.h>

unsigned int kmirror_lock_watch;

struct kmirror_held_locks {
    static constexpr int kDepth = 48;
    struct Held {
        const void *lock;
        const lockdep_map *map;
        u64 since;
        u16 class_id;
        bool shared;
    };

    unsigned int epoch; // (H1)
    int depth;
    Held held[kDepth];
};

namespace kmirror::kernel {
namespace {

using HeldLocks = kmirror_held_locks;

std::atomic<unsigned int> epoch;
pthread_key_t list_key;

void free_list(void *list)
{
    kmirror_task.held_locks = nullptr;
    std::free(list);
}

// The caller's list, or null: none yet, or from before the last switch-on.
HeldLocks *current_list()
{
    HeldLocks *list = kmirror_task.held_locks;
    return list && list->epoch == epoch.load(std::memory_order_relaxed) ? list : nullptr;
}

HeldLocks *make_list()
{
    HeldLocks *&list = kmirror_task.held_locks;
    if (!list) {
        list = static_cast<HeldLocks *>(std::calloc(1, sizeof(HeldLocks)));
        if (!list)
            return nullptr;
        pthread_setspecific(list_key, list);
    }
    if (list->epoch != epoch.load(std::memory_order_relaxed)) {
        list->epoch = epoch.load(std::memory_order_relaxed);
        list->depth = 0;
    }
    return list;
}

// The newest entry of a lock, or null.
HeldLocks::Held *find(HeldLocks *list, const void *lock)
{
    for (int index = list ? list->depth - 1 : -1; index >= 0; --index)
        if (list->held[index].lock == lock)
            return &list->held[index];
    return nullptr;
}

void remove(HeldLocks &list, HeldLocks::Held *entry)
{
    --list.depth;
    for (HeldLocks::Held *end = list.held + list.depth; entry < end; ++entry)
        *entry = entry[1];
}

void check_recursion(const LockSite &site)
{
    const HeldLocks::Held *same = find(current_list(), site.lock);
    if (!same)
        return;
    count_violation();
    if (!same->shared || !site.shared)
        panic("%s is taken twice by one thread, which would wait for itself\n", class_name(site.class_id));
    WARN(true, "%s is read twice by one thread; a writer between the two would stop both\n",
         class_name(site.class_id));
}

void set_watch(Watch what, bool on)
{
    const unsigned int known = __atomic_load_n(&kmirror_lock_watch, __ATOMIC_RELAXED);
    if (on && known == 0)
        epoch.fetch_add(1, std::memory_order_relaxed);
    __atomic_store_n(&kmirror_lock_watch, on ? known | what : known & ~what, __ATOMIC_RELAXED);
}

[[gnu::constructor(103)]] void start()
{
    pthread_key_create(&list_key, free_list);
    if (setting_u64("KMIRROR_LOCKSTAT", 0, 1, 0) != 0)
        set_watch(kWatchStatistics, true);
    if (setting_u64("KMIRROR_LOCKDEP", 0, 1, 0) != 0)
        set_watch(kWatchOrder, true);
}

}  // namespace

void route_trylocks(bool on)
{
    set_watch(kWatchFaults, on);
    cpu_forbid_bias(on);
}

namespace {

void print_held()
{
    const HeldLocks *list = current_list();
    for (int index = 0; list && index < list->depth; ++index)
        pr_warn("  held: %s %p\n", class_name(list->held[index].class_id), list->held[index].lock);
}

}  // namespace

void watch_before(const LockSite &site, int subclass)
{
    if (!lock_watched_for(kWatchOrder))
        return;
    check_recursion(site);
    const HeldLocks *list = current_list();
    for (int index = 0; list && index < list->depth; ++index)
        order_taken(list->held[index].class_id, site.class_id, subclass);
}

void watch_acquired(const LockSite &site, bool contended, u64 waiting_since)
{
    const u64 now = watch_clock();
    if (lock_watched_for(kWatchStatistics))
        stat_acquired(site, contended, now - waiting_since);
    HeldLocks *list = make_list();
    if (!list || WARN_ONCE(list->depth == HeldLocks::kDepth, "more than %d locks held\n", HeldLocks::kDepth))
        return;
    if (list->depth < HeldLocks::kDepth)
        list->held[list->depth++] = {site.lock, site.map, now, site.class_id, site.shared};
}

void watch_release(const LockSite &site, bool is_taken)
{
    HeldLocks *list = current_list();
    HeldLocks::Held *entry = find(list, site.lock);
    if (!entry) {
        if (lock_watched_for(kWatchOrder) && !is_taken) {
            count_violation();
            WARN(true, "%s is given back but nobody has it\n", class_name(site.class_id));
        }
        return;
    }
    if (lock_watched_for(kWatchStatistics))
        stat_released(entry->class_id, watch_clock() - entry->since);
    remove(*list, entry);
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

int kmirror_lock_held(const void *lock)
{
    return !lock_watched_for(kWatchOrder) || find(current_list(), lock) != nullptr;
}

void kmirror_lock_assert_held(const void *lock, const char *text)
{
    if (WARN(!kmirror_lock_held(lock), "lock %s is not held\n", text))
        print_held();
}

void kmirror_lock_assert_not_held(const void *lock, const char *text)
{
    if (!lock_watched_for(kWatchOrder))
        return;
    if (WARN(find(current_list(), lock) != nullptr, "lock %s is held\n", text))
        print_held();
}

int lock_is_held(const struct lockdep_map *map)
{
    if (!lock_watched_for(kWatchOrder))
        return 1;
    const kmirror_held_locks *list = current_list();
    for (int index = 0; list && index < list->depth; ++index)
        if (list->held[index].map == map)
            return 1;
    return 0;
}

int kmirror_lock_depth(void)
{
    const kmirror_held_locks *list = current_list();
    return lock_watched() && list ? list->depth : 0;
}

void kmirror_lockstat_enable(bool on)
{
    set_watch(kWatchStatistics, on);
}

bool kmirror_lockstat_enabled(void)
{
    return lock_watched_for(kWatchStatistics);
}

void kmirror_lockdep_enable(bool on)
{
    set_watch(kWatchOrder, on);
}

bool kmirror_lockdep_enabled(void)
{
    return lock_watched_for(kWatchOrder);
}

}  // extern "C"
