/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/lockdep.h: lock classes, and checks of who holds what.
 *
 * All checks are off until KMIRROR_LOCKDEP=1 or kmirror_lockdep_enable(); then
 * lockdep_is_held() answers from the calling thread's list of held locks and
 * every new order of two classes is compared with those seen before.
 */
#ifndef KMIRROR_LINUX_LOCKDEP_H
#define KMIRROR_LINUX_LOCKDEP_H

#include <linux/compiler.h>
#include <linux/types.h>

#define SINGLE_DEPTH_NESTING 1

/* One per init site; the class number is entered when the site first runs. */
struct lock_class_key {
    u16 class_id;
};

/* What locks with room carry; spinlocks hold the class number only. */
struct lockdep_map {
    const char *name;
    u16 class_id;
};

KM_C_BEGIN

/* Non-zero while statistics or checks are on; the one flag lock fast paths read. */
extern unsigned int kmirror_lock_watch;

/* kmirror_lock_class() - Number of the class @name, a new one if needed; 0 if there are too many. */
u16 kmirror_lock_class(const char *name, struct lock_class_key *key);

/* Held by the calling thread, or checks are off. @lock is the address given to the lock call. */
int kmirror_lock_held(const void *lock);
/* Warn with the held locks if checks are on and kmirror_lock_held() is 0. */
void kmirror_lock_assert_held(const void *lock, const char *text);
void kmirror_lock_assert_not_held(const void *lock, const char *text);

/* The same question for a local lock's copy: taken by some thread on that CPU. */
struct local_lock;
int kmirror_local_lock_held(const struct local_lock *lock);
void kmirror_local_lock_assert_held(const struct local_lock *lock, const char *text);

/* lock_is_held() - For a lock known by its map only, e.g. a tree's external lock. */
int lock_is_held(const struct lockdep_map *map);

/* Locks the calling thread holds, 0 if checks are off. */
int kmirror_lock_depth(void);

KM_C_END

#define lock_is_held_type(map, read) ((void)(read), lock_is_held(map))
#ifdef __cplusplus
static inline int km_lock_held(const void *lock) { return kmirror_lock_held(lock); }
static inline int km_lock_held(const struct local_lock *lock) { return kmirror_local_lock_held(lock); }
static inline void km_lock_assert_held(const void *lock, const char *text)
{
    if (unlikely(READ_ONCE(kmirror_lock_watch)))
        kmirror_lock_assert_held(lock, text);
}
static inline void km_lock_assert_held(const struct local_lock *lock, const char *text)
{
    if (unlikely(READ_ONCE(kmirror_lock_watch)))
        kmirror_local_lock_assert_held(lock, text);
}
#define lockdep_is_held(lock) km_lock_held(lock)
#define lockdep_assert_held(lock) km_lock_assert_held((lock), #lock)
#else
#define lockdep_is_held(lock)                                        \
    _Generic((lock), struct local_lock *: kmirror_local_lock_held,   \
             const struct local_lock *: kmirror_local_lock_held,     \
             default: kmirror_lock_held)(lock)
#define lockdep_assert_held(lock)                                                  \
    do {                                                                           \
        if (unlikely(READ_ONCE(kmirror_lock_watch)))                               \
            _Generic((lock), struct local_lock *: kmirror_local_lock_assert_held,  \
                     const struct local_lock *: kmirror_local_lock_assert_held,    \
                     default: kmirror_lock_assert_held)((lock), #lock);            \
    } while (0)
#endif
#define lockdep_assert_held_write(lock) lockdep_assert_held(lock)
#define lockdep_assert_held_read(lock) lockdep_assert_held(lock)
#define lockdep_assert_not_held(lock) kmirror_lock_assert_not_held((lock), #lock)
/*
 * lockdep_assert() - Warn when @condition is false while checks are on. The user
 * includes <linux/bug.h>. Nothing in a release build.
 */
#define lockdep_assert(condition)                                       \
    do {                                                                \
        if (!KMIRROR_RELEASE && unlikely(READ_ONCE(kmirror_lock_watch))) \
            (void)WARN_ON(!(condition));                                \
    } while (0)
#define lockdep_assert_irqs_disabled() ((void)0)
#define lockdep_assert_irqs_enabled() ((void)0)
#define lockdep_set_class(lock, key) ((void)(lock), (void)(key))
#define lockdep_init_map(map, label, key, subclass)             \
    do {                                                        \
        (map)->name = (label);                                  \
        (map)->class_id = kmirror_lock_class((label), (key));   \
    } while (0)
#define lockdep_register_key(key) ((void)(key))
#define lockdep_unregister_key(key) ((void)(key))
#define might_lock(lock) ((void)(lock))

#endif /* KMIRROR_LINUX_LOCKDEP_H */
