/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/align.h: rounding to a power of two. */
#ifndef KMIRROR_LINUX_ALIGN_H
#define KMIRROR_LINUX_ALIGN_H

#include <linux/kconfig.h>

#define __ALIGN_MASK(x, mask) (((x) + (mask)) & ~(mask))
#define ALIGN(x, power) __ALIGN_MASK(x, (__typeof__((x) + 0))(power) - 1)
#define ALIGN_DOWN(x, power) ((x) & ~((__typeof__((x) + 0))(power) - 1))
#define PTR_ALIGN(p, power) ((__typeof__(p))ALIGN((unsigned long)(p), (power)))
#define IS_ALIGNED(x, power) (((x) & ((__typeof__((x) + 0))(power) - 1)) == 0)

#endif /* KMIRROR_LINUX_ALIGN_H */
