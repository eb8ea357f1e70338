// SPDX-License-Identifier: GPL-2.0-only
//
// lib/plain/stacktrace.cpp: stack traces without libdw, for builds of 32 bit: names of exported functions.
//
// Owns     nothing.
// Locking  none.
// Fails    never: an unknown frame is printed as an address.

#include "lib/kernel/stacktrace.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

namespace kmirror::kernel {

unsigned stack_save(std::span<void *> frames, const void *from)
{
    void *all[kStackDepth + 8];
    const int depth = std::max(backtrace(all, std::size(all)), 0);
    int first = 0;
    while (first < depth && all[first] != from)
        ++first;
    first = first == depth ? 0 : first;
    const unsigned kept = static_cast<unsigned>(std::min<std::size_t>(depth - first, frames.size()));
    for (unsigned i = 0; i < kept; ++i)
        frames[i] = all[first + static_cast<int>(i)];
    return kept;
}

void stack_print(std::FILE *out, std::span<void *const> frames)
{
    for (void *const frame : frames) {
        Dl_info info = {};
        dladdr(frame, &info);
        const char *const symbol = info.dli_sname ? info.dli_sname : "?";
        char *const plain = abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr);
        const char *const name = plain ? plain : symbol;
        const auto offset = info.dli_saddr
            ? static_cast<const char *>(frame) - static_cast<const char *>(info.dli_saddr) : 0;
        std::fprintf(out, "  %p %s+%#lx\n", frame, name, static_cast<unsigned long>(offset));
        std::free(plain);
    }
}

}  // namespace kmirror::kernel
