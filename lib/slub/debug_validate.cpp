// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/debug_validate.cpp: every object of a cache at once: as validation, and when the
// cache ends with objects left.
//
// Owns     the map of one slab's free objects.
// Bounds   SlabCounters::kObjectsMax objects a slab.
// Locking  list_lock is held; object_map_lock inside it.
// Fails    reports, see debug_check.cpp.
#include <linux/bits.h>
#include <linux/panic.h>
#include <linux/poison.h>
#include <linux/string.h>

#include "lib/slub/debug.h"

namespace kmirror::slub {

namespace {

constexpr unsigned int kMapWords = SlabCounters::kObjectsMax / BITS_PER_LONG + 1;

DEFINE_RAW_SPINLOCK(object_map_lock);

// Which objects of a slab are on its free list, while it lives.
class FreeMap {
public:
    FreeMap(const struct kmem_cache *s, const struct slab *slab)
        : s_(s), start_(fixup_red_left(s, slab_address(slab)))
    {
        raw_spin_lock(&object_map_lock);
        memset(map_, 0, sizeof(map_));
        void *object = slab_word_read(slab->word).freelist;
        for (unsigned int i = 0; object && i < slab_objects(slab); i++) {
            map_[index(object) / BITS_PER_LONG] |= 1UL << index(object) % BITS_PER_LONG;
            object = get_freepointer(s, object);
        }
    }
    ~FreeMap() { raw_spin_unlock(&object_map_lock); }
    FreeMap(const FreeMap &) = delete;
    FreeMap &operator=(const FreeMap &) = delete;

    bool has(const void *object) const
    {
        return map_[index(object) / BITS_PER_LONG] >> index(object) % BITS_PER_LONG & 1;
    }

private:
    unsigned long index(const void *object) const { return bytes_between(start_, object) / s_->size; }

    const struct kmem_cache *s_;
    void *start_;
    static unsigned long map_[kMapWords];
};

unsigned long FreeMap::map_[kMapWords];

bool has_sound_freelist(const struct kmem_cache *s, struct slab *slab)
{
    if (PageSlab(slab_page(slab))) [[likely]]
        return check_slab(s, slab) && on_freelist(s, slab, nullptr);
    slab_err(s, slab, "Not a valid slab page");
    return false;
}

void validate_slab(const struct kmem_cache *s, struct slab *slab)
{
    if (!has_sound_freelist(s, slab))
        return;
    const FreeMap free(s, slab);
    for_each_object(s, slab, [&](void *object) {
        return check_object(s, slab, object, free.has(object) ? SLUB_RED_INACTIVE : SLUB_RED_ACTIVE);
    });
}

// Validates and counts the lists. list_lock held.
unsigned long validate_lists(struct kmem_cache *s, struct kmem_cache_node *n)
{
    unsigned long count = 0;

    for (struct slab *slab : SlabsOn(&n->partial)) {
        validate_slab(s, slab);
        count++;
    }
    if (count != n->nr_partial) {
        pr_err("SLUB %s: %lu partial slabs counted but counter=%lu\n", s->name, count, n->nr_partial);
        slab_add_kunit_errors();
    }
    if (!(s->flags & SLAB_STORE_USER))
        return count;
    for (struct slab *slab : SlabsOn(&n->full)) {
        validate_slab(s, slab);
        count++;
    }
    if (count != node_nr_slabs(n)) {
        pr_err("SLUB: %s %lu slabs counted but counter=%lu\n", s->name, count, node_nr_slabs(n));
        slab_add_kunit_errors();
    }
    return count;
}

} // namespace

unsigned long validate_slab_node(struct kmem_cache *s, struct kmem_cache_node *n)
{
    ListHold hold(n);
    const unsigned long count = validate_lists(s, n);
    for (struct slab *slab : SlabsOn(&n->partial))
        leave_partial_if_full(s, n, slab);
    return count;
}

void list_slab_objects(struct kmem_cache *s, struct slab *slab)
{
    void *start = slab_address(slab);

    if (!slab_add_kunit_errors())
        slab_bug(s, "Objects remaining on __kmem_cache_shutdown()");
    {
        const FreeMap free(s, slab);
        for_each_object(s, slab, [&](void *object) {
            if (free.has(object) || slab_add_kunit_errors())
                return true;
            pr_err("Object 0x%016lx @offset=%lu\n", shown(object), bytes_between(start, object));
            print_tracking(s, object);
            return true;
        });
    }
    __slab_err(slab);
}

} // namespace kmirror::slub
