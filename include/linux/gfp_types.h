/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/gfp_types.h>: what an allocation may do, one bit a permission or wish.
 *
 * Bit numbers are those of Linux 7.3 (no KASAN_HW_TAGS). Callers mostly use the
 * combinations at the end; the single bits add to or take from one of those.
 */
#ifndef _LINUX_GFP_TYPES_H
#define _LINUX_GFP_TYPES_H

#include <linux/kconfig.h>
#include <linux/types.h>

#define __KMIRROR_GFP(bit)      ((gfp_t)(1U << (bit)))

/* How far the allocator may go to find memory. */
#define __GFP_DIRECT_RECLAIM    __KMIRROR_GFP(10)   /* the caller may sleep and give back memory itself */
#define __GFP_KSWAPD_RECLAIM    __KMIRROR_GFP(11)   /* others may be asked to give back memory */
#define __GFP_RECLAIM           (__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM)
#define __GFP_IO                __KMIRROR_GFP(6)
#define __GFP_FS                __KMIRROR_GFP(7)
#define __GFP_NORETRY           __KMIRROR_GFP(16)   /* one attempt after reclaim, then NULL */
#define __GFP_RETRY_MAYFAIL     __KMIRROR_GFP(14)   /* more attempts, still NULL in the end */
#define __GFP_NOFAIL            __KMIRROR_GFP(15)   /* waits for memory; the caller cannot bear NULL */

/* How deep into the reserves below a node's watermark. */
#define __GFP_HIGH              __KMIRROR_GFP(5)    /* half of it */
#define __GFP_MEMALLOC          __KMIRROR_GFP(17)   /* all of it: the caller is about to free memory */
#define __GFP_NOMEMALLOC        __KMIRROR_GFP(19)   /* none, whatever the task or the mask says else */

/* Which memory. There is one zone a node, so the four zone bits change nothing. */
#define __GFP_DMA               __KMIRROR_GFP(0)
#define __GFP_HIGHMEM           __KMIRROR_GFP(1)
#define __GFP_DMA32             __KMIRROR_GFP(2)
#define __GFP_MOVABLE           __KMIRROR_GFP(3)
#define GFP_ZONEMASK            (__GFP_DMA | __GFP_HIGHMEM | __GFP_DMA32 | __GFP_MOVABLE)
#define __GFP_THISNODE          __KMIRROR_GFP(21)   /* this node or NULL, no neighbour instead */
#define __GFP_HARDWALL          __KMIRROR_GFP(20)
#define __GFP_RECLAIMABLE       __KMIRROR_GFP(4)
#define __GFP_WRITE             __KMIRROR_GFP(12)
#define __GFP_ACCOUNT           __KMIRROR_GFP(22)

/* What comes back. */
#define __GFP_ZERO              __KMIRROR_GFP(8)    /* all bytes zero */
#define __GFP_COMP              __KMIRROR_GFP(18)   /* tail pages know their head */
#define __GFP_NOWARN            __KMIRROR_GFP(13)   /* a failure is not reported */
#define __GFP_ZEROTAGS          __KMIRROR_GFP(23)
#define __GFP_SKIP_ZERO         ((gfp_t)0)
#define __GFP_SKIP_KASAN        ((gfp_t)0)
#ifdef CONFIG_LOCKDEP
#define __GFP_NOLOCKDEP         __KMIRROR_GFP(24)
#define __GFP_BITS_SHIFT        25
#else
#define __GFP_NOLOCKDEP         ((gfp_t)0)
#define __GFP_BITS_SHIFT        24
#endif
#define __GFP_BITS_MASK         ((gfp_t)((1U << __GFP_BITS_SHIFT) - 1))

/* The combinations callers use. The first two never sleep. */
#define GFP_NOWAIT              (__GFP_KSWAPD_RECLAIM | __GFP_NOWARN)
#define GFP_ATOMIC              (__GFP_KSWAPD_RECLAIM | __GFP_HIGH)
#define GFP_NOIO                __GFP_RECLAIM
#define GFP_NOFS                (GFP_NOIO | __GFP_IO)
#define GFP_KERNEL              (GFP_NOFS | __GFP_FS)
#define GFP_KERNEL_ACCOUNT      (GFP_KERNEL | __GFP_ACCOUNT)
#define GFP_USER                (GFP_KERNEL | __GFP_HARDWALL)
#define GFP_HIGHUSER            (GFP_USER | __GFP_HIGHMEM)
#define GFP_HIGHUSER_MOVABLE    (GFP_HIGHUSER | __GFP_MOVABLE | __GFP_SKIP_KASAN)
#define GFP_DMA                 __GFP_DMA
#define GFP_DMA32               __GFP_DMA32
#define GFP_TRANSHUGE           (GFP_TRANSHUGE_LIGHT | __GFP_DIRECT_RECLAIM)
#define GFP_TRANSHUGE_LIGHT                                                                       \
    ((GFP_HIGHUSER_MOVABLE | __GFP_NOWARN | __GFP_NOMEMALLOC | __GFP_COMP) & ~__GFP_RECLAIM)

#endif /* _LINUX_GFP_TYPES_H */
