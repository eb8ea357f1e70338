/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/slab_info.h>: looking into lib/slub, and the switches of its generation.
 *
 * Owns     what a kernel shows in /sys/kernel/slab, as plain functions: geometry,
 *          counts, statistics, the checker, and the settings made at start-up.
 * Bounds   read-only but for slab_stat_clear(), the tuning functions and the checker,
 *          which flushes sheaves when asked to.
 * Locking  everything may sleep and takes the cache mutex or list_lock as it needs;
 *          no lock of the allocator may be held by the caller.
 * Fails    never, except where a return value says so. Numbers are exact only while
 *          nobody else uses the cache.
 */
#ifndef KMIRROR_SLAB_INFO_H
#define KMIRROR_SLAB_INFO_H

#include <linux/slab.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * slab_stat_name() - the sysfs name of statistic @item ("alloc_fastpath"), NULL past the
 * last one. In the kernel's order; not every generation has each, see slab_stat_known(). Without KMIRROR_STATS the names exist and every value is 0. Context: any.
 */
const char *slab_stat_name(unsigned int item);

/* slab_stat_known() - does the generation of @s have statistic @item? Context: any. */
bool slab_stat_known(struct kmem_cache *s, unsigned int item);

/* slab_stat_sum() - statistic @item of @s over all CPUs; 0 past the last. Context: any. */
unsigned long slab_stat_sum(struct kmem_cache *s, unsigned int item);

/* slab_stat_cpu() - the same for one possible CPU. Context: any. */
unsigned long slab_stat_cpu(struct kmem_cache *s, unsigned int item, unsigned int cpu);

/* slab_stat_clear_item() - set one statistic of @s to 0; as slab_stat_clear(). */
void slab_stat_clear_item(struct kmem_cache *s, unsigned int item);

/* slab_stat_clear() - set every statistic of @s to 0; concurrent counting may be lost. */
void slab_stat_clear(struct kmem_cache *s);

/* What creation made of its arguments; constant for the life of a cache. */
struct kmirror_slab_geometry {
    const char *name;            /* of the first of its aliases */
    slab_flags_t flags;
    unsigned int object_size;    /* usable bytes of one object */
    unsigned int size;           /* bytes from one object to the next */
    unsigned int align;          /* bytes */
    unsigned int inuse;          /* bytes up to which an object is its user's, red zone included */
    unsigned int red_left_pad;   /* bytes of red zone in front of each object */
    unsigned int freeptr_offset; /* bytes from an object to its link while free */
    unsigned int order;          /* a slab is 2^order pages */
    unsigned int objects;        /* objects in one slab */
    unsigned int min_order;      /* of a slab when memory is short */
    unsigned int min_objects;    /* objects in such a slab */
    unsigned int sheaf_capacity; /* objects; 0: no sheaves */
    unsigned long min_partial;   /* empty slabs a node keeps */
    int aliases;                 /* further names that share this cache */
    unsigned int useroffset;
    unsigned int usersize;
    const char *generation;      /* kmirror_slab_generation_name() */
    unsigned int cpu_partial;    /* free objects a CPU's chain of slabs may hold; 0: no cpu slabs */
    unsigned int cpu_partial_slabs; /* the same, in slabs */
};

void kmirror_slab_geometry(struct kmem_cache *s, struct kmirror_slab_geometry *out);

/* Where objects are, on one node. */
struct kmirror_slab_counts {
    unsigned long slabs;
    unsigned long total_objects;   /* in all slabs, free or not */
    unsigned long partial_slabs;   /* on the partial list */
    unsigned long partial_objects; /* objects in use in those */
    unsigned long used_objects;    /* taken out of slabs: users' and those in sheaves */
    unsigned long barn_full;       /* full sheaves in the barn */
    unsigned long barn_empty;      /* empty sheaves in the barn */
    unsigned long barn_objects;    /* objects in the barn's full sheaves */
    unsigned long cpu_slabs;       /* slabs CPUs allocate from */
    unsigned long cpu_chained;     /* slabs in CPUs' chains */
    unsigned long cpu_objects;     /* free objects in both */
};

/* kmirror_slab_counts() - of @node, or of all nodes for NUMA_NO_NODE. Takes list_lock. */
void kmirror_slab_counts(struct kmem_cache *s, int node, struct kmirror_slab_counts *out);

/* What one CPU holds, in objects; -1: there is no such sheaf. */
struct kmirror_slab_cpu {
    int main;
    int spare;
    int rcu_free;
};

void kmirror_slab_cpu_sheaves(struct kmem_cache *s, unsigned int cpu,
                              struct kmirror_slab_cpu *out);

#define KS_ADDRS_COUNT 16

/* Whose memory an address is. */
struct kmem_obj_info {
    void *kp_ptr;                     /* the address */
    struct kmem_cache *kp_slab_cache;
    void *kp_objp;                    /* start of the object it lies in */
    unsigned long kp_data_offset;     /* from there to the bytes its user has: a red zone */
    /* Of a cache that stores users, else NULL; each list ends with NULL or at its size. */
    void *kp_ret;                          /* who allocated it last */
    void *kp_stack[KS_ADDRS_COUNT];        /* by which way, innermost first */
    void *kp_free_stack[KS_ADDRS_COUNT];   /* and by which way it was freed last */
};

/*
 * kmem_obj_info() - of an address for which kmem_valid_obj() is true, into a cleared @info.
 * Context: any. An address that no object has room for counts as the nearest one's.
 */
void kmem_obj_info(struct kmem_obj_info *info, void *object);

/* kmem_valid_obj() - does @object lie in a slab? Any address. Context: any. */
bool kmem_valid_obj(void *object);

/* kmirror_slab_cache_of() - the cache of a live object; NULL: not a cache's. Context: any. */
struct kmem_cache *kmirror_slab_cache_of(const void *object);

/* kmirror_slab_nid_of() - the node whose memory holds a live object. Context: any. */
int kmirror_slab_nid_of(const void *object);

/*
 * kmirror_slab_for_each_cache() - call @visit for every cache, oldest first, until it
 * returns non-zero. Context: may sleep; no cache may be destroyed meanwhile, by @visit or
 * by others. Return: what the last @visit returned.
 */
int kmirror_slab_for_each_cache(int (*visit)(struct kmem_cache *s, void *arg), void *arg);

/*
 * kmirror_slab_for_each_alias() - call @visit for every further name of @s, in the order they
 * came. Context: may sleep; @visit must not create or destroy caches.
 */
void kmirror_slab_for_each_alias(struct kmem_cache *s, void (*visit)(const char *name, void *arg),
                                 void *arg);

/*
 * validate_slab_cache() - flush the sheaves of @s and check every slab on a list; of a cache
 * with debugging, every object in it.
 * Context: may sleep. Return: slabs looked at. What is wrong is said in the log; of a cache
 * with debugging it is also repaired, and counted, see kmirror_slab_errors().
 */
long validate_slab_cache(struct kmem_cache *s);

/*
 * kmirror_slab_debug() - as the kernel's slab_debug=@options, for caches created from now on.
 * @options: e.g. "FZ", "P,kmalloc-*;U,maple_node", "" (all of F, Z, P and U), or NULL: none.
 * In the environment: KMIRROR_SLAB_DEBUG. Context: before other threads use the allocator.
 * Return: 0; -EINVAL for more than 1023 characters. Letters without a meaning are said in the
 * log and skipped.
 */
int kmirror_slab_debug(const char *options);

/*
 * kmirror_slab_sites() - where the objects of @s in use were allocated, or with @freed, where the free ones
 * were freed: the place with most objects first. Each line goes to @say, as the kernel's alloc_traces has them:
 * count, function, what was not asked for, age in ms, pid, cpus, nodes; then the stack, eight blanks in front.
 * Context: may sleep. Return: places; -EINVAL: @s does not store its users, -ENOMEM.
 */
long kmirror_slab_sites(struct kmem_cache *s, bool freed, void (*say)(const char *line, void *arg), void *arg);

/*
 * kmirror_slab_errors() - errors found by slab debugging, and repairs made, each counting one,
 * by all threads so far. Context: any.
 */
unsigned long kmirror_slab_errors(void);

/*
 * kmirror_slab_errors_into() - what the calling thread finds from now on is added to *@counter
 * instead of being reported; NULL: reported again. Context: any. Return: the counter before.
 */
int *kmirror_slab_errors_into(int *counter);

/*
 * kmirror_slab_validate() - check @s as it stands, nothing is flushed: every sheaf, barn
 * and partial list, by the numbered invariants of lib/slub/validate.cpp.
 * Context: may sleep; nobody else may use @s meanwhile. Return: violations, each also said
 * in the log with its number; -ENOMEM without room to note the objects in sheaves.
 */
long kmirror_slab_validate(struct kmem_cache *s);

/*
 * The four allocators of this library: what differs is listed in lib/slub/generation.h. In the
 * environment: KMIRROR_SLAB=cpu-slab|cpu-slab+sheaves|double|sheaves.
 */
enum kmirror_slab_generation {
    KMIRROR_SLAB_CPU_SLAB,         /* "cpu-slab": Linux 6.12, 6.17 */
    KMIRROR_SLAB_CPU_SLAB_SHEAVES, /* "cpu-slab+sheaves": the first commit with sheaves */
    KMIRROR_SLAB_DOUBLE,           /* "double": 6.18 */
    KMIRROR_SLAB_SHEAVES,          /* "sheaves": 7.3, the default */
    KMIRROR_SLAB_NR_GENERATIONS
};

/* kmirror_slab_generation_name() - as in the environment; NULL: there is none such. Context: any. */
const char *kmirror_slab_generation_name(int generation);

/* kmirror_slab_generation_by_name() - the reverse; -1: there is none such. Context: any. */
int kmirror_slab_generation_by_name(const char *name);

/*
 * kmirror_slab_set_generation() - generation of caches created from now on; -1: only ask.
 * Size classes have the one in force at the allocator's first use. Caches of different
 * generations are never merged. Context: any. Return: the generation before.
 */
int kmirror_slab_set_generation(int generation);

/*
 * kmirror_slab_set_cpu_partial() - free objects a CPU's chain of slabs may hold from now on.
 * Nothing for a cache without cpu slabs. Context: any.
 */
void kmirror_slab_set_cpu_partial(struct kmem_cache *s, unsigned int objects);

/* kmirror_slab_set_min_partial() - empty slabs to keep per node from now on. */
void kmirror_slab_set_min_partial(struct kmem_cache *s, unsigned long slabs);

/* kmirror_slab_set_defrag_ratio() - how often, of 1024, other nodes' lists are tried. */
void kmirror_slab_set_defrag_ratio(struct kmem_cache *s, unsigned int of_1024);

/*
 * kmirror_slab_sheaf_capacity() - sheaf capacity of caches created from now on.
 * @objects: -1: by the kernel's rule and the cache's wish; 0: no sheaves; n: n objects.
 * At start: environment KMIRROR_SHEAF_CAPACITY, else -1. With a setting other than -1 new
 * caches are not merged. Context: any. Return: the setting before.
 */
int kmirror_slab_sheaf_capacity(int objects);

/* On/off settings, for caches created from now on. In the environment: the names in quotes. */
enum kmirror_slab_switch {
    KMIRROR_SLAB_FREELIST_RANDOM,   /* "KMIRROR_SLAB_FREELIST_RANDOM", off */
    KMIRROR_SLAB_FREELIST_HARDENED, /* "KMIRROR_SLAB_FREELIST_HARDENED", off */
    KMIRROR_SLAB_CMPXCHG_DOUBLE,    /* "KMIRROR_SLAB_CMPXCHG_DOUBLE", on; off: slab_lock */
    KMIRROR_SLAB_MERGE,             /* "KMIRROR_SLAB_MERGE", on */
    KMIRROR_SLAB_INIT_ON_ALLOC,     /* "KMIRROR_INIT_ON_ALLOC", off: memory is handed out zeroed */
    KMIRROR_SLAB_INIT_ON_FREE,      /* "KMIRROR_INIT_ON_FREE", off: and zeroed when it comes back */
    KMIRROR_SLAB_STRICT_NUMA,       /* "KMIRROR_SLAB_STRICT_NUMA", off; of all caches, at once: each
                                     * object is placed by the policy of <linux/mempolicy.h> */
    KMIRROR_SLAB_NR_SWITCHES
};

/*
 * Numbers, for caches created from now on; -1: as the kernel of the generation does it. In the
 * environment: the names in quotes. While one is set new caches are not merged.
 */
enum kmirror_slab_number {
    KMIRROR_SLAB_KEEP_SPARE,     /* "KMIRROR_SLAB_KEEP_SPARE" 0, 1: a main sheaf found empty after a
                                  * refill becomes the spare; 0: it goes to the barn */
    KMIRROR_SLAB_REMOTE_TRYLOCK, /* "KMIRROR_SLAB_REMOTE_TRYLOCK" 0, 1: refills from other nodes only
                                  * try their list_lock */
    KMIRROR_SLAB_BARN_FULL,      /* "KMIRROR_SLAB_BARN_FULL": full sheaves a barn takes */
    KMIRROR_SLAB_BARN_EMPTY,     /* "KMIRROR_SLAB_BARN_EMPTY": empty ones */
    KMIRROR_SLAB_MIN_PARTIAL,    /* "KMIRROR_SLAB_MIN_PARTIAL": empty slabs a node keeps */
    KMIRROR_SLAB_CPU_PARTIAL,    /* "KMIRROR_SLAB_CPU_PARTIAL": free objects of a CPU's chain */
    KMIRROR_SLAB_DEFRAG_RATIO,   /* "KMIRROR_SLAB_DEFRAG_RATIO": how often of 1024 other nodes are tried */
    KMIRROR_SLAB_NR_NUMBERS
};

/* kmirror_slab_number() - what is set; -1: nothing. Context: any. */
long kmirror_slab_number(enum kmirror_slab_number which);

/* kmirror_slab_set_number() - set one. Context: any. Return: 0; -EINVAL out of its range. */
int kmirror_slab_set_number(enum kmirror_slab_number which, long value);

/* kmirror_slab_switch() - set one; returns how it was. @on < 0: only ask. Context: any. */
int kmirror_slab_switch(enum kmirror_slab_switch which, int on);

#ifdef __cplusplus
}
#endif

#endif /* KMIRROR_SLAB_INFO_H */
