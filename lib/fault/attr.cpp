// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/attr.cpp: the attributes of the kernel's fault injection, for one request.
//
// Owns     each thread's mark for task_filter.
// Locking  none: counters are atomics. Requests of several threads may use up the last of `times` or `space`
//          at once; each failure takes its own unit.
// Fails    never; a stack that cannot be walked has no function on it.

#include <kmirror/config.h>

#if KMIRROR_FAULTS

#include "lib/fault/point.h"

#include <linux/ktime.h>
#include <linux/random.h>

#include "lib/kernel/stacktrace.h"

#include <algorithm>
#include <fnmatch.h>

namespace kmirror::fault {
namespace {

__thread bool marked;

// Space is given out, not failed, until the request is larger than what is left.
bool space_covers(std::atomic<long> &left, size_t size)
{
    long now = left.load(std::memory_order_relaxed);
    const auto wanted = static_cast<long>(size);
    while (now > wanted)
        if (left.compare_exchange_weak(now, now - wanted, std::memory_order_relaxed))
            return true;
    return false;
}

bool its_turn(Point &point)
{
    const unsigned long interval = point.interval.load(std::memory_order_relaxed);
    return interval <= 1 || (point.interval_seen.fetch_add(1, std::memory_order_relaxed) + 1) % interval == 0;
}

bool on_stack(std::span<void *const> frames, const Range &function)
{
    return std::any_of(frames.begin(), frames.end(), [&](void *frame) {
        const auto call = reinterpret_cast<std::uintptr_t>(frame) - 1;
        return call >= function.begin && call < function.end;
    });
}

// Whether this kind of request is meant at all.
bool concerns(const Point &point, const Request &request)
{
    constexpr auto relaxed = std::memory_order_relaxed;
    if (point.ignore_gfp_wait.load(relaxed) && (request.gfp & __GFP_DIRECT_RECLAIM))
        return false;
    if ((point.has & kHasOrder) && request.order < point.min_order.load(relaxed))
        return false;
    if (point.ignore_gfp_highmem.load(relaxed) && (request.gfp & __GFP_HIGHMEM))
        return false;
    if (point.cache_filter.load(relaxed) && !request.cache_marked)
        return false;
    const char *const cache = point.cache.load(relaxed);
    return *cache == '\0' || fnmatch(cache, request.cache, 0) == 0;
}

}  // namespace

bool attributes_fail(Point &point, const Request &request)
{
    constexpr auto relaxed = std::memory_order_relaxed;
    if (!concerns(point, request))
        return false;
    const u64 threshold = point.threshold.load(relaxed);
    if (threshold == 0 || (point.task_filter.load(relaxed) && !marked))
        return false;
    if (point.times.load(relaxed) == 0 || !stack_allows(point))
        return false;
    if (space_covers(point.space, request.size) || !its_turn(point))
        return false;
    return get_random_u32() < threshold;
}

// A rejected function on the stack spares the request, a required one must be there.
bool stack_allows(const Point &point)
{
    const Range *const require = point.require.load(std::memory_order_acquire);
    const Range *const reject = point.reject.load(std::memory_order_acquire);
    if (require == nullptr && reject == nullptr)
        return true;
    void *all[kernel::kStackDepth];
    const unsigned int depth = point.depth.load(std::memory_order_relaxed);
    const unsigned int found = kernel::stack_save(std::span(all).first(depth), nullptr);
    const std::span<void *const> frames(all, found);
    if (reject != nullptr && on_stack(frames, *reject))
        return false;
    return require == nullptr || on_stack(frames, *require);
}

bool take_one(Point &point, long *before)
{
    long now = point.times.load(std::memory_order_relaxed);
    while (now > 0 && !point.times.compare_exchange_weak(now, now - 1, std::memory_order_relaxed))
        ;
    *before = now;
    return now != 0;   // -1 has no limit
}

bool message_allowed(Point &point)
{
    constexpr auto relaxed = std::memory_order_relaxed;
    const u64 stretch = u64{point.limit_ms.load(relaxed)} * 1000000;
    if (stretch == 0)
        return true;
    const u64 now = ktime_get_ns();
    u64 began = point.limit_began.load(relaxed);
    if ((began == 0 || now - began > stretch) && point.limit_began.compare_exchange_strong(began, now, relaxed))
        point.limit_used.store(0, relaxed);
    return point.limit_used.fetch_add(1, relaxed) < point.limit_burst.load(relaxed);
}

}  // namespace kmirror::fault

extern "C" bool kmirror_make_it_fail(bool yes)
{
    const bool before = kmirror::fault::marked;
    kmirror::fault::marked = yes;
    return before;
}

#endif
