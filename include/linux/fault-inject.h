/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/fault-inject.h>: the places where an allocation may be told to fail.
 *
 * Each is one predictable branch on kmirror_fault_armed while nothing is switched on
 * (see <kmirror/fault.h> and, for the mock mode, <kmirror/harness.h>), and nothing
 * at all in a build with FAULTS=0.
 */
#ifndef _LINUX_FAULT_INJECT_H
#define _LINUX_FAULT_INJECT_H

#include <linux/kconfig.h>
#include <linux/gfp_types.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kmem_cache;

/* Places without a name in the kernel, in the order of their points in <kmirror/fault.h>. */
enum kmirror_fault_place {
    FAIL_SHEAF_ALLOC,
    FAIL_SHEAF_PREFILL,
    FAIL_BARN_ALLOC,
    FAIL_ALLOC_BULK,
    FAIL_CACHE_NAME,
    FAIL_CACHE_ALLOC,
    FAIL_CACHE_PERCPU,
    FAIL_CACHE_RANDOM_SEQ,
    FAIL_CACHE_NODES,
    FAIL_CACHE_ALIAS,
    FAIL_MAS_ALLOC_NODES,
    NR_FAULT_PLACES,
};

#if KMIRROR_FAULTS

/* True while any point is enabled, any thread counts to an nth failure, or mock mode is on. */
extern bool kmirror_fault_armed;

__attribute__((cold)) bool kmirror_should_failslab(struct kmem_cache *s, gfp_t gfpflags);
__attribute__((cold)) bool kmirror_should_fail_alloc_page(gfp_t gfp_mask, unsigned int order);
__attribute__((cold)) bool kmirror_should_fail_percpu(size_t size);
__attribute__((cold)) bool kmirror_should_fail_trylock(void);
__attribute__((cold)) bool kmirror_should_fail_cpu_offline(void);
__attribute__((cold)) bool kmirror_should_fail_at(enum kmirror_fault_place place, const char *cache,
                                                  gfp_t gfp, size_t size);
__attribute__((cold)) size_t kmirror_fail_bulk_after(const char *cache, gfp_t gfp, size_t count);

#define kmirror_faults_on() __builtin_expect(__atomic_load_n(&kmirror_fault_armed, __ATOMIC_RELAXED), 0)

#else

#define kmirror_faults_on() 0

static inline bool kmirror_should_failslab(struct kmem_cache *s, gfp_t gfpflags)
{
    (void)s;
    (void)gfpflags;
    return false;
}

static inline bool kmirror_should_fail_alloc_page(gfp_t gfp_mask, unsigned int order)
{
    (void)gfp_mask;
    (void)order;
    return false;
}

static inline bool kmirror_should_fail_percpu(size_t size)
{
    (void)size;
    return false;
}

static inline bool kmirror_should_fail_trylock(void)
{
    return false;
}

static inline bool kmirror_should_fail_cpu_offline(void)
{
    return false;
}

static inline bool kmirror_should_fail_at(enum kmirror_fault_place place, const char *cache, gfp_t gfp,
                                          size_t size)
{
    (void)place;
    (void)cache;
    (void)gfp;
    (void)size;
    return false;
}

static inline size_t kmirror_fail_bulk_after(const char *cache, gfp_t gfp, size_t count)
{
    (void)cache;
    (void)gfp;
    return count;
}

#endif

/*
 * Asked once for each object about to be handed out from @s, before any allocator
 * lock is taken; in mock mode it may call the cache's callback. True: fail it.
 */
static inline bool should_failslab(struct kmem_cache *s, gfp_t gfpflags)
{
    return kmirror_faults_on() && kmirror_should_failslab(s, gfpflags);
}

/* Asked once for each block of pages requested. True: fail it. */
static inline bool should_fail_alloc_page(gfp_t gfp_mask, unsigned int order)
{
    return kmirror_faults_on() && kmirror_should_fail_alloc_page(gfp_mask, order);
}

/* Asked by lib/kernel: for an extent of per-CPU memory, for each try of a lock, for a CPU to be removed. */
static inline bool should_fail_percpu(size_t size)
{
    return kmirror_faults_on() && kmirror_should_fail_percpu(size);
}

static inline bool should_fail_trylock(void)
{
    return kmirror_faults_on() && kmirror_should_fail_trylock();
}

static inline bool should_fail_cpu_offline(void)
{
    return kmirror_faults_on() && kmirror_should_fail_cpu_offline();
}

/*
 * Asked where @place would find no memory, beside the requests above that it leads to. @cache: the name
 * of the cache it is for; @gfp: 0 where the caller has no choice; @size in bytes. True: fail.
 */
static inline bool should_fail_at(enum kmirror_fault_place place, const char *cache, gfp_t gfp, size_t size)
{
    return kmirror_faults_on() && kmirror_should_fail_at(place, cache, gfp, size);
}

/* How many of @count objects a bulk request gets before one fails; @count: all. Asked once for each. */
static inline size_t fail_bulk_after(const char *cache, gfp_t gfp, size_t count)
{
    return kmirror_faults_on() ? kmirror_fail_bulk_after(cache, gfp, count) : count;
}

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_FAULT_INJECT_H */
