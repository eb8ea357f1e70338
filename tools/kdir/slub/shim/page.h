/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages as mm/slab.h lays them out, over the records of this library's page allocator.
 *
 *   word  0 flags               ours and the kernel's: node, order and PG_* (layout.h; pages.c asserts that they agree)
 *         1 compound_info       ours in a tail page; the kernel's slab_cache in the first page of a slab
 *         2 list, freelist, counters, rcu_head: the kernel's
 *         6 page_type, _refcount: the kernel's
 *         7 ours                (page_type of the page allocator), which no option that is on makes the kernel touch
 */
#ifndef KDIR_SHIM_PAGE_H
#define KDIR_SHIM_PAGE_H

#include "tools/kdir/slub/shim/layout.h"

#include <asm/page.h>
#include <linux/mmzone.h>

#ifdef KDIR_HAS_MEMDESC
typedef struct {
    unsigned long f;
} memdesc_flags_t;
#define KDIR_FLAGS(p_) ((p_)->flags.f)
#else
typedef unsigned long memdesc_flags_t;
#define KDIR_FLAGS(p_) ((p_)->flags)
#endif

#define KDIR_PAGE_BODY                                                  \
    memdesc_flags_t flags;                                              \
    union {                                                             \
        struct {                                                        \
            union {                                                     \
                unsigned long compound_info;                            \
                unsigned long compound_head;                            \
            };                                                          \
            unsigned long kdir_second;                                  \
            void *mapping;                                              \
            unsigned long kdir_rest[2];                                 \
        };                                                              \
        struct list_head lru;                                           \
    };                                                                  \
    union {                                                             \
        unsigned int page_type;                                         \
        atomic_t _mapcount;                                             \
    };                                                                  \
    atomic_t _refcount;                                                 \
    unsigned long _unused_slab_obj_exts;

struct page {
    KDIR_PAGE_BODY
} __attribute__((aligned(64)));

struct folio {
    union {
        struct {
            KDIR_PAGE_BODY
        };
        struct page page;
    };
};
_Static_assert(sizeof(struct page) == 64 && sizeof(struct folio) == 64, "a record of the page allocator");

enum pageflags {
    PG_locked = KDIR_PG_LOCKED,
    PG_head = KDIR_PG_HEAD,
    PG_active = KDIR_PG_ACTIVE,
    PG_workingset = KDIR_PG_WORKINGSET
};

/* ---- from an address to its page and back ------------------------------------------------------------------ */

extern unsigned long kmirror_arena_base;
extern unsigned long kmirror_arena_bytes;
extern struct page *mem_map;

static inline bool virt_addr_valid_kdir(const void *address)
{
    return (unsigned long)address - kmirror_arena_base < kmirror_arena_bytes;
}
#define virt_addr_valid(address) virt_addr_valid_kdir((const void *)(address))

static inline struct page *virt_to_page(const void *address)
{
    return mem_map + (((unsigned long)address - kmirror_arena_base) >> PAGE_SHIFT);
}

static inline struct page *kdir_head(const struct page *page)
{
    const unsigned long head = READ_ONCE(page->compound_info);

    return head & 1 ? (struct page *)(head - 1) : (struct page *)page;
}
#define compound_head(p_) kdir_head((const struct page *)(p_))

static inline struct page *virt_to_head_page(const void *address)
{
    return kdir_head(virt_to_page(address));
}

static inline struct folio *virt_to_folio(const void *address)
{
    return (struct folio *)virt_to_head_page(address);
}

static inline void *kdir_page_address(const struct page *page)
{
    return (void *)(kmirror_arena_base + ((unsigned long)(page - mem_map) << PAGE_SHIFT));
}
#define page_address(p_) kdir_page_address((const struct page *)(p_))
#define folio_address(f_) page_address(f_)
#define folio_page(f_, n) ((struct page *)(f_) + (n))

#define page_to_nid(p_) ((int)(KDIR_FLAGS((const struct page *)(p_)) >> KDIR_NODE_SHIFT))
#define folio_nid(f_) page_to_nid(f_)
/* Some trees give the word, some its address. */
#ifdef KDIR_MEMDESC_BY_ADDRESS
#define memdesc_nid(word) ((int)((word)->f >> KDIR_NODE_SHIFT))
#else
#define memdesc_nid(word) ((int)((word).f >> KDIR_NODE_SHIFT))
#endif
#define page_to_pfn(p_) ((unsigned long)((p_) - mem_map))

static inline unsigned int kdir_order(const struct page *page)
{
    return KDIR_FLAGS(page) & (1UL << PG_head) ? KDIR_FLAGS(page) >> KDIR_ORDER_SHIFT & KDIR_ORDER_MASK : 0;
}
#define compound_order(p_) kdir_order((const struct page *)(p_))
#define folio_order(f_) kdir_order((const struct page *)(f_))
#define folio_size(f_) (PAGE_SIZE << folio_order(f_))
#define page_size(p_) (PAGE_SIZE << compound_order(p_))
#define folio_flags(f_, n) ((unsigned long *)&KDIR_FLAGS(&(f_)->page))
#define PageTail(p_) ((READ_ONCE((p_)->compound_info) & 1) != 0)

/* ---- flags and types --------------------------------------------------------------------------------------- */

/* folio_test_NAME(), folio_set_NAME() and the like. */
#define KDIR_FOLIO_FLAG(name, bit)                                                          \
    static inline bool folio_test_##name(const struct folio *folio)                         \
    {                                                                                       \
        return test_bit((bit), (const unsigned long *)&KDIR_FLAGS(&folio->page));           \
    }                                                                                       \
    static inline void folio_set_##name(struct folio *folio)                                \
    {                                                                                       \
        set_bit((bit), (unsigned long *)&KDIR_FLAGS(&folio->page));                         \
    }                                                                                       \
    static inline void folio_clear_##name(struct folio *folio)                              \
    {                                                                                       \
        clear_bit((bit), (unsigned long *)&KDIR_FLAGS(&folio->page));                       \
    }                                                                                       \
    static inline void __folio_clear_##name(struct folio *folio)                            \
    {                                                                                       \
        __clear_bit((bit), (unsigned long *)&KDIR_FLAGS(&folio->page));                     \
    }
KDIR_FOLIO_FLAG(active, PG_active)
KDIR_FOLIO_FLAG(workingset, PG_workingset)

/* page_type: what the page is, in the top byte. */
#define KDIR_TYPE_NONE 0xffffffffu
#define KDIR_PAGE_TYPE(name, number)                                                        \
    static inline bool kdir_is_##name(const void *page)                                     \
    {                                                                                       \
        return READ_ONCE(((const struct page *)page)->page_type) >> 24 == (number);         \
    }                                                                                       \
    static inline void kdir_set_##name(void *page)                                          \
    {                                                                                       \
        WRITE_ONCE(((struct page *)page)->page_type, (unsigned int)(number) << 24);         \
    }                                                                                       \
    static inline void kdir_clear_##name(void *page)                                        \
    {                                                                                       \
        WRITE_ONCE(((struct page *)page)->page_type, KDIR_TYPE_NONE);                       \
    }
KDIR_PAGE_TYPE(slab, 0xf5)
KDIR_PAGE_TYPE(large_kmalloc, 0xf8)
#define PageSlab(p_) kdir_is_slab(p_)
#define __SetPageSlab(p_) kdir_set_slab(p_)
#define __ClearPageSlab(p_) kdir_clear_slab(p_)
#define folio_test_slab(f_) kdir_is_slab(f_)
#define __folio_set_slab(f_) kdir_set_slab(f_)
#define __folio_clear_slab(f_) kdir_clear_slab(f_)
#define PageLargeKmalloc(p_) kdir_is_large_kmalloc(p_)
#define __SetPageLargeKmalloc(p_) kdir_set_large_kmalloc(p_)
#define __ClearPageLargeKmalloc(p_) kdir_clear_large_kmalloc(p_)
#define folio_test_large_kmalloc(f_) kdir_is_large_kmalloc(f_)
#define __folio_set_large_kmalloc(f_) kdir_set_large_kmalloc(f_)
#define __folio_clear_large_kmalloc(f_) kdir_clear_large_kmalloc(f_)

static inline bool page_is_pfmemalloc(const struct page *page)
{
    return KDIR_FLAGS(page) & (1UL << KDIR_PG_PFMEMALLOC);
}
#define folio_is_pfmemalloc(f_) page_is_pfmemalloc(&(f_)->page)

enum pagetype { PGTY_slab = 0xf5, PGTY_large_kmalloc = 0xf8 };

/* ---- the page allocator ------------------------------------------------------------------------------------ */

#include <linux/gfp_types.h>

#define GFP_RECLAIM_MASK                                                                                            \
    (__GFP_RECLAIM | __GFP_HIGH | __GFP_IO | __GFP_FS | __GFP_NOWARN | __GFP_RETRY_MAYFAIL | __GFP_NOFAIL |         \
     __GFP_NORETRY | __GFP_MEMALLOC | __GFP_NOMEMALLOC | __GFP_NOLOCKDEP)
#define GFP_CONSTRAINT_MASK (__GFP_HARDWALL | __GFP_THISNODE)
#define GFP_SLAB_BUG_MASK (__GFP_DMA32 | __GFP_HIGHMEM | ~__GFP_BITS_MASK)

#define KDIR_SAME_GFP(name, bit) _Static_assert(__GFP_##name == 1u << (bit), "__GFP_" #name);
KDIR_EACH_GFP(KDIR_SAME_GFP)

#define NUMA_NO_NODE (-1)

/* Blocks without a reference count, from and to this library's page allocator: pages.c. @node may be NUMA_NO_NODE. */
struct page *kdir_pages_get(int node, gfp_t gfp, unsigned int order);
struct page *kdir_pages_try(int node, gfp_t gfp, unsigned int order);
void kdir_pages_put(struct page *page, unsigned int order);
void kdir_pages_put_nolock(struct page *page, unsigned int order);

#define alloc_frozen_pages(gfp, order) kdir_pages_get(NUMA_NO_NODE, (gfp), (order))
#define alloc_frozen_pages_noprof alloc_frozen_pages
#define __alloc_frozen_pages(gfp, order, node, ...) kdir_pages_get((node), (gfp), (order))
#define __alloc_frozen_pages_noprof __alloc_frozen_pages
#define alloc_frozen_pages_nolock(gfp, node, order) kdir_pages_try((node), (gfp), (order))
#define free_frozen_pages(p_, order) kdir_pages_put((p_), (order))
#define free_frozen_pages_nolock(p_, order) kdir_pages_put_nolock((p_), (order))
#define alloc_pages(gfp, order) kdir_pages_get(NUMA_NO_NODE, (gfp), (order))
#define alloc_pages_noprof alloc_pages
#define __alloc_pages_node(node, gfp, order) kdir_pages_get((node), (gfp), (order))
#define __alloc_pages(gfp, order, node, mask) kdir_pages_get((node), (gfp), (order))
#define __alloc_pages_noprof __alloc_pages
#define __free_pages(p_, order) kdir_pages_put((p_), (order))
#define folio_put(f_) kdir_pages_put(&(f_)->page, folio_order(f_))
unsigned long __get_free_pages(gfp_t gfp, unsigned int order);
void free_pages(unsigned long address, unsigned int order);
#define __get_free_page(gfp) __get_free_pages((gfp), 0)
#define free_page(address) free_pages((unsigned long)(address), 0)
#ifndef default_gfp
#define KDIR_SECOND(first, second, ...) second
#define default_gfp(...) KDIR_SECOND(dummy, ##__VA_ARGS__, GFP_KERNEL)
#endif
unsigned long nr_free_pages(void);
unsigned long totalram_pages(void);

bool gfp_pfmemalloc_allowed(gfp_t gfp);
extern gfp_t gfp_allowed_mask;

static inline bool gfpflags_allow_blocking(gfp_t gfp)
{
    return (gfp & __GFP_DIRECT_RECLAIM) != 0;
}

static inline bool gfpflags_allow_spinning(gfp_t gfp)
{
    return (gfp & __GFP_RECLAIM) != 0;
}

#define PAGE_ALIGN_DOWN(address) ((unsigned long)(address) & ~(PAGE_SIZE - 1))

static inline int get_order(unsigned long bytes)
{
    const unsigned long last_page = (bytes - 1) >> PAGE_SHIFT;

    return last_page == 0 ? 0 : (int)sizeof(long) * 8 - __builtin_clzl(last_page);
}

#endif /* KDIR_SHIM_PAGE_H */
