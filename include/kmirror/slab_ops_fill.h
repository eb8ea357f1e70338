/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/slab_ops_fill.h>: for who fills a table of <kmirror/slab_ops.h>, in C11 or C++20, behind the <linux/slab.h>
 * of the implementation: what the opaque handles and the bits are, and the entries that are the same, step for step, on
 * every allocator: virtual CPUs and the loops of benchmarks. So two implementations do the same work.
 *
 * Owns     nothing.
 * Bounds   a handle is the kernel's pointer itself; unknown bits are dropped.
 * Locking  each step as the API that it uses.
 */
#ifndef KMIRROR_SLAB_OPS_FILL_H
#define KMIRROR_SLAB_OPS_FILL_H

#include <kmirror/slab_ops.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>

KM_C_BEGIN
int kmirror_cpu_lease(int cpu);
int kmirror_cpu_release(void);
KM_C_END

/* ---- handles and bits -------------------------------------------------------------------------------------- */

static inline struct kmem_cache *ops_cache(struct slab_ops_cache *cache)
{
    return (struct kmem_cache *)cache;
}

static inline struct slab_ops_cache *ops_handle(struct kmem_cache *s)
{
    return (struct slab_ops_cache *)s;
}

static inline gfp_t ops_slab_gfp(unsigned int bits)
{
    gfp_t gfp = bits & SLAB_OPS_ATOMIC ? GFP_ATOMIC : bits & SLAB_OPS_NOWAIT ? GFP_NOWAIT : GFP_KERNEL;

    if (likely(!(bits & ~(unsigned int)(SLAB_OPS_ATOMIC | SLAB_OPS_NOWAIT))))
        return gfp;
    gfp |= bits & SLAB_OPS_ZERO ? __GFP_ZERO : 0;
    gfp |= bits & SLAB_OPS_THISNODE ? __GFP_THISNODE : 0;
    gfp |= bits & SLAB_OPS_NOWARN ? __GFP_NOWARN : 0;
    gfp |= bits & SLAB_OPS_NOFAIL ? __GFP_NOFAIL : 0;
    gfp |= bits & SLAB_OPS_MEMALLOC ? __GFP_MEMALLOC : 0;
    gfp |= bits & SLAB_OPS_NOMEMALLOC ? __GFP_NOMEMALLOC : 0;
    gfp |= bits & SLAB_OPS_ACCOUNT ? __GFP_ACCOUNT : 0;
    return gfp;
}

static inline slab_flags_t ops_slab_flags(unsigned int bits)
{
    slab_flags_t flags = 0;

    flags |= bits & SLAB_OPS_HWCACHE_ALIGN ? SLAB_HWCACHE_ALIGN : 0;
    flags |= bits & SLAB_OPS_PANIC ? SLAB_PANIC : 0;
    flags |= bits & SLAB_OPS_TYPESAFE_BY_RCU ? SLAB_TYPESAFE_BY_RCU : 0;
    flags |= bits & SLAB_OPS_CACHE_ACCOUNT ? SLAB_ACCOUNT : 0;
    flags |= bits & SLAB_OPS_NO_MERGE ? SLAB_NO_MERGE : 0;
    flags |= bits & SLAB_OPS_RECLAIM_ACCOUNT ? SLAB_RECLAIM_ACCOUNT : 0;
    return flags;
}

/* ---- virtual CPUs ------------------------------------------------------------------------------------------ */

static inline int ops_cpu_pin(int cpu)
{
    const int got = kmirror_cpu_lease(cpu);

    return got < 0 ? got : 0;
}

static inline void ops_cpu_unpin(void)
{
    kmirror_cpu_release();
}

static inline int ops_cpu(void)
{
    return raw_smp_processor_id();
}

static inline int ops_nr_cpus(void)
{
    return (int)nr_cpu_ids;
}

static inline int ops_nr_nodes(void)
{
    return (int)nr_node_ids;
}

static inline int ops_cpu_online(int cpu)
{
    return cpu >= 0 && cpu < ops_nr_cpus() && cpu_online((unsigned int)cpu);
}

static inline int ops_cpu_set_online(int cpu, bool online)
{
    return online ? cpu_up((unsigned int)cpu) : cpu_down((unsigned int)cpu);
}

/* ---- loops ------------------------------------------------------------------------------------------------- */

static inline size_t ops_loop_pair(struct slab_ops_cache *cache, size_t n)
{
    struct kmem_cache *s = ops_cache(cache);
    size_t done;

    for (done = 0; done < n; done++) {
        void *object = kmem_cache_alloc(s, GFP_KERNEL);

        if (!object)
            return done;
        kmem_cache_free(s, object);
    }
    return n;
}

static inline size_t ops_loop_alloc(struct slab_ops_cache *cache, size_t n, void **objects)
{
    struct kmem_cache *s = ops_cache(cache);
    size_t done;

    for (done = 0; done < n; done++) {
        objects[done] = kmem_cache_alloc(s, GFP_KERNEL);
        if (!objects[done])
            return done;
    }
    return n;
}

static inline void ops_loop_free(struct slab_ops_cache *cache, size_t n, void **objects)
{
    struct kmem_cache *s = ops_cache(cache);
    size_t i;

    for (i = 0; i < n; i++)
        kmem_cache_free(s, objects[i]);
}

static inline size_t ops_loop_batch(struct slab_ops_cache *cache, size_t n, void **objects, size_t rounds)
{
    size_t done = 0, round;

    for (round = 0; round < rounds; round++) {
        const size_t got = ops_loop_alloc(cache, n, objects);

        ops_loop_free(cache, got, objects);
        done += got;
        if (got < n)
            break;
    }
    return done;
}

static inline size_t ops_loop_bulk(struct slab_ops_cache *cache, size_t n, void **objects, size_t rounds)
{
    struct kmem_cache *s = ops_cache(cache);
    size_t round;

    for (round = 0; round < rounds; round++) {
        if (!kmem_cache_alloc_bulk(s, GFP_KERNEL, n, objects))
            return round * n;
        kmem_cache_free_bulk(s, n, objects);
    }
    return rounds * n;
}

/* xorshift64: good enough to pick slots, and no state outside the call. */
static inline unsigned long ops_next_random(unsigned long *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline size_t ops_loop_random(struct slab_ops_cache *cache, size_t slots, void **objects, size_t steps,
                                     unsigned long seed)
{
    struct kmem_cache *s = ops_cache(cache);
    unsigned long state = seed * 2 + 1;
    size_t done = 0, step;

    for (step = 0; step < steps; step++) {
        void **slot = &objects[ops_next_random(&state) % slots];

        if (*slot) {
            kmem_cache_free(s, *slot);
            *slot = NULL;
        } else {
            *slot = kmem_cache_alloc(s, GFP_KERNEL);
            done += *slot != NULL;
        }
    }
    return done;
}

static inline size_t ops_loop_kmalloc(size_t bytes, size_t n)
{
    size_t done;

    for (done = 0; done < n; done++) {
        void *object = kmalloc(bytes, GFP_KERNEL);

        if (!object)
            return done;
        kfree(object);
    }
    return n;
}

/* ---- the entries of a table, in its order ------------------------------------------------------------------- */

#define OPS_CPU_ENTRIES                                                                                     \
    .cpu_pin = ops_cpu_pin, .cpu_unpin = ops_cpu_unpin, .cpu = ops_cpu, .nr_cpus = ops_nr_cpus,             \
    .nr_nodes = ops_nr_nodes, .cpu_node = cpu_to_node, .cpu_online = ops_cpu_online,                        \
    .cpu_set_online = ops_cpu_set_online
#define OPS_LOOP_ENTRIES(sheaf)                                                                             \
    .loop_pair = ops_loop_pair, .loop_alloc = ops_loop_alloc, .loop_free = ops_loop_free,                   \
    .loop_batch = ops_loop_batch, .loop_bulk = ops_loop_bulk, .loop_random = ops_loop_random,               \
    .loop_sheaf = (sheaf), .loop_kmalloc = ops_loop_kmalloc

#endif /* KMIRROR_SLAB_OPS_FILL_H */
