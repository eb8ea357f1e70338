/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/mutex.h: a lock for long sections; the queue of a spinlock with a class
 * that carries its name. Not recursive; the thread that locks unlocks.
 */
#ifndef KMIRROR_LINUX_MUTEX_H
#define KMIRROR_LINUX_MUTEX_H

#include <linux/spinlock_types.h>

struct mutex {
    raw_spinlock_t queue;
    struct lockdep_map dep_map;
};

#define __MUTEX_INITIALIZER(lockname) { __RAW_SPIN_LOCK_UNLOCKED(lockname), { #lockname, 0 } }
#define DEFINE_MUTEX(name) struct mutex name = __MUTEX_INITIALIZER(name)

KM_C_BEGIN
void kmirror_mutex_init(struct mutex *lock, const char *name, struct lock_class_key *key);

/* mutex_lock() - Wait for the lock. Context: may sleep. */
void mutex_lock(struct mutex *lock);
void mutex_lock_nested(struct mutex *lock, unsigned int subclass);

/* mutex_trylock() - 1 if taken, 0 if somebody has it. */
int mutex_trylock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
bool mutex_is_locked(struct mutex *lock);
KM_C_END

#define mutex_init(lock)                                \
    do {                                                \
        static struct lock_class_key km_class_key;      \
        kmirror_mutex_init((lock), #lock, &km_class_key); \
    } while (0)
#define mutex_destroy(lock) ((void)(lock))

#endif /* KMIRROR_LINUX_MUTEX_H */
