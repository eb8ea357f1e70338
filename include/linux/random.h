/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/random.h>: numbers from a generator each thread has for itself.
 *
 * All threads' sequences follow from one seed: KMIRROR_SEED, or the system's entropy.
 * A thread's sequence depends on that seed and on how many threads asked before it.
 * Not for secrets.
 *
 * Context: any. Never fails, never sleeps.
 */
#ifndef _LINUX_RANDOM_H
#define _LINUX_RANDOM_H

#include <linux/kconfig.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

u64 get_random_u64(void);

static inline u32 get_random_u32(void)
{
    return (u32)(get_random_u64() >> 32);
}

static inline u16 get_random_u16(void)
{
    return (u16)(get_random_u64() >> 48);
}

static inline u8 get_random_u8(void)
{
    return (u8)(get_random_u64() >> 56);
}

static inline unsigned long get_random_long(void)
{
    return get_random_u64();
}

/* 0 <= result < @ceil, all equally likely up to one part in 2^32; 0 when @ceil is 0. */
static inline u32 get_random_u32_below(u32 ceil)
{
    return (u32)(((u64)get_random_u32() * ceil) >> 32);
}

/* @floor <= result <= @ceil. */
static inline u32 get_random_u32_inclusive(u32 floor, u32 ceil)
{
    return floor + (u32)(((u64)get_random_u32() * ((u64)ceil - floor + 1)) >> 32);
}

void get_random_bytes(void *buf, size_t len);

/* Restarts the calling thread's sequence from @seed. */
void kmirror_random_seed(u64 seed);

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_RANDOM_H */

#if defined(__has_include_next)
#if __has_include_next(<linux/random.h>)
#include_next <linux/random.h>
#endif
#endif
