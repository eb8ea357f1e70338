// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/slab.cpp: from pages to a slab and back.
//
// Owns     a slab between the page allocator and the first list or free list it is on.
// Bounds   the order the cache wants, else the smallest that holds one object.
// Locking  no lock held. The page allocator has its own.
// Fails    new_slab(): NULL without pages. Freeing cannot fail.
#include <linux/random.h>

#include "lib/slub/hooks.h"
#include "lib/slub/node.h"
#include "lib/slub/obj_ext.h"
#include "lib/slub/slab.h"

namespace kmirror::slub {

bool slab_from_reserves_seen;

namespace {

// Of a request's mask, what matters to the page allocator.
constexpr gfp_t kReclaimMask = __GFP_RECLAIM | __GFP_HIGH | __GFP_IO | __GFP_FS | __GFP_NOWARN |
                               __GFP_RETRY_MAYFAIL | __GFP_NOFAIL | __GFP_NORETRY | __GFP_MEMALLOC |
                               __GFP_NOMEMALLOC | __GFP_NOLOCKDEP;
constexpr gfp_t kConstraintMask = __GFP_HARDWALL | __GFP_THISNODE;
// What no slab can be made of.
constexpr gfp_t kBugMask = __GFP_DMA32 | __GFP_HIGHMEM | ~__GFP_BITS_MASK;

[[gnu::cold]] gfp_t kmalloc_fix_flags(gfp_t flags)
{
    const gfp_t invalid = flags & kBugMask;

    flags &= ~kBugMask;
    pr_warn("Unexpected gfp: %#x. Fixing up to gfp: %#x. Fix your code!\n", invalid, flags);
    dump_stack();
    return flags;
}

struct page *alloc_slab_page(struct kmem_cache *s, gfp_t gfp, int node,
                             kmem_cache_order_objects *oo)
{
    *oo = s->oo;
    // The wanted order is a wish: fail early and quietly, and leave reserves and reclaim
    // for the smallest one, if that is smaller.
    gfp_t wish = (gfp | __GFP_NOWARN | __GFP_NORETRY) & ~__GFP_NOFAIL;
    if ((wish & __GFP_DIRECT_RECLAIM) && s->oo.order > s->min.order)
        wish = (wish | __GFP_NOMEMALLOC) & ~__GFP_RECLAIM;
    if (struct page *page = alloc_frozen_pages_node(node, wish, oo->order))
        return page;

    *oo = s->min;
    struct page *page = alloc_frozen_pages_node(node, gfp, oo->order);
    if (page)
        stat(s, ORDER_FALLBACK);
    return page;
}

// The wanted order, else the smallest; without a wait for any lock.
struct page *alloc_slab_page_nolock(struct kmem_cache *s, gfp_t gfp, int node,
                                    kmem_cache_order_objects *oo)
{
    *oo = s->oo;
    if (struct page *page = alloc_frozen_pages_nolock(gfp, node, oo->order))
        return page;
    *oo = s->min;
    struct page *page = alloc_frozen_pages_nolock(gfp, node, oo->order);
    if (page)
        stat(s, ORDER_FALLBACK);
    return page;
}

struct slab *allocate_slab(struct kmem_cache *s, gfp_t gfp, int node, Spin spin)
{
    kmem_cache_order_objects oo;
    struct page *page = spin == Spin::wait
                            ? alloc_slab_page(s, gfp | s->allocflags, node, &oo)
                            : alloc_slab_page_nolock(s, gfp | s->allocflags, node, &oo);
    if (!page) [[unlikely]]
        return nullptr;

    auto *slab = reinterpret_cast<struct slab *>(page);
    slab_word_init(slab->word, {nullptr, SlabCounters::of(0, oo.objects)});
    slab->on_partial = 0;
    slab->locked = 0;
    WRITE_ONCE(slab->slab_cache, s);
    if (slab_test_pfmemalloc(slab)) [[unlikely]]
        WRITE_ONCE(slab_from_reserves_seen, true);
    // From here on an address in it is an object's.
    __SetPageSlab(page);
    slab_poison(slab);
    // As a page allocator does that zeroes.
    if (s->init_on_alloc || s->init_on_free) [[unlikely]]
        memset_no_sanitize_memory(slab_address(slab), 0, PAGE_SIZE << slab_order(slab));
    setup_slab_debug(s, slab);
    return slab;
}

// The pages are nobody's again.
struct page *slab_dissolve(struct slab *slab, Spin spin)
{
    VM_WARN_ON_ONCE(slab->on_partial);
    free_slab_obj_exts(slab, spin);
    WRITE_ONCE(slab->slab_cache, static_cast<struct kmem_cache *>(nullptr));
    __ClearPageSlab(slab_page(slab));
    return slab_page(slab);
}

void __free_slab(struct slab *slab)
{
    const unsigned int order = slab_order(slab);
    free_frozen_pages(slab_dissolve(slab, Spin::wait), order);
}

void rcu_free_slab(struct rcu_head *head)
{
    __free_slab(container_of(head, struct slab, rcu_head));
}

} // namespace

struct slab *new_slab(struct kmem_cache *s, gfp_t flags, int node, Spin spin)
{
    if (flags & kBugMask) [[unlikely]]
        flags = kmalloc_fix_flags(flags);
    WARN_ON_ONCE(s->ctor && (flags & __GFP_ZERO));
    return allocate_slab(s, flags & (kReclaimMask | kConstraintMask), node, spin);
}

void free_slab(struct kmem_cache *s, struct slab *slab)
{
    if (kmem_cache_debug_flags(s, SLAB_CONSISTENCY_CHECKS)) [[unlikely]]
        check_free_slab(s, slab);
    if (s->flags & SLAB_TYPESAFE_BY_RCU) [[unlikely]]
        call_rcu(&slab->rcu_head, rcu_free_slab);
    else
        __free_slab(slab);
}

void free_new_slab_nolock(struct slab *slab)
{
    const unsigned int order = slab_order(slab);
    free_frozen_pages_nolock(slab_dissolve(slab, Spin::try_only), order);
}

void discard_slab(struct kmem_cache *s, struct slab *slab)
{
    dec_slabs_node(s, slab_nid(slab), slab_objects(slab));
    free_slab(s, slab);
}

SlabObjectIterator::SlabObjectIterator(const struct kmem_cache *s, const struct slab *slab)
    : start_(fixup_red_left(s, slab_address(slab))), sequence_length_(0),
      slab_bytes_((unsigned long)slab_objects(slab) * s->size)
{
    if (!s->random_seq || slab_objects(slab) < 2) [[likely]]
        return;
    sequence_length_ = s->oo.objects;
    position_ = get_random_u32_below(sequence_length_);
}

// The sequence is made for a slab of the wanted order; a smaller one skips what it lacks.
unsigned long SlabObjectIterator::next_random_offset(const struct kmem_cache *s)
{
    for (;;) {
        const unsigned int offset = s->random_seq[position_];
        position_ = position_ + 1 == sequence_length_ ? 0 : position_ + 1;
        if (offset < slab_bytes_)
            return offset;
    }
}

void build_slab_freelist(struct kmem_cache *s, struct slab *slab, SlabObjectIterator &iterator,
                         unsigned int inuse)
{
    const unsigned int objects = slab_objects(slab);
    void *first = nullptr;
    void *last = nullptr;

    for (unsigned int i = inuse; i < objects; i++) {
        void *object = iterator.next(s);
        if (last)
            set_freepointer(s, last, object);
        else
            first = object;
        last = object;
    }
    if (last)
        set_freepointer(s, last, nullptr);
    slab_word_init(slab->word, {first, SlabCounters::of(inuse, objects)});
}

} // namespace kmirror::slub
