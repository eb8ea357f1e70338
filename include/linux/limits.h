/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/limits.h: largest and smallest values. libc's <limits.h> includes this
 * file, so it defines what is missing from the compiler's own constants and
 * includes nothing of libc.
 */
#ifndef KMIRROR_LINUX_LIMITS_H
#define KMIRROR_LINUX_LIMITS_H

#include <linux/kconfig.h>

#ifndef SCHAR_MAX
#define SCHAR_MAX __SCHAR_MAX__
#define SCHAR_MIN (-SCHAR_MAX - 1)
#endif
#ifndef SHRT_MAX
#define SHRT_MAX __SHRT_MAX__
#define SHRT_MIN (-SHRT_MAX - 1)
#define USHRT_MAX (SHRT_MAX * 2 + 1)
#endif
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX (INT_MAX * 2U + 1U)
#endif
#ifndef LONG_MAX
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX (LONG_MAX * 2UL + 1UL)
#endif
#ifndef LLONG_MAX
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX (LLONG_MAX * 2ULL + 1ULL)
#endif

#define U8_MAX ((__UINT8_TYPE__)0xff)
#define S8_MAX ((__INT8_TYPE__)0x7f)
#define S8_MIN ((__INT8_TYPE__)(-0x7f - 1))
#define U16_MAX ((__UINT16_TYPE__)0xffff)
#define S16_MAX ((__INT16_TYPE__)0x7fff)
#define S16_MIN ((__INT16_TYPE__)(-0x7fff - 1))
#define U32_MAX 0xffffffffU
#define S32_MAX 0x7fffffff
#define S32_MIN (-S32_MAX - 1)
#define U64_MAX 0xffffffffffffffffULL
#define S64_MAX 0x7fffffffffffffffLL
#define S64_MIN (-S64_MAX - 1LL)

#endif /* KMIRROR_LINUX_LIMITS_H */
#include_next <linux/limits.h>
