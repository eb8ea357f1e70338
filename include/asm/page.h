/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <asm/page.h>: the size of a page. KMIRROR_PAGE_SHIFT (12, 14 or 16) is a build
 * option; every object that is linked together must agree on it.
 */
#ifndef _ASM_PAGE_H
#define _ASM_PAGE_H

#ifndef KMIRROR_PAGE_SHIFT
#define KMIRROR_PAGE_SHIFT 12
#endif

#if KMIRROR_PAGE_SHIFT != 12 && KMIRROR_PAGE_SHIFT != 14 && KMIRROR_PAGE_SHIFT != 16
#error "KMIRROR_PAGE_SHIFT must be 12, 14 or 16"
#endif

/* <sys/user.h> and <limits.h> may have brought the host's own figures. */
#undef PAGE_SHIFT
#undef PAGE_SIZE
#undef PAGE_MASK
#define PAGE_SHIFT      KMIRROR_PAGE_SHIFT
#define PAGE_SIZE       (1UL << PAGE_SHIFT)
#define PAGE_MASK       (~(PAGE_SIZE - 1))

#define PAGE_ALIGN(bytes)       (((bytes) + PAGE_SIZE - 1) & PAGE_MASK)
#define PAGE_ALIGNED(address)   (((unsigned long)(address) & ~PAGE_MASK) == 0)
#define offset_in_page(address) ((unsigned long)(address) & ~PAGE_MASK)

#endif /* _ASM_PAGE_H */
