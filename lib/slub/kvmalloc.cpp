// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/kvmalloc.cpp: kmalloc() first, vmalloc() when there is no block of that size.
//
// Owns     nothing.
// Bounds   INT_MAX bytes.
// Locking  none held on entry or return.
// Fails    NULL, and an old object is as it was.
#include <linux/kasan.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "lib/slub/slab.h"

namespace kmirror::slub {

namespace {

// For the attempt at one block: it is not worth reclaim, and its failure is nobody's.
gfp_t kmalloc_gfp_adjust(gfp_t flags, size_t size)
{
    if (size <= PAGE_SIZE)
        return flags;
    if (!(flags & __GFP_RETRY_MAYFAIL))
        flags &= ~__GFP_DIRECT_RECLAIM;
    return (flags | __GFP_NOWARN) & ~__GFP_NOFAIL;
}

void *vmalloc_instead(size_t size, unsigned long align, gfp_t flags, int node)
{
    if (size > INT_MAX) {
        WARN_ON_ONCE(!(flags & __GFP_NOWARN));
        return nullptr;
    }
    return __vmalloc_node(size, align, flags, node);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

void *kvmalloc_node_align(size_t size, unsigned long align, gfp_t flags, int node)
{
    void *object = __kmalloc_node(size, kmalloc_gfp_adjust(flags, size), node);
    return object || size <= PAGE_SIZE ? object : vmalloc_instead(size, align, flags, node);
}

void *kmem_buckets_valloc(kmem_buckets *buckets, size_t size, gfp_t flags)
{
    void *object = kmem_buckets_alloc(buckets, size, kmalloc_gfp_adjust(flags, size));
    return object || size <= PAGE_SIZE ? object : vmalloc_instead(size, 1, flags, NUMA_NO_NODE);
}

void *kvrealloc(const void *p, size_t size, gfp_t flags)
{
    if (is_vmalloc_addr(p))
        return vrealloc(p, size, flags);
    void *object = krealloc(p, size, kmalloc_gfp_adjust(flags, size));
    if (object)
        return object;
    object = kvmalloc(size, flags);
    if (!object || !p)
        return object;
    const size_t room = ksize(p);
    kasan_unpoison(p, room);
    memcpy(object, p, min_t(size_t, size, room));
    kfree(p);
    return object;
}

void kvfree(const void *addr)
{
    if (is_vmalloc_addr(addr))
        vfree(addr);
    else
        kfree(addr);
}

void kvfree_sensitive(const void *addr, size_t len)
{
    if (ZERO_OR_NULL_PTR(addr))
        return;
    memzero_explicit(const_cast<void *>(addr), len);
    kvfree(addr);
}
