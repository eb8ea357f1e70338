// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/sanitizer.h: what lib/kernel tells the thread sanitizer about order it cannot see.
//
// liburcu synchronises with inline assembly and a system call, so the sanitizer sees neither end. A word of
// ours stands for the edge: hb_release(word) ... hb_acquire(word) says that what came before the first
// happens before what comes after the second. Several threads may release into one word; none of them learns
// anything of the others.
//
// Empty without the thread sanitizer. Any context.
#pragma once

#include <kmirror/config.h>

#if KMIRROR_TSAN
extern "C" void __tsan_acquire(void *word);
extern "C" void __tsan_release(void *word);
#endif

namespace kmirror::kernel {

inline void hb_release([[maybe_unused]] void *word)
{
#if KMIRROR_TSAN
    __tsan_release(word);
#endif
}

inline void hb_acquire([[maybe_unused]] void *word)
{
#if KMIRROR_TSAN
    __tsan_acquire(word);
#endif
}

}  // namespace kmirror::kernel
