/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/vmalloc.h: memory of whole pages that need not lie side by side.
 *
 * Each page is taken from the page allocator one by one, so a node's limit, its reserves
 * and injected failures count as in the kernel; the caller's bytes lie in an area of
 * their own, between two pages that may not be touched. After vfree() none of it may.
 */
#ifndef KMIRROR_LINUX_VMALLOC_H
#define KMIRROR_LINUX_VMALLOC_H

#include <linux/gfp.h>
#include <linux/mm.h>

KM_C_BEGIN

/*
 * __vmalloc_node() - @size bytes, page aligned.
 * @align: bytes, a power of two; above a page rounds up.
 * @gfp:   __GFP_ZERO changes nothing: the memory is zero in any case.
 * @node:  where the pages should come from, or NUMA_NO_NODE.
 * Context: as alloc_frozen_pages(). Return: NULL for 0 bytes, for more than the machine
 * has, or when memory ran out; then nothing is taken.
 */
void *__vmalloc_node(unsigned long size, unsigned long align, gfp_t gfp, int node);

/* vfree() - give it back. @addr: from above, or NULL. Anything else warns. Context: any. */
void vfree(const void *addr);

/*
 * vrealloc() - change the size; the first bytes stay. @p: NULL is as vmalloc().
 * @size: 0 frees and returns NULL. With __GFP_ZERO what is new is 0.
 * Return: @p when its pages are enough; NULL without memory, and then @p is valid.
 */
void *vrealloc(const void *p, size_t size, gfp_t flags) __attribute__((__warn_unused_result__));

/* vmalloc_area() - start and size asked for of the area around @addr; false: there is none. */
bool vmalloc_area(const void *addr, unsigned long *start, unsigned long *bytes);

KM_C_END

static inline void *__vmalloc(unsigned long size, gfp_t gfp)
{
    return __vmalloc_node(size, 1, gfp, NUMA_NO_NODE);
}

static inline void *vmalloc(unsigned long size)
{
    return __vmalloc(size, GFP_KERNEL);
}

static inline void *vzalloc(unsigned long size)
{
    return __vmalloc(size, GFP_KERNEL | __GFP_ZERO);
}

static inline void *vmalloc_node(unsigned long size, int node)
{
    return __vmalloc_node(size, 1, GFP_KERNEL, node);
}

#endif /* KMIRROR_LINUX_VMALLOC_H */
