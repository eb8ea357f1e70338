/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/slab_dump.h>: every sheaf, barn and listed slab of a cache, one by one.
 *
 * Owns     nothing: what a visitor is shown is valid during the call.
 * Locking  a visitor is called with the lock of what it is shown held. It must not use the
 *          allocator, nor take a lock under which somebody does. Nobody may destroy the cache.
 * Fails    never; what does not add up is counted.
 */
#ifndef KMIRROR_SLAB_DUMP_H
#define KMIRROR_SLAB_DUMP_H

#include <linux/slab.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kmirror_slab_dump_sheaf {
    const char *place;   /* "main", "spare", "rcu_free", "barn full", "barn empty" */
    int cpu;             /* -1: in a barn */
    int node;            /* -1: on a CPU */
    const void *address;
    unsigned int size;   /* objects in it */
    unsigned int capacity;
    void *const *objects;
};

struct kmirror_slab_dump_slab {
    const char *place;   /* "partial", "cpu slab", "cpu partial" */
    int cpu;             /* -1: on no CPU */
    int node;
    const void *address; /* of its struct slab */
    const void *start;   /* of its memory */
    unsigned int order;
    unsigned int objects;
    unsigned int inuse;  /* by its counter; of a cpu slab with what is free for the CPU */
    int free;            /* by its free list; -1: the list is damaged */
    bool pfmemalloc;     /* from emergency reserves */
};

/* A counter beside what it counts. */
struct kmirror_slab_dump_count {
    const char *what;    /* "nr_partial", "nr_full", "nr_empty", "nr_slabs", "total_objects", "cpu_partial" */
    int node;            /* of the last, the CPU */
    unsigned long counter;
    unsigned long found; /* of nr_slabs and total_objects a lower bound: full slabs are on no list */
    bool agrees;
};

struct kmirror_slab_dump_visitor {
    void (*sheaf)(const struct kmirror_slab_dump_sheaf *sheaf, void *arg);
    void (*slab)(const struct kmirror_slab_dump_slab *slab, void *arg);
    void (*count)(const struct kmirror_slab_dump_count *count, void *arg);
};

/*
 * kmirror_slab_dump() - show all of @s to @visitor: CPUs, then barns, then lists.
 * Context: may sleep. Return: counters and slabs that do not agree with what was found; exact
 * while nobody else uses the cache.
 */
long kmirror_slab_dump(struct kmem_cache *s, const struct kmirror_slab_dump_visitor *visitor, void *arg);

#ifdef __cplusplus
}
#endif

#endif /* KMIRROR_SLAB_DUMP_H */
