// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/dump_obj.cpp: whose memory is this address?
//
// Owns     nothing.
// Bounds   one line of the log.
// Locking  none; the answer is of a moment, unless the caller keeps the object alive.
// Fails    an address outside of slabs is said to be that.
#include <linux/vmalloc.h>
#include <kmirror/slab_info.h>

#include "lib/slub/slab.h"

using namespace kmirror::slub;

bool kmem_valid_obj(void *object)
{
    return virt_addr_valid(object) && virt_to_slab(object);
}

void kmem_obj_info(struct kmem_obj_info *info, void *object)
{
    const struct slab *slab = slab_of_object(object);
    struct kmem_cache *s = slab->slab_cache;
    info->kp_ptr = object;
    info->kp_slab_cache = s;
    info->kp_objp = nearest_obj(s, slab, object);
    info->kp_data_offset = 0;
}

bool kmem_dump_obj(void *object)
{
    struct kmem_obj_info info;

    if (!kmem_valid_obj(object))
        return false;
    kmem_obj_info(&info, object);
    pr_cont(" slab %s start %p", info.kp_slab_cache->name, info.kp_objp);
    if (info.kp_data_offset)
        pr_cont(" data offset %lu", info.kp_data_offset);
    pr_cont(" pointer offset %lu size %u\n",
            bytes_between(info.kp_objp, object) - info.kp_data_offset,
            info.kp_slab_cache->object_size);
    return true;
}

void mem_dump_obj(void *object)
{
    unsigned long start, bytes;

    if (kmem_dump_obj(object))
        return;
    if (vmalloc_area(object, &start, &bytes))
        pr_cont(" %lu-page vmalloc region starting at %#lx\n", PAGE_ALIGN(bytes) / PAGE_SIZE, start);
    else if (is_vmalloc_addr(object))
        pr_cont(" vmalloc memory\n");
    else if (virt_addr_valid(object))
        pr_cont(" non-slab/vmalloc memory\n");
    else if (!object)
        pr_cont(" NULL pointer\n");
    else if (object == ZERO_SIZE_PTR)
        pr_cont(" zero-size pointer\n");
    else
        pr_cont(" non-paged memory\n");
}
