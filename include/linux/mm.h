/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/mm.h>: from an address to its page and back.
 *
 * All pages live in one arena; all their struct pages in one array, mem_map, in
 * the same order. So each step is a subtraction and a shift. The two base
 * addresses are set once, before the first page is handed out, and never change.
 */
#ifndef _LINUX_MM_H
#define _LINUX_MM_H

#include <linux/kconfig.h>
#include <linux/gfp.h>
#include <linux/mm_types.h>
#include <linux/mmdebug.h>
#include <linux/mmzone.h>
#include <linux/page-flags.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* First byte of the arena, its length in bytes, and the struct page of its first page. */
extern unsigned long kmirror_arena_base;
extern unsigned long kmirror_arena_bytes;
extern struct page *mem_map;
/* Where mem_map would begin if the arena began at address 0: virt_to_page() needs one addition less. */
extern unsigned long kmirror_mem_map_from_zero;

#define KMIRROR_STRUCT_PAGE_SHIFT 6

/*
 * Sets up the memory of each node from KMIRROR_MEM ("256M" over all nodes, or
 * "0:256M,1:0" node by node; a node not named has none) or from what the host has,
 * and tells <linux/nodemask.h> which nodes have memory. The first allocation does it
 * if nobody did before; a second call does nothing. An impossible KMIRROR_MEM is one
 * line on stderr and exit status 2. Context: any that may sleep.
 */
void page_alloc_init(void);

/* True when @address lies in the arena, that is, when virt_to_page() may be asked. */
static inline bool virt_addr_valid(const void *address)
{
    return (unsigned long)address - kmirror_arena_base < kmirror_arena_bytes;
}

/* The page that holds @address, which must be virt_addr_valid(). Any context. */
static inline struct page *virt_to_page(const void *address)
{
    return (struct page *)(kmirror_mem_map_from_zero +
                           ((unsigned long)address >> PAGE_SHIFT << KMIRROR_STRUCT_PAGE_SHIFT));
}

/* First byte of @page. Any context. */
static inline void *page_address(const struct page *page)
{
    const unsigned long offset = (unsigned long)page - (unsigned long)mem_map;

    return (void *)(kmirror_arena_base + (offset << (PAGE_SHIFT - KMIRROR_STRUCT_PAGE_SHIFT)));
}

/* The head of the compound block that @page belongs to, or @page itself. */
static inline struct page *compound_head(const struct page *page)
{
    const unsigned long head = __atomic_load_n(&page->compound_head, __ATOMIC_RELAXED);

    return head & 1 ? (struct page *)(head - 1) : (struct page *)page;
}

/* virt_to_page() followed by compound_head(). */
static inline struct page *virt_to_head_page(const void *address)
{
    return compound_head(virt_to_page(address));
}

/* Page frame number: pages are counted from the start of the arena. */
static inline unsigned long page_to_pfn(const struct page *page)
{
    return (unsigned long)(page - mem_map);
}

static inline struct page *pfn_to_page(unsigned long pfn)
{
    return mem_map + pfn;
}

/* Node whose memory @page is. */
static inline int page_to_nid(const struct page *page)
{
    return (int)(__atomic_load_n(&page->flags, __ATOMIC_RELAXED) >> KMIRROR_PG_NODE_SHIFT);
}

/* Order of the compound block that starts at @page; 0 for any other page. */
static inline unsigned int compound_order(const struct page *page)
{
    const unsigned long flags = __atomic_load_n(&page->flags, __ATOMIC_RELAXED);

    return flags & (1UL << PG_head) ? flags >> KMIRROR_PG_ORDER_SHIFT & KMIRROR_PG_ORDER_MASK : 0;
}

static inline unsigned long compound_nr(const struct page *page)
{
    return 1UL << compound_order(page);
}

/* Bytes in the compound block that starts at @page. */
static inline unsigned long page_size(const struct page *page)
{
    return PAGE_SIZE << compound_order(page);
}

/* Smallest order whose block holds @size bytes; @size must not be 0. */
static inline int get_order(unsigned long size)
{
    const unsigned long last_page = (size - 1) >> PAGE_SHIFT;

    return last_page == 0 ? 0 : (int)sizeof(long) * 8 - __builtin_clzl(last_page);
}

static inline int page_ref_count(const struct page *page)
{
    return __atomic_load_n(&page->_refcount, __ATOMIC_RELAXED);
}

/* Takes one more reference on a page whose count is not 0. */
static inline void get_page(struct page *page)
{
    __atomic_fetch_add(&compound_head(page)->_refcount, 1, __ATOMIC_RELAXED);
}

/* Gives one reference back; the last one frees the block. Any context. */
void put_page(struct page *page);

/* Pages under management and pages free right now, over all nodes. */
unsigned long totalram_pages(void);
unsigned long nr_free_pages(void);

/* Addresses of <linux/vmalloc.h>; 0 until its first use. */
#define KMIRROR_VMALLOC_BYTES (1UL << (__SIZEOF_LONG__ == 8 ? 36 : 26))
extern unsigned long kmirror_vmalloc_base;

/* Is that memory of <linux/vmalloc.h>, or a gap there? Any context. */
static inline bool is_vmalloc_addr(const void *address)
{
    const unsigned long base = __atomic_load_n(&kmirror_vmalloc_base, __ATOMIC_RELAXED);

    return base && (unsigned long)address - base < KMIRROR_VMALLOC_BYTES;
}

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_MM_H */
