// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/stacktrace.cpp: from return addresses to function names and source lines.
//
// Names come from the symbol tables and DWARF of the running program, through elfutils' libdwfl, so static
// functions have names too. Without debug information a frame is printed as far as the symbol table reaches.
//
// Owns     one Dwfl session, opened at the first print and kept until the process ends.
// Locking  `session_lock`, a leaf: libdwfl is not thread-safe.
// Fails    never: an unknown frame is printed as an address.

#include "lib/kernel/stacktrace.h"

#include <linux/kallsyms.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <mutex>
#include <string>
#include <unistd.h>

namespace kmirror::kernel {
namespace {

std::mutex session_lock;
Dwfl *session;

Dwfl *open_session()
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = nullptr,
        .debuginfo_path = nullptr,
    };
    return dwfl_begin(&callbacks);
}

// Looks at the process's mappings again: a library may have come since the last report.
void report_modules(Dwfl *dwfl)
{
    dwfl_report_begin(dwfl);
    dwfl_linux_proc_report(dwfl, getpid());
    dwfl_report_end(dwfl, nullptr, nullptr);
}

struct Place {
    const char *function = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;   // of the function
    const char *file = nullptr;
    int line = 0;
};

Place find_place(Dwfl *dwfl, std::uintptr_t address)
{
    Place place;
    Dwfl_Module *const module = dwfl == nullptr ? nullptr : dwfl_addrmodule(dwfl, address);
    if (module == nullptr)
        return place;
    GElf_Sym symbol;
    place.function = dwfl_module_addrinfo(module, address, &place.offset, &symbol, nullptr, nullptr, nullptr);
    if (place.function != nullptr)
        place.bytes = symbol.st_size;
    if (Dwfl_Line *const line = dwfl_module_getsrc(module, address))
        place.file = dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr);
    return place;
}

void print_place(std::FILE *out, std::uintptr_t address, const Place &place)
{
    int status = -1;
    const char *const symbol = place.function ? place.function : "?";
    char *const plain = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    const char *const name = plain ? plain : symbol;
    std::fprintf(out, "  %#lx %s+%#lx", static_cast<unsigned long>(address), name,
                 static_cast<unsigned long>(place.offset));
    if (place.file != nullptr)
        std::fprintf(out, " (%s:%d)", place.file, place.line);
    std::fputc('\n', out);
    std::free(plain);
}

// "kmirror::slub::new_slab(int)" is called new_slab, and kmirror::slub::new_slab as well.
bool is_called(const char *symbol, const std::string &name)
{
    if (name == symbol)
        return true;
    int status = -1;
    char *const plain = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    if (plain == nullptr)
        return false;
    std::string full(plain);
    std::free(plain);
    for (const std::string hidden = "(anonymous namespace)::"; full.find(hidden) != std::string::npos;)
        full.erase(full.find(hidden), hidden.size());
    full = full.substr(0, full.find('('));
    return full == name || full.ends_with("::" + name);
}

struct Search {
    std::string name;
    std::uintptr_t begin = 0, end = 0;
};

int search_module(Dwfl_Module *module, void **, const char *, Dwarf_Addr, void *argument)
{
    auto &search = *static_cast<Search *>(argument);
    const int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; ++i) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *const name =
            dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
        if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0)
            continue;
        if (!is_called(name, search.name))
            continue;
        search.begin = address;
        search.end = address + symbol.st_size;
        return DWARF_CB_ABORT;
    }
    return DWARF_CB_OK;
}

// Context: session_lock held.
Dwfl *current_session()
{
    if (session == nullptr)
        session = open_session();
    if (session != nullptr)
        report_modules(session);
    return session;
}

}  // namespace

bool symbol_range(const char *name, std::uintptr_t *begin, std::uintptr_t *end)
{
    const std::lock_guard guard(session_lock);
    Search search{name};
    if (Dwfl *const dwfl = current_session())
        dwfl_getmodules(dwfl, search_module, &search, 0);
    if (search.end == 0)
        return false;
    *begin = search.begin;
    *end = search.end;
    return true;
}

unsigned stack_save(std::span<void *> frames, const void *from)
{
    void *all[kStackDepth + 8];
    void **const end = all + std::max(backtrace(all, std::size(all)), 0);
    void **const found = std::find(all, end, from);
    void **const first = found == end ? all : found;
    const auto kept = std::min(static_cast<size_t>(end - first), frames.size());
    std::copy_n(first, kept, frames.begin());
    return static_cast<unsigned>(kept);
}

void stack_print(std::FILE *out, std::span<void *const> frames)
{
    const std::lock_guard guard(session_lock);
    Dwfl *const dwfl = current_session();
    for (void *const frame : frames) {
        // The call is before the address it returns to.
        const auto call = reinterpret_cast<std::uintptr_t>(frame) - 1;
        print_place(out, call + 1, find_place(dwfl, call));
    }
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" int sprint_symbol(char *buffer, unsigned long address)
{
    const std::lock_guard guard(session_lock);
    const Place place = find_place(current_session(), address);
    if (place.function == nullptr)
        return std::snprintf(buffer, KSYM_SYMBOL_LEN, "%#lx", address);
    int status = -1;
    char *const plain = abi::__cxa_demangle(place.function, nullptr, nullptr, &status);
    const int length = std::snprintf(buffer, KSYM_SYMBOL_LEN, "%.400s+%#lx/%#lx",
                                     plain ? plain : place.function, static_cast<unsigned long>(place.offset),
                                     static_cast<unsigned long>(place.bytes));
    std::free(plain);
    return length;
}
