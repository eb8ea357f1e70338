/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/math.h: integer rounding and division. */
#ifndef KMIRROR_LINUX_MATH_H
#define KMIRROR_LINUX_MATH_H

#include <linux/types.h>

/* To a multiple of any number; arguments without side effects. */
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP((unsigned long long)(n), (unsigned long long)(d))
#define DIV_ROUND_CLOSEST(n, d) (((n) + (d) / 2) / (d))
#define roundup(x, step) (DIV_ROUND_UP(x, step) * (step))
#define rounddown(x, step) ((x) - (x) % (step))

/* To a multiple of a power of two. */
#define round_up(x, power) ((((x) - 1) | ((__typeof__((x) + 0))(power) - 1)) + 1)
#define round_down(x, power) ((x) & ~((__typeof__((x) + 0))(power) - 1))

/* int_sqrt() - Largest r with r * r <= x. */
static inline unsigned long int_sqrt(unsigned long x)
{
    unsigned long root = 0;
    int shift;

    for (shift = (int)sizeof(x) * 8 / 2 - 1; shift >= 0; shift--) {
        unsigned long wider = root | (1UL << shift);

        if (wider <= x / wider)
            root = wider;
    }
    return root;
}

#endif /* KMIRROR_LINUX_MATH_H */
