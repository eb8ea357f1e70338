// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/string.cpp: the kernel's string functions libc has not. Owns nothing, takes no lock.
//
// The libc names stand in parentheses: in an instrumented build they are macros that lead back here.

#include <linux/string.h>
#include <linux/errno.h>
#include <linux/sprintf.h>

#include <cstdarg>
#include <cstdio>

// Volatile, or the compiler makes a call to memset() of it.
extern "C" __no_sanitize_address void memset_no_sanitize_memory(void *start, int value, size_t bytes)
{
    auto *const at = static_cast<volatile unsigned char *>(start);
    for (size_t i = 0; i < bytes; ++i)
        at[i] = static_cast<unsigned char>(value);
}

// Red zones are looked at as well.
extern "C" __no_sanitize_address void *memchr_inv(const void *start, int value, size_t bytes)
{
    const auto *at = static_cast<const unsigned char *>(start);
    const unsigned char *const end = at + bytes;
    const auto expected = static_cast<unsigned char>(value);
    while (at != end && *at == expected)
        ++at;
    return at == end ? nullptr : const_cast<unsigned char *>(at);
}

extern "C" ssize_t strscpy(char *to, const char *from, size_t room)
{
    if (room == 0)
        return -E2BIG;
    const size_t length = strnlen(from, room);
    const size_t kept = length < room ? length : room - 1;
    (memcpy)(to, from, kept);
    to[kept] = '\0';
    return length < room ? static_cast<ssize_t>(length) : -E2BIG;
}

extern "C" int scnprintf(char *buffer, size_t size, const char *fmt, ...)
{
    if (size == 0)
        return 0;
    va_list args;
    va_start(args, fmt);
    const int wanted = std::vsnprintf(buffer, size, fmt, args);
    va_end(args);
    if (wanted < 0) {
        *buffer = '\0';
        return 0;
    }
    return static_cast<size_t>(wanted) < size ? wanted : static_cast<int>(size - 1);
}
