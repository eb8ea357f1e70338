/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of pages that need not lie side by side: this library's, by the names that the tree calls it. */
#ifndef KDIR_SHIM_VMALLOC_H
#define KDIR_SHIM_VMALLOC_H

#include "tools/kdir/slub/shim/layout.h"

#include <linux/vmalloc.h>

extern unsigned long kmirror_vmalloc_base; /* of <linux/mm.h>, which stands in here */

#define vfree_atomic(address) vfree(address)
#define VMALLOC_START kmirror_vmalloc_base
#define VMALLOC_END (kmirror_vmalloc_base + KDIR_VMALLOC_BYTES)
#define VM_ALLOW_HUGE_VMAP 0
#define PAGE_KERNEL 0
#define __vmalloc_node_range_noprof(size, align, start, end, gfp, protection, flags, node, caller) \
    __vmalloc_node((size), (align), (gfp), (node))
#define vrealloc_node_align_noprof(address, size, align, gfp, node) vrealloc((address), (size), (gfp))

static inline bool is_vmalloc_addr(const void *address)
{
    return kmirror_vmalloc_base && (unsigned long)address - kmirror_vmalloc_base < KDIR_VMALLOC_BYTES;
}

#endif /* KDIR_SHIM_VMALLOC_H */
