// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/nolock.cpp: kmalloc and kfree where no lock may be waited for.
//
//   kmalloc_nolock   main sheaf, spare, the barn's full sheaves     tried
//                    partial lists, a new slab                      tried
//                    the same for the next larger class             tried
//   kfree_nolock     main sheaf, spare, the barn's empty sheaves    tried
//                    deferred.h                                     no lock
//
// Owns     nothing.
// Bounds   two classes are tried.
// Locking  every lock on the way is tried only; a sheaf is neither filled nor flushed nor
//          made, because that would wait. No failure is injected and nothing is reported:
//          both may call back.
// Fails    kmalloc_nolock(): NULL, nothing taken. A free cannot.
#include "lib/slub/deferred.h"
#include "lib/slub/fastpath.h"
#include "lib/slub/obj_ext.h"

#include <linux/hardirq.h>

namespace kmirror::slub {

namespace {

constexpr gfp_t kNolockFlags = __GFP_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | __GFP_NOMEMALLOC;

// An object of the class for `size` bytes, or NULL.
void *alloc_nolock(struct kmem_cache *s, gfp_t gfp, int node, size_t size, const void *caller)
{
    // slab_lock() would be waited for by who interrupted its holder.
    if (!(s->flags & __CMPXCHG_DOUBLE) && !(s->flags & SLAB_DEBUG_FLAGS))
        return nullptr;
    if (!only_cpu_slab(s))
        if (void *object = alloc_from_pcs(s, gfp, SLAB_ALLOC_NOLOCK, node))
            return object;
    if (kmem_cache_debug(s)) [[unlikely]]
        return debug_slab_alloc(s, gfp, node, size, caller, SLAB_ALLOC_NOLOCK);
    return ___slab_alloc(s, gfp, node, SLAB_ALLOC_NOLOCK);
}

struct kmem_cache *class_for(size_t size, gfp_t gfp)
{
    return size > KMALLOC_MAX_CACHE_SIZE ? nullptr : __kmalloc_bucket(size, gfp);
}

// Into a sheaf if that can be done at once.
void free_nolock(struct kmem_cache *s, struct slab *slab, void *object)
{
    memcg_slab_free_hook(s, slab, object);
    if (!slab_free_hook(s, object))
        return;
    if (can_spin_trylock() && !only_cpu_slab(s) && can_free_to_pcs(s, slab) &&
        free_to_pcs(s, object, Spin::try_only))
        return;
    if (s->cpu_slab && cpu_slab_push(s, slab, object, object, 1))
        return;
    defer_free(s, object);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

void *kmalloc_nolock(size_t size, gfp_t gfp, int node)
{
    const void *caller = __builtin_return_address(0);

    VM_WARN_ON_ONCE(gfp & ~kNolockFlags);
    gfp |= __GFP_NOWARN | __GFP_NOMEMALLOC;
    if (!size)
        return ZERO_SIZE_PTR;
    struct kmem_cache *s = class_for(size, gfp);
    if (!s || !can_spin_trylock())
        return nullptr;

    node = apply_strict_numa_policy(node);
    void *object = alloc_nolock(s, gfp, node, size, caller);
    if (!object) {
        // Whom we interrupted holds the locks of one class, hardly those of the next as well.
        s = class_for(s->object_size + 1, gfp);
        object = s ? alloc_nolock(s, gfp, node, size, caller) : nullptr;
        if (!object)
            return nullptr;
    }
    slab_post_alloc_hook(s, gfp, object, size);
    if (!memcg_slab_post_alloc_hook(s, gfp, 1, &object, SLAB_ALLOC_NOLOCK)) [[unlikely]] {
        free_nolock(s, slab_of_object(object), object);
        return nullptr;
    }
    trace_kmem_cache_alloc(s, 1);
    return object;
}

void kfree_nolock(const void *objp)
{
    void *object = const_cast<void *>(objp);

    if (ZERO_OR_NULL_PTR(object))
        return;
    struct slab *slab = virt_addr_valid(object) ? virt_to_slab(object) : nullptr;
    if (WARN_ONCE(!slab, "kfree_nolock(%p): not an object of a slab\n", object))
        return;
    struct kmem_cache *s = slab->slab_cache;
    trace_kmem_cache_free(s, 1);
    free_nolock(s, slab, object);
}
