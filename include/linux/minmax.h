/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/minmax.h: the smaller, the larger, the middle. min(), max(), clamp() and
 * swap() are macros in C only; C++ has std::min and friends.
 */
#ifndef KMIRROR_LINUX_MINMAX_H
#define KMIRROR_LINUX_MINMAX_H

#include <linux/compiler.h>

#define KM_PICK(type, a, b, order)            \
    __extension__({                           \
        type km_pick_a = (type)(a);           \
        type km_pick_b = (type)(b);           \
        km_pick_a order km_pick_b ? km_pick_a : km_pick_b; \
    })

#define min_t(type, a, b) KM_PICK(type, a, b, <)
#define max_t(type, a, b) KM_PICK(type, a, b, >)
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)

#ifndef __cplusplus
#define KM_PICK_SAME(a, b, order)                          \
    __extension__({                                        \
        __typeof__(a) km_same_a = (a);                     \
        __typeof__(b) km_same_b = (b);                     \
        km_same_a order km_same_b ? km_same_a : km_same_b; \
    })

#define min(a, b) KM_PICK_SAME(a, b, <)
#define max(a, b) KM_PICK_SAME(a, b, >)
#define min3(a, b, c) min(min(a, b), c)
#define max3(a, b, c) max(max(a, b), c)
#define clamp(value, low, high) min(max(value, low), high)
#define swap(a, b)                      \
    do {                                \
        __typeof__(a) km_swap = (a);    \
        (a) = (b);                      \
        (b) = km_swap;                  \
    } while (0)
#endif

#endif /* KMIRROR_LINUX_MINMAX_H */
