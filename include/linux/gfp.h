/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/gfp.h>: whole pages.
 *
 * "Frozen" blocks have a reference count of 0 and one owner, who gives them back
 * with free_frozen_pages(). The other functions hand out a count of 1.
 *
 * @nid is a node, or NUMA_NO_NODE for the caller's own. When that node is empty the
 * neighbours are tried by distance, unless __GFP_THISNODE is set.
 *
 * Context: any. With __GFP_DIRECT_RECLAIM the call may sleep, so no spinlock is held.
 * Fails:   NULL, and nothing has changed. An order above MAX_PAGE_ORDER is NULL with
 *          a warning. __GFP_NOFAIL waits instead, or is a BUG() when no node that may
 *          serve the request has that much memory at all.
 */
#ifndef _LINUX_GFP_H
#define _LINUX_GFP_H

#include <kmirror/stop_point.h>
#include <linux/kconfig.h>
#include <linux/gfp_types.h>
#include <linux/mmzone.h>
#include <linux/numa.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct page;

/* May this mask sleep? */
static inline bool gfpflags_allow_blocking(const gfp_t gfp_flags)
{
    return (gfp_flags & __GFP_DIRECT_RECLAIM) != 0;
}

/* May this mask wait for a spinlock? Only a mask with neither reclaim bit may not. */
static inline bool gfpflags_allow_spinning(const gfp_t gfp_flags)
{
    return (gfp_flags & __GFP_RECLAIM) != 0;
}

static inline bool gfp_has_io_fs(gfp_t gfp)
{
    return (gfp & (__GFP_IO | __GFP_FS)) == (__GFP_IO | __GFP_FS);
}

/*
 * Would a request with this mask, made by this task, be let into all of the
 * reserves? Then it may also use objects on pages that came from there.
 */
bool gfp_pfmemalloc_allowed(gfp_t gfp_mask);

/* A block of 2^@order pages with one owner and no reference count. */
struct page *alloc_frozen_pages_node(int nid, gfp_t gfp, unsigned int order);

static inline struct page *alloc_frozen_pages(gfp_t gfp, unsigned int order)
{
    return alloc_frozen_pages_node(NUMA_NO_NODE, gfp, order);
}

/*
 * Gives a block back; @order is the one it was allocated with. Any context.
 * A block that is not handed out, or of another order, is reported as a bad page
 * and left alone.
 */
void free_frozen_pages(struct page *page, unsigned int order);

/*
 * The same where no lock may be waited for: only tried, no fault injection, no reclaim,
 * no reserves. NULL more often than the other; a block that cannot be given back at once
 * is kept aside until somebody comes who may wait. __GFP_COMP is implied, as is
 * __GFP_NOWARN; of the mask only __GFP_ZERO and __GFP_THISNODE count.
 */
struct page *alloc_frozen_pages_nolock(gfp_t gfp, int nid, unsigned int order);
void free_frozen_pages_nolock(struct page *page, unsigned int order);

/* The same with a reference count of 1, to be given back by __free_pages() or put_page(). */
struct page *alloc_pages_node(int nid, gfp_t gfp, unsigned int order);
void __free_pages(struct page *page, unsigned int order);

static inline struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
    return alloc_pages_node(NUMA_NO_NODE, gfp, order);
}

#define alloc_page(gfp)         alloc_pages(gfp, 0)
#define __free_page(page)       __free_pages((page), 0)

/* By address instead of struct page; 0 when there is no memory. */
unsigned long __get_free_pages(gfp_t gfp, unsigned int order);
unsigned long get_zeroed_page(gfp_t gfp);
void free_pages(unsigned long address, unsigned int order);

#define __get_free_page(gfp)    __get_free_pages((gfp), 0)
#define free_page(address)      free_pages((address), 0)

/* The points at which tests can hold a thread. */
#define alloc_frozen_pages_node(nid, gfp, order) \
    (KM_STOP_POINT("alloc_pages"), alloc_frozen_pages_node((nid), (gfp), (order)))
#define alloc_frozen_pages(gfp, order) alloc_frozen_pages_node(NUMA_NO_NODE, (gfp), (order))
#define alloc_frozen_pages_nolock(gfp, nid, order) \
    (KM_STOP_POINT("alloc_pages"), alloc_frozen_pages_nolock((gfp), (nid), (order)))
#define free_frozen_pages(page, order) \
    (KM_STOP_POINT("free_pages"), free_frozen_pages((page), (order)))
#define free_frozen_pages_nolock(page, order) \
    (KM_STOP_POINT("free_pages"), free_frozen_pages_nolock((page), (order)))

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_GFP_H */
