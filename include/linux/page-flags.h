/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/page-flags.h>: the bits of page->flags and the types of page->page_type.
 *
 *   flags  63 .. 56 | 55 .. 24 | 23 .. 20 | 19 .. 16 | 15 .. 0
 *          node     | 0        | 0        | order    | PG_* below
 *
 * Order and PG_live belong to the page allocator and are valid in the first page
 * of a block. The bits marked "owner" are free for whoever holds the page; the
 * allocator clears them when the page comes back.
 */
#ifndef _LINUX_PAGE_FLAGS_H
#define _LINUX_PAGE_FLAGS_H

#include <linux/kconfig.h>
#include <linux/mm_types.h>
#include <linux/types.h>

enum pageflags {
    PG_locked = 0,          /* owner: bit spin lock */
    PG_live = 1,            /* handed out and not yet given back */
    PG_pfmemalloc = 2,      /* came out of the reserves below the watermark */
    PG_head = 6,            /* first page of a compound block */
    PG_active = 8,          /* owner */
    PG_workingset = 9,      /* owner */
    PG_owner_priv_1 = 10,   /* owner */
    PG_private = 11,        /* owner */
};

#define KMIRROR_PG_ORDER_SHIFT  16
#define KMIRROR_PG_ORDER_MASK   0xfUL
#define KMIRROR_PG_NODE_SHIFT   (__SIZEOF_LONG__ * 8 - 8)

/* Top byte of page_type; UINT_MAX in page_type means "no type". */
enum pagetype {
    PGTY_buddy = 0xf0,
    PGTY_slab = 0xf5,
    PGTY_large_kmalloc = 0xf8,
};

static inline bool kmirror_page_has_type(const struct page *page, enum pagetype type)
{
    return __atomic_load_n(&page->page_type, __ATOMIC_RELAXED) >> 24 == (unsigned int)type;
}

static inline void kmirror_page_set_type(struct page *page, enum pagetype type)
{
    __atomic_store_n(&page->page_type, (unsigned int)type << 24, __ATOMIC_RELAXED);
}

static inline void kmirror_page_clear_type(struct page *page)
{
    __atomic_store_n(&page->page_type, 0xffffffffU, __ATOMIC_RELAXED);
}

/*
 * PageX(page) tells whether the page is of type X, __SetPageX() makes it one and
 * __ClearPageX() takes the type away. For the owner of the page only; the test
 * may be made by anyone and is then a snapshot.
 */
static inline bool PageBuddy(const struct page *page)
{
    return kmirror_page_has_type(page, PGTY_buddy);
}

static inline bool PageSlab(const struct page *page)
{
    return kmirror_page_has_type(page, PGTY_slab);
}

static inline void __SetPageSlab(struct page *page)
{
    kmirror_page_set_type(page, PGTY_slab);
}

static inline void __ClearPageSlab(struct page *page)
{
    kmirror_page_clear_type(page);
}

static inline bool PageLargeKmalloc(const struct page *page)
{
    return kmirror_page_has_type(page, PGTY_large_kmalloc);
}

static inline void __SetPageLargeKmalloc(struct page *page)
{
    kmirror_page_set_type(page, PGTY_large_kmalloc);
}

static inline void __ClearPageLargeKmalloc(struct page *page)
{
    kmirror_page_clear_type(page);
}

/* True for a page of a compound block that is not its first. */
static inline bool PageTail(const struct page *page)
{
    return __atomic_load_n(&page->compound_head, __ATOMIC_RELAXED) & 1;
}

/* True for the first page of a compound block. */
static inline bool PageHead(const struct page *page)
{
    return __atomic_load_n(&page->flags, __ATOMIC_RELAXED) & (1UL << PG_head);
}

static inline bool PageCompound(const struct page *page)
{
    return PageHead(page) || PageTail(page);
}

/* True when @page was taken from the emergency reserve (see __GFP_MEMALLOC). */
static inline bool page_is_pfmemalloc(const struct page *page)
{
    return __atomic_load_n(&page->flags, __ATOMIC_RELAXED) & (1UL << PG_pfmemalloc);
}

#endif /* _LINUX_PAGE_FLAGS_H */
