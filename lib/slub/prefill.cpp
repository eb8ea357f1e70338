// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/prefill.cpp: objects reserved ahead, so that taking them cannot fail.
//
// Owns     a prefilled sheaf from prefill to return; it is the caller's alone meanwhile.
// Bounds   a request within the cache's sheaf capacity is served by an ordinary sheaf, full
//          to capacity if it has to be filled at all. A larger one by a one-off sheaf of
//          exactly that size, which is emptied and freed when it comes back. Generations
//          without prefill know one-off sheaves only: what their users did by bulk calls.
// Locking  the local lock while the spare sheaf is taken or put.
// Fails    prefill: NULL; refill: -ENOMEM, the old sheaf valid. No object is lost.
#include <linux/errno.h>
#include <linux/fault-inject.h>

#include "lib/slub/bulk.h"
#include "lib/slub/fastpath.h"

namespace kmirror::slub {

namespace {

// It fits no CPU and no barn.
bool is_one_off(const struct kmem_cache *s, const struct slab_sheaf *sheaf)
{
    return sheaf->capacity != s->sheaf_capacity || !s->generation.prefill;
}

bool fill_one_off(struct kmem_cache *s, gfp_t gfp, unsigned int count, void **p)
{
    if (should_fail_at(FAIL_SHEAF_PREFILL, s->name, gfp, (size_t)count * s->size))
        return false;
    return s->generation.prefill ? __kmem_cache_alloc_bulk(s, gfp, count, p)
                                 : alloc_bulk_unhooked(s, gfp, count, p);
}

void dispose_one_off(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
    if (s->generation.prefill)
        sheaf_flush_unused(s, sheaf);
    else
        free_bulk_unhooked(s, sheaf->size, sheaf->objects);
    sheaf->size = 0;
    free_one_off_sheaf(s, sheaf);
}

struct slab_sheaf *prefill_oversize(struct kmem_cache *s, gfp_t gfp, unsigned int size)
{
    struct slab_sheaf *sheaf = alloc_one_off_sheaf(s, gfp, size);
    if (!sheaf)
        return nullptr;
    stat(s, SHEAF_PREFILL_OVERSIZE);
    sheaf->capacity = size;
    // No care for emergency objects: such a sheaf never goes to a CPU or barn.
    sheaf->pfmemalloc = false;
    if (!fill_one_off(s, gfp, size, sheaf->objects)) {
        free_one_off_sheaf(s, sheaf);
        return nullptr;
    }
    sheaf->size = size;
    return sheaf;
}

// A one-off sheaf up to what it was made for, or unchanged.
int refill_oversize(struct kmem_cache *s, struct slab_sheaf *sheaf, gfp_t gfp)
{
    const unsigned int missing = sheaf->capacity - sheaf->size;

    if (!fill_one_off(s, gfp, missing, sheaf->objects + sheaf->size))
        return -ENOMEM;
    sheaf->size += missing;
    return 0;
}

// Whatever the CPU has as spare, else a full or empty one from the barn, else NULL.
struct slab_sheaf *take_spare_or_barn(struct kmem_cache *s)
{
    local_lock(&s->cpu_sheaves->lock);
    struct slub_percpu_sheaves *pcs = pcs_of_this_cpu(s);
    struct slab_sheaf *sheaf = pcs->spare;
    if (sheaf) {
        pcs->spare = nullptr;
        stat(s, SHEAF_PREFILL_FAST);
    } else {
        stat(s, SHEAF_PREFILL_SLOW);
        if (struct node_barn *barn = get_barn(s))
            sheaf = barn_get_full_or_empty_sheaf(barn);
        stat(s, sheaf && sheaf->size ? BARN_GET : BARN_GET_FAIL);
    }
    local_unlock(&s->cpu_sheaves->lock);
    return sheaf;
}

// Fills to capacity, without emergency reserves first. With them only who may have them,
// and then the sheaf remembers.
int prefill_sheaf_pfmemalloc(struct kmem_cache *s, struct slab_sheaf *sheaf, gfp_t gfp)
{
    if (should_fail_at(FAIL_SHEAF_PREFILL, s->name, gfp, (size_t)(s->sheaf_capacity - sheaf->size) * s->size))
        return -ENOMEM;
    if (!s->generation.reserves_kept_out)
        return refill_sheaf(s, sheaf, gfp);
    const bool reserves_allowed = gfp_pfmemalloc_allowed(gfp);

    const int error =
        refill_sheaf(s, sheaf, gfp | __GFP_NOMEMALLOC | (reserves_allowed ? __GFP_NOWARN : 0));
    if (!error || !reserves_allowed) [[likely]]
        return error;
    sheaf->pfmemalloc = true;
    return refill_sheaf(s, sheaf, gfp);
}

// kmem_cache_prefill_sheaf() for a request that has been charged.
struct slab_sheaf *prefill_charged(struct kmem_cache *s, gfp_t gfp, unsigned int size)
{
    if (size > s->sheaf_capacity || !s->generation.prefill) [[unlikely]]
        return prefill_oversize(s, gfp, size);

    struct slab_sheaf *sheaf = take_spare_or_barn(s);
    if (!sheaf)
        sheaf = alloc_empty_sheaf(s, gfp, SLAB_ALLOC_DEFAULT);
    if (!sheaf)
        return nullptr;
    sheaf->capacity = s->sheaf_capacity;
    sheaf->pfmemalloc = false;
    if (sheaf->size < size && prefill_sheaf_pfmemalloc(s, sheaf, gfp)) {
        sheaf_dispose(s, sheaf);
        return nullptr;
    }
    return sheaf;
}

// True when the CPU took it as its spare.
bool return_as_spare(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
    local_lock(&s->cpu_sheaves->lock);
    struct slub_percpu_sheaves *pcs = pcs_of_this_cpu(s);
    const bool taken = !pcs->spare;
    if (taken)
        pcs->spare = sheaf;
    local_unlock(&s->cpu_sheaves->lock);
    stat(s, taken ? SHEAF_RETURN_FAST : SHEAF_RETURN_SLOW);
    return taken;
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

struct slab_sheaf *kmem_cache_prefill_sheaf(struct kmem_cache *s, gfp_t gfp, unsigned int size)
{
    if (!size || !slab_pre_alloc_hook(s, gfp, size)) [[unlikely]]
        return nullptr;
    return prefill_charged(s, gfp, size);
}

int kmem_cache_refill_sheaf(struct kmem_cache *s, gfp_t gfp, struct slab_sheaf **sheafp,
                            unsigned int size)
{
    if (!sheafp || !*sheafp)
        return -EINVAL;
    struct slab_sheaf *sheaf = *sheafp;
    if (sheaf->size >= size)
        return 0;

    const bool fits = size <= sheaf->capacity;
    if (!slab_pre_alloc_hook(s, gfp, fits ? size - sheaf->size : size)) [[unlikely]]
        return -ENOMEM;
    if (fits) [[likely]]
        return is_one_off(s, sheaf) ? refill_oversize(s, sheaf, gfp)
                                    : prefill_sheaf_pfmemalloc(s, sheaf, gfp);
    // Rare: another sheaf, and only when it is there the old one goes.
    struct slab_sheaf *larger = prefill_charged(s, gfp, size);
    if (!larger)
        return -ENOMEM;
    kmem_cache_return_sheaf(s, gfp, sheaf);
    *sheafp = larger;
    return 0;
}

void kmem_cache_return_sheaf(struct kmem_cache *s, gfp_t gfp, struct slab_sheaf *sheaf)
{
    if (is_one_off(s, sheaf)) [[unlikely]] {
        dispose_one_off(s, sheaf);
        return;
    }
    // Emergency objects must not get to a CPU.
    if (sheaf->pfmemalloc) [[unlikely]] {
        sheaf_dispose(s, sheaf);
        return;
    }
    if (return_as_spare(s, sheaf))
        return;
    // The barn wants it full. If that does not work out it is not worth keeping.
    struct node_barn *barn = get_barn(s);
    if (s->generation.reserves_kept_out)
        gfp |= __GFP_NOMEMALLOC | __GFP_NOWARN;
    if (!barn || !barn_has_room_for_full(barn) || refill_sheaf(s, sheaf, gfp)) {
        sheaf_dispose(s, sheaf);
        return;
    }
    barn_put_full_sheaf(barn, sheaf);
    stat(s, BARN_PUT);
}

void *kmem_cache_alloc_from_sheaf(struct kmem_cache *s, gfp_t gfp, struct slab_sheaf *sheaf)
{
    if (sheaf->size == 0) [[unlikely]]
        return nullptr;
    void *object = sheaf->objects[--sheaf->size];
    slab_post_alloc_hook(s, gfp, object, READ_ONCE(s->object_size));
    // It was promised, so it is charged whatever the limit.
    memcg_slab_post_alloc_hook(s, gfp | __GFP_NOFAIL, 1, &object, SLAB_ALLOC_DEFAULT);
    trace_kmem_cache_alloc(s, 1);
    return object;
}

unsigned int kmem_cache_sheaf_size(struct slab_sheaf *sheaf)
{
    return sheaf->size;
}
