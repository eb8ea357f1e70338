/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmirror/config.h: the compile-time switches of the library, each 0 or 1.
 *
 * Every switch has a default here and may be set on the command line. A program
 * that includes these headers must be compiled with the switches the library was
 * built with; the pkg-config file carries them.
 */
#ifndef KMIRROR_CONFIG_H
#define KMIRROR_CONFIG_H

/* Release build: no fault points, no statistics, no debug assertions. */
#ifndef KMIRROR_RELEASE
#define KMIRROR_RELEASE 0
#endif

/* Places that can fail ask whether they shall fail. */
#ifndef KMIRROR_FAULTS
#define KMIRROR_FAULTS (!KMIRROR_RELEASE)
#endif

/* Per-cache statistics under the kernel's names. */
#ifndef KMIRROR_STATS
#define KMIRROR_STATS (!KMIRROR_RELEASE)
#endif

/*
 * The object is going to run in virtual time: -fsanitize=thread turns memory
 * accesses into calls, and every operation of lib/kernel must be a call as well.
 */
#ifndef KMIRROR_INSTRUMENTED
#define KMIRROR_INSTRUMENTED 0
#endif

#if defined(__SANITIZE_THREAD__)
#define KMIRROR_TSAN_FLAG 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KMIRROR_TSAN_FLAG 1
#endif
#endif
#ifndef KMIRROR_TSAN_FLAG
#define KMIRROR_TSAN_FLAG 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define KMIRROR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KMIRROR_ASAN 1
#endif
#endif
#ifndef KMIRROR_ASAN
#define KMIRROR_ASAN 0
#endif

/* The real thread sanitizer watches this build. */
#define KMIRROR_TSAN (KMIRROR_TSAN_FLAG && !KMIRROR_INSTRUMENTED)

/* Page size as a power of two: 12, 14 or 16. */
#ifndef KMIRROR_PAGE_SHIFT
#define KMIRROR_PAGE_SHIFT 12
#endif

#endif /* KMIRROR_CONFIG_H */
