// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/geometry.cpp: the sizing rules.
//
//   object      0 ...... object_size | pad to a word | link, if not inside | pad to align
//   debugging adds to that: debug.h
//               |                    ^ inuse is here or before             ^ size
//               | offset of the link: the word at half the object's length
//
// Owns     see geometry.h.
// Bounds   slabs of at least 4 * (fls(CPUs) + 1) objects, up to order 3, with at most 1/16
//          of the pages wasted if there is such an order, else 1/8, 1/4, 1/2.
// Locking  none.
// Fails    see geometry.h.
#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/mm.h>

#include "lib/slub/debug.h"
#include "lib/slub/geometry.h"
#include "lib/slub/sheaf.h"
#include "lib/slub/switches.h"

namespace kmirror::slub {

namespace {

constexpr unsigned int kMaxOrder = PAGE_ALLOC_COSTLY_ORDER;
constexpr int kNoOrder = -1;

unsigned int order_objects(unsigned int order, unsigned int size)
{
    return ((unsigned int)PAGE_SIZE << order) / size;
}

kmem_cache_order_objects oo_make(unsigned int order, unsigned int size)
{
    return {(unsigned short)order, (unsigned short)order_objects(order, size)};
}

// The first order from min_order on that wastes at most one part in `fraction`; above
// kMaxOrder: there is none.
unsigned int calc_slab_order(unsigned int size, unsigned int min_order, unsigned int fraction)
{
    unsigned int order = min_order;

    for (; order <= kMaxOrder; order++) {
        const unsigned int bytes = (unsigned int)PAGE_SIZE << order;
        if (bytes % size <= bytes / fraction)
            break;
    }
    return order;
}

int calculate_order(unsigned int size)
{
    const unsigned int cpus = num_possible_cpus();
    const unsigned int wanted = 4 * (fls(cpus) + 1);
    const unsigned int most = max_t(unsigned int, order_objects(kMaxOrder, size), 1);
    const unsigned int min_order = get_order((unsigned long)min_t(unsigned int, wanted, most) * size);

    if (order_objects(min_order, size) > SlabCounters::kObjectsMax)
        return get_order((unsigned long)size * SlabCounters::kObjectsMax) - 1;

    for (unsigned int fraction = 16; fraction > 1; fraction /= 2) {
        const unsigned int order = calc_slab_order(size, min_order, fraction);
        if (order <= kMaxOrder)
            return order;
    }
    // One object is larger than a slab should be.
    const int order = get_order(size);
    return order <= MAX_PAGE_ORDER ? order : kNoOrder;
}

// The bytes of a free object are watched.
bool link_must_leave_object(const struct kmem_cache *s)
{
    const bool red_zone_near = s->object_size < sizeof(void *) || slub_debug_orig_size(s);
    return (s->flags & SLAB_POISON) || ((s->flags & SLAB_RED_ZONE) && red_zone_near);
}

// Where a free object keeps its link; returns the bytes used so far.
unsigned int place_link(const struct kmem_cache_args *args, struct kmem_cache *s, unsigned int size)
{
    // Readers or the constructor's work must survive a free.
    const bool keep_object = (s->flags & SLAB_TYPESAFE_BY_RCU) || s->ctor;
    const bool watched = link_must_leave_object(s);

    if (keep_object && args->use_freeptr_offset && !watched) {
        s->offset = args->freeptr_offset;
        return size;
    }
    if (keep_object || watched) {
        s->offset = size;
        return size + sizeof(void *);
    }
    // In the middle, out of reach of small overruns from either side.
    s->offset = ALIGN_DOWN(s->object_size / 2, (unsigned int)sizeof(void *));
    return size;
}

// What debugging keeps beside an object; returns the bytes used so far.
unsigned int place_metadata(struct kmem_cache *s, unsigned int size)
{
    s->red_left_pad = 0;
    if (s->flags & SLAB_STORE_USER)
        size += 2 * sizeof(struct track);
    if (slub_debug_orig_size(s))
        size += sizeof(unsigned long);
    if (s->flags & SLAB_RED_ZONE) {
        // The gap keeps a write in front of the next object off the tracks.
        s->red_left_pad = ALIGN((unsigned int)sizeof(void *), s->align);
        size += (unsigned int)sizeof(void *) + s->red_left_pad;
    }
    return size;
}

// Large objects: few of them, or a sheaf would hold back too much memory.
unsigned int base_capacity(unsigned int size)
{
    static constexpr struct {
        unsigned int least_bytes;
        unsigned int objects;
    } kRules[] = {{PAGE_SIZE, 4}, {1024, 12}, {256, 26}, {0, 60}};

    const auto *rule = kRules;
    while (size < rule->least_bytes)
        rule++;
    return rule->objects;
}

gfp_t slab_page_flags(slab_flags_t flags)
{
    gfp_t gfp = __GFP_COMP;

    if (flags & SLAB_CACHE_DMA)
        gfp |= GFP_DMA;
    if (flags & SLAB_CACHE_DMA32)
        gfp |= GFP_DMA32;
    if (flags & SLAB_RECLAIM_ACCOUNT)
        gfp |= __GFP_RECLAIMABLE;
    return gfp;
}

} // namespace

unsigned int calculate_alignment(slab_flags_t flags, unsigned int align, unsigned int size)
{
    if (flags & SLAB_HWCACHE_ALIGN) {
        unsigned int line = cache_line_size();
        while (size <= line / 2)
            line /= 2;
        align = max_t(unsigned int, align, line);
    }
    align = max_t(unsigned int, align, ARCH_SLAB_MINALIGN);
    return ALIGN(align, (unsigned int)sizeof(void *));
}

unsigned int kmalloc_class_bytes(unsigned int index)
{
    return index == 1 ? 96 : index == 2 ? 192 : 1U << index;
}

// Where sheaves are for caches that ask for them, they get what they ask for.
static unsigned int asked_capacity(const struct kmem_cache *s, unsigned int wished)
{
    if (s->generation.sheaves == SheafRule::none || !wished)
        return 0;
    return forced_sheaf_capacity() >= 0 ? forced_sheaf_capacity() : wished;
}

unsigned int calculate_sheaf_capacity(const struct kmem_cache *s, unsigned int wished)
{
    if (s->flags & (SLAB_DEBUG_FLAGS | SLAB_NO_SHEAVES))
        return 0;
    if (s->generation.sheaves != SheafRule::all)
        return asked_capacity(s, wished);
    if (s->flags & SLAB_NOLEAKTRACE)
        return 0;
    if (forced_sheaf_capacity() >= 0)
        return forced_sheaf_capacity();

    unsigned int capacity = base_capacity(s->size);
    // A sheaf fills its size class; the slack is more objects.
    const unsigned int bytes = sizeof(struct slab_sheaf) + capacity * sizeof(void *);
    const unsigned int room = kmalloc_class_bytes(kmalloc_index(bytes));
    capacity = (room - sizeof(struct slab_sheaf)) / sizeof(void *);
    return max_t(unsigned int, capacity, wished);
}

bool calculate_sizes(const struct kmem_cache_args *args, struct kmem_cache *s)
{
    unsigned int size = ALIGN(s->object_size, (unsigned int)sizeof(void *));

    const bool keep_object = (s->flags & SLAB_TYPESAFE_BY_RCU) || s->ctor;
    s->flags &= ~__OBJECT_POISON;
    if ((s->flags & SLAB_POISON) && !keep_object)
        s->flags |= __OBJECT_POISON;
    // The right red zone is never empty.
    if ((s->flags & SLAB_RED_ZONE) && size == s->object_size)
        size += sizeof(void *);

    s->inuse = size;
    size = place_metadata(s, place_link(args, s, size));
    // Objects follow each other, so each is as long as the alignment wants.
    s->size = ALIGN(size, s->align);

    const int order = calculate_order(s->size);
    if (order == kNoOrder)
        return false;
    s->allocflags = slab_page_flags(s->flags);
    // The size classes get theirs when all of them work, see boot.cpp.
    if (!is_kmalloc_cache(s))
        s->sheaf_capacity = calculate_sheaf_capacity(s, args->sheaf_capacity);
    s->oo = oo_make(order, s->size);
    s->min = oo_make(get_order(s->size), s->size);
    return s->oo.objects != 0;
}

} // namespace kmirror::slub
