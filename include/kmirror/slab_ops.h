/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One table of operations for a slab allocator, so that tests, stress, benchmarks and fuzzers
 * can drive any implementation: the C++ mirror (kmirror_slab_ops()), or a C adapter that was
 * compiled together with a kernel's own mm/slub.c.
 *
 * Owns     nothing: a table is constant data of its implementation, valid for ever.
 * Bounds   two implementations disagree about every struct and about the value of every flag,
 *          so nothing of theirs crosses this file: handles are opaque, flags have numbers of
 *          their own, sizes are in bytes and counts in objects unless a name says otherwise.
 * Locking  every operation may be called from any thread at any time, unless it says else.
 * Fails    as the kernel function of the same name: NULL, false or -errno, nothing changed.
 *
 * Growth: new members go at the end and raise KMIRROR_SLAB_OPS_VERSION; a user that needs a
 * member checks `version`. A member marked "optional" is NULL where the implementation has no
 * such thing; all others are always set.
 */
#ifndef KMIRROR_SLAB_OPS_H
#define KMIRROR_SLAB_OPS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KMIRROR_SLAB_OPS_VERSION 2

struct slab_ops_cache; /* a kmem_cache of the implementation */
struct slab_ops_sheaf; /* a prefilled sheaf, owned by who prefilled it */

/* How an allocation may behave. Without a bit: may wait and reclaim (GFP_KERNEL). */
enum slab_ops_gfp {
    SLAB_OPS_KERNEL = 0,
    SLAB_OPS_NOWAIT = 1 << 0,     /* never waits (GFP_NOWAIT) */
    SLAB_OPS_ATOMIC = 1 << 1,     /* never waits, may use part of the reserves (GFP_ATOMIC) */
    SLAB_OPS_ZERO = 1 << 2,       /* the object is zeroed */
    SLAB_OPS_THISNODE = 1 << 3,   /* from the asked node or not at all */
    SLAB_OPS_NOWARN = 1 << 4,     /* no message on failure */
    SLAB_OPS_NOFAIL = 1 << 5,     /* never fails */
    SLAB_OPS_MEMALLOC = 1 << 6,   /* emergency reserves allowed */
    SLAB_OPS_NOMEMALLOC = 1 << 7, /* emergency reserves refused, even for who could use them */
    SLAB_OPS_ACCOUNT = 1 << 8
};

/* What kind of cache. */
enum slab_ops_cache_flags {
    SLAB_OPS_HWCACHE_ALIGN = 1 << 0,
    SLAB_OPS_PANIC = 1 << 1,
    SLAB_OPS_TYPESAFE_BY_RCU = 1 << 2,
    SLAB_OPS_CACHE_ACCOUNT = 1 << 3,
    SLAB_OPS_NO_MERGE = 1 << 4,
    SLAB_OPS_RECLAIM_ACCOUNT = 1 << 5
};

/* Arguments of create(). All zero but `size` is a plain cache. */
struct slab_ops_cache_args {
    unsigned int size;  /* of one object, bytes */
    unsigned int align; /* a power of two, or 0 */
    unsigned int flags; /* enum slab_ops_cache_flags */
    unsigned int sheaf_capacity; /* objects; 0: the implementation's own rule */
    unsigned int useroffset;
    unsigned int usersize;
    unsigned int freeptr_offset; /* read only with use_freeptr_offset */
    bool use_freeptr_offset;
    void (*ctor)(void *object);
};

/* What create() made of the arguments. Constant for the life of a cache. */
struct slab_ops_geometry {
    unsigned int object_size;    /* usable bytes of one object */
    unsigned int size;           /* bytes from one object to the next */
    unsigned int align;          /* bytes */
    unsigned int inuse;          /* bytes up to which an object is its user's */
    unsigned int freeptr_offset; /* bytes from the object to the link of a free one */
    unsigned int order;          /* a slab is 2^order pages */
    unsigned int objects;        /* objects in one slab */
    unsigned int min_order;      /* of the smallest slab, when memory is short */
    unsigned int sheaf_capacity; /* objects; 0: this cache has no sheaves */
    unsigned long min_partial;   /* empty slabs a node keeps */
    const char *generation;      /* "cpu-slab", "cpu-slab+sheaves", "double" or "sheaves" */
    unsigned int cpu_partial_slabs; /* slabs a CPU's chain takes; 0: there are no cpu slabs */
};

/* Where the objects of a cache are, on one node or on all. */
struct slab_ops_counts {
    unsigned long slabs;
    unsigned long total_objects;  /* in all slabs, free or not */
    unsigned long used_objects;   /* handed out by slabs: users' and those waiting in sheaves */
    unsigned long partial_slabs;  /* on the partial lists */
    unsigned long barn_full;      /* full sheaves in barns */
    unsigned long barn_empty;     /* empty sheaves in barns */
    unsigned long barn_objects;   /* objects in those */
    unsigned long cpu_slabs;      /* slabs CPUs allocate from */
    unsigned long cpu_chained;    /* slabs in CPUs' chains */
    unsigned long cpu_objects;    /* free objects in both: neither used nor on a partial list */
};

/* What one CPU holds of a cache, objects; -1: there is no such sheaf. */
struct slab_ops_cpu_sheaves {
    int main;
    int spare;
    int rcu_free;
};

struct slab_ops {
    unsigned int version;   /* KMIRROR_SLAB_OPS_VERSION this table was filled for */
    unsigned int nr_bytes;  /* size of the table */
    const char *name;       /* "kmirror", "linux 7.3.4", ... */

    /* --- caches ---------------------------------------------------------------------- */

    /* NULL: refused or no memory, with the kernel's warning. May sleep. */
    struct slab_ops_cache *(*create)(const char *name, const struct slab_ops_cache_args *args);
    /* As create(), by the five-argument form of the kernel (size, align, flags and ctor count). */
    struct slab_ops_cache *(*create_plain)(const char *name, const struct slab_ops_cache_args *args);
    /* Waits for pending kfree_rcu. With live objects: a warning, and the cache stays. NULL: nothing. */
    void (*destroy)(struct slab_ops_cache *cache);
    /* 0: no slab is left. May sleep. */
    int (*shrink)(struct slab_ops_cache *cache);
    /* The kernel's own check: flushes the sheaves, looks at every slab on a list while others go on.
     * Slabs looked at, or -ENOMEM; what is wrong is said in the log. May sleep. */
    long (*validate)(struct slab_ops_cache *cache);
    /* Everything that can be checked with nobody else at work, and nothing is flushed: the number of
     * violated rules (each said in the log), or -ENOMEM. May sleep. */
    long (*check)(struct slab_ops_cache *cache);
    void (*geometry)(struct slab_ops_cache *cache, struct slab_ops_geometry *out);
    const char *(*cache_name)(struct slab_ops_cache *cache);

    /* --- objects --------------------------------------------------------------------- */

    void *(*alloc)(struct slab_ops_cache *cache, unsigned int gfp);
    /* node -1: no preference. */
    void *(*alloc_node)(struct slab_ops_cache *cache, unsigned int gfp, int node);
    void (*free)(struct slab_ops_cache *cache, void *object);
    /* All n, or none and false. */
    bool (*alloc_bulk)(struct slab_ops_cache *cache, unsigned int gfp, size_t n, void **objects);
    /* cache NULL: any kmalloc or cache object. The array may be reordered. */
    void (*free_bulk)(struct slab_ops_cache *cache, size_t n, void **objects);
    /* Frees after a grace period; `rcu_offset` is where the object holds its two-word rcu_head. */
    void (*free_rcu)(void *object, size_t rcu_offset);

    /* --- sheaves --------------------------------------------------------------------- */

    struct slab_ops_sheaf *(*prefill)(struct slab_ops_cache *cache, unsigned int gfp, unsigned int n);
    /* 0, -EINVAL, -ENOMEM; on failure *sheaf stays and keeps all it had. */
    int (*refill)(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf **sheaf,
                  unsigned int n);
    void (*return_sheaf)(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf *sheaf);
    /* NULL once the sheaf is empty. */
    void *(*alloc_from_sheaf)(struct slab_ops_cache *cache, unsigned int gfp, struct slab_ops_sheaf *sheaf);
    unsigned int (*sheaf_size)(struct slab_ops_sheaf *sheaf);

    /* --- size classes ---------------------------------------------------------------- */

    void *(*kmalloc)(size_t bytes, unsigned int gfp);
    void *(*kmalloc_node)(size_t bytes, unsigned int gfp, int node);
    void *(*krealloc)(const void *object, size_t bytes, unsigned int gfp);
    void (*kfree)(const void *object);
    size_t (*ksize)(const void *object);
    size_t (*kmalloc_size_roundup)(size_t bytes);
    /* The cache an object lives in; NULL: a large allocation. The object must be a live one. */
    struct slab_ops_cache *(*cache_of)(const void *object);

    /* --- waiting --------------------------------------------------------------------- */

    /* Returns after every object given to free_rcu() before the call is free. May sleep. */
    void (*free_rcu_barrier)(void);
    /* The same for one cache. */
    void (*free_rcu_barrier_on)(struct slab_ops_cache *cache);

    /* --- looking --------------------------------------------------------------------- */

    /* node -1: all nodes. Exact only while nobody else uses the cache. */
    void (*counts)(struct slab_ops_cache *cache, int node, struct slab_ops_counts *out);
    /* Sheaves of a CPU; all -1 for a cache without sheaves. As exact as counts(). */
    void (*cpu_sheaves)(struct slab_ops_cache *cache, int cpu, struct slab_ops_cpu_sheaves *out);
    /* Sum over CPUs of a statistic by its name in sysfs ("alloc_fastpath"); -ENOENT: no such in
     * the cache's generation. */
    long (*stat)(struct slab_ops_cache *cache, const char *name);
    /* Names 0, 1, ... until NULL. */
    const char *(*stat_name)(unsigned int index);
    void (*stat_clear)(struct slab_ops_cache *cache);
    int (*object_node)(const void *object);

    /* --- tuning ---------------------------------------------------------------------- */

    void (*set_min_partial)(struct slab_ops_cache *cache, unsigned long slabs);
    /* Sheaf capacity of caches created from now on: -1 the implementation's rule, 0 none,
     * else exactly that many. Returns the setting before. Optional. */
    int (*set_sheaf_capacity)(int objects);

    /* --- virtual CPUs ---------------------------------------------------------------- */

    /* The calling thread runs on `cpu` from now on: 0 or -errno (offline, no such). */
    int (*cpu_pin)(int cpu);
    /* Gives the CPU back; the next operation takes any. */
    void (*cpu_unpin)(void);
    int (*cpu)(void);
    int (*nr_cpus)(void);
    int (*nr_nodes)(void);
    int (*cpu_node)(int cpu);
    int (*cpu_online)(int cpu); /* 1 or 0 */
    int (*cpu_set_online)(int cpu, bool online);

    /* --- loops for benchmarks: the indirect call is paid once per loop --------------- */
    /* Each returns how many objects were allocated: less than asked when memory ran out. */

    /* Allocate one, free it, n times. */
    size_t (*loop_pair)(struct slab_ops_cache *cache, size_t n);
    /* Allocate into the array one by one. */
    size_t (*loop_alloc)(struct slab_ops_cache *cache, size_t n, void **objects);
    /* Free the array one by one, first to last. */
    void (*loop_free)(struct slab_ops_cache *cache, size_t n, void **objects);
    /* `rounds` times: allocate `n` one by one, free them in the order they came. */
    size_t (*loop_batch)(struct slab_ops_cache *cache, size_t n, void **objects, size_t rounds);
    /* `rounds` times: one bulk allocation of `n`, one bulk free. */
    size_t (*loop_bulk)(struct slab_ops_cache *cache, size_t n, void **objects, size_t rounds);
    /* `steps` times: a random slot; full: free it, empty (NULL): fill it. Slots outlive the call. */
    size_t (*loop_random)(struct slab_ops_cache *cache, size_t slots, void **objects, size_t steps,
                          unsigned long seed);
    /* `rounds` times: prefill n, allocate them from the sheaf, return it, free them. */
    size_t (*loop_sheaf)(struct slab_ops_cache *cache, unsigned int n, void **objects, size_t rounds);
    /* kmalloc and kfree, n times. */
    size_t (*loop_kmalloc)(size_t bytes, size_t n);

    /* --- since version 2 ------------------------------------------------------------- */

    /* Generation of caches created from now on, by name; NULL: only ask. Returns the one before,
     * NULL for a name nobody has, and then nothing has changed. Optional. */
    const char *(*set_generation)(const char *name);
    /* Free objects a CPU's chain of slabs takes from now on; 0: chains of one slab. Optional. */
    void (*set_cpu_partial)(struct slab_ops_cache *cache, unsigned int objects);
};

/**
 * kmirror_slab_ops() - the table of the C++ mirror of mm/slub.c.
 *
 * Context: any; the allocator itself boots at its first use.
 * Return:  the table, never NULL, the same at every call.
 */
const struct slab_ops *kmirror_slab_ops(void);

#ifdef __cplusplus
}
#endif

#endif /* KMIRROR_SLAB_OPS_H */
