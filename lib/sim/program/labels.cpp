// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/program/labels.cpp: names for lines and places, so that a report can be read.
//
// Owns nothing. Locking: none. What has no name gets its region's.
#include "lib/sim/program/run.h"

#include <linux/mm.h>
#include <linux/percpu-defs.h>

#include "lib/kernel/stacktrace.h"
#include "lib/slub/cache.h"
#include "lib/slub/slab.h"

#include <cxxabi.h>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include <dlfcn.h>

namespace kmirror::sim {
namespace {

std::string with_lock(std::string label, std::uint32_t number)
{
    if (const char *lock = lock_in_line(number))
        label += std::string(" (") + lock + ")";
    return label;
}

// A line of a page: of a slab the cache and where in the object, else what kind of page.
std::string page_line(const void *address)
{
    const struct page *page = virt_to_head_page(address);
    if (!PageSlab(page))
        return PageLargeKmalloc(page) ? "large kmalloc" : "page";
    const auto *slab = reinterpret_cast<const ::slab *>(page);
    const struct kmem_cache *cache = slab->slab_cache;
    const auto offset = static_cast<unsigned long>(static_cast<const char *>(address) -
                                                   static_cast<const char *>(page_address(page)));
    return std::string(cache->name) + " +" + std::to_string(offset % cache->size / 64 * 64);
}

std::string symbol_of(const void *address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_sname)
        return "program data";
    return info.dli_sname;
}

} // namespace

std::string line_label(std::uint32_t number)
{
    const void *const address = engine.lines.address(number);
    const auto at = reinterpret_cast<unsigned long>(address);
    if (engine.lines.in_data(number))
        return with_lock("data: " + symbol_of(address), number);
    if (virt_addr_valid(address))
        return with_lock(page_line(address), number);
    if (at - reinterpret_cast<unsigned long>(mem_map) < kmirror_arena_bytes / PAGE_SIZE * sizeof(struct page))
        return "struct slab or page";
    if (at - kmirror_sim_percpu_base < kmirror_sim_percpu_bytes)
        return with_lock("per-CPU +" + std::to_string((at - kmirror_sim_percpu_base) % PERCPU_UNIT_SIZE), number);
    return with_lock("page lists", number);
}

std::string place_label(const void *place)
{
    static std::unordered_map<const void *, std::string> known;
    std::string &label = known[place];
    if (!label.empty())
        return label;
    char *text = nullptr;
    std::size_t length = 0;
    std::FILE *out = open_memstream(&text, &length);
    // The hook returns behind the access; the call belongs to it.
    void *const frame[] = {const_cast<char *>(static_cast<const char *>(place) - 1)};
    kernel::stack_print(out, frame);
    std::fclose(out);
    label.assign(text, length);
    std::free(text);
    while (!label.empty() && (label.back() == '\n' || label.back() == ' '))
        label.pop_back();
    const auto first = label.find_first_not_of(' ');
    label = first == std::string::npos ? "?" : label.substr(first);
    return label;
}

} // namespace kmirror::sim
