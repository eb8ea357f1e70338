/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/log2.h: powers of two. */
#ifndef KMIRROR_LINUX_LOG2_H
#define KMIRROR_LINUX_LOG2_H

#include <linux/bitops.h>

/* ilog2() - Rounded down; a constant for a constant. -1 for 0. */
#define ilog2(n) ((n) ? 63 - __builtin_clzll((unsigned long long)(n)) : -1)

static __always_inline bool is_power_of_2(unsigned long n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* roundup_pow_of_two() - The next power at or above @n, which is not 0. */
static __always_inline unsigned long roundup_pow_of_two(unsigned long n)
{
    return 1UL << fls_long(n - 1);
}

/* rounddown_pow_of_two() - The next power at or below @n, which is not 0. */
static __always_inline unsigned long rounddown_pow_of_two(unsigned long n)
{
    return 1UL << (fls_long(n) - 1);
}

/* order_base_2() - ilog2() rounded up; 0 for 0 and 1. */
static __always_inline int order_base_2(unsigned long n)
{
    return n > 1 ? (int)fls_long(n - 1) : 0;
}

#endif /* KMIRROR_LINUX_LOG2_H */
