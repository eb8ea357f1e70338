/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/page_ext.h: one more word for each page, for what struct page has no room.
 *
 * A word is 0 when its page is first handed out; who uses it restores that.
 */
#ifndef KMIRROR_LINUX_PAGE_EXT_H
#define KMIRROR_LINUX_PAGE_EXT_H

#include <linux/mm.h>

KM_C_BEGIN

extern unsigned long *kmirror_page_ext;

KM_C_END

/* lookup_page_ext() - the word of @page. Context: any. */
static inline unsigned long *lookup_page_ext(const struct page *page)
{
    return kmirror_page_ext + page_to_pfn(page);
}

#endif /* KMIRROR_LINUX_PAGE_EXT_H */
