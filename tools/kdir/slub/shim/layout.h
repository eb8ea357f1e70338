/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where this library's page allocator keeps what it knows, and its bits of a gfp mask, as numbers that both sides
 * compare with their own: page.h with the kernel tree's, pages.c with this library's.
 */
#ifndef KDIR_SHIM_LAYOUT_H
#define KDIR_SHIM_LAYOUT_H

#define KDIR_NODE_SHIFT (__SIZEOF_LONG__ * 8 - 8)
#define KDIR_ORDER_SHIFT 16
#define KDIR_ORDER_MASK 0xfUL
#define KDIR_VMALLOC_BYTES (1UL << 36)
#define KDIR_PG_LOCKED 0
#define KDIR_PG_PFMEMALLOC 2
#define KDIR_PG_HEAD 6
#define KDIR_PG_ACTIVE 8
#define KDIR_PG_WORKINGSET 9

#define KDIR_GFP_ZERO (1u << 8)
#define KDIR_EACH_GFP(X)                                                                        \
    X(DMA, 0) X(HIGHMEM, 1) X(DMA32, 2) X(MOVABLE, 3) X(RECLAIMABLE, 4) X(HIGH, 5) X(IO, 6)     \
    X(FS, 7) X(ZERO, 8) X(DIRECT_RECLAIM, 10) X(KSWAPD_RECLAIM, 11) X(WRITE, 12) X(NOWARN, 13)  \
    X(RETRY_MAYFAIL, 14) X(NOFAIL, 15) X(NORETRY, 16) X(MEMALLOC, 17) X(COMP, 18)               \
    X(NOMEMALLOC, 19) X(HARDWALL, 20) X(THISNODE, 21) X(ACCOUNT, 22)

#endif /* KDIR_SHIM_LAYOUT_H */
