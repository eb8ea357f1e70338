/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/bits.h: masks and positions of bits in words. */
#ifndef KMIRROR_LINUX_BITS_H
#define KMIRROR_LINUX_BITS_H

#include <linux/const.h>

#define BITS_PER_BYTE 8
#define BITS_PER_LONG (__SIZEOF_LONG__ * BITS_PER_BYTE)
#define BITS_PER_LONG_LONG 64
#define BITS_PER_TYPE(type) (sizeof(type) * BITS_PER_BYTE)
#define BITS_TO_LONGS(bits) (((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)

#define BIT(nr) (1UL << (nr))
#define BIT_ULL(nr) (1ULL << (nr))
#define BIT_MASK(nr) (1UL << ((nr) % BITS_PER_LONG))
#define BIT_WORD(nr) ((nr) / BITS_PER_LONG)

/* GENMASK() - Bits @low to @high, both included. */
#define GENMASK(high, low) ((~0UL << (low)) & (~0UL >> (BITS_PER_LONG - 1 - (high))))
#define GENMASK_ULL(high, low) ((~0ULL << (low)) & (~0ULL >> (63 - (high))))

#endif /* KMIRROR_LINUX_BITS_H */
