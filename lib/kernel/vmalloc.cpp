// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/vmalloc.cpp: areas of whole pages.
//
//   | gap | area | gap | area | ...     gaps of at least one page, no access
//
// An area's pages are taken from the page allocator, which so knows that they are in use; the bytes
// themselves are the area's own, because the arena is one mapping that cannot be had at a second place.
//
// Owns     the space, reserved when it is first used, and the areas by address.
// Bounds   kSpaceBytes of addresses.
// Locking  `areas_lock`, a leaf: pages are taken before and given back after.
// Fails    NULL, and every page taken is back.

#include <linux/bug.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <vector>

unsigned long kmirror_vmalloc_base;

namespace kmirror::kernel {
namespace {

constexpr unsigned long kSpaceBytes = KMIRROR_VMALLOC_BYTES;

struct Area {
    unsigned long bytes;                 // asked for
    std::vector<struct page *> pages;    // what it is charged
    unsigned long end(unsigned long start) const { return start + pages.size() * PAGE_SIZE; }
};

std::mutex areas_lock;
// Never destroyed: a thread may free while the process ends.
std::map<unsigned long, Area> &areas = *new std::map<unsigned long, Area>;

void reserve_space()
{
    void *const start =
        mmap(nullptr, kSpaceBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        panic("cannot reserve %lu bytes of address space for vmalloc", kSpaceBytes);
    __atomic_store_n(&kmirror_vmalloc_base, reinterpret_cast<unsigned long>(start), __ATOMIC_RELAXED);
}

// The first place for `bytes` with a gap on both sides, or 0. Context: areas_lock held.
unsigned long find_place(unsigned long bytes, unsigned long align)
{
    const auto aligned = [&](unsigned long at) { return (at + PAGE_SIZE + align - 1) / align * align; };
    unsigned long place = aligned(kmirror_vmalloc_base);
    for (const auto &[start, area] : areas) {
        if (place + bytes + PAGE_SIZE <= start)
            return place;
        place = aligned(area.end(start));
    }
    return place + bytes + PAGE_SIZE <= kmirror_vmalloc_base + kSpaceBytes ? place : 0;
}

void give_pages(const std::vector<struct page *> &pages)
{
    for (struct page *const page : pages)
        free_frozen_pages(page, 0);
}

// Empty: not all were to be had.
std::vector<struct page *> take_pages(unsigned long count, gfp_t gfp, int node)
{
    std::vector<struct page *> pages;
    while (pages.size() < count) {
        struct page *const page = alloc_frozen_pages_node(node, gfp & ~(__GFP_ZERO | __GFP_COMP), 0);
        if (page == nullptr) {
            give_pages(pages);
            return {};
        }
        pages.push_back(page);
    }
    return pages;
}

// Makes the bytes usable, all zero. Context: areas_lock held.
bool open_place(unsigned long place, unsigned long bytes)
{
    return mprotect(reinterpret_cast<void *>(place), bytes, PROT_READ | PROT_WRITE) == 0;
}

// Ends their use: the host gets the memory back, and a touch is a fault.
void close_place(unsigned long place, unsigned long bytes)
{
    const void *const at = mmap(reinterpret_cast<void *>(place), bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    BUG_ON(at == MAP_FAILED);
}

// An area over `pages`, or NULL and the pages are still the caller's.
void *add_area(std::vector<struct page *> &pages, unsigned long bytes, unsigned long align)
{
    const unsigned long mapped = pages.size() * PAGE_SIZE;
    const std::lock_guard guard(areas_lock);
    if (kmirror_vmalloc_base == 0)
        reserve_space();
    const unsigned long place = find_place(mapped, std::max<unsigned long>(align, PAGE_SIZE));
    if (place == 0 || !open_place(place, mapped))
        return nullptr;
    areas[place] = {bytes, std::move(pages)};
    return reinterpret_cast<void *>(place);
}

// Takes the area that starts at `start` out; false: there is none.
bool remove_area(unsigned long start, Area *out)
{
    const std::lock_guard guard(areas_lock);
    const auto found = areas.find(start);
    if (found == areas.end())
        return false;
    *out = std::move(found->second);
    areas.erase(found);
    close_place(start, out->pages.size() * PAGE_SIZE);
    return true;
}

// Bytes asked for and bytes mapped of the area that starts at `start`; false: there is none.
bool area_sizes(unsigned long start, unsigned long *bytes, unsigned long *mapped)
{
    const std::lock_guard guard(areas_lock);
    const auto found = areas.find(start);
    if (found == areas.end())
        return false;
    *bytes = found->second.bytes;
    *mapped = found->second.pages.size() * PAGE_SIZE;
    return true;
}

void set_bytes(unsigned long start, unsigned long bytes)
{
    const std::lock_guard guard(areas_lock);
    areas.at(start).bytes = bytes;
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" void *__vmalloc_node(unsigned long size, unsigned long align, gfp_t gfp, int node)
{
    const unsigned long count = size / PAGE_SIZE + (size % PAGE_SIZE != 0);
    page_alloc_init();
    if (count == 0 || count > totalram_pages()) {
        WARN_ONCE(count != 0 && !(gfp & __GFP_NOWARN), "vmalloc error: size %lu, exceeds total pages\n",
                  size);
        return nullptr;
    }
    std::vector<struct page *> pages = take_pages(count, gfp, node);
    if (pages.empty())
        return nullptr;
    void *const start = add_area(pages, size, align);
    if (start == nullptr)
        give_pages(pages);
    return start;
}

extern "C" void vfree(const void *addr)
{
    if (addr == nullptr)
        return;
    Area area;
    if (WARN(!remove_area(reinterpret_cast<unsigned long>(addr), &area),
             "Trying to vfree() nonexistent vm area (%p)\n", addr))
        return;
    give_pages(area.pages);
}

extern "C" void *vrealloc(const void *p, size_t size, gfp_t flags)
{
    if (p == nullptr)
        return __vmalloc(size, flags);
    if (size == 0) {
        vfree(p);
        return nullptr;
    }
    const auto start = reinterpret_cast<unsigned long>(p);
    unsigned long bytes, mapped;
    if (WARN(!area_sizes(start, &bytes, &mapped), "Trying to vrealloc() nonexistent vm area (%p)\n", p))
        return nullptr;
    auto *const old = reinterpret_cast<char *>(start);
    if (size <= mapped) {
        // What a later growth finds behind the end is zero, as it was in the beginning.
        if (size < bytes)
            memset(old + size, 0, bytes - size);
        set_bytes(start, size);
        return old;
    }
    void *const moved = __vmalloc(size, flags);
    if (moved == nullptr)
        return nullptr;
    memcpy(moved, old, bytes);
    vfree(p);
    return moved;
}

extern "C" bool vmalloc_area(const void *addr, unsigned long *start, unsigned long *bytes)
{
    const auto at = reinterpret_cast<unsigned long>(addr);
    const std::lock_guard guard(areas_lock);
    auto after = areas.upper_bound(at);
    if (after == areas.begin())
        return false;
    --after;
    if (at >= after->second.end(after->first))
        return false;
    *start = after->first;
    *bytes = after->second.bytes;
    return true;
}
