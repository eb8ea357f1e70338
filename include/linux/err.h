/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/err.h: a pointer or an error number in one word. The last MAX_ERRNO
 * addresses are never those of an object, so -errno stored there is told apart.
 */
#ifndef KMIRROR_LINUX_ERR_H
#define KMIRROR_LINUX_ERR_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

#define MAX_ERRNO 4095

#define IS_ERR_VALUE(word) unlikely((unsigned long)(void *)(word) >= (unsigned long)-MAX_ERRNO)

/* ERR_PTR() - Wrap a negative error number. */
static inline void *__must_check ERR_PTR(long error)
{
    return (void *)error;
}

/* PTR_ERR() - The error number again; valid only if IS_ERR(). */
static inline long __must_check PTR_ERR(const void *pointer)
{
    return (long)pointer;
}

static inline bool __must_check IS_ERR(const void *pointer)
{
    return (unsigned long)pointer >= (unsigned long)-MAX_ERRNO;
}

static inline bool __must_check IS_ERR_OR_NULL(const void *pointer)
{
    return !pointer || IS_ERR(pointer);
}

/* ERR_CAST() - Pass an error pointer on as another type. */
static inline void *__must_check ERR_CAST(const void *pointer)
{
    return (void *)(unsigned long)pointer;
}

/* PTR_ERR_OR_ZERO() - The error number, or 0 for a valid pointer. */
static inline int __must_check PTR_ERR_OR_ZERO(const void *pointer)
{
    return IS_ERR(pointer) ? (int)PTR_ERR(pointer) : 0;
}

#endif /* KMIRROR_LINUX_ERR_H */
