/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One table of operations for a maple tree, so that tests, stress, benchmarks and fuzzers can drive any
 * implementation: the C++ mirror (kmirror_maple_ops()), or a C adapter that was compiled together with a
 * kernel's own lib/maple_tree.c.
 *
 * Owns     nothing: a table is constant data of its implementation, valid for ever.
 * Bounds   two implementations disagree about every struct and about the value of every flag, so nothing of
 *          theirs crosses this file: trees and cursors are opaque, flags and states have numbers of their
 *          own, indices are inclusive ranges of unsigned long.
 * Locking  what the kernel function of the same name demands. lock() and read_lock() take whatever lock the
 *          tree was made with. Operations that need a lock say so; all others take it by themselves or need
 *          none.
 * Fails    as the kernel function of the same name: NULL, false or -errno, nothing changed.
 *
 * Growth: new members go at the end and raise KMIRROR_MAPLE_OPS_VERSION; a user that needs a member checks
 * `version`. A member marked "optional" is NULL where the implementation has no such thing; all others are
 * always set.
 */
#ifndef KMIRROR_MAPLE_OPS_H
#define KMIRROR_MAPLE_OPS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KMIRROR_MAPLE_OPS_VERSION 1

struct maple_ops_tree; /* a tree of the implementation */

/* A cursor (ma_state) lives in the caller's memory; its inside is the implementation's. */
#define MAPLE_OPS_CURSOR_BYTES 128
struct maple_ops_cursor {
    union {
        void *alignment;
        unsigned char opaque[MAPLE_OPS_CURSOR_BYTES];
    };
};

/* What kind of tree. */
enum maple_ops_flags {
    MAPLE_OPS_PLAIN = 0,
    MAPLE_OPS_ALLOC = 1 << 0,       /* tracks gaps: alloc_*() and empty_area*() (MT_FLAGS_ALLOC_RANGE) */
    MAPLE_OPS_RCU = 1 << 1,         /* readers need no lock (MT_FLAGS_USE_RCU) */
    MAPLE_OPS_LOCK_EXTERN = 1 << 2, /* the lock is an rw_semaphore outside of the tree */
    MAPLE_OPS_LOCK_IRQ = 1 << 3,
    MAPLE_OPS_LOCK_BH = 1 << 4
};

/* How a store may allocate. */
enum maple_ops_gfp {
    MAPLE_OPS_KERNEL = 0,       /* may drop the lock and wait (GFP_KERNEL) */
    MAPLE_OPS_NOWAIT = 1 << 0,  /* never waits (GFP_NOWAIT) */
    MAPLE_OPS_NOFAIL = 1 << 1   /* with MAPLE_OPS_KERNEL: never fails (__GFP_NOFAIL) */
};

/* Where a cursor stands. */
enum maple_ops_status {
    MAPLE_OPS_ACTIVE,
    MAPLE_OPS_START,
    MAPLE_OPS_ROOT,
    MAPLE_OPS_NONE,
    MAPLE_OPS_PAUSE,
    MAPLE_OPS_OVERFLOW,
    MAPLE_OPS_UNDERFLOW,
    MAPLE_OPS_ERROR
};

struct maple_ops_position {
    unsigned long first;  /* the range asked for, or found */
    unsigned long last;
    unsigned long min;    /* what the cursor's node covers; meaningful while active */
    unsigned long max;
    enum maple_ops_status status;
    int error;            /* -errno while status is MAPLE_OPS_ERROR, else 0 */
    unsigned int offset;  /* slot in the node, while active */
    bool has_node;        /* a node is loaded */
};

/* What each_*() calls: not 0 ends the iteration. */
typedef int (*maple_ops_visit)(void *arg, unsigned long first, unsigned long last, void *entry);

/* An entry for the integer n (below 2^62), the same in every kernel. 0 is a value like any other. */
static inline void *maple_ops_value(unsigned long n)
{
    return (void *)(n << 1 | 1);
}

struct maple_ops {
    unsigned int version;   /* KMIRROR_MAPLE_OPS_VERSION this table was filled for */
    unsigned int nr_bytes;  /* size of the table */
    const char *name;       /* "kmirror", "linux 7.3.4", ... */

    void *(*zero_entry)(void);     /* XA_ZERO_ENTRY: occupies its range, simple reads see NULL */
    void *(*reserved_entry)(void); /* a value that the simple API must refuse */

    /* --- a tree's life --------------------------------------------------------------- */

    /* An empty tree, or NULL. May sleep. Flags: enum maple_ops_flags. */
    struct maple_ops_tree *(*tree_new)(unsigned int flags);
    /* Destroys the nodes, then the handle. The nodes of an RCU tree follow after a grace period. */
    void (*tree_free)(struct maple_ops_tree *tree);
    /* Empties the tree; it stays usable. destroy_locked(): the caller holds lock(). */
    void (*destroy)(struct maple_ops_tree *tree);
    void (*destroy_locked)(struct maple_ops_tree *tree);
    /* 0, -EINVAL (copy not empty or of another kind), -ENOMEM (copy is empty). _locked: both lock()s held. */
    int (*dup)(struct maple_ops_tree *tree, struct maple_ops_tree *copy, unsigned int gfp);
    int (*dup_locked)(struct maple_ops_tree *tree, struct maple_ops_tree *copy, unsigned int gfp);
    bool (*empty)(struct maple_ops_tree *tree);
    unsigned int (*height)(struct maple_ops_tree *tree); /* 0: no node */
    bool (*in_rcu)(struct maple_ops_tree *tree);
    void (*set_in_rcu)(struct maple_ops_tree *tree);
    void (*clear_in_rcu)(struct maple_ops_tree *tree);

    /* --- locks ----------------------------------------------------------------------- */

    void (*lock)(struct maple_ops_tree *tree);
    void (*unlock)(struct maple_ops_tree *tree);
    void (*lock_nested)(struct maple_ops_tree *tree); /* a second tree's lock, after lock() of another one */
    void (*read_lock)(void); /* rcu_read_lock() */
    void (*read_unlock)(void);
    void (*rcu_barrier)(void); /* every node given up before is free. May sleep. */

    /* --- simple API: takes the lock -------------------------------------------------- */

    void *(*load)(struct maple_ops_tree *tree, unsigned long index);
    int (*store)(struct maple_ops_tree *tree, unsigned long index, void *entry, unsigned int gfp);
    int (*store_range)(struct maple_ops_tree *tree, unsigned long first, unsigned long last, void *entry,
                       unsigned int gfp);
    int (*insert)(struct maple_ops_tree *tree, unsigned long index, void *entry, unsigned int gfp);
    int (*insert_range)(struct maple_ops_tree *tree, unsigned long first, unsigned long last, void *entry,
                        unsigned int gfp);
    void *(*erase)(struct maple_ops_tree *tree, unsigned long index);
    int (*alloc_range)(struct maple_ops_tree *tree, unsigned long *start, void *entry, unsigned long size,
                       unsigned long min, unsigned long max, unsigned int gfp);
    int (*alloc_rrange)(struct maple_ops_tree *tree, unsigned long *start, void *entry, unsigned long size,
                        unsigned long min, unsigned long max, unsigned int gfp);
    int (*alloc_cyclic)(struct maple_ops_tree *tree, unsigned long *start, void *entry, unsigned long min,
                        unsigned long max, unsigned long *next, unsigned int gfp);
    void *(*find)(struct maple_ops_tree *tree, unsigned long *index, unsigned long max);
    void *(*find_after)(struct maple_ops_tree *tree, unsigned long *index, unsigned long max);
    void *(*next)(struct maple_ops_tree *tree, unsigned long index, unsigned long max);
    void *(*prev)(struct maple_ops_tree *tree, unsigned long index, unsigned long min);
    /* mt_for_each() from `index` to `max`: the visitor gets (index the macro saw, the same, entry). Number of
     * visits. */
    size_t (*each)(struct maple_ops_tree *tree, unsigned long index, unsigned long max, maple_ops_visit visit,
                   void *arg);

    /* --- cursors: the caller holds lock(), or read_lock() for reading ------------------ */

    void (*cursor_init)(struct maple_ops_cursor *cursor, struct maple_ops_tree *tree, unsigned long index);
    /* MA_STATE(): asks for [first, last]. */
    void (*cursor_range)(struct maple_ops_cursor *cursor, struct maple_ops_tree *tree, unsigned long first,
                         unsigned long last);
    void (*cursor_get)(const struct maple_ops_cursor *cursor, struct maple_ops_position *out);
    void (*mas_reset)(struct maple_ops_cursor *cursor);
    void (*mas_pause)(struct maple_ops_cursor *cursor);
    void (*mas_set)(struct maple_ops_cursor *cursor, unsigned long index);
    void (*mas_set_range)(struct maple_ops_cursor *cursor, unsigned long first, unsigned long last);
    /* __mas_set_range(): keeps the position. */
    void (*mas_move)(struct maple_ops_cursor *cursor, unsigned long first, unsigned long last);

    void *(*mas_walk)(struct maple_ops_cursor *cursor);
    void *(*mas_next)(struct maple_ops_cursor *cursor, unsigned long max);
    void *(*mas_next_range)(struct maple_ops_cursor *cursor, unsigned long max);
    void *(*mas_prev)(struct maple_ops_cursor *cursor, unsigned long min);
    void *(*mas_prev_range)(struct maple_ops_cursor *cursor, unsigned long min);
    void *(*mas_find)(struct maple_ops_cursor *cursor, unsigned long max);
    void *(*mas_find_range)(struct maple_ops_cursor *cursor, unsigned long max);
    void *(*mas_find_rev)(struct maple_ops_cursor *cursor, unsigned long min);
    void *(*mas_find_range_rev)(struct maple_ops_cursor *cursor, unsigned long min);
    int (*mas_empty_area)(struct maple_ops_cursor *cursor, unsigned long min, unsigned long max,
                          unsigned long size);
    int (*mas_empty_area_rev)(struct maple_ops_cursor *cursor, unsigned long min, unsigned long max,
                              unsigned long size);
    /* mas_for_each(), mas_for_each_rev() from the cursor's index. Number of visits. */
    size_t (*mas_each)(struct maple_ops_cursor *cursor, unsigned long max, maple_ops_visit visit, void *arg);
    size_t (*mas_each_rev)(struct maple_ops_cursor *cursor, unsigned long min, maple_ops_visit visit,
                           void *arg);

    void *(*mas_store)(struct maple_ops_cursor *cursor, void *entry);
    int (*mas_store_gfp)(struct maple_ops_cursor *cursor, void *entry, unsigned int gfp);
    int (*mas_preallocate)(struct maple_ops_cursor *cursor, void *entry, unsigned int gfp);
    void (*mas_store_prealloc)(struct maple_ops_cursor *cursor, void *entry);
    void (*mas_destroy)(struct maple_ops_cursor *cursor);
    void *(*mas_erase)(struct maple_ops_cursor *cursor);
    int (*mas_alloc_cyclic)(struct maple_ops_cursor *cursor, unsigned long *start, void *entry,
                            unsigned long min, unsigned long max, unsigned long *next, unsigned int gfp);
    bool (*mas_nomem)(struct maple_ops_cursor *cursor, unsigned int gfp);
    bool (*mas_nomem_nofail)(struct maple_ops_cursor *cursor, unsigned long first,
                             unsigned long last); /* optional */
    int (*mas_expected_entries)(struct maple_ops_cursor *cursor, unsigned long nr_entries); /* optional */
    /* Nodes the cursor holds in reserve. */
    unsigned long (*mas_reserved)(const struct maple_ops_cursor *cursor);

    /* --- checks and dumps: the caller holds lock() -------------------------------------- */

    /* How many rules of the tree are broken; with `report`, a line for each on stderr. 0: sound. */
    unsigned long (*check)(struct maple_ops_tree *tree, bool report);
    /* mt_validate(): counted checks; returns how many failed. */
    unsigned int (*validate)(struct maple_ops_tree *tree);
    unsigned long (*node_count)(struct maple_ops_tree *tree);
    void (*dump)(struct maple_ops_tree *tree, bool hex);
    void (*cursor_dump)(const struct maple_ops_cursor *cursor);

    /* --- the node cache ----------------------------------------------------------------- */

    void (*boot)(void);          /* maple_tree_init(); idempotent */
    void (*cache_shrink)(void);  /* May sleep. */
    /* Ends the node cache; the next use makes it anew, by the allocator's settings of then. Nobody may use
     * any tree meanwhile. May sleep. 0, or -EBUSY: nodes are in use. Optional. */
    int (*cache_renew)(void);
    unsigned long (*node_bytes)(void);
    unsigned long (*nr_allocated)(void);  /* nodes alive, of all trees; exact while nobody allocates */
    /* Node allocations since zero_nr_tallocated(); counted in mock mode. */
    unsigned long (*nr_tallocated)(void);
    void (*zero_nr_tallocated)(void);
    /* Broken rules of the node cache, each said in the log. Nobody may use it meanwhile. May sleep.
     * Optional. */
    unsigned long (*cache_check)(void);
    /* Budget and callback of the kernel's userspace harness (mt_set_*). Optional: in mock mode only. */
    void (*set_non_kernel)(unsigned int budget);
    void (*set_callback)(void (*callback)(void *));
    void (*set_private)(void *private_data);

    /* --- loops for benchmarks: the indirect call is paid once per loop ------------------- */
    /* Step i works on index first + i * stride; a range is `size` long. Returned: steps that succeeded. */

    size_t (*loop_load)(struct maple_ops_tree *tree, unsigned long first, unsigned long stride, size_t n);
    size_t (*loop_store)(struct maple_ops_tree *tree, unsigned long first, unsigned long stride,
                         unsigned long size, size_t n);
    size_t (*loop_erase)(struct maple_ops_tree *tree, unsigned long first, unsigned long stride, size_t n);
    /* Preallocate and store, under one hold of lock(). */
    size_t (*loop_prealloc)(struct maple_ops_tree *tree, unsigned long first, unsigned long stride,
                            unsigned long size, size_t n);
    /* `n` ranges at the lowest gap in [min, max]. */
    size_t (*loop_alloc)(struct maple_ops_tree *tree, unsigned long min, unsigned long max,
                         unsigned long size, size_t n);
    /* All entries with mas_for_each() (mas_for_each_rev()), `rounds` times; entries seen. */
    size_t (*loop_each)(struct maple_ops_tree *tree, size_t rounds);
    size_t (*loop_each_rev)(struct maple_ops_tree *tree, size_t rounds);
    /* The same with mt_for_each(). */
    size_t (*loop_find)(struct maple_ops_tree *tree, size_t rounds);
    /* Random stores and erases of `size` long ranges below `span`; `erase_percent` of the steps erase. */
    size_t (*loop_random)(struct maple_ops_tree *tree, unsigned long span, unsigned long size, size_t n,
                          unsigned int erase_percent, unsigned long seed);
    /* Random loads below `span`. */
    size_t (*loop_random_load)(struct maple_ops_tree *tree, unsigned long span, size_t n, unsigned long seed);
    /* Duplicate into a new tree and free that, `rounds` times. */
    size_t (*loop_dup)(struct maple_ops_tree *tree, size_t rounds);
};

/**
 * kmirror_maple_ops() - the table of the C++ mirror of lib/maple_tree.c.
 *
 * Context: any; the node cache is made at its first use.
 * Return:  the table, never NULL, the same at every call.
 */
const struct maple_ops *kmirror_maple_ops(void);

#ifdef __cplusplus
}
#endif

#endif
