// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/api.cpp: the entry points for single objects of a cache.
//
// Owns     nothing; fastpath.h has the way an object goes.
// Bounds   one object a call.
// Locking  none held on entry or return.
// Fails    as <linux/slab.h> says. A free of what is not the cache's object warns and
//          leaves it alone: it would be too dangerous to go on.
#include "lib/slub/fastpath.h"

namespace kmirror::slub {

bool slab_failure_due(struct kmem_cache *s, gfp_t flags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (should_failslab(s, flags))
            return true;
    return false;
}

void slab_report_invalid_free(const struct kmem_cache *s, const void *object)
{
    WARN(true, "slab: double free or free of a bad address: cache %s, object %p\n", s->name, object);
}

void slab_init_on_free(const struct kmem_cache *s, void *object)
{
    const unsigned int asked = get_orig_size(s, object);
    const unsigned int end = get_info_end(s);

    memset_no_sanitize_memory(object, 0, asked);
    memset_no_sanitize_memory(byte_at(object, end), 0, size_from_object(s) - end);
    set_orig_size(s, object, asked);
}

[[gnu::noinline, gnu::cold]] static void warn_free_bad_obj(struct kmem_cache *s, void *object)
{
    struct slab *slab = virt_addr_valid(object) ? virt_to_slab(object) : nullptr;

    if (WARN_ONCE(!slab, "kmem_cache_free(%s, %p): object is not in a slab page\n", s->name, object))
        return;
    WARN_ONCE(true, "kmem_cache_free(%s, %p): object belongs to different cache %s\n", s->name,
              object, slab->slab_cache ? slab->slab_cache->name : "(NULL)");
}

// The slab of an object of `s`, or NULL. Outside a release build the arena is asked first.
[[gnu::always_inline]] static inline struct slab *cache_slab_of(const struct kmem_cache *s,
                                                                const void *object)
{
    if constexpr (!KMIRROR_RELEASE)
        if (!virt_addr_valid(object)) [[unlikely]]
            return nullptr;
    struct slab *slab = slab_of_object(object);
    return slab->slab_cache == s ? slab : nullptr;
}

[[gnu::noinline]] static void *cache_alloc_slow(struct kmem_cache *s, gfp_t flags, int node,
                                                const void *caller)
{
    void *object =
        slab_charge(s, flags, slab_alloc_node(s, flags, node, READ_ONCE(s->object_size), caller));
    if (object) [[likely]]
        trace_kmem_cache_alloc(s, 1);
    return object;
}

[[gnu::noinline]] static void cache_free_slow(struct kmem_cache *s, void *object, const void *caller)
{
    struct slab *slab = cache_slab_of(s, object);
    if (!slab) [[unlikely]] {
        warn_free_bad_obj(s, object);
        return;
    }
    trace_kmem_cache_free(s, 1);
    slab_free(s, slab, object, caller);
}

} // namespace kmirror::slub

using namespace kmirror::slub;

void *kmem_cache_alloc(struct kmem_cache *s, gfp_t flags)
{
    void *object = slab_alloc_fast(s, flags);
    if (!object) [[unlikely]]
        return cache_alloc_slow(s, flags, NUMA_NO_NODE, __builtin_return_address(0));
    return slab_zero_if(s, flags, object);
}

void *kmem_cache_alloc_lru(struct kmem_cache *s, struct list_lru *, gfp_t flags)
{
    return kmem_cache_alloc(s, flags);
}

void *kmem_cache_alloc_node(struct kmem_cache *s, gfp_t flags, int node)
{
    return cache_alloc_slow(s, flags, node, __builtin_return_address(0));
}

void kmem_cache_free(struct kmem_cache *s, void *object)
{
    struct slab *slab = cache_slab_of(s, object);
    if (slab && slab_free_fast(s, slab, object)) [[likely]]
        return;
    cache_free_slow(s, object, __builtin_return_address(0));
}

unsigned int kmem_cache_size(struct kmem_cache *s)
{
    return READ_ONCE(s->object_size);
}

struct kmem_cache_harness *kmem_cache_harness(struct kmem_cache *s)
{
    return &s->harness;
}

const char *kmirror_cache_identity(struct kmem_cache *s, size_t *object_size, bool *marked)
{
    *object_size = s->object_size;
    *marked = (s->flags & SLAB_FAILSLAB) != 0;
    return s->name;
}
