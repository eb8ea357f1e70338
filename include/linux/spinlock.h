/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/spinlock.h: spinlock_t and raw_spinlock_t by the kernel's names.
 *
 * Waiters are served in the order they came, spin briefly and then sleep, so a
 * holder that lost its processor costs a few switches and not time slices. A
 * running thread may overtake a first waiter that sleeps, once per waiter.
 * Not recursive; the thread that locks unlocks. No operation fails.
 *
 * The _irq, _irqsave and _bh forms are the plain ones: there are no interrupts.
 */
#ifndef KMIRROR_LINUX_SPINLOCK_H
#define KMIRROR_LINUX_SPINLOCK_H

#include <asm/barrier.h>
#include <asm/processor.h>
#include <kmirror/stop_point.h>
#include <linux/irqflags.h>
#include <linux/spinlock_types.h>

KM_C_BEGIN
/* Instrumented, watched and contended bodies; lib/kernel/spinlock.cpp. */
void kmirror_spin_lock(spinlock_t *lock);
void kmirror_spin_lock_nested(spinlock_t *lock, int subclass);
int kmirror_spin_trylock(spinlock_t *lock);
void kmirror_spin_unlock(spinlock_t *lock);
void kmirror_spin_wake(u32 *word);
void kmirror_raw_spin_lock(raw_spinlock_t *lock);
void kmirror_raw_spin_lock_nested(raw_spinlock_t *lock, int subclass);
int kmirror_raw_spin_trylock(raw_spinlock_t *lock);
void kmirror_raw_spin_unlock(raw_spinlock_t *lock);
void kmirror_spin_lock_init(spinlock_t *lock, const char *name, struct lock_class_key *key);
void kmirror_raw_spin_lock_init(raw_spinlock_t *lock, const char *name, struct lock_class_key *key);
KM_C_END

#if !KMIRROR_INSTRUMENTED
/* Nobody waits and the word is free: take it. */
#define KM_SPIN_TAKE(lock)                                                                   \
    __extension__({                                                                          \
        u32 km_free = 0;                                                                     \
        !READ_ONCE((lock)->tail) &&                                                          \
            __atomic_compare_exchange_n(&(lock)->word, &km_free, 1, false, __ATOMIC_ACQUIRE, \
                                        __ATOMIC_RELAXED);                                   \
    })
#endif

static __always_inline void spin_lock(spinlock_t *lock)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(!READ_ONCE(kmirror_lock_watch)) && likely(KM_SPIN_TAKE(lock)))
        return;
#endif
    kmirror_spin_lock(lock);
}

static __always_inline int spin_trylock(spinlock_t *lock)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(!READ_ONCE(kmirror_lock_watch)))
        return KM_SPIN_TAKE(lock);
#endif
    return kmirror_spin_trylock(lock);
}

static __always_inline void spin_unlock(spinlock_t *lock)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(!READ_ONCE(kmirror_lock_watch))) {
        /* glibc asserts that a lock it takes has no owner left. */
        WRITE_ONCE(lock->owner, 0);
        WRITE_ONCE(lock->users, 0);
        if (unlikely(__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2))
            kmirror_spin_wake(&lock->word);
        return;
    }
#endif
    kmirror_spin_unlock(lock);
}

static __always_inline void raw_spin_lock(raw_spinlock_t *lock)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(!READ_ONCE(kmirror_lock_watch)) && likely(KM_SPIN_TAKE(lock)))
        return;
#endif
    kmirror_raw_spin_lock(lock);
}

static __always_inline int raw_spin_trylock(raw_spinlock_t *lock)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(!READ_ONCE(kmirror_lock_watch)))
        return KM_SPIN_TAKE(lock);
#endif
    return kmirror_raw_spin_trylock(lock);
}

static __always_inline void raw_spin_unlock(raw_spinlock_t *lock)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(!READ_ONCE(kmirror_lock_watch))) {
        if (unlikely(__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2))
            kmirror_spin_wake(&lock->word);
        return;
    }
#endif
    kmirror_raw_spin_unlock(lock);
}

/* The points at which tests can hold a thread. */
#define spin_lock(lock) (KM_STOP_POINT("lock"), spin_lock(lock))
#define spin_trylock(lock) (KM_STOP_POINT("trylock"), spin_trylock(lock))
#define spin_unlock(lock) (KM_STOP_POINT("unlock"), spin_unlock(lock))
#define raw_spin_lock(lock) (KM_STOP_POINT("lock"), raw_spin_lock(lock))
#define raw_spin_trylock(lock) (KM_STOP_POINT("trylock"), raw_spin_trylock(lock))
#define raw_spin_unlock(lock) (KM_STOP_POINT("unlock"), raw_spin_unlock(lock))

/* Each init site is a class, named after the expression there. */
#define spin_lock_init(lock)                                \
    do {                                                    \
        static struct lock_class_key km_class_key;          \
        kmirror_spin_lock_init((lock), #lock, &km_class_key); \
    } while (0)
#define raw_spin_lock_init(lock)                                \
    do {                                                        \
        static struct lock_class_key km_class_key;              \
        kmirror_raw_spin_lock_init((lock), #lock, &km_class_key); \
    } while (0)

#define spin_is_locked(lock) (READ_ONCE((lock)->word) != 0)
#define spin_is_contended(lock) (READ_ONCE((lock)->tail) != NULL || READ_ONCE((lock)->word) == 2)
#define raw_spin_is_locked(lock) spin_is_locked(lock)
#define raw_spin_is_contended(lock) spin_is_contended(lock)
#define assert_spin_locked(lock) lockdep_assert_held(lock)
#define assert_raw_spin_locked(lock) lockdep_assert_held(lock)

/* A second lock of the same class, in an order the caller guarantees. */
#define spin_lock_nested(lock, subclass) (KM_STOP_POINT("lock"), kmirror_spin_lock_nested((lock), (subclass)))
#define spin_lock_nest_lock(lock, outer) ((void)(outer), spin_lock_nested((lock), 1))
#define raw_spin_lock_nested(lock, subclass) kmirror_raw_spin_lock_nested((lock), (subclass))

#define spin_lock_bh(lock) spin_lock(lock)
#define spin_unlock_bh(lock) spin_unlock(lock)
#define spin_trylock_bh(lock) spin_trylock(lock)
#define spin_lock_irq(lock) spin_lock(lock)
#define spin_unlock_irq(lock) spin_unlock(lock)
#define spin_trylock_irq(lock) spin_trylock(lock)
#define spin_lock_irqsave(lock, flags) \
    do {                               \
        (flags) = 0;                   \
        spin_lock(lock);               \
    } while (0)
#define spin_lock_irqsave_nested(lock, flags, subclass) \
    do {                                                \
        (flags) = 0;                                    \
        spin_lock_nested(lock, subclass);               \
    } while (0)
#define spin_unlock_irqrestore(lock, flags) \
    do {                                    \
        (void)(flags);                      \
        spin_unlock(lock);                  \
    } while (0)
#define spin_trylock_irqsave(lock, flags) ((flags) = 0, spin_trylock(lock))

#define raw_spin_lock_irq(lock) raw_spin_lock(lock)
#define raw_spin_unlock_irq(lock) raw_spin_unlock(lock)
#define raw_spin_lock_irqsave(lock, flags) \
    do {                                   \
        (flags) = 0;                       \
        raw_spin_lock(lock);               \
    } while (0)
#define raw_spin_unlock_irqrestore(lock, flags) \
    do {                                        \
        (void)(flags);                          \
        raw_spin_unlock(lock);                  \
    } while (0)
#define raw_spin_trylock_irqsave(lock, flags) ((flags) = 0, raw_spin_trylock(lock))

#endif /* KMIRROR_LINUX_SPINLOCK_H */
