// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/ktime.cpp: the monotonic clock. Owns nothing, takes no lock, cannot fail.

#include <linux/ktime.h>

#include <ctime>

extern "C" u64 ktime_get_ns(void)
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<u64>(now.tv_sec) * 1000000000ULL + static_cast<u64>(now.tv_nsec);
}
