/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/string.h: memory and string functions: libc's, and the kernel's few more.
 *
 * In an instrumented build the memory functions are calls into lib/kernel, which
 * reports the ranges they touch to the simulator.
 */
#ifndef KMIRROR_LINUX_STRING_H
#define KMIRROR_LINUX_STRING_H

#include <linux/types.h>
#include <string.h>

KM_C_BEGIN

/**
 * memchr_inv() - Find the first byte that differs.
 * @start: First byte of the area.
 * @value: The byte value that is expected everywhere.
 * @bytes: Length of the area.
 *
 * Context: Any.
 * Return: Address of the first byte that is not @value, or NULL.
 */
void *memchr_inv(const void *start, int value, size_t bytes);

/*
 * memset_no_sanitize_memory() - memset() that the address sanitizer does not look at: for what it keeps from
 * everybody, such as red zones. Context: Any.
 */
void memset_no_sanitize_memory(void *start, int value, size_t bytes);

/**
 * strscpy() - Copy a string and always terminate it.
 * @to: Destination. @from: Source. @room: Bytes at @to.
 *
 * Context: Any.
 * Return: Characters copied, or -E2BIG if @room was 0 or the copy was cut.
 */
ssize_t strscpy(char *to, const char *from, size_t room);

/* The memory functions of an instrumented object. */
void *kmirror_memcpy(void *to, const void *from, size_t bytes);
void *kmirror_memmove(void *to, const void *from, size_t bytes);
void *kmirror_memset(void *start, int value, size_t bytes);
int kmirror_memcmp(const void *a, const void *b, size_t bytes);
size_t kmirror_strlen(const char *text);
int kmirror_strcmp(const char *a, const char *b);

KM_C_END

#if KMIRROR_INSTRUMENTED
#define memcpy(to, from, bytes) kmirror_memcpy(to, from, bytes)
#define memmove(to, from, bytes) kmirror_memmove(to, from, bytes)
#define memset(start, value, bytes) kmirror_memset(start, value, bytes)
#define memcmp(a, b, bytes) kmirror_memcmp(a, b, bytes)
#define strlen(text) kmirror_strlen(text)
#define strcmp(a, b) kmirror_strcmp(a, b)
#endif

/* memzero_explicit() - Clear memory even if nobody reads it again. */
static inline void memzero_explicit(void *start, size_t bytes)
{
    memset(start, 0, bytes);
    __asm__ __volatile__("" : : "r"(start) : "memory");
}

#endif /* KMIRROR_LINUX_STRING_H */
#include_next <linux/string.h>
