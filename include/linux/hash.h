/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/hash.h>: multiplicative hashing by 2^64 (2^32) over the golden ratio. */
#ifndef _LINUX_HASH_H
#define _LINUX_HASH_H

#include <linux/kconfig.h>
#include <linux/types.h>

#define GOLDEN_RATIO_32 0x61C88647U
#define GOLDEN_RATIO_64 0x61C8864680B583EBULL

/* The top @bits (1..32, 1..64) bits of the product. Any context. */
static inline u32 hash_32(u32 val, unsigned int bits)
{
    return val * GOLDEN_RATIO_32 >> (32 - bits);
}

static inline u32 hash_64(u64 val, unsigned int bits)
{
    return (u32)(val * GOLDEN_RATIO_64 >> (64 - bits));
}

static inline u32 hash_long(unsigned long val, unsigned int bits)
{
    return hash_64(val, bits);
}

static inline u32 hash_ptr(const void *ptr, unsigned int bits)
{
    return hash_long((unsigned long)ptr, bits);
}

#endif /* _LINUX_HASH_H */
