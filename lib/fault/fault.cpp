// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/fault.cpp: which request fails.
//
//   should_failslab, should_fail_alloc_page ...  one branch on kmirror_fault_armed (<linux/fault-inject.h>)
//     the cache's budget, in mock mode           lib/fault/harness.cpp
//     this thread's nth failure                  counts every request that comes this far
//     the requests named one by one (at=)        log.cpp numbers them
//     libfiu's point of that name                only while one is enabled or watched: fiu_fail() takes a
//                                                lock, 57 to 313 ns even when nothing is on
//       the point's attributes                   attr.cpp, asked by libfiu
//
// Owns     the points, their counts, and each thread's countdown.
// Locking  `switch_lock`, taken by who enables and disables, before libfiu's own. Requests take none here.
// Fails    unknown names and impossible probabilities: -EINVAL, nothing changed.

#include <kmirror/failslab.h>
#include <kmirror/fault.h>
#include <kmirror/harness.h>
#include <linux/errno.h>
#include <linux/fault-inject.h>
#include <linux/mm.h>

#include "lib/fault/fault.h"

#if KMIRROR_FAULTS

#define FIU_ENABLE
#include <fiu-control.h>
#include <fiu.h>

#include "lib/fault/point.h"
#include "lib/kernel/cpu.h"
#include "lib/kernel/lock_watch.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

bool kmirror_fault_armed;

namespace kmirror::slub {
extern struct ::kmem_cache *kmem_cache;   // the cache of caches, see lib/slub/cache.h
}

namespace kmirror::fault {
namespace {

constinit Point failslab("failslab", kHasCache | kHasMark);
constinit Point fail_page_alloc("fail_page_alloc", kHasOrder);
constinit Point fail_percpu("fail_percpu");
constinit Point fail_trylock("fail_trylock");
constinit Point fail_cpu_offline("fail_cpu_offline");
constinit Point harness_budget("harness_budget", kHasCache | kNoAttributes);
constinit Point places[] = {
    // In the order of enum kmirror_fault_place.
    Point("fail_sheaf_alloc", kHasCache),
    Point("fail_sheaf_prefill", kHasCache),
    Point("fail_barn_alloc", kHasCache),
    Point("fail_alloc_bulk", kHasCache),
    Point("fail_cache_name", kHasCache),
    Point("fail_cache_alloc", kHasCache),
    Point("fail_cache_percpu", kHasCache),
    Point("fail_cache_random_seq", kHasCache),
    Point("fail_cache_nodes", kHasCache),
    Point("fail_cache_alias", kHasCache),
    Point("fail_mas_alloc_nodes", kHasCache),
};
static_assert(std::size(places) == NR_FAULT_PLACES);

constexpr auto points = [] {
    std::array<Point *, kPoints> all = {&failslab, &fail_page_alloc, &fail_percpu, &fail_trylock,
                                        &fail_cpu_offline};
    std::transform(std::begin(places), std::end(places), all.begin() + 5, [](Point &point) { return &point; });
    all.back() = &harness_budget;
    return all;
}();

int reasons;                    // under switch_lock
std::atomic<int> fiu_users;     // points enabled, plus one while watching
std::atomic<bool> watching;     // written under switch_lock

// A thread's own countdown.
struct Countdown {
    unsigned int nth;     // 0: not armed
    unsigned int then;    // a second one; 0: none
    unsigned int seen;
    bool from_then_on;
    bool fired;
};
__thread Countdown countdown;
__thread unsigned int paused;           // depth of kmirror_fault_pause()

// While libfiu is asked.
struct Question {
    const Request *request;
    long times;   // of the point, before this failure
};
__thread Question *asked;

// While anything is on no thread is told that it is alone on its CPU, because what such a thread does does not
// ask. Context: switch_lock held.
void arm_locked(int change)
{
    reasons += change;
    const bool before = __atomic_exchange_n(&kmirror_fault_armed, reasons != 0, __ATOMIC_RELAXED);
    if (before != (reasons != 0))
        kernel::cpu_forbid_bias(reasons != 0);
}

void use_fiu(int change)
{
    fiu_init(0);
    fiu_users.fetch_add(change, std::memory_order_relaxed);
    arm_locked(change);
}

// Asked by libfiu for a point enabled below.
int decide(const char *name, int *, void **, unsigned int *)
{
    Point *const point = find_point(name);
    return point != nullptr && asked != nullptr && attributes_fail(*point, *asked->request) &&
           take_one(*point, &asked->times);
}

// The thread's countdown reaches this request.
bool countdown_fires(const Point &point)
{
    Countdown &mine = countdown;
    if (mine.nth == 0 || !stack_allows(point))
        return false;
    ++mine.seen;
    const bool hit = mine.seen == mine.nth || mine.seen == mine.then ||
                     (mine.from_then_on && mine.seen >= mine.nth);
    mine.fired |= hit;
    return hit;
}

bool named_one_by_one(const Point &point, const Place &place)
{
    const Places *const at = point.at.load(std::memory_order_acquire);
    return at != nullptr && std::any_of(at->begin(), at->end(), [&](const Place &one) {
               return one.thread == place.thread && one.request == place.request;
           });
}

// Somebody else's libfiu setting may name one cache: failslab/maple_node.
bool fiu_names_cache(const Point &point, const Request &request)
{
    if (!watching.load(std::memory_order_relaxed) || *request.cache == '\0')
        return false;
    char name[64];
    std::snprintf(name, sizeof(name), "%s/%s", point.name, request.cache);
    return fiu_fail(name) != 0;
}

bool fiu_says_so(const Point &point, Question &question)
{
    if (fiu_users.load(std::memory_order_relaxed) == 0)
        return false;
    asked = &question;
    const bool fails = fiu_fail(point.name) != 0 || fiu_names_cache(point, *question.request);
    asked = nullptr;
    return fails;
}

// Taking the stack, and printing, may allocate and lock.
void note(Point &point, const Place &place, const Request &request, unsigned int verbose, long times)
{
    point.count.fetch_add(1, std::memory_order_relaxed);
    ++paused;
    log_injection(point, place, request, verbose, times);
    --paused;
}

bool point_fires(Point &point, const Request &request)
{
    if ((request.gfp & __GFP_NOFAIL) || paused != 0 || asked != nullptr)
        return false;
    const Place place = count_request(point);
    Question question = {&request, point.times.load(std::memory_order_relaxed)};
    const bool by_nth = request.is_allocation && countdown_fires(point);
    if (!by_nth && !named_one_by_one(point, place) && !fiu_says_so(point, question))
        return false;
    if (by_nth)
        take_one(point, &question.times);
    const bool quiet = by_nth || (request.gfp & __GFP_NOWARN);
    note(point, place, request, quiet ? 0 : point.verbose.load(), question.times);
    return true;
}

bool count_down(unsigned int nth, unsigned int then, bool from_then_on)
{
    const Countdown before = countdown;
    if ((before.nth != 0) != (nth != 0))
        arm(nth != 0 ? 1 : -1);
    countdown = {nth, then, 0, from_then_on, false};
    return before.fired;
}

// A program started by fiu-run is asked to listen.
[[gnu::constructor]] void watch_for_fiu_run()
{
    if (std::getenv("FIU_CTRL_FIFO") != nullptr || std::getenv("FIU_ENABLE") != nullptr)
        kmirror_fault_watch(true);
}

}  // namespace

std::span<Point *const> all_points()
{
    return points;
}

Point *find_point(const char *name)
{
    for (Point *point : points)
        if (std::strcmp(point->name, name) == 0)
            return point;
    return nullptr;
}

std::mutex &switch_lock()
{
    static std::mutex lock;
    return lock;
}

void arm(int change)
{
    const std::lock_guard guard(switch_lock());
    arm_locked(change);
}

void point_changed(Point &point)
{
    const bool wanted = point.threshold.load() != 0 || point.at.load() != nullptr;
    if (point.enabled.exchange(wanted, std::memory_order_relaxed) == wanted)
        return;
    if (&point == &fail_trylock)
        kernel::route_trylocks(wanted);
    use_fiu(wanted ? 1 : -1);
    if (wanted)
        fiu_enable_external(point.name, 1, nullptr, 0, decide);
    else
        fiu_disable(point.name);
}

}  // namespace kmirror::fault

using namespace kmirror::fault;

extern "C" bool kmirror_should_failslab(struct kmem_cache *s, gfp_t gfpflags)
{
    // As in the kernel: without this cache the allocator could not even begin.
    if (s != nullptr && s == kmirror::slub::kmem_cache)
        return false;
    Request request;
    request.gfp = gfpflags;
    if (s != nullptr)
        request.cache = kmirror_cache_identity(s, &request.size, &request.cache_marked);
    if (harness_refuses(s, gfpflags)) {
        note(harness_budget, count_request(harness_budget), request, 0, 0);
        return true;
    }
    return point_fires(failslab, request);
}

extern "C" bool kmirror_should_failslab_of(const char *cache, size_t size, gfp_t gfpflags)
{
    Request request;
    request.gfp = gfpflags;
    request.cache = cache;
    request.size = size;
    return point_fires(failslab, request);
}

extern "C" bool kmirror_should_fail_alloc_page(gfp_t gfp_mask, unsigned int order)
{
    Request request;
    request.gfp = gfp_mask;
    request.order = order;
    request.size = PAGE_SIZE << order;
    return point_fires(fail_page_alloc, request);
}

extern "C" bool kmirror_should_fail_percpu(size_t size)
{
    Request request;
    request.size = size;
    return point_fires(fail_percpu, request);
}

extern "C" bool kmirror_should_fail_trylock(void)
{
    Request request;
    request.is_allocation = false;
    return point_fires(fail_trylock, request);
}

extern "C" bool kmirror_should_fail_cpu_offline(void)
{
    Request request;
    request.is_allocation = false;
    return point_fires(fail_cpu_offline, request);
}

extern "C" bool kmirror_should_fail_at(enum kmirror_fault_place place, const char *cache, gfp_t gfp,
                                       size_t size)
{
    Request request;
    request.gfp = gfp;
    request.size = size;
    request.cache = cache;
    return point_fires(places[place], request);
}

extern "C" size_t kmirror_fail_bulk_after(const char *cache, gfp_t gfp, size_t count)
{
    size_t granted = 0;
    while (granted < count && !kmirror_should_fail_at(FAIL_ALLOC_BULK, cache, gfp, 1))
        ++granted;
    return granted;
}

extern "C" int kmirror_fault_enable(const char *name, double probability, unsigned int flags)
{
    if (!(probability > 0 && probability <= 1) || (flags & ~KMIRROR_FAULT_ONCE))
        return -EINVAL;
    struct kmirror_fault_attr attr = {};
    attr.probability = probability * 100;
    attr.interval = 1;
    attr.times = flags & KMIRROR_FAULT_ONCE ? 1 : -1;
    return kmirror_fault_set(name, &attr);
}

extern "C" int kmirror_fault_disable(const char *name)
{
    Point *const point = find_point(name);
    if (point == nullptr)
        return -EINVAL;
    const std::lock_guard guard(switch_lock());
    point->threshold.store(0);
    point->at.store(nullptr);
    point_changed(*point);
    return 0;
}

extern "C" unsigned long kmirror_fault_count(const char *name)
{
    const Point *const point = find_point(name);
    return point == nullptr ? 0 : point->count.load(std::memory_order_relaxed);
}

extern "C" void kmirror_fault_watch(bool on)
{
    const std::lock_guard guard(switch_lock());
    if (on)
        asked_from_outside();
    if (watching.exchange(on) != on)
        use_fiu(on ? 1 : -1);
}

extern "C" bool kmirror_fail_nth(unsigned int nth)
{
    return count_down(nth, 0, false);
}

extern "C" bool kmirror_fail_from_nth(unsigned int nth)
{
    return count_down(nth, 0, true);
}

extern "C" bool kmirror_fail_pair(unsigned int nth, unsigned int then)
{
    return count_down(nth, then, false);
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

extern "C" const char *kmirror_fault_point(unsigned int)
{
    return nullptr;
}

extern "C" const char *kmirror_fault_attribute(unsigned int)
{
    return nullptr;
}

extern "C" bool kmirror_fault_has(const char *, const char *)
{
    return false;
}

extern "C" int kmirror_fault_get(const char *, struct kmirror_fault_attr *)
{
    return -EOPNOTSUPP;
}

extern "C" int kmirror_fault_set(const char *, const struct kmirror_fault_attr *)
{
    return -EOPNOTSUPP;
}

extern "C" int kmirror_fault_configure(const char *, char *error, size_t size)
{
    if (error != nullptr)
        snprintf(error, size, "this build has FAULTS=0");
    return -EOPNOTSUPP;
}

extern "C" int kmirror_fault_export(const char *)
{
    return -EOPNOTSUPP;
}

extern "C" int kmirror_fault_import(const char *, char *error, size_t size)
{
    return kmirror_fault_configure("", error, size);
}

extern "C" bool kmirror_make_it_fail(bool)
{
    return false;
}

extern "C" unsigned int kmirror_fault_log(struct kmirror_injection *, unsigned int)
{
    return 0;
}

extern "C" unsigned long kmirror_fault_log_total(void)
{
    return 0;
}

extern "C" void kmirror_fault_log_print(FILE *)
{
}

extern "C" void kmirror_fault_log_write(int, bool)
{
}

extern "C" void kmirror_fault_log_command(const char *)
{
}

extern "C" void kmirror_fault_log_clear(void)
{
}

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

extern "C" bool kmirror_fail_pair(unsigned int, unsigned int)
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
