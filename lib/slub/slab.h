// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/slab.h: one slab, a block of pages cut into objects.
//
// Owns     struct slab (laid over the block's first struct page), the free list inside
//          it, and the way from an object's address to its slab and cache.
// Bounds   order 0 to MAX_PAGE_ORDER; 1 to 32767 objects.
// Locking  freelist and counters change by slab_update_freelist() only, with no lock.
//          on_partial and slab_list belong to the node's list_lock.
// Fails    new_slab() returns NULL when there are no pages. A swap says false.
#pragma once

#include <linux/mm.h>
#include <linux/page-flags.h>
#include <asm/processor.h>
#include <linux/rcupdate.h>

#include "lib/slub/cache.h"

// (S1) inuse + length of the free list == objects
// (S2) on_partial <=> on the partial list of the node, and then some object is free
// (S3) slab_cache is NULL when no cache owns the pages, so a stale object is noticed
// (S4) frozen <=> the slab of one CPU (cpu_slab.h), and then not on_partial
struct alignas(struct page) slab {
    unsigned long flags; // the page allocator's: node, order, reserve bit
    unsigned long compound_head;
    kmirror::slub::SlabWord word;
    struct kmem_cache *slab_cache;
    union {
        struct list_head slab_list; // guarded by list_lock, or the taker's own
        struct rcu_head rcu_head;   // while a TYPESAFE_BY_RCU slab waits to be freed
        struct {
            struct slab *next;      // in a CPU's chain
            unsigned int slabs;     // slabs of the chain from here on
        };
    };
    unsigned int page_type;
    unsigned char on_partial; // guarded by list_lock
    unsigned char locked;     // slab_word_swap_locked()
    unsigned short unused;    // these four bytes are the page's _refcount: 0 when frozen
};

#define SLAB_MATCH(page_member, slab_member) \
    static_assert(offsetof(struct page, page_member) == offsetof(struct slab, slab_member))
SLAB_MATCH(flags, flags);
SLAB_MATCH(compound_head, compound_head);
SLAB_MATCH(words, word);
SLAB_MATCH(page_type, page_type);
SLAB_MATCH(_refcount, on_partial);
#undef SLAB_MATCH
static_assert(sizeof(struct slab) == sizeof(struct page));
static_assert(offsetof(struct slab, word) % sizeof(kmirror::slub::SlabWord) == 0, "the wide swap needs it aligned");

namespace kmirror::slub {

inline struct page *slab_page(const struct slab *slab)
{
    return reinterpret_cast<struct page *>(const_cast<struct slab *>(slab));
}

inline void *slab_address(const struct slab *slab)
{
    return page_address(slab_page(slab));
}

inline int slab_nid(const struct slab *slab)
{
    return page_to_nid(slab_page(slab));
}

inline unsigned int slab_order(const struct slab *slab)
{
    return compound_order(slab_page(slab));
}

// From emergency reserves: its objects are for privileged requests only and stay out of
// sheaves, where anybody could take them.
inline bool slab_test_pfmemalloc(const struct slab *slab)
{
    return page_is_pfmemalloc(slab_page(slab));
}

// There has been such a slab. Set before anybody can have an object of it, never reset.
extern bool slab_from_reserves_seen;

// NULL when `page` is no slab: a large kmalloc, or not the allocator's at all.
inline struct slab *page_slab(struct page *page)
{
    page = compound_head(page);
    return PageSlab(page) ? reinterpret_cast<struct slab *>(page) : nullptr;
}

// The slab of an address in the arena; NULL as page_slab().
inline struct slab *virt_to_slab(const void *address)
{
    return page_slab(virt_to_page(address));
}

// The slab of an object that is known to have one.
[[gnu::always_inline]] inline struct slab *slab_of_object(const void *object)
{
    return reinterpret_cast<struct slab *>(virt_to_head_page(object));
}

inline SlabCounters slab_counters(const struct slab *slab)
{
    return slab_word_counters(slab->word);
}

inline unsigned int slab_objects(const struct slab *slab)
{
    return slab_counters(slab).objects();
}

inline void *get_freepointer(const struct kmem_cache *s, const void *object)
{
    return link_read(object, s->offset, s->link_key);
}

inline void set_freepointer(const struct kmem_cache *s, void *object, const void *next)
{
    if (s->link_key.address_mask) [[unlikely]]
        BUG_ON(object == next); // a double free in a row, or a damaged list
    link_write(object, s->offset, s->link_key, next);
}

// From where a slab, or an object with its left red zone, begins to the object itself.
inline void *fixup_red_left(const struct kmem_cache *s, void *start)
{
    return byte_at(start, s->red_left_pad);
}

// The start of the object that holds `place`, an address of the slab.
inline void *nearest_obj(const struct kmem_cache *s, const struct slab *slab, const void *place)
{
    void *start = slab_address(slab);
    return fixup_red_left(s, byte_at(start, bytes_between(start, place) / s->size * s->size));
}

// The link lies behind the object, so the object's own bytes survive being free.
inline bool freeptr_outside_object(const struct kmem_cache *s)
{
    return s->offset >= s->inuse;
}

// Objects on a slab's free list; -1: the list leaves the slab or is longer than it can be.
// Exact while nobody frees into it.
int slab_freelist_length(const struct kmem_cache *s, const struct slab *slab);

// One attempt to replace both words; counts and eases off when it came second.
inline bool slab_update_freelist(const struct kmem_cache *s, struct slab *slab,
                                 FreelistCounters old, FreelistCounters fresh)
{
    const bool done = s->flags & __CMPXCHG_DOUBLE
                          ? slab_word_swap(slab->word, old, fresh)
                          : slab_word_swap_locked(slab->word, slab->locked, old, fresh);
    if (done) [[likely]]
        return true;
    cpu_relax();
    stat(s, CMPXCHG_DOUBLE_FAIL);
    return false;
}

// May a request with this mask have objects of this slab?
inline bool pfmemalloc_match(const struct slab *slab, gfp_t gfp)
{
    return !slab_test_pfmemalloc(slab) || gfp_pfmemalloc_allowed(gfp);
}

// The slabs of a list, for a range-based for. The one at hand may be taken off the list.
// Never makes a struct slab of the list's head: that is aligned like a word only.
class SlabsOn {
public:
    explicit SlabsOn(struct list_head *head) : head_(head) {}

    class Iterator {
    public:
        explicit Iterator(struct list_head *at) : at_(at), after_(at->next) {}
        struct slab *operator*() const { return list_entry(at_, struct slab, slab_list); }
        bool operator!=(const Iterator &other) const { return at_ != other.at_; }
        void operator++()
        {
            at_ = after_;
            after_ = at_->next;
        }

    private:
        struct list_head *at_;
        struct list_head *after_;
    };

    Iterator begin() const { return Iterator(head_->next); }
    Iterator end() const { return Iterator(head_); }

private:
    struct list_head *head_;
};

// Objects of a fresh slab in the order they are used first.
struct SlabObjectIterator {
    SlabObjectIterator(const struct kmem_cache *s, const struct slab *slab);
    // The next object, constructed (hooks.h); for at most as many calls as the slab has objects.
    inline void *next(const struct kmem_cache *s);

private:
    unsigned long next_random_offset(const struct kmem_cache *s);

    void *start_;
    unsigned int position_ = 0;
    unsigned int sequence_length_; // 0: in address order
    unsigned long slab_bytes_;
};

// Links everything the iterator has left into the slab's free list; `inuse` objects
// have been taken from it.
void build_slab_freelist(struct kmem_cache *s, struct slab *slab, SlabObjectIterator &iterator,
                         unsigned int inuse);

// Pages for a slab of `s`, preferably of `node`, with no free list yet. NULL: no memory.
// With Spin::try_only the page allocator's locks are only tried as well.
struct slab *new_slab(struct kmem_cache *s, gfp_t flags, int node, Spin spin = Spin::wait);

// Gives the pages of an empty slab on no list back, after a grace period if readers may
// still look (SLAB_TYPESAFE_BY_RCU). No lock held.
void free_slab(struct kmem_cache *s, struct slab *slab);

// Gives back a slab nobody has seen or counted, where no lock may be waited for.
void free_new_slab_nolock(struct slab *slab);

// As free_slab(), and counts it out of its node.
void discard_slab(struct kmem_cache *s, struct slab *slab);

} // namespace kmirror::slub
