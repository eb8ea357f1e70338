/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/mm_types.h>: struct page, the 64-byte record that stands for one page.
 *
 *   word  0 flags          node, order and PG_* bits, see <linux/page-flags.h>
 *         1 compound_head  in a tail page: address of the head page, plus 1
 *         2 words[5]       the owner's; a free page is linked through lru here
 *         7 page_type      PGTY_* in the top byte
 *           _refcount      0 while frozen; see alloc_frozen_pages_node()
 *
 * Owners may lay a struct of their own over the record (lib/slub does), as long as
 * they leave flags and compound_head alone and restore page_type before freeing.
 */
#ifndef _LINUX_MM_TYPES_H
#define _LINUX_MM_TYPES_H

#include <linux/kconfig.h>
#include <linux/types.h>
#include <asm/page.h>

#ifdef __cplusplus
#define __KMIRROR_PAGE_ASSERT(condition) static_assert(condition, #condition)
#else
#define __KMIRROR_PAGE_ASSERT(condition) _Static_assert(condition, #condition)
#endif

struct page {
    unsigned long flags;
    unsigned long compound_head;
    union {
        struct list_head lru;
        unsigned long words[5];
    };
    unsigned int page_type;
    int _refcount;
} __attribute__((aligned(64)));

__KMIRROR_PAGE_ASSERT(sizeof(struct page) == 64);
__KMIRROR_PAGE_ASSERT(__builtin_offsetof(struct page, words) == 2 * sizeof(long));
__KMIRROR_PAGE_ASSERT(__builtin_offsetof(struct page, page_type) == 7 * sizeof(long));
__KMIRROR_PAGE_ASSERT(__builtin_offsetof(struct page, _refcount) == 7 * sizeof(long) + sizeof(int));

#endif /* _LINUX_MM_TYPES_H */
