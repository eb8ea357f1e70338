/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/types.h: the kernel's basic types. libc's <signal.h> reaches this file
 * through the host's headers, so it stays small and ends in the host's own.
 */
#ifndef KMIRROR_LINUX_TYPES_H
#define KMIRROR_LINUX_TYPES_H

#include <linux/compiler_types.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

typedef unsigned int gfp_t;
typedef unsigned int slab_flags_t;
typedef u64 phys_addr_t;
typedef u64 dma_addr_t;

typedef struct {
    int counter;
} atomic_t;

typedef struct {
    s64 counter;
} atomic64_t;

typedef struct {
    long counter;
} atomic_long_t;

#define ATOMIC_INIT(value) { (value) }
#define ATOMIC64_INIT(value) { (value) }
#define ATOMIC_LONG_INIT(value) { (value) }

/* A ring: the head is one more element, and an empty head points to itself. */
struct list_head {
    struct list_head *next, *prev;
};

/* A chain with a one-word head, for hash buckets. */
struct hlist_head {
    struct hlist_node *first;
};

struct hlist_node {
    struct hlist_node *next, **pprev;
};

/* Room for one callback; the owner of the surrounding object provides it. */
struct rcu_head {
    struct rcu_head *next;
    void (*func)(struct rcu_head *head);
} __attribute__((__aligned__(sizeof(void *))));

/* Room for kfree_rcu() and kfree_rcu_nolock() alone; not for call_rcu(). */
struct kvfree_rcu_head {
    struct rcu_head head;
};

typedef void (*rcu_callback_t)(struct rcu_head *head);

#endif /* KMIRROR_LINUX_TYPES_H */
