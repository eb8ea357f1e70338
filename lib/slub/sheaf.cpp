// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/sheaf.cpp: making, filling, flushing and freeing of single sheaves.
//
// Owns     the bootstrap sheaf. Everything else belongs to the caller.
// Bounds   see sheaf.h.
// Locking  no lock is held by any function here while it calls down to slabs or up to
//          the size classes.
// Fails    see sheaf.h. A fill that falls short leaves a valid, partly full sheaf.
#include <linux/errno.h>
#include <linux/fault-inject.h>
#include <linux/string.h>
#include <kmirror/harness.h>

#include "lib/slub/cpu_slab.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/free.h"
#include "lib/slub/refill.h"
#include "lib/slub/sheaf.h"

namespace kmirror::slub {

struct slab_sheaf bootstrap_sheaf;

// A sheaf is never charged, reclaimable, nor taken from special memory.
static constexpr gfp_t kSheafGfpClear = __GFP_DMA | __GFP_RECLAIMABLE | __GFP_ACCOUNT | __GFP_NOFAIL;

static struct slab_sheaf *make_sheaf(struct kmem_cache *s, gfp_t gfp, unsigned int alloc_flags,
                                     unsigned int capacity)
{
    if (is_kmalloc_cache(s))
        alloc_flags |= SLAB_ALLOC_NO_RECURSE;
    // The tests' budgets count objects; a sheaf's own memory is none of theirs.
    if (kmirror_harness_exact())
        alloc_flags |= SLAB_ALLOC_NO_HOOKS;

    const size_t bytes = sizeof(struct slab_sheaf) + capacity * sizeof(void *);
    if (should_fail_at(FAIL_SHEAF_ALLOC, s->name, gfp, bytes))
        return nullptr;
    auto *sheaf = static_cast<struct slab_sheaf *>(
        kmalloc_flags(bytes, gfp & ~__GFP_ZERO, alloc_flags, NUMA_NO_NODE));
    if (!sheaf)
        return nullptr;

    memset(sheaf, 0, sizeof(struct slab_sheaf));
    sheaf->cache = s;
    return sheaf;
}

struct slab_sheaf *__alloc_empty_sheaf(struct kmem_cache *s, gfp_t gfp, unsigned int alloc_flags,
                                       unsigned int capacity)
{
    struct slab_sheaf *sheaf = make_sheaf(s, gfp, alloc_flags, capacity);
    if (sheaf)
        stat(s, SHEAF_ALLOC);
    return sheaf;
}

struct slab_sheaf *alloc_one_off_sheaf(struct kmem_cache *s, gfp_t gfp, unsigned int capacity)
{
    struct slab_sheaf *sheaf = make_sheaf(s, gfp, SLAB_ALLOC_DEFAULT, capacity);
    if (sheaf && !s->cpu_slab)
        stat(s, SHEAF_ALLOC);
    return sheaf;
}

void free_one_off_sheaf(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
    VM_WARN_ON_ONCE(sheaf->size > 0);
    kfree_internal(sheaf);
    if (!s->cpu_slab)
        stat(s, SHEAF_FREE);
}

struct slab_sheaf *alloc_empty_sheaf(struct kmem_cache *s, gfp_t gfp, unsigned int alloc_flags)
{
    if (alloc_flags & SLAB_ALLOC_NO_RECURSE)
        return nullptr;
    return __alloc_empty_sheaf(s, gfp & ~kSheafGfpClear, alloc_flags, s->sheaf_capacity);
}

void free_empty_sheaf(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
    VM_WARN_ON_ONCE(sheaf->size > 0);
    VM_WARN_ON_ONCE(sheaf->cache != s);
    kfree_internal(sheaf);
    stat(s, SHEAF_FREE);
}

int refill_sheaf(struct kmem_cache *s, struct slab_sheaf *sheaf, gfp_t gfp)
{
    const unsigned int missing = s->sheaf_capacity - sheaf->size;
    if (!missing)
        return 0;

    void **p = sheaf->objects + sheaf->size;
    const unsigned int filled = !s->cpu_slab ? refill_objects(s, p, gfp, missing, missing)
                                : cpu_slab_alloc_bulk(s, gfp, missing, p) ? missing
                                                                          : 0;
    sheaf->size += filled;
    stat_add(s, SHEAF_REFILL, filled);
    return filled < missing ? -ENOMEM : 0;
}

void sheaf_flush_unused(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
    const unsigned int count = sheaf->size;

    sheaf->size = 0;
    __kmem_cache_free_bulk(s, count, sheaf->objects);
    if (count)
        stat_add(s, SHEAF_FLUSH, count);
}

void sheaf_dispose(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
    sheaf_flush_unused(s, sheaf);
    free_empty_sheaf(s, sheaf);
}

} // namespace kmirror::slub
