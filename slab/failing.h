// SPDX-License-Identifier: GPL-2.0-only
//
// Trying every failure of an operation, and seeing that each left nothing behind.
//
//   const unsigned failures = each_failure([&](Attempt &attempt) {
//       void *object = cache.alloc();
//       attempt.over();                      // what follows does not fail
//       ... check ...
//   });
//   EXPECT_GT(failures, 0u);
//
// Owns     the arming of the calling thread during a run.
// Bounds   stops at the first run in which nothing failed, or after 2000 runs.
// Fails    as failures of the running test, named by the request that failed.
#pragma once

#include <kmirror/fault.h>
#include <kmirror/slab_info.h>

#include "slab/slab_test.h"

#include <map>
#include <string>

namespace kmirror::slab_test {

enum class FailMode { Once, FromThenOn };

// One run of an operation with its nth request failing.
class Attempt {
public:
    Attempt(FailMode mode, unsigned nth) : mode_(mode), nth_(nth) { begin(); }
    ~Attempt() { over(); }
    Attempt(const Attempt &) = delete;
    Attempt &operator=(const Attempt &) = delete;

    // Starts to count anew: what came before was preparation.
    void begin()
    {
        mode_ == FailMode::Once ? kmirror_fail_nth(nth_) : kmirror_fail_from_nth(nth_);
        armed_ = true;
        fired_ = false;
    }
    // Nothing fails until begin().
    void pause() { over(); }

    // The operation is done: nothing fails from here on. Whether something did.
    bool over()
    {
        if (armed_)
            fired_ = kmirror_fail_nth(0);
        armed_ = false;
        return fired_;
    }

private:
    FailMode mode_;
    unsigned nth_;
    bool armed_ = false, fired_ = false;
};

// Runs `body(attempt)` with its first request failing, then its second, and so on, until nothing failed.
// Returns how many requests failed in turn.
template <class Body>
unsigned each_failure(FailMode mode, Body body)
{
    constexpr unsigned kMost = 2000;
    for (unsigned nth = 1; nth <= kMost; nth++) {
        SCOPED_TRACE((mode == FailMode::Once ? "request " : "every request from ") + std::to_string(nth));
        Attempt attempt(mode, nth);
        body(attempt);
        if (!attempt.over() || ::testing::Test::HasFailure())
            return nth - 1;
    }
    ADD_FAILURE() << "still failing at request " << kMost;
    return kMost;
}

// Both modes; the smaller of the two counts.
template <class Body>
unsigned each_failure(Body body)
{
    const unsigned once = each_failure(FailMode::Once, body);
    return std::min(once, each_failure(FailMode::FromThenOn, body));
}

// Objects in their users' hands, cache by cache: what slabs have handed out, less what waits in sheaves.
using LiveObjects = std::map<std::string, long>;

inline long live_objects(slab_ops_cache *cache)
{
    slab_ops_counts counts{};
    ops().counts(cache, -1, &counts);
    long live = long(counts.used_objects) - long(counts.barn_objects);
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu++) {
        slab_ops_cpu_sheaves held{};
        ops().cpu_sheaves(cache, cpu, &held);
        for (int objects : {held.main, held.spare, held.rcu_free})
            live -= std::max(objects, 0);
    }
    return live;
}

// The name of the size class that serves `bytes`.
inline std::string size_class_of(unsigned bytes)
{
    const unsigned room = rules::kmalloc_class(bytes);
    return "kmalloc-" + (room < 1024 ? std::to_string(room) : std::to_string(room / 1024) + "k");
}

// Sheaves are objects of the size classes too, but the allocator's own: a class makes itself a spare one
// when it is used more, and whoever counts the users' objects must not find it. Of another implementation
// than ours the caches are not known, so the answer is empty.
inline LiveObjects live_objects()
{
    LiveObjects all;
    if (&ops() != kmirror_slab_ops())
        return all;
    kmirror_slab_for_each_cache(
        [](kmem_cache *s, void *out) {
            LiveObjects &found = *static_cast<LiveObjects *>(out);
            struct kmirror_slab_geometry made;
            kmirror_slab_geometry(s, &made);
            auto *cache = reinterpret_cast<slab_ops_cache *>(s);
            found[made.name] += live_objects(cache);
            if (KMIRROR_STATS && made.sheaf_capacity)
                found[size_class_of(rules::kSheafHeader + made.sheaf_capacity * rules::kWord)] -=
                    ops().stat(cache, "sheaf_alloc") - ops().stat(cache, "sheaf_free");
            return 0;
        },
        &all);
    return all;
}

} // namespace kmirror::slab_test
