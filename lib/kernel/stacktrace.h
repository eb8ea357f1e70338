// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/stacktrace.h: taking the caller's stack and printing it with names and lines.
#pragma once

#include <cstdio>
#include <span>

namespace kmirror::kernel {

inline constexpr unsigned kStackDepth = 32;

// The calling thread's return addresses, innermost first, without this function and the `skip` frames above it.
// Returns how many were stored. Any context; allocates once per process.
[[gnu::noinline]] unsigned stack_save(std::span<void *> frames, unsigned skip);

// One line a frame: address, function, source line as far as they are known. May allocate; any context that may.
void stack_print(std::FILE *out, std::span<void *const> frames);

}  // namespace kmirror::kernel
