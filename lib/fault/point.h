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

struct Point {
    explicit constexpr Point(const char *point_name) : name(point_name) {}

    const char *const name;
    std::atomic<bool> enabled{false};
    std::atomic<unsigned long> count{0};   // failures

    // Attributes; <kmirror/fault.h> says what they mean.
    std::atomic<u64> threshold{0};         // fails when 32 random bits are below
    std::atomic<unsigned long> interval{1};
    std::atomic<unsigned long> interval_seen{0};
    std::atomic<long> times{1};
    std::atomic<long> space{0};
    std::atomic<unsigned int> verbose{2};
    std::atomic<unsigned int> depth{32};
    std::atomic<unsigned int> min_order{1};
    std::atomic<bool> task_filter{false};
    std::atomic<bool> ignore_gfp_wait{true};
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

// What the attributes say about one request, in the kernel's order. Uses up interval, space and times.
bool attributes_fail(Point &point, const Request &request);

// ---- log.cpp --------------------------------------------------------------------------------------------

// The calling thread's number, and the number of this request at this point: counted here.
Place count_request(const Point &point);

// Enters a failure in the log and, as verbose says, prints it.
void log_injection(const Point &point, const Place &place, const Request &request, unsigned int verbose);

}  // namespace kmirror::fault
