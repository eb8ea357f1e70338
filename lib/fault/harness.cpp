// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/harness.cpp: budgets, callbacks and counters of the kernel's radix-tree tests; see
// <kmirror/harness.h>.
//
// Owns     the mode of the process. The figures belong to the caches.
// Locking  none: budget, callback mark and counters are atomics, so that threads may allocate from one cache.
//          No lock is held while a callback runs.
// Fails    an unknown KMIRROR_HARNESS: one line and exit 2.

#include <kmirror/harness.h>
#include <kmirror/topology.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <trace/events/kmem.h>

#include "lib/fault/fault.h"
#include "lib/kernel/cpu.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#if KMIRROR_FAULTS
bool kmirror_harness_counting;
#endif

namespace kmirror::fault {
namespace {

using Harness = struct kmem_cache_harness;   // a function has the same name

std::mutex mode_lock;
std::atomic<int> mode{-1};   // -1: not asked for yet
bool counting_wanted;        // under mode_lock

// Context: mode_lock held.
int enter(int wanted)
{
#if KMIRROR_FAULTS
    const bool was_mock = mode.load(std::memory_order_relaxed) == KMIRROR_HARNESS_MOCK;
    const bool mock = wanted == KMIRROR_HARNESS_MOCK;
    if (mock != was_mock)
        arm(mock ? 1 : -1);
    __atomic_store_n(&kmirror_harness_counting, mock || counting_wanted, __ATOMIC_RELAXED);
#else
    if (wanted == KMIRROR_HARNESS_MOCK)
        return -EOPNOTSUPP;
#endif
    mode.store(wanted, std::memory_order_release);
    return 0;
}

int mode_from_environment()
{
    const char *const text = std::getenv("KMIRROR_HARNESS");
    if (text == nullptr || *text == '\0' || std::strcmp(text, "kernel") == 0)
        return KMIRROR_HARNESS_KERNEL;
    if (std::strcmp(text, "mock") != 0)
        kmirror_bad_setting("KMIRROR_HARNESS", text, "it is kernel or mock");
    if (!KMIRROR_FAULTS)
        kmirror_bad_setting("KMIRROR_HARNESS", text, "this build has FAULTS=0 and knows only kernel");
    return KMIRROR_HARNESS_MOCK;
}

int current_mode()
{
    const int now = mode.load(std::memory_order_acquire);
    if (now >= 0)
        return now;
    const std::lock_guard guard(mode_lock);
    if (mode.load(std::memory_order_relaxed) < 0)
        enter(mode_from_environment());
    return mode.load(std::memory_order_relaxed);
}

}  // namespace

#if KMIRROR_FAULTS
namespace {

// The callback may allocate from its cache, and fail: that does not call it again.
void run_armed_callback(Harness &harness)
{
    if (!__atomic_load_n(&harness.exec_callback, __ATOMIC_RELAXED) ||
        !__atomic_exchange_n(&harness.exec_callback, false, __ATOMIC_ACQ_REL))
        return;
    if (harness.callback != nullptr)
        harness.callback(harness.private_data);
    __atomic_store_n(&harness.exec_callback, false, __ATOMIC_RELAXED);
}

bool take_budget(Harness &harness)
{
    unsigned int left = __atomic_load_n(&harness.non_kernel, __ATOMIC_RELAXED);
    while (left != 0)
        if (__atomic_compare_exchange_n(&harness.non_kernel, &left, left - 1, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

}  // namespace

bool harness_refuses(struct kmem_cache *s, gfp_t gfp)
{
    if (mode.load(std::memory_order_relaxed) != KMIRROR_HARNESS_MOCK)
        return false;
    Harness &harness = *kmem_cache_harness(s);
    run_armed_callback(harness);
    if ((gfp & __GFP_DIRECT_RECLAIM) || take_budget(harness))
        return false;
    if (harness.callback != nullptr)
        __atomic_store_n(&harness.exec_callback, true, __ATOMIC_RELEASE);
    return true;
}
#endif

}  // namespace kmirror::fault

using namespace kmirror::fault;

extern "C" int kmirror_harness_mode(int wanted)
{
    if (wanted != KMIRROR_HARNESS_KERNEL && wanted != KMIRROR_HARNESS_MOCK)
        return -EINVAL;
    const int before = current_mode();
    const std::lock_guard guard(mode_lock);
    const int error = enter(wanted);
    return error != 0 ? error : before;
}

extern "C" bool kmirror_harness_count(bool on)
{
    const int now = current_mode();
    const std::lock_guard guard(mode_lock);
    const bool before = counting_wanted;
    if (before != on)
        kmirror::kernel::cpu_forbid_bias(on);   // what a thread does alone with its sheaf is not told
    counting_wanted = on;
    enter(now);
    return before;
}

extern "C" bool kmirror_harness_exact(void)
{
    return current_mode() == KMIRROR_HARNESS_MOCK;
}

#if KMIRROR_FAULTS

extern "C" void kmirror_count_alloc(struct kmem_cache *s, size_t nr)
{
    Harness &harness = *kmem_cache_harness(s);
    __atomic_fetch_add(&harness.nr_allocated, nr, __ATOMIC_RELAXED);
    __atomic_fetch_add(&harness.nr_tallocated, nr, __ATOMIC_RELAXED);
}

extern "C" void kmirror_count_free(struct kmem_cache *s, size_t nr)
{
    Harness &harness = *kmem_cache_harness(s);
    if (nr > 1)   // a bulk free; the callback may want a lock that the caller of a single one holds
        run_armed_callback(harness);
    __atomic_fetch_sub(&harness.nr_allocated, nr, __ATOMIC_RELAXED);
}

#endif

extern "C" void kmem_cache_set_non_kernel(struct kmem_cache *s, unsigned int val)
{
    __atomic_store_n(&kmem_cache_harness(s)->non_kernel, val, __ATOMIC_RELAXED);
}

extern "C" void kmem_cache_set_callback(struct kmem_cache *s, void (*callback)(void *))
{
    kmem_cache_harness(s)->callback = callback;
}

extern "C" void kmem_cache_set_private(struct kmem_cache *s, void *private_data)
{
    kmem_cache_harness(s)->private_data = private_data;
}

extern "C" unsigned long kmem_cache_get_alloc(struct kmem_cache *s)
{
    return kmem_cache_nr_allocated(s) * kmem_cache_size(s);
}

extern "C" unsigned long kmem_cache_nr_allocated(struct kmem_cache *s)
{
    return __atomic_load_n(&kmem_cache_harness(s)->nr_allocated, __ATOMIC_RELAXED);
}

extern "C" unsigned long kmem_cache_nr_tallocated(struct kmem_cache *s)
{
    return __atomic_load_n(&kmem_cache_harness(s)->nr_tallocated, __ATOMIC_RELAXED);
}

extern "C" void kmem_cache_zero_nr_tallocated(struct kmem_cache *s)
{
    __atomic_store_n(&kmem_cache_harness(s)->nr_tallocated, 0, __ATOMIC_RELAXED);
}
