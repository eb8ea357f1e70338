/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/bit_spinlock.h: one bit of a word as a lock. No queue and no sleep: for
 * sections of a few instructions. After some rounds a waiter offers its processor.
 */
#ifndef KMIRROR_LINUX_BIT_SPINLOCK_H
#define KMIRROR_LINUX_BIT_SPINLOCK_H

#include <asm/processor.h>
#include <linux/bitops.h>
#include <linux/sched.h>

static inline int bit_spin_trylock(unsigned long nr, unsigned long *word)
{
    return !test_and_set_bit_lock(nr, word);
}

static inline void bit_spin_lock(unsigned long nr, unsigned long *word)
{
    unsigned int rounds = 0;

    while (!bit_spin_trylock(nr, word)) {
        while (test_bit(nr, word)) {
            cpu_relax();
            if (++rounds % 64 == 0)
                yield();
        }
    }
}

static inline void bit_spin_unlock(unsigned long nr, unsigned long *word)
{
    clear_bit_unlock(nr, word);
}

/* The plain store form: nobody else changes the word while it is locked. */
static inline void __bit_spin_unlock(unsigned long nr, unsigned long *word)
{
    __atomic_store_n(word, READ_ONCE(*word) & ~BIT_MASK(nr), __ATOMIC_RELEASE);
}

static inline int bit_spin_is_locked(unsigned long nr, const unsigned long *word)
{
    return test_bit(nr, word);
}

#endif /* KMIRROR_LINUX_BIT_SPINLOCK_H */
