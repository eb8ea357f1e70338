// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/stacktrace.h: taking the caller's stack and printing it with names and lines.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>

namespace kmirror::kernel {

inline constexpr unsigned kStackDepth = 32;

// The calling thread's return addresses, innermost first, beginning with `from`: the return address of the
// function whose callers are of interest. All of them if it is not among them. Returns how many were stored.
// Any context; allocates once per process.
unsigned stack_save(std::span<void *> frames, const void *from);

// The addresses of the function called `name`, by its linkage name or its C++ name without parameters; the
// first one found. False when this program has none. May allocate; any context that may.
bool symbol_range(const char *name, std::uintptr_t *begin, std::uintptr_t *end);

// One line a frame: address, function, source line as far as they are known. May allocate; any context that
// may.
void stack_print(std::FILE *out, std::span<void *const> frames);

}  // namespace kmirror::kernel
