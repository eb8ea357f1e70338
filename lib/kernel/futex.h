// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/futex.h: sleeping on a word and waking who sleeps on it. Private to this process.
//
// The kernel compares the word once more before sleeping. A wait may return early for no reason, so callers
// look at the word again.
#pragma once

#include <linux/types.h>

#include <atomic>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kmirror::kernel {

static_assert(sizeof(std::atomic<u32>) == sizeof(u32) && std::atomic<u32>::is_always_lock_free);

// Sleeps while word == expected, `nanoseconds` at most (0: without limit).
inline void futex_wait(const std::atomic<u32> &word, u32 expected, u64 nanoseconds = 0)
{
    constexpr u64 kSecond = 1000000000;
    timespec limit;
    limit.tv_sec = static_cast<time_t>(nanoseconds / kSecond);
    limit.tv_nsec = static_cast<long>(nanoseconds % kSecond);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nanoseconds == 0 ? nullptr : &limit, nullptr, 0);
}

// Wakes up to `count` threads that sleep on the word; only its address is used, so it may be gone already.
inline void futex_wake(const std::atomic<u32> &word, int count = INT_MAX)
{
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace kmirror::kernel
