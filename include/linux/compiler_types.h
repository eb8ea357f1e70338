/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/compiler_types.h: annotations. Sparse marks are empty. A spelling that
 * the C++ library or C++ itself uses for something else exists in C only; C++
 * code writes the standard attribute instead.
 */
#ifndef KMIRROR_LINUX_COMPILER_TYPES_H
#define KMIRROR_LINUX_COMPILER_TYPES_H

#include <linux/kconfig.h>

/* Around declarations with C linkage. */
#ifdef __cplusplus
#define KM_C_BEGIN extern "C" {
#define KM_C_END }
#else
#define KM_C_BEGIN
#define KM_C_END
#endif

/* Address spaces and context marks, read by people only. liburcu may have been here before. */
#undef __rcu
#define __rcu
#define __percpu
#define __user
#define __iomem
#define __force
#define __nocast
#ifndef __bitwise
#define __bitwise
#endif
#define __must_hold(lock)
#define __acquires(lock)
#define __releases(lock)
#define __cond_acquires(lock)
#define __acquire(lock) ((void)0)
#define __release(lock) ((void)0)

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif
#define __must_check __attribute__((__warn_unused_result__))
#define __maybe_unused __attribute__((__unused__))
#define __printf(format, first) __attribute__((__format__(printf, format, first)))
#define __malloc __attribute__((__malloc__))
#define __assume_aligned(...) __attribute__((__assume_aligned__(__VA_ARGS__)))
#define __alloc_size(...) __attribute__((__alloc_size__(__VA_ARGS__)))
#define __packed __attribute__((__packed__))
#define __cold __attribute__((__cold__))
#define __noreturn __attribute__((__noreturn__))
#define __no_kasan_or_inline __always_inline
#define __counted_by(member)

#ifndef __cplusplus
#define noinline __attribute__((__noinline__))
#define noinline_for_stack noinline
#define fallthrough __attribute__((__fallthrough__))
#define __weak __attribute__((__weak__))
#define __pure __attribute__((__pure__))
#define __aligned(bytes) __attribute__((__aligned__(bytes)))
#define __section(name) __attribute__((__section__(name)))
#endif

/* Read by the address sanitizer only; the kernel keeps these out of line for KASAN. */
#define __no_sanitize_address __attribute__((__no_sanitize__("address")))

/* Not looked at by the thread sanitizer: reads what others may be writing, and checks later. */
#if KMIRROR_TSAN
#define __no_kcsan __attribute__((__no_sanitize__("thread"), __noinline__))
#else
#define __no_kcsan
#endif

#endif /* KMIRROR_LINUX_COMPILER_TYPES_H */
