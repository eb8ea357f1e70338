// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages for a kernel tree's allocator, from this library's page allocator, and its failures. The only file here that
 * sees this library's struct page; what shim/layout.h says of it is compared below.
 *
 * Owns     nothing.
 * Bounds   blocks are compound, and have no reference count, as alloc_frozen_pages() gives them.
 * Fails    NULL, as the functions behind it.
 */
#include <kmirror/failslab.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/page-flags.h>

#include "tools/kdir/slub/shim/layout.h"

_Static_assert(KDIR_NODE_SHIFT == KMIRROR_PG_NODE_SHIFT, "the node in a page's flags");
_Static_assert(KDIR_ORDER_SHIFT == KMIRROR_PG_ORDER_SHIFT, "the order in a page's flags");
_Static_assert(KDIR_ORDER_MASK == KMIRROR_PG_ORDER_MASK, "the order in a page's flags");
_Static_assert(KDIR_PG_LOCKED == PG_locked, "a page's flags");
_Static_assert(KDIR_PG_PFMEMALLOC == PG_pfmemalloc, "a page's flags");
_Static_assert(KDIR_PG_HEAD == PG_head, "a page's flags");
_Static_assert(KDIR_PG_ACTIVE == PG_active, "a page's flags");
_Static_assert(KDIR_PG_WORKINGSET == PG_workingset, "a page's flags");
_Static_assert(KDIR_VMALLOC_BYTES == KMIRROR_VMALLOC_BYTES, "the room of vmalloc()");
_Static_assert(offsetof(struct page, compound_head) == sizeof(long), "the word that leads to the head");
_Static_assert(offsetof(struct page, page_type) == 7 * sizeof(long), "a word that no kernel touches");

#define KDIR_SAME_GFP(name, bit) _Static_assert(__GFP_##name == 1u << (bit), "__GFP_" #name);
KDIR_EACH_GFP(KDIR_SAME_GFP)

int kdir_should_failslab(const char *cache, unsigned int size, gfp_t gfp);
struct page *kdir_pages_get(int node, gfp_t gfp, unsigned int order);
struct page *kdir_pages_try(int node, gfp_t gfp, unsigned int order);
void kdir_pages_put(struct page *page, unsigned int order);
void kdir_pages_put_nolock(struct page *page, unsigned int order);

/* What a kernel finds in a new block: no type, and its own words clear. */
static struct page *as_kernel(struct page *page, unsigned int order)
{
    if (!page)
        return NULL;
    page->words[0] = page->words[1] = page->words[2] = page->words[3] = 0;
    page->words[4] = 0xffffffffUL; /* no page_type, _refcount 0 */
    if (order)
        page[1].flags |= order; /* where a kernel has a compound page's order, too */
    return page;
}

/* What our page allocator wants back: in a head, a word 1 that leads nowhere. */
static struct page *as_ours(struct page *page, unsigned int order)
{
    page->compound_head = 0;
    if (order)
        page[1].flags &= ~0xffUL;
    return page;
}

struct page *kdir_pages_get(int node, gfp_t gfp, unsigned int order)
{
    return as_kernel(alloc_frozen_pages_node(node, gfp | __GFP_COMP, order), order);
}

struct page *kdir_pages_try(int node, gfp_t gfp, unsigned int order)
{
    return as_kernel(alloc_frozen_pages_nolock(gfp, node, order), order);
}

void kdir_pages_put(struct page *page, unsigned int order)
{
    free_frozen_pages(as_ours(page, order), order);
}

void kdir_pages_put_nolock(struct page *page, unsigned int order)
{
    free_frozen_pages_nolock(as_ours(page, order), order);
}

int kdir_should_failslab(const char *cache, unsigned int size, gfp_t gfp)
{
    return should_failslab_of(cache, size, gfp) ? -ENOMEM : 0;
}
