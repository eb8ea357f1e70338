// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/obj_ext.h: a word for each object of a slab, which says to whom it is charged.
//
// Owns     a slab's vector, from the first charged object to the slab's end.
// Bounds   one pointer an object; slabs without charged objects have no vector.
// Locking  none. The vector is installed by one compare-and-swap; who comes second frees its
//          own and uses the other. An entry belongs to its object's owner.
// Fails    without memory for a vector objects stay uncharged; beyond its group's limit an
//          object is refused.
//
// The word of a slab, in the page's extension:
//   0                    no vector
//   OBJEXTS_ALLOC_FAIL   no vector, and there was no memory for one
//   address | MEMCG_DATA_OBJEXTS
#pragma once

#include <linux/memcontrol.h>
#include <linux/page_ext.h>

#include "lib/slub/slab.h"

struct slabobj_ext {
    struct obj_cgroup *objcg;
};

namespace kmirror::slub {

inline constexpr unsigned long MEMCG_DATA_OBJEXTS = 1;
inline constexpr unsigned long OBJEXTS_ALLOC_FAIL = 2;
inline constexpr unsigned long OBJEXTS_FLAGS_MASK = 3;

inline unsigned long *slab_ext_word(const struct slab *slab)
{
    return lookup_page_ext(slab_page(slab));
}

// (E1) acquire, pairs with the release in alloc_slab_obj_exts(): the vector is zeroed before
//      it can be found. Without it an entry could hold what was there before.
inline struct slabobj_ext *slab_obj_exts(const struct slab *slab)
{
    const unsigned long word = __atomic_load_n(slab_ext_word(slab), __ATOMIC_ACQUIRE);
    return reinterpret_cast<struct slabobj_ext *>(word & ~OBJEXTS_FLAGS_MASK);
}

inline unsigned int obj_to_index(const struct kmem_cache *s, const struct slab *slab,
                                 const void *object)
{
    return (unsigned int)(bytes_between(slab_address(slab), object) / s->size);
}

// A vector for the slab; 0 or -ENOMEM. When somebody else was first, his is taken.
int alloc_slab_obj_exts(struct slab *slab, gfp_t gfp, unsigned int alloc_flags);

// At a slab's end: gives its vector back, and forgets that there was no memory for one. No lock
// held; with Spin::try_only from where none may be waited for.
void free_slab_obj_exts(struct slab *slab, Spin spin);

[[gnu::cold]] bool __memcg_slab_post_alloc_hook(struct kmem_cache *s, gfp_t gfp, size_t count,
                                                void *const *p, unsigned int alloc_flags);
[[gnu::cold]] void __memcg_slab_free_hook(struct kmem_cache *s, const struct slab *slab,
                                          const void *object);

// Charges fresh objects to the caller's group if they are to be. False: beyond its limit, and
// none is charged.
inline bool memcg_slab_post_alloc_hook(struct kmem_cache *s, gfp_t gfp, size_t count,
                                       void *const *p, unsigned int alloc_flags)
{
    return !memcg_kmem_online() || __memcg_slab_post_alloc_hook(s, gfp, count, p, alloc_flags);
}

// Uncharges an object that is about to be freed.
inline void memcg_slab_free_hook(struct kmem_cache *s, const struct slab *slab, const void *object)
{
    if (memcg_kmem_online())
        __memcg_slab_free_hook(s, slab, object);
}

} // namespace kmirror::slub
