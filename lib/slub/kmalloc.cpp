// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/kmalloc.cpp: kmalloc() and its family over the size classes.
//
//   bytes     1..8 ..16 ..32 ..64 ..96 ..128 ..192 ..256 ..512 ... KMALLOC_MAX_CACHE_SIZE
//   index        3    4    5    6    1     7     2     8     9
//
// Owns     which class serves a size; what is above the last class is whole pages.
// Bounds   KMALLOC_MAX_SIZE.
// Locking  as fastpath.h.
// Fails    as <linux/slab.h> says.
#include <linux/poison.h>
#include <linux/string.h>

#include "lib/slub/fastpath.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/switches.h"

kmem_buckets kmalloc_caches[NR_KMALLOC_TYPES];

namespace kmirror::slub {

kmem_buckets size_classes[NR_KMALLOC_TYPES];

namespace {

// The normal classes of small requests once more, by size: one load where kmalloc_index() compares.
constexpr size_t kDirectBytes = 1024;
struct kmem_cache *direct_classes[kDirectBytes / KMALLOC_MIN_SIZE];

constexpr size_t direct_slot(size_t size)
{
    return (size - 1) / KMALLOC_MIN_SIZE;
}

// (B2), as __kmalloc_bucket(): NULL until the allocator has started.
inline struct kmem_cache *direct_class(size_t size)
{
    return smp_load_acquire(&direct_classes[direct_slot(size)]);
}

struct kmem_cache *kmalloc_slab(const kmem_buckets *table, size_t size, gfp_t gfp)
{
    return table[kmalloc_type(gfp)][kmalloc_index(size)];
}

// The class of a user's request. The first request of a process starts the allocator.
[[gnu::always_inline]] inline struct kmem_cache *kmalloc_slab_started(size_t size, gfp_t gfp)
{
    struct kmem_cache *s = __kmalloc_bucket(size, gfp);
    if (!s) [[unlikely]] {
        kmem_cache_init();
        s = __kmalloc_bucket(size, gfp);
    }
    return s;
}

[[gnu::noinline]] void *kmalloc_from_slow(struct kmem_cache *s, gfp_t gfp, int node, size_t size,
                                       const void *caller)
{
    if (!s)
        s = kmalloc_slab_started(size, gfp);
    void *object = slab_charge(s, gfp, slab_alloc_node(s, gfp, node, size, caller));
    if (object) [[likely]]
        trace_kmem_cache_alloc(s, 1);
    return object;
}

[[gnu::always_inline]] inline void *kmalloc_from(struct kmem_cache *s, gfp_t gfp, size_t size,
                                                 const void *caller)
{
    void *object = s ? slab_alloc_fast(s, gfp) : nullptr;
    if (!object) [[unlikely]]
        return kmalloc_from_slow(s, gfp, NUMA_NO_NODE, size, caller);
    return slab_zero_if(s, gfp, object);
}

[[gnu::noinline]] void kfree_slow(void *object, const void *caller)
{
    if constexpr (!KMIRROR_RELEASE)
        if (WARN_ONCE(!virt_addr_valid(object), "kfree(%p): not an address of the allocator\n", object))
            return;
    struct slab *slab = virt_to_slab(object);
    if (!slab) [[unlikely]] {
        free_large_kmalloc(object);
        return;
    }
    trace_kmem_cache_free(slab->slab_cache, 1);
    slab_free(slab->slab_cache, slab, object, caller);
}

void *kmalloc_large(size_t size, gfp_t gfp, int node)
{
    const unsigned int order = get_order(size);
    if (switch_on(KMIRROR_SLAB_INIT_ON_ALLOC)) [[unlikely]]
        gfp |= __GFP_ZERO;
    struct page *page = alloc_frozen_pages_node(node, gfp | __GFP_COMP, order);
    if (!page)
        return nullptr;
    __SetPageLargeKmalloc(page);
    void *object = page_address(page);
    if constexpr (KMIRROR_KASAN)
        kasan_poison(byte_at(object, size), (PAGE_SIZE << order) - size, KASAN_PAGE_REDZONE);
    return object;
}

// kmalloc() of any size and type.
[[gnu::noinline]] void *kmalloc_by_index(size_t size, gfp_t gfp, const void *caller)
{
    if (size - 1 >= KMALLOC_MAX_CACHE_SIZE) [[unlikely]]
        return size ? kmalloc_large(size, gfp, NUMA_NO_NODE) : ZERO_SIZE_PTR;
    return kmalloc_from(__kmalloc_bucket(size, gfp), gfp, size, caller);
}

// What krealloc() finds.
struct Found {
    struct kmem_cache *s; // NULL: whole pages
    size_t room;          // bytes it may have where it stands; 0: not ours, and that was said
    size_t used;          // bytes of those that were asked for, as far as that is known
};

Found krealloc_find(const void *object)
{
    struct page *page = virt_to_head_page(object);

    if (PageSlab(page)) [[likely]] {
        struct kmem_cache *s = slab_of_object(object)->slab_cache;
        const size_t room = READ_ONCE(s->object_size);
        return {s, room, slub_debug_orig_size(s) ? get_orig_size(s, object) : room};
    }
    if (WARN_ON(!PageLargeKmalloc(page) || object != page_address(page)))
        return {nullptr, 0, 0};
    return {nullptr, page_size(page), page_size(page)};
}

// Makes `object` one of new_size bytes where it stands.
void krealloc_in_place(void *object, size_t new_size, const Found &found, gfp_t gfp)
{
    kasan_unpoison(object, found.room);
    if ((gfp & __GFP_ZERO) || switch_on(KMIRROR_SLAB_INIT_ON_ALLOC)) {
        if (found.used < new_size)
            memset(byte_at(object, found.used), 0, new_size - found.used);
        else
            memset(byte_at(object, new_size), 0, found.room - new_size);
    }
    if (found.s && slub_debug_orig_size(found.s)) {
        set_orig_size(found.s, object, (unsigned int)new_size);
        if (found.s->flags & SLAB_RED_ZONE)
            memset_no_sanitize_memory(byte_at(object, new_size), SLUB_RED_ACTIVE, found.room - new_size);
    }
    if constexpr (KMIRROR_KASAN)
        kasan_poison(byte_at(object, new_size), found.room - new_size, KASAN_SLAB_REDZONE);
}

size_t slab_ksize(const struct slab *slab)
{
    const struct kmem_cache *s = slab->slab_cache;

    // What lies behind the object is watched, or is metadata.
    if (s->flags & (SLAB_RED_ZONE | SLAB_POISON))
        return s->object_size;
    return s->flags & (SLAB_TYPESAFE_BY_RCU | SLAB_STORE_USER) ? s->inuse : s->size;
}

} // namespace

void publish_kmalloc_caches()
{
    for (unsigned int type = 0; type < NR_KMALLOC_TYPES; type++)
        for (unsigned int index = 1; index <= KMALLOC_SHIFT_HIGH; index++)
            smp_store_release(&kmalloc_caches[type][index], size_classes[type][index]);
    for (size_t size = KMALLOC_MIN_SIZE; size <= kDirectBytes; size += KMALLOC_MIN_SIZE)
        smp_store_release(&direct_classes[direct_slot(size)], size_classes[KMALLOC_NORMAL][kmalloc_index(size)]);
}

void *kmalloc_flags(size_t size, gfp_t gfp, unsigned int alloc_flags, int node)
{
    if (size > KMALLOC_MAX_CACHE_SIZE)
        return kmalloc_large(size, gfp, node);
    struct kmem_cache *s = kmalloc_slab(size_classes, size, gfp);
    if (alloc_flags & SLAB_ALLOC_NO_RECURSE) {
        if (!(alloc_flags & SLAB_ALLOC_NO_HOOKS) && !slab_pre_alloc_hook(s, gfp, 1))
            return nullptr;
        return slab_alloc_node<SLAB_ALLOC_NO_RECURSE | SLAB_ALLOC_NO_HOOKS>(s, gfp, node, size);
    }
    if (alloc_flags & SLAB_ALLOC_NO_HOOKS)
        return slab_alloc_node<SLAB_ALLOC_NO_HOOKS>(s, gfp, node, size);
    return slab_alloc_node(s, gfp, node, size);
}

void kfree_internal(void *object)
{
    struct slab *slab = virt_to_slab(object);
    if (slab) [[likely]]
        slab_free(slab->slab_cache, slab, object);
    else
        free_large_kmalloc(object);
}

void free_large_kmalloc(void *object)
{
    struct page *page = virt_to_head_page(object);
    const unsigned int order = compound_order(page);

    if (WARN_ON_ONCE(!PageLargeKmalloc(page)))
        return;
    WARN_ON_ONCE(order == 0 || object != page_address(page));
    __ClearPageLargeKmalloc(page);
    free_frozen_pages(page, order);
}

} // namespace kmirror::slub

using namespace kmirror::slub;

void *__kmalloc(size_t size, gfp_t flags)
{
    if (size - 1 < kDirectBytes && !(flags & KMALLOC_NOT_NORMAL_BITS)) [[likely]]
        return kmalloc_from(direct_class(size), flags, size, __builtin_return_address(0));
    return kmalloc_by_index(size, flags, __builtin_return_address(0));
}

void *__kmalloc_node(size_t size, gfp_t flags, int node)
{
    if (size - 1 >= KMALLOC_MAX_CACHE_SIZE) [[unlikely]]
        return size ? kmalloc_large(size, flags, node) : ZERO_SIZE_PTR;
    return kmalloc_from_slow(__kmalloc_bucket(size, flags), flags, node, size,
                             __builtin_return_address(0));
}

void *__kmalloc_cache(struct kmem_cache *s, gfp_t flags, size_t size)
{
    return kmalloc_from(s, flags, size, __builtin_return_address(0));
}

void *__kmalloc_cache_node(struct kmem_cache *s, gfp_t flags, int node, size_t size)
{
    return kmalloc_from_slow(s, flags, node, size, __builtin_return_address(0));
}

void *__kmalloc_large(size_t size, gfp_t flags)
{
    return kmalloc_large(size, flags, NUMA_NO_NODE);
}

void *__kmalloc_large_node(size_t size, gfp_t flags, int node)
{
    return kmalloc_large(size, flags, node);
}

void kfree(const void *objp)
{
    void *object = const_cast<void *>(objp);

    if (ZERO_OR_NULL_PTR(object)) [[unlikely]]
        return;
    if (KMIRROR_RELEASE || virt_addr_valid(object)) [[likely]] {
        struct slab *slab = slab_of_object(object);
        if (PageSlab(slab_page(slab)) && slab_free_fast(slab->slab_cache, slab, object)) [[likely]]
            return;
    }
    kfree_slow(object, __builtin_return_address(0));
}

void kfree_sensitive(const void *objp)
{
    const size_t bytes = ksize(objp);

    if (bytes) {
        kasan_unpoison(objp, bytes);
        memzero_explicit(const_cast<void *>(objp), bytes);
    }
    kfree(objp);
}

size_t ksize(const void *objp)
{
    if (ZERO_OR_NULL_PTR(objp) || WARN_ON(!kasan_byte_accessible(objp)))
        return 0;
    struct page *page = virt_to_head_page(objp);
    if (PageLargeKmalloc(page))
        return page_size(page);
    if (WARN_ON(!PageSlab(page)))
        return page_size(page);
    struct slab *slab = slab_of_object(objp);
    // From now on all of it is its user's.
    set_orig_size(slab->slab_cache, const_cast<void *>(objp), slab->slab_cache->object_size);
    return slab_ksize(slab);
}

size_t kmalloc_size_roundup(size_t size)
{
    if (size && size <= KMALLOC_MAX_CACHE_SIZE)
        return READ_ONCE(kmalloc_slab_started(size, GFP_KERNEL)->object_size);
    if (size && size <= KMALLOC_MAX_SIZE)
        return PAGE_SIZE << get_order(size);
    return size;
}

void *krealloc_node_align(const void *p, size_t new_size, unsigned long align, gfp_t flags, int nid)
{
    void *object = const_cast<void *>(p);

    if (!new_size) {
        kfree(p);
        return ZERO_SIZE_PTR;
    }
    if (ZERO_OR_NULL_PTR(p))
        return __kmalloc_node(new_size, flags, nid);
    if (WARN_ON(!kasan_byte_accessible(p)))
        return nullptr;

    const Found found = krealloc_find(p);
    const size_t room = found.room;
    if (!room)
        return nullptr;
    const bool wrong_node = (flags & __GFP_THISNODE) && nid != NUMA_NO_NODE &&
                            nid != page_to_nid(virt_to_page(p));
    if (new_size <= room && is_aligned_to(p, align) && !wrong_node) {
        krealloc_in_place(object, new_size, found, flags);
        return object;
    }

    void *moved = __kmalloc_node(new_size, flags, nid);
    if (!moved)
        return nullptr;
    // The bytes behind the requested ones are copied as well, they may be in use by now.
    kasan_unpoison(object, room);
    memcpy(moved, object, min_t(size_t, new_size, found.used));
    kfree(object);
    return moved;
}
