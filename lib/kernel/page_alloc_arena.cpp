// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/page_alloc_arena.cpp: where pages come from.
//
// One stretch of address space holds the memory of all nodes, one behind the other, each starting at a
// multiple of the largest block. A second one holds a struct page for each page, in the same order. Both are
// only reserved at first: a node takes the next largest block into use when its free lists are empty, which
// makes it accessible, poisons it for the address sanitizer and fills in its struct pages.
//
// Owns     the arena and mem_map, until the process ends.
// Bounds   kArenaBytesMax in all; a node has no memory or at least kNodeBytesMin.
// Locking  arena_init() runs once, before anyone else; arena_extend() under the zone's lock.
// Fails    an impossible KMIRROR_MEM: one line and exit 2. Memory the host refuses later is memory the node
//          has not.

#include <linux/kasan.h>
#include <linux/log2.h>
#include <linux/nodemask.h>
#include <linux/page_ext.h>

#include "lib/kernel/page_alloc.h"
#include "lib/kernel/topology.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

unsigned long kmirror_arena_base;
unsigned long kmirror_arena_bytes;
struct page *mem_map;
unsigned long kmirror_mem_map_from_zero;

#if KMIRROR_ASAN
extern "C" void __lsan_register_root_region(const void *start, size_t bytes);
#endif

unsigned long *kmirror_page_ext;

// For debuggers, which do not see macros.
extern "C" const unsigned int kmirror_page_shift;
const unsigned int kmirror_page_shift = PAGE_SHIFT;

namespace kmirror::kernel {

Zone zones[MAX_NUMNODES];

namespace {

// With 32 bit addresses an eighth of them.
constexpr bool kIs64 = sizeof(long) == 8;
constexpr unsigned long kArenaBytesMax = kIs64 ? 1ULL << 40 : 1ULL << 29;
constexpr unsigned long kNodeBytesMin = 1UL << 20;
constexpr unsigned long kBlockPages = MAX_ORDER_NR_PAGES;
constexpr unsigned long kBlockBytes = kBlockPages * PAGE_SIZE;
constexpr char kVariable[] = "KMIRROR_MEM";
#define KMIRROR_MEM_ALLOWED(most)                                    \
    "it is a total such as 256M, or node:size,... such as 0:256M,1:0; " \
    "a node of this machine has 0 or at least 1M, all together 1M to " most
constexpr const char *kAllowed = kIs64 ? KMIRROR_MEM_ALLOWED("1T") : KMIRROR_MEM_ALLOWED("512M");

using NodeBytes = std::array<unsigned long, MAX_NUMNODES>;

// ---- how much memory

// An equal part for each node.
NodeBytes spread(unsigned long total)
{
    NodeBytes bytes{};
    int nid;
    for_each_online_node(nid)
        bytes[nid] = total / num_online_nodes();
    return bytes;
}

// "0:256M,1:0". False if that is not what `text` is.
bool parse_by_node(const char *text, NodeBytes *bytes)
{
    for (;;) {
        char *colon = nullptr;
        const unsigned long nid = std::strtoul(text, &colon, 10);
        if (colon == text || *colon != ':' || nid >= MAX_NUMNODES || !node_online(nid))
            return false;
        if (kmirror_parse_size(colon + 1, &text, &(*bytes)[nid]) != 0)
            return false;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

bool parse_memory(const char *text, NodeBytes *bytes)
{
    if (std::strchr(text, ':') != nullptr)
        return parse_by_node(text, bytes);
    unsigned long total = 0;
    if (kmirror_parse_size(text, nullptr, &total) != 0)
        return false;
    *bytes = spread(total);
    return true;
}

bool possible(const NodeBytes &bytes)
{
    u64 total = 0;
    for (const unsigned long part : bytes) {
        if (part > kArenaBytesMax || (part != 0 && part < kNodeBytesMin))
            return false;
        total += part;
    }
    return total >= kNodeBytesMin && total <= kArenaBytesMax;
}

// As much as the host has, so that running out is the exception.
NodeBytes host_memory()
{
    const auto pages = static_cast<u64>(std::max(sysconf(_SC_PHYS_PAGES), 0L));
    const auto page_bytes = static_cast<u64>(std::max(sysconf(_SC_PAGESIZE), 0L));
    const u64 least = kNodeBytesMin * static_cast<u64>(num_online_nodes());
    return spread(static_cast<unsigned long>(std::clamp<u64>(pages * page_bytes, least, kArenaBytesMax)));
}

NodeBytes chosen_memory()
{
    const char *const text = std::getenv(kVariable);
    if (text == nullptr || *text == '\0')
        return host_memory();
    NodeBytes bytes{};
    if (!parse_memory(text, &bytes) || !possible(bytes))
        kmirror_bad_setting(kVariable, text, kAllowed);
    return bytes;
}

// ---- the two mappings

void *reserve(unsigned long bytes, int protection)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *const start = mmap(nullptr, bytes, protection, flags, -1, 0);
    if (start == MAP_FAILED)
        panic("cannot reserve %lu bytes of address space for pages; KMIRROR_MEM makes it less", bytes);
    return start;
}

void map_arena(unsigned long pages)
{
    kmirror_arena_bytes = pages * PAGE_SIZE;
    const auto start = reinterpret_cast<unsigned long>(reserve(kmirror_arena_bytes + kBlockBytes, PROT_NONE));
    kmirror_arena_base = (start + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    mem_map = static_cast<struct page *>(reserve(pages * sizeof(struct page), PROT_READ | PROT_WRITE));
    kmirror_mem_map_from_zero =
        reinterpret_cast<unsigned long>(mem_map) - (kmirror_arena_base >> PAGE_SHIFT << KMIRROR_STRUCT_PAGE_SHIFT);
    kmirror_page_ext = static_cast<unsigned long *>(reserve(pages * sizeof(long), PROT_READ | PROT_WRITE));
#if KMIRROR_ASAN
    // Blocks from malloc() that only an object in the arena points to are not leaks.
    __lsan_register_root_region(reinterpret_cast<void *>(kmirror_arena_base), kmirror_arena_bytes);
#endif
}

// ---- zones

// The kernel's rule for min_free_kbytes: four times the square root, 128K to 256M.
unsigned long reserve_pages(unsigned long managed)
{
    const double kilobytes = static_cast<double>(managed) * PAGE_SIZE / 1024;
    const auto kept = static_cast<unsigned long>(4 * std::sqrt(kilobytes));
    return std::clamp(kept, 128UL, 262144UL) * 1024 / PAGE_SIZE;
}

// Pages moved at a time: a quarter of a thousandth of the node, a power of two less one, at most 256K.
unsigned int batch_pages(unsigned long managed)
{
    const unsigned long quarter = std::min(managed / 1024, (1UL << 20) / PAGE_SIZE) / 4;
    return quarter < 2 ? 1 : static_cast<unsigned int>(rounddown_pow_of_two(quarter + quarter / 2) - 1);
}

void zone_init(Zone *zone, int nid, unsigned long first_pfn, unsigned long bytes)
{
    zone->nid = nid;
    zone->first_pfn = first_pfn;
    zone->fresh_pfn = first_pfn;
    zone->managed = bytes / PAGE_SIZE;
    zone->end_pfn = first_pfn + zone->managed;
    zone->free = zone->managed;
    zone->reserve = reserve_pages(zone->managed);
    zone->batch = batch_pages(zone->managed);
    zone->percpu_max = zone->batch * 6;
    raw_spin_lock_init(&zone->lock);
    buddy_init(*zone);
}

// The host gave no memory for the rest of the zone: it is smaller than we thought. (Z1) stays true.
void give_up_rest(Zone &zone)
{
    const unsigned long lost = zone.end_pfn - zone.fresh_pfn;
    pr_warn("node %d: the host refuses memory; %lu pages less\n", zone.nid, lost);
    zone.end_pfn = zone.fresh_pfn;
    __atomic_store_n(&zone.managed, zone.managed - lost, __ATOMIC_RELAXED);
    __atomic_store_n(&zone.free, zone.free - lost, __ATOMIC_RELAXED);
}

void describe_pages(const Zone &zone, unsigned long first_pfn, unsigned long pages)
{
    for (struct page *page = pfn_to_page(first_pfn); pages != 0; ++page, --pages) {
        block_reset(page, zone.nid, 0);
        kmirror_page_clear_type(page);
    }
}

}  // namespace

void arena_init()
{
    machine_pin();
    const NodeBytes bytes = chosen_memory();
    unsigned long pfn = 0;
    for (int nid = 0; nid < static_cast<int>(MAX_NUMNODES); ++nid) {
        zone_init(&zones[nid], nid, pfn, bytes[nid]);
        pfn = (zones[nid].end_pfn + kBlockPages - 1) / kBlockPages * kBlockPages;
        if (node_online(nid))
            kmirror_node_set_memory(nid, zones[nid].managed != 0);
    }
    map_arena(pfn);
}

bool arena_extend(Zone &zone, void (*add)(Zone &zone, struct page *page, unsigned int order))
{
    lockdep_assert_held(&zone.lock);
    VM_BUG_ON(zone.fresh_pfn > zone.end_pfn);
    unsigned long pages = std::min(zone.end_pfn - zone.fresh_pfn, kBlockPages);
    if (pages == 0)
        return false;
    void *const start = page_address(pfn_to_page(zone.fresh_pfn));
    if (mprotect(start, pages * PAGE_SIZE, PROT_READ | PROT_WRITE) != 0) {
        give_up_rest(zone);
        return false;
    }
    // As the kernel's own map of its memory has them. A host that does not like it just goes on as before.
    if constexpr (KMIRROR_RELEASE)
        madvise(start, pages * PAGE_SIZE, MADV_HUGEPAGE);
    kasan_poison(start, pages * PAGE_SIZE, KASAN_PAGE_FREE);
    describe_pages(zone, zone.fresh_pfn, pages);
    VM_BUG_ON(zone.fresh_pfn % kBlockPages != 0);
    // fresh_pfn is a multiple of the largest block, so pieces cut off from the largest on are aligned.
    while (pages != 0) {
        const auto order = static_cast<unsigned int>(ilog2(pages));
        struct page *const block = pfn_to_page(zone.fresh_pfn);
        zone.fresh_pfn += 1UL << order;
        pages -= 1UL << order;
        add(zone, block, order);
    }
    return true;
}

}  // namespace kmirror::kernel
