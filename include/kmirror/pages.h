/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/pages.h>: looking into the page allocator, for tests and reports.
 *
 * All counts are in pages unless a name says otherwise. A figure taken while others
 * allocate is a snapshot. A node that does not exist has no memory.
 */
#ifndef _KMIRROR_PAGES_H
#define _KMIRROR_PAGES_H

#include <linux/kconfig.h>
#include <linux/mmzone.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kmirror_page_counts {
    unsigned long managed;      /* all memory of the node */
    unsigned long free;         /* in the lists below, or not touched yet */
    unsigned long percpu;       /* in per-CPU lists: neither free nor handed out */
    unsigned long untouched;    /* part of free that no block was ever cut from */
    unsigned long reserve;      /* what an ordinary request must leave free */
    unsigned long blocks[NR_PAGE_ORDERS];   /* free blocks of each order */
};

/* Fills @out for node @nid. Return: 0, or -EINVAL if there is no such node. */
int kmirror_node_pages(int nid, struct kmirror_page_counts *out);

/* Moves all pages from per-CPU lists back to their nodes, where they merge. */
void kmirror_drain_pages(void);

#ifdef __cplusplus
}
#endif

#endif /* _KMIRROR_PAGES_H */
