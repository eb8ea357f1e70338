// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/hooks.h: what happens around an object when it is handed out or taken back.
//
// Owns     nothing. Failure injection, counting and the address sanitizer hear of each
//          object here; all of them are constant or one predictable branch when off.
// Bounds   one object, or the n objects of a bulk call.
// Locking  no lock of the allocator may be held: an injected failure may call back into
//          the test that asked for it.
// Fails    slab_pre_alloc_hook() says no when an injected failure was due;
//          slab_free_hook() when the object is not one that can be freed.
#pragma once

#include <linux/fault-inject.h>
#include <linux/kasan.h>
#include <linux/mempolicy.h>
#include <linux/sched/mm.h>
#include <linux/string.h>
#include <trace/events/kmem.h>

#include "lib/slub/debug.h"
#include "lib/slub/switches.h"

namespace kmirror::slub {

// The node of a request: with strict_numa, and none asked for, what the thread's policy says.
// Bound to nodes of which its own is one, it may have what is at hand.
inline int apply_strict_numa_policy(int node)
{
    if (!switch_on(KMIRROR_SLAB_STRICT_NUMA) || node != NUMA_NO_NODE) [[likely]]
        return node;
    const struct mempolicy *policy = kmirror_mempolicy();
    if (!policy || (policy->mode == MPOL_BIND && node_isset(numa_mem_id(), policy->nodes)))
        return node;
    return mempolicy_slab_node();
}

// Asked once for each of the `count` objects, so that a budget is used up object by
// object, also by a request that fails in the end.
[[gnu::noinline, gnu::cold]] bool slab_failure_due(struct kmem_cache *s, gfp_t flags,
                                                   size_t count);

[[gnu::always_inline]] inline bool slab_pre_alloc_hook(struct kmem_cache *s, gfp_t flags,
                                                       size_t count)
{
    might_alloc(flags);
    return !kmirror_faults_on() || !slab_failure_due(s, flags, count);
}

inline bool slab_want_init_on_alloc(const struct kmem_cache *s, gfp_t flags)
{
    return s->init_on_alloc || (flags & __GFP_ZERO);
}

// The link of a zeroed free object is all that must be zeroed again.
inline void maybe_wipe_obj_freeptr(const struct kmem_cache *s, void *object)
{
    if (s->init_on_free && !freeptr_outside_object(s)) [[unlikely]]
        memset_no_sanitize_memory(byte_at(object, s->offset), 0, sizeof(void *));
}

// Opens the object for use. `orig_size` bytes were asked for; what is behind stays closed.
[[gnu::always_inline]] inline void slab_post_alloc_hook(const struct kmem_cache *s, gfp_t flags,
                                                        void *object, size_t orig_size)
{
    if constexpr (KMIRROR_KASAN)
        kasan_unpoison(object, READ_ONCE(s->object_size));
    maybe_wipe_obj_freeptr(s, object);
    // All of it, so that a later krealloc() with __GFP_ZERO finds the rest zeroed; unless that
    // is red zone, and krealloc() knows where it begins.
    if (slab_want_init_on_alloc(s, flags))
        memset(object, 0, slub_debug_orig_size(s) ? orig_size : READ_ONCE(s->object_size));
    if constexpr (KMIRROR_KASAN)
        if (orig_size < READ_ONCE(s->object_size))
            kasan_poison(byte_at(object, orig_size), READ_ONCE(s->object_size) - orig_size,
                         KASAN_SLAB_REDZONE);
}

inline void slab_post_alloc_bulk(const struct kmem_cache *s, gfp_t flags, size_t count, void **p)
{
    if (!KMIRROR_KASAN && !slab_want_init_on_alloc(s, flags) && !s->init_on_free)
        return;
    for (size_t i = 0; i < count; i++)
        slab_post_alloc_hook(s, flags, p[i], READ_ONCE(s->object_size));
}

// Reports a free of memory that is not in use.
[[gnu::noinline, gnu::cold]] void slab_report_invalid_free(const struct kmem_cache *s,
                                                           const void *object);

// Zeroes the object and what lies behind it, but no red zone.
[[gnu::noinline, gnu::cold]] void slab_init_on_free(const struct kmem_cache *s, void *object);

// Closes the object. Its last use was before this call.
[[gnu::always_inline]] inline bool slab_free_hook(const struct kmem_cache *s, void *object)
{
    if constexpr (KMIRROR_KASAN) {
        if (!kasan_byte_accessible(object)) [[unlikely]] {
            slab_report_invalid_free(s, object);
            return false;
        }
    }
    if (s->init_on_free) [[unlikely]]
        slab_init_on_free(s, object);
    // Readers of a TYPESAFE_BY_RCU object may look until the slab is gone.
    if constexpr (KMIRROR_KASAN)
        if (!(s->flags & SLAB_TYPESAFE_BY_RCU))
            kasan_poison(object, size_from_object(s), KASAN_SLAB_FREE);
    return true;
}

// A slab's pages when they become one: all bytes closed until an object is handed out.
inline void slab_poison(const struct slab *slab)
{
    if constexpr (KMIRROR_KASAN)
        kasan_poison(slab_address(slab), PAGE_SIZE << slab_order(slab), KASAN_SLAB_REDZONE);
}

// Runs the constructor on a free object.
inline void setup_object(const struct kmem_cache *s, void *object)
{
    if (kmem_cache_debug_flags(s, SLAB_STORE_USER | SLAB_RED_ZONE | __OBJECT_POISON)) [[unlikely]]
        setup_object_debug(s, object);
    if (!s->ctor) [[likely]]
        return;
    if constexpr (KMIRROR_KASAN)
        kasan_unpoison(object, s->object_size);
    s->ctor(object);
    if constexpr (KMIRROR_KASAN)
        kasan_poison(object, size_from_object(s), KASAN_SLAB_REDZONE);
}

inline void *SlabObjectIterator::next(const struct kmem_cache *s)
{
    const unsigned long offset = sequence_length_ ? next_random_offset(s) : (unsigned long)position_++ * s->size;
    void *object = byte_at(start_, offset);
    setup_object(s, object);
    return object;
}

} // namespace kmirror::slub
