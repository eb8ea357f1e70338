/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/compiler.h: single-copy accesses, the compiler barrier and hints.
 *
 * READ_ONCE and WRITE_ONCE are volatile accesses. Under -fsanitize=thread they
 * are relaxed atomics, so that the thread sanitizer and the simulator can tell
 * them from plain accesses. Scalars up to the word size only.
 */
#ifndef KMIRROR_LINUX_COMPILER_H
#define KMIRROR_LINUX_COMPILER_H

#include <linux/compiler_types.h>

#undef likely
#undef unlikely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#if KMIRROR_TSAN_FLAG
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)                                          \
    do {                                                              \
        __typeof__(x) km_once_value = (value);                        \
        __atomic_store(&(x), &km_once_value, __ATOMIC_RELAXED);       \
    } while (0)
#else
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)                                          \
    do {                                                              \
        *(volatile __typeof__(x) *)&(x) = (value);                    \
    } while (0)
#endif

/* A read whose value may be torn or stale and is only a hint. */
#define data_race(expression) (expression)

/* barrier() - The compiler moves no memory access across this point. */
#ifdef __cplusplus
static inline __attribute__((__always_inline__)) void barrier(void)
{
    __asm__ __volatile__("" : : : "memory");
}
#else
#define barrier() __asm__ __volatile__("" : : : "memory")
#define unreachable() __builtin_unreachable()
#endif

/* The optimiser must take the value of @variable as unknown from here on. */
#define OPTIMIZER_HIDE_VAR(variable) __asm__("" : "=r"(variable) : "0"(variable))

/* Two expressions of one type, qualifiers aside. */
#ifdef __cplusplus
#define __same_type(a, b) __is_same(__typeof__(a), __typeof__(b))
#else
#define __same_type(a, b) __builtin_types_compatible_p(__typeof__(a), __typeof__(b))
#endif

#ifdef __cplusplus
#define KM_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define KM_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#endif /* KMIRROR_LINUX_COMPILER_H */
