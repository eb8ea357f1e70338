/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tree's table times: one set of loops, compiled once for each range map (tree_steps.h), so that all do
 * the same work, and the call through a pointer is paid once per loop. In C11 and C++20.
 *
 * Layout   entry i of a map covers 1 to 15 indices. Entries 2k and 2k + 1 touch each other; a gap follows: of 2
 *          to 30 indices, after every thousandth pair of 34 to 62.
 * Result   each loop returns a checksum of what it was answered. Two maps that were given the same work have the
 *          same checksum.
 */
#ifndef KMIRROR_TOOLS_BENCH_TREE_LOOPS_H
#define KMIRROR_TOOLS_BENCH_TREE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tree_flags { TREE_GAPS = 1, TREE_RCU = 2 };

enum tree_loop {
    TREE_LOAD_RANDOM,   /* any index */
    TREE_LOAD_CHAIN,    /* each index is computed from the last answer */
    TREE_LOAD_BATCH,    /* the indices of TREE_LOAD_RANDOM, 64 in a call */
    TREE_INSERT,        /* entries in the order of `order` */
    TREE_CHURN,         /* erase an entry and insert it again: two operations */
    TREE_MIXED,         /* nine loads, and an erase or insert */
    TREE_SPAN,          /* store 1 to 128 indices, anywhere */
    TREE_COVER,         /* store over 2 to 8 entries, then store them and their gaps again */
    TREE_EACH,          /* every entry in order */
    TREE_FIND,          /* the first entry from an index on */
    TREE_GAP_UP,        /* the lowest gap above an index */
    TREE_GAP_DOWN,      /* the highest gap below an index */
    TREE_ALLOC_UP,      /* erase an entry, store one at the lowest gap */
    TREE_ALLOC_DOWN,    /* erase an entry, store one at the highest gap */
    TREE_DUP,           /* copy into `other` */
    TREE_DESTROY,       /* free every node; the map stays usable */
    TREE_VMA,           /* the calls of mmap, mprotect, brk, four faults and munmap */
    TREE_NR_LOOPS
};

struct tree_work {
    size_t entries;             /* the map's size; entries 0 .. entries - 1 */
    size_t steps;
    unsigned long seed;
    unsigned long least, most;  /* of a gap that is searched */
    const uint32_t *order;      /* TREE_INSERT: `entries` numbers */
    unsigned long *live;        /* TREE_ALLOC_*: `entries` first indices; TREE_VMA: twice as many words */
    void *other;                /* TREE_DUP: an empty map */
    size_t operations;          /* out: what `steps` steps were */
};

typedef uint64_t (*tree_loop_fn)(void *map, struct tree_work *work);

struct tree_impl {
    const char *name;
    void *(*make)(unsigned int flags);      /* an empty map, or NULL */
    void (*end)(void *map);
    void (*settle)(void);                   /* waits until what was freed is free; may be NULL */
    uint64_t (*digest)(void *map);          /* of every entry with its range */
    size_t (*bytes)(void *map);             /* of its nodes; may be NULL */
    tree_loop_fn loop[TREE_NR_LOOPS];       /* NULL: it has no such operation */
};

/* ---- the layout */

static inline unsigned long tree_entry_size(size_t i)
{
    return 1 + ((i * 0x9E3779B97F4A7C15UL >> 32) * 15 >> 32);
}
static inline unsigned long tree_pair_first(size_t pair) { return 32 * (pair + pair / 1000); }
static inline unsigned long tree_entry_first(size_t i)
{
    return tree_pair_first(i / 2) + (i % 2 ? tree_entry_size(i - 1) : 0);
}
static inline unsigned long tree_entry_last(size_t i) { return tree_entry_first(i) + tree_entry_size(i) - 1; }
static inline unsigned long tree_entry_value(unsigned long i) { return i << 1 | 1; }
static inline unsigned long tree_layout_end(size_t entries) { return tree_pair_first(entries / 2); }

#ifdef __cplusplus
}
#endif

#endif
