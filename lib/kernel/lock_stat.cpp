// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/lock_stat.cpp: counts and times per lock class, and who had to wait.
//
// Owns     the counters, kStripes sets of them so that threads on different CPUs do not share lines.
// Bounds   kMaxClasses classes; a lock beyond them is counted under class 0, "unclassified".
// Locking  none: relaxed atomics, read one by one.
// Fails    never.

#include "lib/kernel/lock_watch.h"

#include <kmirror/lockstat.h>

#include <linux/cache.h>
#include <linux/sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>

namespace kmirror::kernel {
namespace {

constexpr unsigned int kStripes = 8;

struct alignas(L1_CACHE_BYTES) Counters {
    std::atomic<u64> acquisitions, contended;
    std::atomic<u64> wait_ns_total, wait_ns_max;
    std::atomic<u64> hold_ns_total, hold_ns_max;
};

Counters counters[kMaxClasses][kStripes];

// (L1) A place belongs to the first caller that claims it; only its count changes afterwards, until a reset.
struct Point {
    std::atomic<unsigned long> ip;
    std::atomic<u64> contended;
};

Point points[kMaxClasses][KMIRROR_LOCK_POINTS];

Counters &mine(u16 class_id)
{
    return counters[class_id][static_cast<unsigned int>(kmirror_task.cpu) % kStripes];
}

void add(std::atomic<u64> &to, u64 value)
{
    to.fetch_add(value, std::memory_order_relaxed);
}

void raise_to(std::atomic<u64> &maximum, u64 value)
{
    u64 known = maximum.load(std::memory_order_relaxed);
    while (known < value && !maximum.compare_exchange_weak(known, value, std::memory_order_relaxed))
        ;
}

u64 get(const std::atomic<u64> &from)
{
    return from.load(std::memory_order_relaxed);
}

// Callers beyond the places are counted by their class alone.
void count_caller(u16 class_id, const void *caller)
{
    const auto ip = reinterpret_cast<unsigned long>(caller);
    for (Point &point : points[class_id]) {
        unsigned long owner = point.ip.load(std::memory_order_relaxed);
        if (owner == 0 && point.ip.compare_exchange_strong(owner, ip, std::memory_order_relaxed))
            owner = ip;
        if (owner != ip)
            continue;
        add(point.contended, 1);
        return;
    }
}

kmirror_lock_stat sum(u16 class_id)
{
    kmirror_lock_stat stat = {};
    stat.name = class_name(class_id);
    for (const Counters &stripe : counters[class_id]) {
        stat.acquisitions += get(stripe.acquisitions);
        stat.contended += get(stripe.contended);
        stat.wait_ns_total += get(stripe.wait_ns_total);
        stat.hold_ns_total += get(stripe.hold_ns_total);
        stat.wait_ns_max = std::max<u64>(stat.wait_ns_max, get(stripe.wait_ns_max));
        stat.hold_ns_max = std::max<u64>(stat.hold_ns_max, get(stripe.hold_ns_max));
    }
    for (unsigned int i = 0; i < KMIRROR_LOCK_POINTS; ++i)
        stat.points[i] = {points[class_id][i].ip.load(std::memory_order_relaxed), get(points[class_id][i].contended)};
    return stat;
}

void clear(Counters &stripe)
{
    for (auto *counter : {&stripe.acquisitions, &stripe.contended, &stripe.wait_ns_total, &stripe.wait_ns_max,
                          &stripe.hold_ns_total, &stripe.hold_ns_max})
        counter->store(0, std::memory_order_relaxed);
}

}  // namespace

u64 watch_clock()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<u64>(now.tv_sec) * 1000000000ULL + static_cast<u64>(now.tv_nsec);
}

void stat_acquired(const LockSite &site, bool contended, u64 wait_ns)
{
    Counters &stripe = mine(site.class_id);
    add(stripe.acquisitions, 1);
    if (!contended)
        return;
    add(stripe.contended, 1);
    count_caller(site.class_id, site.caller);
    add(stripe.wait_ns_total, wait_ns);
    raise_to(stripe.wait_ns_max, wait_ns);
}

void stat_released(u16 class_id, u64 hold_ns)
{
    Counters &stripe = mine(class_id);
    add(stripe.hold_ns_total, hold_ns);
    raise_to(stripe.hold_ns_max, hold_ns);
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

void kmirror_lockstat_reset(void)
{
    for (auto &stripes : counters)
        for (Counters &stripe : stripes)
            clear(stripe);
    for (auto &places : points)
        for (Point &point : places) {
            point.ip.store(0, std::memory_order_relaxed);
            point.contended.store(0, std::memory_order_relaxed);
        }
}

size_t kmirror_lockstat_snapshot(struct kmirror_lock_stat *stats, size_t room)
{
    size_t used = 0;
    for (unsigned int id = 0; id < class_count(); ++id) {
        const kmirror_lock_stat stat = sum(static_cast<u16>(id));
        if (stat.acquisitions == 0)
            continue;
        if (used < room)
            stats[used] = stat;
        ++used;
    }
    return used;
}

bool kmirror_lockstat_get(const char *name, struct kmirror_lock_stat *stat)
{
    for (unsigned int id = 0; id < class_count(); ++id) {
        if (std::strcmp(class_name(static_cast<u16>(id)), name) != 0)
            continue;
        *stat = sum(static_cast<u16>(id));
        return stat->acquisitions != 0;
    }
    return false;
}

}  // extern "C"
