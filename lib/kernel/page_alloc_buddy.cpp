// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/page_alloc_buddy.cpp: a zone's free blocks, split on the way out and merged on the way back.
//
// A block of order n has one buddy, the block of order n that makes the enclosing block of order n + 1
// complete: its page number differs in bit n only. A block that comes back takes its buddy off the free list
// as long as that is free as a whole, and goes on the list of what it has grown to.
//
// Owns     zone.area[] and zone.free.
// Bounds   orders 0 to MAX_PAGE_ORDER.
// Locking  everything here runs under zone->lock. The buddy of a block may be live, and its owner may write
//          its flags and type meanwhile; whether it is PageBuddy changes under the lock only.
// Fails    buddy_take() returns null when no block is large enough and no memory is untouched.

#include "lib/kernel/page_alloc.h"

namespace kmirror::kernel {
namespace {

// Blocks go out in the order they came, so that the address sanitizer sees late accesses to a freed one.
void add_block(Zone &zone, struct page *page, unsigned int order)
{
    block_reset(page, zone.nid, order);
    kmirror_page_set_type(page, PGTY_buddy);   // (Z2)
    FreeArea &area = zone.area[order];
    if constexpr (KMIRROR_ASAN)
        list_add_tail(&page->lru, &area.list);
    else
        list_add(&page->lru, &area.list);
    ++area.blocks;
}

void remove_block(Zone &zone, struct page *page, unsigned int order)
{
    VM_BUG_ON(!PageBuddy(page) || block_order(page) != order);   // (Z2)
    list_del(&page->lru);
    kmirror_page_clear_type(page);
    --zone.area[order].blocks;
}

void add_free(Zone &zone, long pages)
{
    __atomic_store_n(&zone.free, zone.free + static_cast<unsigned long>(pages), __ATOMIC_RELAXED);   // (Z1)
}

// Puts the upper halves back until the block is of the order that is wanted.
void split(Zone &zone, struct page *page, unsigned int from, unsigned int order)
{
    while (from != order) {
        --from;
        add_block(zone, page + (1UL << from), from);
    }
}

// The block's buddy if it is free and whole, else null.
struct page *free_buddy(const Zone &zone, unsigned long pfn, unsigned int order)
{
    const unsigned long buddy_pfn = pfn ^ (1UL << order);
    if (buddy_pfn < zone.first_pfn || buddy_pfn >= zone.fresh_pfn)
        return nullptr;
    struct page *const buddy = pfn_to_page(buddy_pfn);
    return PageBuddy(buddy) && block_order(buddy) == order ? buddy : nullptr;
}

struct page *take_listed(Zone &zone, unsigned int order)
{
    for (unsigned int from = order; from <= MAX_PAGE_ORDER; ++from) {
        if (zone.area[from].blocks == 0)
            continue;
        struct page *const page = page_of(zone.area[from].list.next);
        remove_block(zone, page, from);
        split(zone, page, from, order);
        return page;
    }
    return nullptr;
}

}  // namespace

void buddy_init(Zone &zone)
{
    for (FreeArea &area : zone.area) {
        INIT_LIST_HEAD(&area.list);
        area.blocks = 0;
    }
}

struct page *buddy_take(Zone &zone, unsigned int order)
{
    lockdep_assert_held(&zone.lock);
    struct page *page = take_listed(zone, order);
    while (page == nullptr && arena_extend(zone, add_block))
        page = take_listed(zone, order);
    if (page == nullptr)
        return nullptr;
    VM_BUG_ON(page_to_pfn(page) & ((1UL << order) - 1));
    add_free(zone, -(1L << order));
    return page;
}

void buddy_give(Zone &zone, struct page *page, unsigned int order)
{
    lockdep_assert_held(&zone.lock);
    unsigned long pfn = page_to_pfn(page);
    VM_BUG_ON(pfn < zone.first_pfn || pfn + (1UL << order) > zone.fresh_pfn);
    VM_BUG_ON(PageBuddy(page) || (pfn & ((1UL << order) - 1)));
    add_free(zone, 1L << order);
    while (order < MAX_PAGE_ORDER) {
        struct page *const buddy = free_buddy(zone, pfn, order);
        if (buddy == nullptr)
            break;
        remove_block(zone, buddy, order);
        pfn &= ~(1UL << order);
        ++order;
    }
    add_block(zone, pfn_to_page(pfn), order);   // (Z3)
    VM_BUG_ON(zone.free > zone.managed);
}

void buddy_give_put_aside(Zone &zone)
{
    if (llist_empty(&zone.put_aside)) [[likely]]
        return;
    llist_node *at = llist_del_all(&zone.put_aside);
    const RawGuard guard(zone.lock);
    while (at != nullptr) {
        llist_node *const next = at->next;
        struct page *const page = page_of(reinterpret_cast<list_head *>(at));
        buddy_give(zone, page, block_order(page));
        at = next;
    }
}

}  // namespace kmirror::kernel
