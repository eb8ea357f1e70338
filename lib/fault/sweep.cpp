// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/sweep.cpp: the loops of <kmirror/sweep.h>.
//
// Owns     nothing between two sweeps.
// Bounds   a call of n requests takes n + 1 runs a mode, and n * (n + 1) / 2 in pairs.
// Locking  none: one thread sweeps.
// Fails    never; what is found stands in the result.

#include <kmirror/config.h>
#include <kmirror/fault.h>
#include <kmirror/harness.h>
#include <kmirror/slab_info.h>
#include <kmirror/sweep.h>
#include <linux/errno.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr unsigned int kNone = ~0U;   // no call asks so often

// Objects of all caches that users hold.
unsigned long objects_out()
{
    unsigned long sum = 0;
    const auto add = [](struct kmem_cache *s, void *arg) {
        *static_cast<unsigned long *>(arg) += kmem_cache_nr_allocated(s);
        return 0;
    };
    kmirror_slab_for_each_cache(add, &sum);
    return sum;
}

// Objects that wait for the end of a grace period are still out.
void settle()
{
    rcu_barrier();
    kvfree_rcu_barrier();
}

bool left_over(unsigned long before)
{
    if (objects_out() == before)
        return false;
    settle();
    return objects_out() != before;
}

struct Sweep {
    const kmirror_sweep_body &body;
    kmirror_sweep_result &result;

    void note(const char *words, unsigned int nth, unsigned int then, bool from)
    {
        if (result.first[0] != '\0')
            return;
        char where[64] = "with no request failing";
        if (nth == kNone)
            ;
        else if (then != 0)
            std::snprintf(where, sizeof(where), "with requests %u and %u failing", nth, then);
        else
            std::snprintf(where, sizeof(where), "with request %u%s failing", nth,
                          from ? " and all after it" : "");
        std::snprintf(result.first, sizeof(result.first), "%s: %.180s", where, words);
    }

    // One run. True when (all of) the failures asked for were met.
    bool run(unsigned int nth, unsigned int then, bool from)
    {
        const unsigned long before = objects_out();
        void *const scene = body.make(body.arg);
        if (scene == nullptr) {
            ++result.violations;
            note("the state cannot be made", nth, then, from);
            return false;
        }
        ++result.runs;
        const unsigned long injected = kmirror_fault_log_total();
        if (then != 0)
            kmirror_fail_pair(nth, then);
        else
            from ? kmirror_fail_from_nth(nth) : kmirror_fail_nth(nth);
        const int status = body.call(scene);
        const unsigned int seen = kmirror_fail_seen();
        kmirror_fail_nth(0);
        const unsigned long failures = kmirror_fault_log_total() - injected;
        count(status, failures, nth, then, from);
        if (failures == 0)
            result.requests = seen;
        if (const char *const words = body.check(scene, status)) {
            ++result.violations;
            note(words, nth, then, from);
        }
        body.end(scene);
        if (left_over(before)) {
            ++result.leaks;
            note("objects are left over", nth, then, from);
        }
        return then != 0 ? failures >= 2 : failures >= 1;
    }

    void count(int status, unsigned long failures, unsigned int nth, unsigned int then, bool from)
    {
        result.injected += failures;
        if (failures != 0)
            ++(status < 0 ? result.refused : result.survived);
        if (failures == 0 && status < 0) {
            ++result.violations;
            note("the call fails by itself", nth, then, from);
        }
    }

    bool within(unsigned long most, unsigned long runs) const { return most == 0 || runs < most; }

    void each_nth(bool from, unsigned long most)
    {
        for (unsigned int nth = 1; within(most, nth - 1) && run(nth, 0, from); ++nth)
            ;
    }

    void each_pair(unsigned long most)
    {
        unsigned long runs = 0;
        for (unsigned int nth = 1; nth <= result.requests && within(most, runs); ++nth)
            for (unsigned int then = nth + 1; within(most, runs++) && run(nth, then, false); ++then)
                ;
    }
};

}  // namespace

extern "C" int kmirror_sweep(const struct kmirror_sweep_body *body, unsigned int modes, unsigned long most,
                             struct kmirror_sweep_result *result)
{
    *result = {};
    if (!KMIRROR_FAULTS)
        return -EOPNOTSUPP;
    Sweep sweep = {*body, *result};
    const bool counted = kmirror_harness_count(true);
    kmirror_fault_log_clear();
    settle();   // what others freed is not to be taken for ours
    sweep.run(kNone, 0, false);   // what the call asks for when nothing fails
    if (modes & KMIRROR_SWEEP_ONCE)
        sweep.each_nth(false, most);
    if (modes & KMIRROR_SWEEP_FROM)
        sweep.each_nth(true, most);
    if (modes & KMIRROR_SWEEP_PAIRS)
        sweep.each_pair(most);
    kmirror_harness_count(counted);
    kmirror_fault_log_clear();
    return result->leaks != 0 || result->violations != 0;
}
