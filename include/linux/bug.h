/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/bug.h>: what must not happen.
 *
 * WARN*: prints the place, a message and a stack on stderr, adds one to
 * kmirror_warn_count() and goes on. The value is the condition, so the caller can
 * turn back. The _ONCE forms report the first hit of that source line only; the
 * value is the same each time.
 * BUG*: prints the same and ends the process with abort().
 *
 * Context: any, also with spinlocks held.
 */
#ifndef _LINUX_BUG_H
#define _LINUX_BUG_H

#include <linux/kconfig.h>
#include <linux/build_bug.h>
#include <linux/printk.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The slow halves of the macros below; @fmt may be NULL. */
__attribute__((cold, format(printf, 4, 5)))
void kmirror_warn(const char *file, int line, const char *function, const char *fmt, ...);
__attribute__((cold, noreturn))
void kmirror_bug(const char *file, int line, const char *function, const char *condition);
/* kmirror_first_time() out of line. */
__attribute__((cold)) bool kmirror_warn_once(unsigned char *seen);

/* Prints the message and a stack, then ends the process with abort(). */
__attribute__((cold, noreturn, format(printf, 1, 2))) void panic(const char *fmt, ...);

#define __KMIRROR_WARN(condition, ...)                                                            \
    ({                                                                                            \
        const bool __kmirror_hit = !!(condition);                                                 \
        if (__builtin_expect(__kmirror_hit, 0))                                                   \
            kmirror_warn(__FILE__, __LINE__, __func__, __VA_ARGS__);                              \
        __builtin_expect(__kmirror_hit, 0);                                                       \
    })

#define __KMIRROR_WARN_ONCE(condition, ...)                                                       \
    ({                                                                                            \
        static unsigned char __kmirror_seen;                                                      \
        const bool __kmirror_hit = !!(condition);                                                 \
        if (__builtin_expect(__kmirror_hit, 0) && kmirror_warn_once(&__kmirror_seen))             \
            kmirror_warn(__FILE__, __LINE__, __func__, __VA_ARGS__);                              \
        __builtin_expect(__kmirror_hit, 0);                                                       \
    })

#define WARN_ON(condition)          __KMIRROR_WARN(condition, "%s\n", #condition)
#define WARN_ON_ONCE(condition)     __KMIRROR_WARN_ONCE(condition, "%s\n", #condition)
#define WARN(condition, ...)        __KMIRROR_WARN(condition, __VA_ARGS__)
#define WARN_ONCE(condition, ...)   __KMIRROR_WARN_ONCE(condition, __VA_ARGS__)

#define BUG()               kmirror_bug(__FILE__, __LINE__, __func__, "")
#define BUG_ON(condition)                                                                         \
    do {                                                                                          \
        if (__builtin_expect(!!(condition), 0))                                                   \
            kmirror_bug(__FILE__, __LINE__, __func__, #condition);                                \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_BUG_H */
