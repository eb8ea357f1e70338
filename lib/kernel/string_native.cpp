// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/string_native.cpp: the memory functions that instrumented objects call by name. lib/sim has its own, which
// report what they touch. Owns nothing, takes no lock.
//
// The libc names stand in parentheses: in an instrumented build they are macros that lead back here.

#include <linux/string.h>

extern "C" void *kmirror_memcpy(void *to, const void *from, size_t bytes)
{
    return (memcpy)(to, from, bytes);
}

extern "C" void *kmirror_memmove(void *to, const void *from, size_t bytes)
{
    return (memmove)(to, from, bytes);
}

extern "C" void *kmirror_memset(void *start, int value, size_t bytes)
{
    return (memset)(start, value, bytes);
}

extern "C" int kmirror_memcmp(const void *a, const void *b, size_t bytes)
{
    return (memcmp)(a, b, bytes);
}

extern "C" size_t kmirror_strlen(const char *text)
{
    return (strlen)(text);
}

extern "C" int kmirror_strcmp(const char *a, const char *b)
{
    return (strcmp)(a, b);
}
