// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/fault.cpp: which request fails.
//
//   should_failslab, should_fail_alloc_page     one branch on kmirror_fault_armed (<linux/fault-inject.h>)
//     the cache's budget, in mock mode          lib/fault/harness.cpp
//     this thread's nth failure                 counts every request that comes this far
//     libfiu's point of that name               only while one is enabled or watched: fiu_fail() takes a lock
//                                               lock, 57 to 313 ns even when nothing is on
//
// Owns     the points, their counts, and each thread's countdown.
// Locking  `switch_lock`, taken by who enables and disables, before libfiu's own. Requests take none here.
// Fails    unknown names and impossible probabilities: -EINVAL, nothing changed.

#include <kmirror/fault.h>
#include <linux/errno.h>
#include <linux/fault-inject.h>
#include <linux/random.h>

#include "lib/fault/fault.h"

#if KMIRROR_FAULTS

#define FIU_ENABLE
#include <fiu-control.h>
#include <fiu.h>

#include <atomic>
#include <cstring>
#include <mutex>

bool kmirror_fault_armed;

namespace kmirror::slub {
extern struct ::kmem_cache *kmem_cache;   // the cache of caches, see lib/slub/cache.h
}

namespace kmirror::fault {
namespace {

struct Point {
    const char *name;
    std::atomic<bool> enabled{false};
    std::atomic<u64> threshold{0};       // fails when 32 random bits are below
    std::atomic<unsigned long> count{0};

    explicit Point(const char *point_name) : name(point_name) {}
};

Point failslab("failslab");
Point fail_page_alloc("fail_page_alloc");
Point *const points[] = {&failslab, &fail_page_alloc};

std::mutex switch_lock;
int reasons;                    // under switch_lock
std::atomic<int> fiu_users;     // points enabled, plus one while watching
bool watching;                  // under switch_lock

// A thread's own countdown.
struct Countdown {
    unsigned int nth;     // 0: not armed
    unsigned int seen;
    bool from_then_on;
    bool fired;
};
__thread Countdown countdown;
__thread unsigned int paused;   // depth of kmirror_fault_pause()

Point *find_point(const char *name)
{
    for (Point *point : points)
        if (std::strcmp(point->name, name) == 0)
            return point;
    return nullptr;
}

// Context: switch_lock held.
void arm_locked(int change)
{
    reasons += change;
    __atomic_store_n(&kmirror_fault_armed, reasons != 0, __ATOMIC_RELAXED);
}

// Asked by libfiu for a point enabled below. Randomness is the thread's own, so that KMIRROR_SEED repeats it.
int decide(const char *name, int *, void **, unsigned int *)
{
    const Point *const point = find_point(name);
    return point != nullptr && get_random_u32() < point->threshold.load(std::memory_order_relaxed);
}

// The thread's countdown reaches this request.
bool countdown_fires()
{
    Countdown &mine = countdown;
    if (mine.nth == 0)
        return false;
    ++mine.seen;
    const bool hit = mine.from_then_on ? mine.seen >= mine.nth : mine.seen == mine.nth;
    mine.fired |= hit;
    return hit;
}

bool point_fires(Point &point, gfp_t gfp)
{
    if ((gfp & __GFP_NOFAIL) || paused != 0)
        return false;
    const bool fails = countdown_fires() ||
                       (fiu_users.load(std::memory_order_relaxed) != 0 && fiu_fail(point.name) != 0);
    if (fails)
        point.count.fetch_add(1, std::memory_order_relaxed);
    return fails;
}

bool count_down(unsigned int nth, bool from_then_on)
{
    const Countdown before = countdown;
    if ((before.nth != 0) != (nth != 0))
        arm(nth != 0 ? 1 : -1);
    countdown = {nth, 0, from_then_on, false};
    return before.fired;
}

void use_fiu(int change)
{
    fiu_init(0);
    fiu_users.fetch_add(change, std::memory_order_relaxed);
    arm_locked(change);
}

}  // namespace

void arm(int change)
{
    const std::lock_guard guard(switch_lock);
    arm_locked(change);
}

}  // namespace kmirror::fault

using namespace kmirror::fault;

extern "C" bool kmirror_should_failslab(struct kmem_cache *s, gfp_t gfpflags)
{
    // As in the kernel: without this cache the allocator could not even begin.
    if (s != nullptr && s == kmirror::slub::kmem_cache)
        return false;
    return harness_refuses(s, gfpflags) || point_fires(failslab, gfpflags);
}

extern "C" bool kmirror_should_fail_alloc_page(gfp_t gfp_mask, unsigned int order)
{
    (void)order;
    return point_fires(fail_page_alloc, gfp_mask);
}

extern "C" int kmirror_fault_enable(const char *name, double probability, unsigned int flags)
{
    Point *const point = find_point(name);
    if (point == nullptr || !(probability > 0 && probability <= 1) || (flags & ~KMIRROR_FAULT_ONCE))
        return -EINVAL;
    const std::lock_guard guard(switch_lock);
    if (!point->enabled.exchange(true, std::memory_order_relaxed))
        use_fiu(1);
    point->threshold.store(static_cast<u64>(probability * 4294967296.0), std::memory_order_relaxed);
    const unsigned int fiu_flags = flags & KMIRROR_FAULT_ONCE ? FIU_ONETIME : 0;
    return fiu_enable_external(name, 1, nullptr, fiu_flags, decide) == 0 ? 0 : -EINVAL;
}

extern "C" int kmirror_fault_disable(const char *name)
{
    Point *const point = find_point(name);
    if (point == nullptr)
        return -EINVAL;
    const std::lock_guard guard(switch_lock);
    if (point->enabled.exchange(false, std::memory_order_relaxed)) {
        use_fiu(-1);
        fiu_disable(name);
    }
    return 0;
}

extern "C" unsigned long kmirror_fault_count(const char *name)
{
    const Point *const point = find_point(name);
    return point == nullptr ? 0 : point->count.load(std::memory_order_relaxed);
}

extern "C" void kmirror_fault_watch(bool on)
{
    const std::lock_guard guard(switch_lock);
    if (on == watching)
        return;
    watching = on;
    use_fiu(on ? 1 : -1);
}

extern "C" bool kmirror_fail_nth(unsigned int nth)
{
    return count_down(nth, false);
}

extern "C" bool kmirror_fail_from_nth(unsigned int nth)
{
    return count_down(nth, true);
}

extern "C" unsigned int kmirror_fail_seen(void)
{
    return countdown.seen;
}

extern "C" void kmirror_fault_pause(void)
{
    ++paused;
}

extern "C" void kmirror_fault_resume(void)
{
    --paused;
}

#else

extern "C" int kmirror_fault_enable(const char *, double, unsigned int)
{
    return -EOPNOTSUPP;
}

extern "C" int kmirror_fault_disable(const char *)
{
    return -EOPNOTSUPP;
}

extern "C" unsigned long kmirror_fault_count(const char *)
{
    return 0;
}

extern "C" void kmirror_fault_watch(bool)
{
}

extern "C" bool kmirror_fail_nth(unsigned int)
{
    return false;
}

extern "C" bool kmirror_fail_from_nth(unsigned int)
{
    return false;
}

extern "C" unsigned int kmirror_fail_seen(void)
{
    return 0;
}

extern "C" void kmirror_fault_pause(void)
{
}

extern "C" void kmirror_fault_resume(void)
{
}

#endif
