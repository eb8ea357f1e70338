/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of pages that need not lie side by side: this library's <linux/vmalloc.h>, whose declarations are repeated
 * because it brings this library's struct page. */
#ifndef KDIR_SHIM_VMALLOC_H
#define KDIR_SHIM_VMALLOC_H

void *__vmalloc_node(unsigned long size, unsigned long align, gfp_t gfp, int node);
void vfree(const void *address);
void *vrealloc(const void *address, size_t size, gfp_t gfp);
bool vmalloc_area(const void *address, unsigned long *start, unsigned long *bytes);
extern unsigned long kmirror_vmalloc_base;

#define vfree_atomic(address) vfree(address)
#define VMALLOC_START kmirror_vmalloc_base
#define VMALLOC_END (kmirror_vmalloc_base + (1UL << 36))
#define VM_ALLOW_HUGE_VMAP 0
#define PAGE_KERNEL 0
#define __vmalloc_node_range_noprof(size, align, start, end, gfp, protection, flags, node, caller) \
    __vmalloc_node((size), (align), (gfp), (node))
#define vrealloc_node_align_noprof(address, size, align, gfp, node) vrealloc((address), (size), (gfp))
#define vrealloc_noprof(address, size, gfp) vrealloc((address), (size), (gfp))

static inline bool is_vmalloc_addr(const void *address)
{
    return kmirror_vmalloc_base && (unsigned long)address - kmirror_vmalloc_base < (1UL << 36);
}
#define is_vmalloc_or_module_addr(address) is_vmalloc_addr(address)

#endif /* KDIR_SHIM_VMALLOC_H */
