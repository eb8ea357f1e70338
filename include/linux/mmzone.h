/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/mmzone.h>: block sizes of the page allocator. A block of order n is
 * 2^n pages, aligned to its own size. A node has one zone; its lock and lists
 * are private to lib/kernel/page_alloc.
 */
#ifndef _LINUX_MMZONE_H
#define _LINUX_MMZONE_H

#include <linux/kconfig.h>
#include <asm/page.h>

#define MAX_PAGE_ORDER          10
#define NR_PAGE_ORDERS          (MAX_PAGE_ORDER + 1)
#define MAX_ORDER_NR_PAGES      (1 << MAX_PAGE_ORDER)

/* Orders up to this one are kept in per-CPU lists and are expected to succeed. */
#define PAGE_ALLOC_COSTLY_ORDER 3

#define IS_MAX_ORDER_ALIGNED(pfn)       (((pfn) & (MAX_ORDER_NR_PAGES - 1)) == 0)

#endif /* _LINUX_MMZONE_H */
