// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/fastpath.h: one allocation and one free, put together from the layers.
//
//   allocation, cheapest first                     file                  lock
//     slab_alloc_fast         pop from main        percpu_sheaves.h      local, alone
//     slab_alloc_node         hooks                hooks.h               -
//       alloc_from_pcs        pop from main        percpu_sheaves.h      local
//         __pcs_replace_empty_main                 percpu_sheaves.cpp    local
//           barn_replace_empty_sheaf               barn.cpp              barn->lock
//           refill_sheaf      from slabs           sheaf.cpp             -
//             refill_objects  lists, new slabs     refill.cpp            list_lock
//       ___slab_alloc         one object           refill.cpp            list_lock
//         __slab_alloc_node   with cpu slabs       cpu_slab.cpp          local, list_lock
//         new_slab            pages                slab.cpp              -
//   free
//     slab_free_fast          push to main         percpu_sheaves.h      local, alone
//     slab_free               hooks                hooks.h               -
//       free_to_pcs           push to main         percpu_sheaves.h      local
//         __pcs_replace_full_main                  percpu_sheaves.cpp    local
//           barn_replace_full_sheaf                barn.cpp              barn->lock
//           sheaf_flush_unused                     sheaf.cpp             -
//       cpu_slab_free         with cpu slabs       cpu_slab.cpp          -
//       __slab_free           into the slab        free.cpp              list_lock, rarely
//         discard_slab        pages                slab.cpp              -
//
// Owns     nothing. An entry point inlines the fast form and calls the general one, which
//          starts over, in a cold function of its own.
// Bounds   a handful of instructions while main has an object, or room for one.
// Locking  see the table.
// Fails    an allocation: NULL, nothing changed. A free cannot.
#pragma once

#include "lib/slub/free.h"
#include "lib/slub/obj_ext.h"
#include "lib/slub/percpu_sheaves.h"
#include "lib/slub/refill.h"

namespace kmirror::slub {

// An object without any formality, or NULL: then the general way must be taken. Where a
// sanitizer watches that is always so; and where a test has asked for failures or counts,
// because nobody is alone on a CPU then (arm_locked() in lib/fault).
[[gnu::always_inline]] inline void *slab_alloc_fast(struct kmem_cache *s, gfp_t gfp)
{
    might_alloc(gfp);
    return KMIRROR_KASAN ? nullptr : alloc_from_main(s);
}

// Zeroes if asked for; as the last thing a caller does, so that it costs no frame.
[[gnu::always_inline]] inline void *slab_zero_if(const struct kmem_cache *s, gfp_t gfp, void *object)
{
    return gfp & __GFP_ZERO ? memset(object, 0, READ_ONCE(s->object_size)) : object;
}

// True: the object is in main. False: nothing is done yet.
[[gnu::always_inline]] inline bool slab_free_fast(struct kmem_cache *s, const struct slab *slab,
                                                  void *object)
{
    return !KMIRROR_KASAN && free_to_main(s, slab, object);
}

// The general way. `orig_size`: bytes the caller asked for, at most object_size. `caller`: who
// that is, for caches that store it; NULL: the allocator.
template <unsigned int alloc_flags = SLAB_ALLOC_DEFAULT>
[[gnu::always_inline]] inline void *slab_alloc_node(struct kmem_cache *s, gfp_t gfp, int node,
                                                    size_t orig_size,
                                                    const void *caller = nullptr)
{
    if constexpr (!(alloc_flags & SLAB_ALLOC_NO_HOOKS))
        if (!slab_pre_alloc_hook(s, gfp, 1)) [[unlikely]]
            return nullptr;

    node = apply_strict_numa_policy(node);
    void *object = only_cpu_slab(s) ? nullptr : alloc_from_pcs(s, gfp, alloc_flags, node);
    if (!object) [[unlikely]] {
        object = kmem_cache_debug(s)
                     ? debug_slab_alloc(s, gfp, node, orig_size, caller, alloc_flags)
                     : ___slab_alloc(s, gfp, node, alloc_flags);
        if (!object)
            return nullptr;
    }
    slab_post_alloc_hook(s, gfp, object, orig_size);
    return object;
}

[[gnu::always_inline]] inline void slab_free(struct kmem_cache *s, struct slab *slab, void *object,
                                             const void *caller = nullptr)
{
    memcg_slab_free_hook(s, slab, object);
    if (!slab_free_hook(s, object)) [[unlikely]]
        return;
    if (!only_cpu_slab(s) && can_free_to_pcs(s, slab) && free_to_pcs(s, object)) [[likely]]
        return;
    slab_free_counted(s, slab, object, object, 1, caller);
}

// Charges a fresh object, or NULL, to the caller's group. NULL: it is beyond its limit.
[[gnu::always_inline]] inline void *slab_charge(struct kmem_cache *s, gfp_t gfp, void *object)
{
    if (!object || memcg_slab_post_alloc_hook(s, gfp, 1, &object, SLAB_ALLOC_DEFAULT)) [[likely]]
        return object;
    slab_free(s, slab_of_object(object), object);
    return nullptr;
}

} // namespace kmirror::slub
