// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/point.h: a fault point, its attributes, and one request that reaches it.
//
// Owns     nothing; the points are in fault.cpp.
// Locking  attributes are single words, written under `switch_lock` of fault.cpp and read by requests without
//          it: a request during a change may see some of the new ones. Texts and lists that a request looks
//          at are never changed or freed, only replaced (config.cpp).
#pragma once

#include <kmirror/fault.h>
#include <linux/fault-inject.h>
#include <linux/gfp_types.h>
#include <linux/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

struct kmem_cache;

namespace kmirror::fault {

// Addresses of one function.
struct Range {
    std::uintptr_t begin, end;
};

// One request to fail exactly.
struct Place {
    unsigned int thread;
    unsigned long request;
};
using Places = std::vector<Place>;

struct Request {
    gfp_t gfp = 0;
    size_t size = 0;
    unsigned int order = 0;
    const char *cache = "";
    bool cache_marked = false;   // SLAB_FAILSLAB
    bool is_allocation = true;   // counted by kmirror_fail_nth()
};

// What the requests of a point have, beside those attributes that every point has.
enum Has : unsigned int {
    kHasCache = 1,   // the name of a cache
    kHasMark = 2,    // its SLAB_FAILSLAB
    kHasOrder = 4,   // pages: an order and a zone
    kNoAttributes = 8,   // who fails is decided elsewhere; only counted and logged here
};

inline constexpr size_t kPoints = 6 + NR_FAULT_PLACES;

struct Point {
    explicit constexpr Point(const char *point_name, unsigned int what = 0) : name(point_name), has(what) {}

    const char *const name;
    const unsigned int has;   // of Has
    std::atomic<bool> enabled{false};
    std::atomic<unsigned long> count{0};   // failures

    // Attributes; <kmirror/fault.h> says what they mean.
    std::atomic<u64> threshold{0};         // fails when 32 random bits are below
    std::atomic<unsigned long> interval{1};
    std::atomic<unsigned long> interval_seen{0};
    std::atomic<long> times{1};
    std::atomic<long> space{0};
    std::atomic<unsigned int> verbose{2};
    std::atomic<unsigned int> limit_ms{0};      // messages: limit_burst in each stretch of limit_ms; 0: all
    std::atomic<unsigned int> limit_burst{0};
    std::atomic<u64> limit_began{0};            // ns
    std::atomic<unsigned int> limit_used{0};
    std::atomic<unsigned int> depth{32};
    std::atomic<unsigned int> min_order{1};
    std::atomic<bool> task_filter{false};
    std::atomic<bool> ignore_gfp_wait{true};
    std::atomic<bool> ignore_gfp_highmem{true};
    std::atomic<bool> cache_filter{false};
    std::atomic<const char *> cache{""};
    std::atomic<const char *> require_func{""};
    std::atomic<const char *> reject_func{""};
    std::atomic<const Range *> require{nullptr};
    std::atomic<const Range *> reject{nullptr};
    std::atomic<const Places *> at{nullptr};
};

std::span<Point *const> all_points();
Point *find_point(const char *name);

// The same at every call for equal texts, and never freed: what requests may look at. Context: any thread.
const char *interned(const char *text);

// Switches a point on or off as its threshold and its list say. Context: switch_lock held.
void point_changed(Point &point);
std::mutex &switch_lock();

// What the attributes say about one request, in the kernel's order. Uses up interval and space.
bool attributes_fail(Point &point, const Request &request);

// Whether the functions on the stack are as require and reject want them.
bool stack_allows(const Point &point);

// Takes one of the failures that `times` has left; *before: what it was. False: there is none.
bool take_one(Point &point, long *before);

// Whether one more message is within its limits. Counts it.
bool message_allowed(Point &point);

// ---- log.cpp --------------------------------------------------------------------------------------------

// The calling thread's number, and the number of this request at this point: counted here.
Place count_request(const Point &point);

// Failures are asked for by the environment or another process, not by the program.
void asked_from_outside();

// Enters a failure in the log and, as verbose says, prints it. `times`: what was left before it.
void log_injection(Point &point, const Place &place, const Request &request, unsigned int verbose, long times);

// ---- crash.cpp ------------------------------------------------------------------------------------------

// Has the log printed when the process dies. After the first call nothing.
void print_log_on_crash();

// What follows the settings in the command that has the same failures again. Once print_log_on_crash() has
// run, a signal handler may ask.
const char *replay_command();

}  // namespace kmirror::fault
