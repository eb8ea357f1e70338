// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/obj_ext.cpp: vectors of slabs, and charging objects through them.
//
// Owns     see obj_ext.h.
// Bounds   a vector comes from the ordinary size classes, whose objects are never charged
//          themselves unless somebody asks for it, so there is no chain of vectors.
// Locking  see obj_ext.h.
// Fails    see obj_ext.h.
#include <linux/errno.h>

#include "lib/slub/kmalloc.h"
#include "lib/slub/obj_ext.h"

namespace kmirror::slub {

namespace {

// Of a request for an object, what must not reach the one for its vector.
constexpr gfp_t kVectorGfpClear = __GFP_DMA | __GFP_RECLAIMABLE | __GFP_ACCOUNT | __GFP_NOFAIL;

// What one object of the cache is charged: itself and its entry.
unsigned long obj_full_size(const struct kmem_cache *s)
{
    return s->size + sizeof(struct slabobj_ext);
}

void free_vector(void *vector, Spin spin)
{
    if (spin == Spin::try_only)
        kfree_nolock(vector);
    else
        kfree_internal(vector);
}

// Says that there was no memory. False: a vector is there by now.
bool mark_failed_objexts_alloc(struct slab *slab)
{
    unsigned long word = 0;

    return __atomic_compare_exchange_n(slab_ext_word(slab), &word, OBJEXTS_ALLOC_FAIL, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
           !(word & ~OBJEXTS_FLAGS_MASK);
}

// False: somebody else's vector is there, and ours is not needed.
bool install_vector(struct slab *slab, const void *vector)
{
    unsigned long *word = slab_ext_word(slab);
    const unsigned long fresh = reinterpret_cast<unsigned long>(vector) | MEMCG_DATA_OBJEXTS;
    unsigned long old = READ_ONCE(*word);

    while (!(old & ~OBJEXTS_FLAGS_MASK))
        if (__atomic_compare_exchange_n(word, &old, fresh, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return true;
    return false;
}

// The entry of an object; NULL without memory for a vector.
struct slabobj_ext *ext_of(struct kmem_cache *s, void *object, gfp_t gfp, unsigned int alloc_flags)
{
    struct slab *slab = slab_of_object(object);

    if (!slab_obj_exts(slab) && alloc_slab_obj_exts(slab, gfp, alloc_flags))
        return nullptr;
    return slab_obj_exts(slab) + obj_to_index(s, slab, object);
}

bool charge_objects(struct kmem_cache *s, struct obj_cgroup *objcg, gfp_t gfp, size_t count,
                    void *const *p, unsigned int alloc_flags)
{
    if (!obj_cgroup_charge(objcg, gfp, count * obj_full_size(s)))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct slabobj_ext *ext = ext_of(s, p[i], gfp, alloc_flags);
        if (ext)
            WRITE_ONCE(ext->objcg, objcg);
        else
            obj_cgroup_uncharge(objcg, obj_full_size(s));
    }
    return true;
}

} // namespace

int alloc_slab_obj_exts(struct slab *slab, gfp_t gfp, unsigned int alloc_flags)
{
    const size_t bytes = slab_objects(slab) * sizeof(struct slabobj_ext);
    const Spin spin = alloc_spin(alloc_flags);

    gfp = (gfp & ~kVectorGfpClear) | __GFP_ZERO;
    void *vector = spin == Spin::try_only
                       ? kmalloc_nolock(bytes, __GFP_ZERO, slab_nid(slab))
                       : kmalloc_flags(bytes, gfp, SLAB_ALLOC_DEFAULT, slab_nid(slab));
    if (!vector)
        return mark_failed_objexts_alloc(slab) ? -ENOMEM : 0;
    if (!install_vector(slab, vector))
        free_vector(vector, spin);
    return 0;
}

void free_slab_obj_exts(struct slab *slab, Spin spin)
{
    if (!memcg_kmem_online())
        return;
    struct slabobj_ext *vector = slab_obj_exts(slab);
    __atomic_store_n(slab_ext_word(slab), 0ul, __ATOMIC_RELAXED);
    if (vector)
        free_vector(vector, spin);
}

bool __memcg_slab_post_alloc_hook(struct kmem_cache *s, gfp_t gfp, size_t count, void *const *p,
                                  unsigned int alloc_flags)
{
    struct obj_cgroup *objcg = current_obj_cgroup();

    if (!objcg || !((gfp & __GFP_ACCOUNT) || (s->flags & SLAB_ACCOUNT)))
        return true;
    return charge_objects(s, objcg, gfp, count, p, alloc_flags);
}

void __memcg_slab_free_hook(struct kmem_cache *s, const struct slab *slab, const void *object)
{
    struct slabobj_ext *vector = slab_obj_exts(slab);

    if (!vector)
        return;
    struct slabobj_ext *ext = vector + obj_to_index(s, slab, object);
    if (struct obj_cgroup *objcg = ext->objcg) {
        WRITE_ONCE(ext->objcg, static_cast<struct obj_cgroup *>(nullptr));
        obj_cgroup_uncharge(objcg, obj_full_size(s));
    }
}

} // namespace kmirror::slub

using namespace kmirror::slub;

bool kmem_cache_charge(void *object, gfp_t gfp)
{
    struct obj_cgroup *objcg = current_obj_cgroup();
    struct slab *slab = objcg ? virt_to_slab(object) : nullptr;

    if (!slab)
        return true;
    struct slabobj_ext *vector = slab_obj_exts(slab);
    if (vector && vector[obj_to_index(slab->slab_cache, slab, object)].objcg)
        return true;
    return charge_objects(slab->slab_cache, objcg, gfp, 1, &object, SLAB_ALLOC_DEFAULT);
}
