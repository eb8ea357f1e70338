// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/log.cpp: which failures were injected, where, and how to have them again.
//
// Owns     the last kKept injections, and the numbers of threads and of their requests. Numbers begin anew
//          with each kmirror_fault_log_clear(): a thread notices by the era that its own counts are of.
// Locking  `log_lock`, a leaf; the counts are the thread's own.
// Fails    never; what does not fit is counted but not kept.

#include <kmirror/config.h>

#if KMIRROR_FAULTS

#include "lib/fault/point.h"

#include <linux/printk.h>

#include "lib/kernel/stacktrace.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace kmirror::fault {
namespace {

constexpr size_t kKept = 64;
constexpr size_t kPoints = 8;

std::mutex log_lock;
std::deque<kmirror_injection> kept;    // the latest, oldest first
unsigned long total;
std::atomic<unsigned long> era{1};
std::atomic<unsigned int> threads;

struct Counts {
    unsigned long era;
    unsigned int thread;
    unsigned long requests[kPoints];
};
__thread Counts counts;

size_t index_of(const Point &point)
{
    const auto all = all_points();
    return static_cast<size_t>(std::find(all.begin(), all.end(), &point) - all.begin());
}

void print_one(std::FILE *out, const kmirror_injection &one)
{
    std::fprintf(out, "injected failure %lu: %s%s%s, request %lu of thread %u, %zu bytes\n", one.number,
                 one.point, one.cache[0] != '\0' ? " of " : "", one.cache, one.request, one.thread, one.size);
    kernel::stack_print(out, std::span(one.stack, one.frames));
}

// "failslab:at=1:17+1:23;fail_page_alloc:at=1:4"
std::string replay_of(const std::deque<kmirror_injection> &all)
{
    std::map<std::string, std::string> places;
    for (const kmirror_injection &one : all) {
        std::string &list = places[one.point];
        list += (list.empty() ? "" : "+") + std::to_string(one.thread) + ":" + std::to_string(one.request);
    }
    std::string text;
    for (const auto &[point, list] : places)
        text += (text.empty() ? "" : ";") + point + ":at=" + list;
    return text;
}

}  // namespace

Place count_request(const Point &point)
{
    const unsigned long now = era.load(std::memory_order_relaxed);
    if (counts.era != now)
        counts = {now, threads.fetch_add(1, std::memory_order_relaxed) + 1, {}};
    return {counts.thread, ++counts.requests[index_of(point)]};
}

void log_injection(const Point &point, const Place &place, const Request &request, unsigned int verbose)
{
    kmirror_injection one = {};
    one.point = point.name;
    std::strncpy(one.cache, request.cache, sizeof(one.cache) - 1);
    one.thread = place.thread;
    one.request = place.request;
    one.size = request.size;
    one.frames = kernel::stack_save(one.stack, nullptr);
    {
        const std::lock_guard guard(log_lock);
        one.number = ++total;
        if (kept.size() == kKept)
            kept.pop_front();
        kept.push_back(one);
    }
    if (verbose == 0)
        return;
    const double probability = static_cast<double>(point.threshold.load()) * 100 / 4294967296.0;
    pr_warn("FAULT_INJECTION: forcing a failure.\n"
            "name %s, interval %lu, probability %.4g, space %ld, times %ld\n",
            point.name, point.interval.load(), probability, point.space.load(), point.times.load());
    if (verbose > 1)
        print_one(stderr, one);
}

}  // namespace kmirror::fault

using namespace kmirror::fault;

extern "C" unsigned int kmirror_fault_log(struct kmirror_injection *out, unsigned int max)
{
    const std::lock_guard guard(log_lock);
    const size_t count = std::min<size_t>(max, kept.size());
    std::copy(kept.end() - static_cast<std::ptrdiff_t>(count), kept.end(), out);
    return static_cast<unsigned int>(count);
}

extern "C" unsigned long kmirror_fault_log_total(void)
{
    const std::lock_guard guard(log_lock);
    return total;
}

extern "C" void kmirror_fault_log_print(FILE *out)
{
    std::deque<kmirror_injection> all;
    unsigned long number;
    {
        const std::lock_guard guard(log_lock);
        all = kept;
        number = total;
    }
    if (all.empty())
        return;
    if (number > all.size())
        std::fprintf(out, "%lu failures were injected; the last %zu:\n", number, all.size());
    for (const kmirror_injection &one : all)
        print_one(out, one);
    std::fprintf(out, "these requests again: KMIRROR_FAULT='%s'\n", replay_of(all).c_str());
}

extern "C" void kmirror_fault_log_clear(void)
{
    const std::lock_guard guard(log_lock);
    kept.clear();
    total = 0;
    threads.store(0, std::memory_order_relaxed);
    era.fetch_add(1, std::memory_order_relaxed);
}

#endif
