// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/page_alloc.h: the page allocator's own view of its memory.
//
// Allocation, cheapest first.                               file                    lock
//   alloc_frozen_pages_node   fault point, nodes in turn    page_alloc.cpp          -
//     percpu_pages_take       order 0..3, this CPU's list   page_alloc_percpu.cpp   pcp->lock
//       buddy_take            smallest block that fits      page_alloc_buddy.cpp    zone->lock
//         arena_extend        next untouched memory         page_alloc_arena.cpp    zone->lock
//   when all nodes are below their marks: drain lists, wait for RCU, reserves       page_alloc.cpp
// A free walks the same way. A file calls only to its right, so this is also the lock order.
//
// States of a block: untouched -> on a free list (PageBuddy) <-> in a per-CPU list <-> live (PG_live).
#pragma once

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/numa.h>
#include <linux/spinlock.h>

namespace kmirror::kernel {

// Blocks of one order on a zone's free lists.
struct FreeArea {
    list_head list;
    unsigned long blocks;
};

// The memory of one node: pages [first_pfn, end_pfn), of which [fresh_pfn, end_pfn) were never cut into
// blocks.
//
// (Z1) free == sum over orders of (area[order].blocks << order) + end_pfn - fresh_pfn
// (Z2) PageBuddy(page)  <=>  page is the first of a block on area[its order]
// (Z3) two blocks that are each other's buddy are never both free
struct alignas(64) Zone {
    // Set once by arena_init().
    int nid;
    unsigned long first_pfn;
    unsigned long end_pfn;
    unsigned long managed;      // pages; 0: the node has no memory
    unsigned long reserve;      // pages that ordinary requests leave free
    unsigned int batch;         // pages moved between a per-CPU list and the zone at a time
    unsigned int percpu_max;    // pages a per-CPU list may hold

    alignas(64) raw_spinlock_t lock;
    unsigned long free;         // pages; written under lock, read by anyone
    unsigned long fresh_pfn;    // under lock
    FreeArea area[NR_PAGE_ORDERS];   // under lock
    llist_head put_aside;       // blocks given back where the lock was only tried; no lock
};

// All nodes' zones; those of nodes that do not exist have no memory.
extern Zone zones[MAX_NUMNODES];

inline unsigned long zone_free(const Zone &zone)
{
    return __atomic_load_n(&zone.free, __ATOMIC_RELAXED);
}

inline Zone &page_zone(const struct page *page)
{
    return zones[page_to_nid(page)];
}

inline struct page *page_of(list_head *link)
{
    return list_entry(link, struct page, lru);
}

// Holds a zone's or a per-CPU list's lock for a scope.
class RawGuard {
public:
    explicit RawGuard(raw_spinlock_t &lock) : lock_(lock) { raw_spin_lock(&lock_); }
    ~RawGuard() { raw_spin_unlock(&lock_); }
    RawGuard(const RawGuard &) = delete;
    RawGuard &operator=(const RawGuard &) = delete;

private:
    raw_spinlock_t &lock_;
};

// page->flags: the order of a block, wherever it is.
inline unsigned int block_order(const struct page *page)
{
    return __atomic_load_n(&page->flags, __ATOMIC_RELAXED) >> KMIRROR_PG_ORDER_SHIFT & KMIRROR_PG_ORDER_MASK;
}

// The flags of a block that nobody owns: node and order only.
inline void block_reset(struct page *page, int nid, unsigned int order)
{
    const unsigned long flags = static_cast<unsigned long>(nid) << KMIRROR_PG_NODE_SHIFT |
                                static_cast<unsigned long>(order) << KMIRROR_PG_ORDER_SHIFT;
    __atomic_store_n(&page->flags, flags, __ATOMIC_RELAXED);
}

// ---- page_alloc_arena.cpp

// Reserves the arena and the struct pages and divides them. Called once.
void arena_init();

// Makes the zone's next untouched memory usable and hands it to `add` in blocks; they count as free already.
// False when all of it is in use. Context: zone->lock held.
bool arena_extend(Zone &zone, void (*add)(Zone &zone, struct page *page, unsigned int order));

// ---- page_alloc_buddy.cpp

void buddy_init(Zone &zone);

// One block, or null. Context: zone->lock held.
struct page *buddy_take(Zone &zone, unsigned int order);

// Gives a block back, merged with its free buddies. Context: zone->lock held.
void buddy_give(Zone &zone, struct page *page, unsigned int order);

// Gives back the blocks that were put aside because the lock was not to be had; cheap when there are none.
void buddy_give_put_aside(Zone &zone);

// ---- page_alloc_percpu.cpp

inline constexpr unsigned kPercpuOrders = PAGE_ALLOC_COSTLY_ORDER + 1;

void percpu_pages_init();

// One block of an order below kPercpuOrders from the caller's CPU, refilled from the zone; null if both are
// empty.
struct page *percpu_pages_take(Zone &zone, unsigned int order);
void percpu_pages_give(Zone &zone, struct page *page, unsigned int order);

// Empties all CPUs' lists of a zone into it.
void percpu_pages_drain(Zone &zone);

// Pages in all CPUs' lists of a zone.
unsigned long percpu_pages_count(const Zone &zone);

}  // namespace kmirror::kernel
