// SPDX-License-Identifier: GPL-2.0-only
//
// lib/plain/stacktrace.cpp: stack traces without libdw, for builds of 32 bit: names of exported functions.
//
// Owns     nothing.
// Locking  none.
// Fails    never: an unknown frame is printed as an address.

#include "lib/kernel/stacktrace.h"

#include <linux/kallsyms.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <string>

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

namespace {

struct Place {
    std::string function;       // empty: not known
    unsigned long offset = 0, bytes = 0;
};

Place find_place(const void *address)
{
    Dl_info info = {};
    void *entry = nullptr;
    if (dladdr1(address, &info, &entry, RTLD_DL_SYMENT) == 0 || !info.dli_sname)
        return {};
    char *const plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, nullptr);
    Place place{plain ? plain : info.dli_sname};
    std::free(plain);
    place.offset = static_cast<unsigned long>(static_cast<const char *>(address) -
                                              static_cast<const char *>(info.dli_saddr));
    place.bytes = entry ? static_cast<const ElfW(Sym) *>(entry)->st_size : 0;
    return place;
}

}  // namespace

void stack_print(std::FILE *out, std::span<void *const> frames)
{
    for (void *const frame : frames) {
        const Place place = find_place(frame);
        std::fprintf(out, "  %p %s+%#lx\n", frame, place.function.empty() ? "?" : place.function.c_str(),
                     place.offset);
    }
}

// Functions with C linkage only.
bool symbol_range(const char *name, std::uintptr_t *begin, std::uintptr_t *end)
{
    void *const function = dlsym(RTLD_DEFAULT, name);
    const Place place = function ? find_place(function) : Place{};
    if (place.bytes == 0)
        return false;
    *begin = reinterpret_cast<std::uintptr_t>(function);
    *end = *begin + place.bytes;
    return true;
}

}  // namespace kmirror::kernel

extern "C" int sprint_symbol(char *buffer, unsigned long address)
{
    const auto place = kmirror::kernel::find_place(reinterpret_cast<const void *>(address));
    if (place.function.empty())
        return std::snprintf(buffer, KSYM_SYMBOL_LEN, "%#lx", address);
    return std::snprintf(buffer, KSYM_SYMBOL_LEN, "%.400s+%#lx/%#lx", place.function.c_str(), place.offset,
                         place.bytes);
}
