/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/kasan.h>: telling the address sanitizer which bytes may be touched.
 *
 * KMIRROR_ASAN is 1 when the program is linked with the address sanitizer. A file
 * that is itself compiled without it (lib/slub) gets -DKMIRROR_ASAN=1 from the
 * Makefile. When it is 0 every call here is empty.
 *
 * Context: any. Never fails. Poisoning orders nothing: the bytes must be the
 * caller's alone.
 */
#ifndef _LINUX_KASAN_H
#define _LINUX_KASAN_H

#include <linux/kconfig.h>
#include <linux/sched.h>
#include <linux/types.h>

#define KMIRROR_KASAN KMIRROR_ASAN

/* Why bytes are out of bounds; the sanitizer keeps no record of it. */
#define KASAN_PAGE_FREE     0xFF
#define KASAN_PAGE_REDZONE  0xFE
#define KASAN_SLAB_REDZONE  0xFC
#define KASAN_SLAB_FREE     0xFB

/* One bit of shadow stands for this many bytes; unpoisoned ranges start on a multiple. */
#define KASAN_GRANULE_SIZE  8

#ifdef __cplusplus
extern "C" {
#endif

#if KMIRROR_ASAN

/* From now on touching any of the @size bytes at @addr is reported. */
void kasan_poison(const void *addr, size_t size, u8 value);
/* From now on the @size bytes at @addr may be touched; those behind them are as before. */
void kasan_unpoison(const void *addr, size_t size);
/* May this byte be touched? Always yes for a thread that has disabled the question. */
bool kasan_byte_accessible(const void *addr);

#else

static inline void kasan_poison(const void *addr, size_t size, u8 value)
{
    (void)addr;
    (void)size;
    (void)value;
}

static inline void kasan_unpoison(const void *addr, size_t size)
{
    (void)addr;
    (void)size;
}

static inline bool kasan_byte_accessible(const void *addr)
{
    (void)addr;
    return true;
}

#endif

/*
 * kasan_disable_current() - from now on the calling thread does on purpose what is not allowed, such as a second
 * free: the allocator does not ask the sanitizer about it. Nests; kasan_enable_current() ends it.
 */
static inline void kasan_disable_current(void)
{
    KM_CURRENT->kasan_depth++;
}

static inline void kasan_enable_current(void)
{
    KM_CURRENT->kasan_depth--;
}

static inline bool kasan_enabled(void)
{
    return KMIRROR_ASAN;
}

/* Pointers carry no tags here. */
static inline void *kasan_reset_tag(const void *addr)
{
    return (void *)addr;
}

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_KASAN_H */
