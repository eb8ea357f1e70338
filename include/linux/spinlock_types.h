/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/spinlock_types.h: the two lock types.
 *
 * spinlock_t    40 bytes, laid over glibc's normal pthread_mutex_t: test code may
 *               use pthread_mutex_lock() on the same object, and all zero, or
 *               what pthread_mutex_init() leaves, is unlocked
 * raw_spinlock_t  16 bytes, for lib/slub
 *
 * In both, `word` follows glibc's protocol: 0 free, 1 taken, 2 taken and somebody
 * may sleep on it. Waiters stand in a queue behind `tail`; its first one alone
 * waits for the word. lib/kernel/spinlock.cpp has the rest.
 */
#ifndef KMIRROR_LINUX_SPINLOCK_TYPES_H
#define KMIRROR_LINUX_SPINLOCK_TYPES_H

#include <linux/lockdep.h>
#include <linux/types.h>
#include <pthread.h>

struct kmirror_lock_waiter;

/*
 *  0        4      8       12       16     20        22     24     32     40
 *  | word   | pad  | owner | users  | kind | class_id| steal| tail | name |
 *    glibc   glibc   glibc   glibc    glibc  ours      ours   ours   ours
 */
typedef struct spinlock {
    u32 word;
    u32 pad;
    u32 owner; /* thread id, set by pthread_mutex_lock() only */
    u32 users; /* kept by pthread_mutex_lock() only */
    int kind;  /* 0: a normal mutex */
    u16 class_id;
    u16 steal; /* the first waiter sleeps: a running thread may overtake it */
    struct kmirror_lock_waiter *tail;
    const char *name; /* of a static lock whose class is not entered yet */
} spinlock_t;

/*
 *  0        4          6       8      16
 *  | word   | class_id | steal | tail |
 */
typedef struct raw_spinlock {
    u32 word;
    u16 class_id;
    u16 steal;
    struct kmirror_lock_waiter *tail;
} raw_spinlock_t;

#if defined(__LP64__)
KM_STATIC_ASSERT(sizeof(spinlock_t) == 40, "spinlock_t is laid over pthread_mutex_t");
KM_STATIC_ASSERT(sizeof(spinlock_t) == sizeof(pthread_mutex_t), "spinlock_t is laid over pthread_mutex_t");
KM_STATIC_ASSERT(offsetof(spinlock_t, kind) == offsetof(pthread_mutex_t, __data.__kind), "glibc's kind");
KM_STATIC_ASSERT(offsetof(spinlock_t, owner) == offsetof(pthread_mutex_t, __data.__owner), "glibc's owner");
KM_STATIC_ASSERT(offsetof(spinlock_t, tail) == 24, "behind glibc's words");
KM_STATIC_ASSERT(sizeof(raw_spinlock_t) == 16, "raw_spinlock_t is compact");
#endif

/* An unlocked static lock whose class is @label, a string. */
#define KM_SPIN_LOCK_NAMED(label) { 0, 0, 0, 0, 0, 0, 0, NULL, label }
#define __SPIN_LOCK_UNLOCKED(lockname) KM_SPIN_LOCK_NAMED(#lockname)
#define __RAW_SPIN_LOCK_UNLOCKED(lockname) { 0, 0, 0, NULL }
#define DEFINE_SPINLOCK(name) spinlock_t name = __SPIN_LOCK_UNLOCKED(name)
#define DEFINE_RAW_SPINLOCK(name) raw_spinlock_t name = __RAW_SPIN_LOCK_UNLOCKED(name)

#endif /* KMIRROR_LINUX_SPINLOCK_TYPES_H */
