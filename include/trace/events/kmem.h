/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <trace/events/kmem.h>: told by lib/slub for each call of its public API that hands
 * out or takes back objects of a cache. Outside all allocator locks; on free, before
 * the objects are touched. One predictable branch unless the test harness counts.
 */
#ifndef _TRACE_EVENTS_KMEM_H
#define _TRACE_EVENTS_KMEM_H

#include <linux/kconfig.h>
#include <linux/fault-inject.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if KMIRROR_FAULTS

/* True in mock mode. */
extern bool kmirror_harness_counting;

__attribute__((cold)) void kmirror_count_alloc(struct kmem_cache *s, size_t nr);
__attribute__((cold)) void kmirror_count_free(struct kmem_cache *s, size_t nr);

#define kmirror_counting_on()                                                                     \
    __builtin_expect(__atomic_load_n(&kmirror_harness_counting, __ATOMIC_RELAXED), 0)

#else

#define kmirror_counting_on() 0

static inline void kmirror_count_alloc(struct kmem_cache *s, size_t nr)
{
    (void)s;
    (void)nr;
}

static inline void kmirror_count_free(struct kmem_cache *s, size_t nr)
{
    (void)s;
    (void)nr;
}

#endif

/* @nr objects of @s are about to be handed to the caller. */
static inline void trace_kmem_cache_alloc(struct kmem_cache *s, size_t nr)
{
    if (kmirror_counting_on())
        kmirror_count_alloc(s, nr);
}

/* The caller gives back @nr objects of @s. */
static inline void trace_kmem_cache_free(struct kmem_cache *s, size_t nr)
{
    if (kmirror_counting_on())
        kmirror_count_free(s, nr);
}

#ifdef __cplusplus
}
#endif

#endif /* _TRACE_EVENTS_KMEM_H */
