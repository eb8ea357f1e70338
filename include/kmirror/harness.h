/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/harness.h>: the allocator as the kernel's radix-tree tests know it.
 *
 * kernel mode (default): a cache behaves as in the kernel.
 * mock mode: a request without __GFP_DIRECT_RECLAIM succeeds only as long as the
 * cache's budget lasts, one unit for each object; the request that finds it empty
 * fails and arms the cache's callback, which runs once, at the start of the next
 * allocation, prefill or bulk free, on the thread that makes it and outside all
 * allocator locks. Caches get no sheaves, so a prefilled sheaf holds exactly what
 * was asked for. Every object handed out and taken back is counted.
 *
 * A cache is set up by one thread; counters may be read by any. In a build with
 * FAULTS=0 there is only kernel mode.
 */
#ifndef _KMIRROR_HARNESS_H
#define _KMIRROR_HARNESS_H

#include <linux/kconfig.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kmem_cache;

enum {
    KMIRROR_HARNESS_KERNEL = 0,
    KMIRROR_HARNESS_MOCK = 1,
};

/*
 * Chooses a mode; KMIRROR_HARNESS=mock or kernel does the same from outside. To be
 * called before the first cache exists: sheaves are decided when a cache is made.
 * Return: the mode before; -EINVAL for an unknown one, -EOPNOTSUPP for mock mode in
 * a build with FAULTS=0, and then nothing has changed.
 */
int kmirror_harness_mode(int mode);

/* Must a prefilled sheaf hold exactly the objects asked for? (mock mode) */
bool kmirror_harness_exact(void);

/*
 * Counts objects (the two nr_ members below) in kernel mode as well, while @on; mock mode always does.
 * Objects from before are not known: only differences mean something.
 * Return: whether they were counted before.
 */
bool kmirror_harness_count(bool on);

/* Part of every struct kmem_cache, as member `harness`; zeroed when the cache is made. */
struct kmem_cache_harness {
    void (*callback)(void *private_data);
    void *private_data;
    unsigned int non_kernel;        /* budget left, in objects */
    bool exec_callback;             /* armed by a failure */
    unsigned long nr_allocated;     /* objects out now */
    unsigned long nr_tallocated;    /* objects handed out since the last zeroing */
};

/* The harness member of @s; defined by lib/slub. */
struct kmem_cache_harness *kmem_cache_harness(struct kmem_cache *s);

/*
 * What fault points ask about a cache; defined by lib/slub. Stores the size of its objects and
 * whether it has SLAB_FAILSLAB. Return: its name, valid while the cache is.
 */
const char *kmirror_cache_identity(struct kmem_cache *s, size_t *object_size, bool *marked);

/* The tests' own names. Sizes in objects, except _get_alloc: bytes out now. */
void kmem_cache_set_non_kernel(struct kmem_cache *s, unsigned int val);
void kmem_cache_set_callback(struct kmem_cache *s, void (*callback)(void *));
void kmem_cache_set_private(struct kmem_cache *s, void *private_data);
unsigned long kmem_cache_get_alloc(struct kmem_cache *s);
unsigned long kmem_cache_nr_allocated(struct kmem_cache *s);
unsigned long kmem_cache_nr_tallocated(struct kmem_cache *s);
void kmem_cache_zero_nr_tallocated(struct kmem_cache *s);

#ifdef __cplusplus
}
#endif

#endif /* _KMIRROR_HARNESS_H */
