// SPDX-License-Identifier: GPL-2.0-only
//
// The operation table of the mirror: <kmirror/slab_ops.h> in terms of <linux/slab.h> and
// <kmirror/slab_info.h>.
//
// Owns     one constant table.
// Bounds   what handles and flags are: <kmirror/slab_ops_fill.h>.
// Locking  none of its own.
// Fails    as the functions behind it.

#include <kmirror/slab_info.h>
#include <kmirror/slab_ops_fill.h>

#include <linux/errno.h>
#include <linux/string.h>

namespace kmirror::slub {
namespace {

// ---- handles and flags ------------------------------------------------------------------------------

kmem_cache *real(slab_ops_cache *cache) { return ops_cache(cache); }
slab_ops_cache *handle(kmem_cache *s) { return ops_handle(s); }
slab_sheaf *real(slab_ops_sheaf *sheaf) { return reinterpret_cast<slab_sheaf *>(sheaf); }
slab_ops_sheaf *handle(slab_sheaf *sheaf) { return reinterpret_cast<slab_ops_sheaf *>(sheaf); }

gfp_t gfp_of(unsigned int bits) { return ops_slab_gfp(bits); }
slab_flags_t flags_of(unsigned int bits) { return ops_slab_flags(bits); }

// ---- caches -----------------------------------------------------------------------------------------

slab_ops_cache *create(const char *name, const slab_ops_cache_args *args)
{
    kmem_cache_args made;
    memset(&made, 0, sizeof(made));
    made.align = args->align;
    made.useroffset = args->useroffset;
    made.usersize = args->usersize;
    made.freeptr_offset = args->freeptr_offset;
    made.use_freeptr_offset = args->use_freeptr_offset;
    made.ctor = args->ctor;
    made.sheaf_capacity = args->sheaf_capacity;
    return handle(__kmem_cache_create_args(name, args->size, &made, flags_of(args->flags)));
}

slab_ops_cache *create_plain(const char *name, const slab_ops_cache_args *args)
{
    return handle(kmem_cache_create(name, args->size, args->align, flags_of(args->flags), args->ctor));
}

void destroy(slab_ops_cache *cache) { kmem_cache_destroy(real(cache)); }
int shrink(slab_ops_cache *cache) { return kmem_cache_shrink(real(cache)); }
long validate(slab_ops_cache *cache) { return validate_slab_cache(real(cache)); }
long check(slab_ops_cache *cache) { return kmirror_slab_validate(real(cache)); }

void geometry(slab_ops_cache *cache, slab_ops_geometry *out)
{
    struct kmirror_slab_geometry made;
    kmirror_slab_geometry(real(cache), &made);
    out->object_size = made.object_size;
    out->size = made.size;
    out->align = made.align;
    out->inuse = made.inuse;
    out->freeptr_offset = made.freeptr_offset;
    out->order = made.order;
    out->objects = made.objects;
    out->min_order = made.min_order;
    out->sheaf_capacity = made.sheaf_capacity;
    out->min_partial = made.min_partial;
    out->generation = made.generation;
    out->cpu_partial_slabs = made.cpu_partial_slabs;
}

const char *cache_name(slab_ops_cache *cache)
{
    struct kmirror_slab_geometry made;
    kmirror_slab_geometry(real(cache), &made);
    return made.name;
}

// ---- objects ----------------------------------------------------------------------------------------

void *alloc(slab_ops_cache *cache, unsigned int gfp) { return kmem_cache_alloc(real(cache), gfp_of(gfp)); }

void *alloc_node(slab_ops_cache *cache, unsigned int gfp, int node)
{
    return kmem_cache_alloc_node(real(cache), gfp_of(gfp), node);
}

void free_object(slab_ops_cache *cache, void *object) { kmem_cache_free(real(cache), object); }

bool alloc_bulk(slab_ops_cache *cache, unsigned int gfp, size_t n, void **objects)
{
    return kmem_cache_alloc_bulk(real(cache), gfp_of(gfp), n, objects);
}

void free_bulk(slab_ops_cache *cache, size_t n, void **objects)
{
    kmem_cache_free_bulk(real(cache), n, objects);
}

void free_rcu(void *object, size_t rcu_offset)
{
    kvfree_call_rcu(reinterpret_cast<rcu_head *>(static_cast<char *>(object) + rcu_offset), object);
}

// ---- sheaves ----------------------------------------------------------------------------------------

slab_ops_sheaf *prefill(slab_ops_cache *cache, unsigned int gfp, unsigned int n)
{
    return handle(kmem_cache_prefill_sheaf(real(cache), gfp_of(gfp), n));
}

int refill(slab_ops_cache *cache, unsigned int gfp, slab_ops_sheaf **sheaf, unsigned int n)
{
    return kmem_cache_refill_sheaf(real(cache), gfp_of(gfp), reinterpret_cast<slab_sheaf **>(sheaf), n);
}

void return_sheaf(slab_ops_cache *cache, unsigned int gfp, slab_ops_sheaf *sheaf)
{
    kmem_cache_return_sheaf(real(cache), gfp_of(gfp), real(sheaf));
}

void *alloc_from_sheaf(slab_ops_cache *cache, unsigned int gfp, slab_ops_sheaf *sheaf)
{
    return kmem_cache_alloc_from_sheaf(real(cache), gfp_of(gfp), real(sheaf));
}

unsigned int sheaf_size(slab_ops_sheaf *sheaf) { return kmem_cache_sheaf_size(real(sheaf)); }

// ---- size classes -----------------------------------------------------------------------------------

void *size_alloc(size_t bytes, unsigned int gfp) { return __kmalloc(bytes, gfp_of(gfp)); }
void *size_alloc_node(size_t bytes, unsigned int gfp, int node)
{
    return __kmalloc_node(bytes, gfp_of(gfp), node);
}
void *size_realloc(const void *object, size_t bytes, unsigned int gfp)
{
    return krealloc(object, bytes, gfp_of(gfp));
}
void size_free(const void *object) { kfree(object); }
size_t size_of(const void *object) { return ksize(object); }
size_t size_roundup(size_t bytes) { return kmalloc_size_roundup(bytes); }
slab_ops_cache *cache_of(const void *object) { return handle(kmirror_slab_cache_of(object)); }

// ---- looking ----------------------------------------------------------------------------------------

void counts(slab_ops_cache *cache, int node, slab_ops_counts *out)
{
    struct kmirror_slab_counts found;
    kmirror_slab_counts(real(cache), node < 0 ? NUMA_NO_NODE : node, &found);
    out->slabs = found.slabs;
    out->total_objects = found.total_objects;
    out->used_objects = found.used_objects;
    out->partial_slabs = found.partial_slabs;
    out->barn_full = found.barn_full;
    out->barn_empty = found.barn_empty;
    out->barn_objects = found.barn_objects;
    out->cpu_slabs = found.cpu_slabs;
    out->cpu_chained = found.cpu_chained;
    out->cpu_objects = found.cpu_objects;
}

void cpu_sheaves(slab_ops_cache *cache, int cpu, slab_ops_cpu_sheaves *out)
{
    struct kmirror_slab_cpu found;
    kmirror_slab_cpu_sheaves(real(cache), static_cast<unsigned int>(cpu), &found);
    out->main = found.main;
    out->spare = found.spare;
    out->rcu_free = found.rcu_free;
}

long stat_of(slab_ops_cache *cache, const char *name)
{
    for (unsigned int item = 0; slab_stat_name(item); item++)
        if (slab_stat_known(real(cache), item) && strcmp(slab_stat_name(item), name) == 0)
            return static_cast<long>(slab_stat_sum(real(cache), item));
    return -ENOENT;
}

void stat_clear(slab_ops_cache *cache) { slab_stat_clear(real(cache)); }

void set_min_partial(slab_ops_cache *cache, unsigned long slabs)
{
    kmirror_slab_set_min_partial(real(cache), slabs);
}

const char *set_generation(const char *name)
{
    const int wanted = name ? kmirror_slab_generation_by_name(name) : -1;
    if (name && wanted < 0)
        return nullptr;
    return kmirror_slab_generation_name(kmirror_slab_set_generation(wanted));
}

void set_cpu_partial(slab_ops_cache *cache, unsigned int objects)
{
    kmirror_slab_set_cpu_partial(real(cache), objects);
}

// ---- loops ------------------------------------------------------------------------------------------

size_t loop_sheaf(slab_ops_cache *cache, unsigned int n, void **objects, size_t rounds)
{
    kmem_cache *s = real(cache);
    for (size_t round = 0; round < rounds; round++) {
        slab_sheaf *sheaf = kmem_cache_prefill_sheaf(s, GFP_KERNEL, n);
        if (!sheaf)
            return round * n;
        for (unsigned int i = 0; i < n; i++)
            objects[i] = kmem_cache_alloc_from_sheaf(s, GFP_KERNEL, sheaf);
        kmem_cache_return_sheaf(s, GFP_KERNEL, sheaf);
        kmem_cache_free_bulk(s, n, objects);
    }
    return rounds * n;
}

// ---- the table --------------------------------------------------------------------------------------

constexpr slab_ops kTable = {
    .version = KMIRROR_SLAB_OPS_VERSION,
    .nr_bytes = sizeof(slab_ops),
    .name = "kmirror",
    .create = create,
    .create_plain = create_plain,
    .destroy = destroy,
    .shrink = shrink,
    .validate = validate,
    .check = check,
    .geometry = geometry,
    .cache_name = cache_name,
    .alloc = alloc,
    .alloc_node = alloc_node,
    .free = free_object,
    .alloc_bulk = alloc_bulk,
    .free_bulk = free_bulk,
    .free_rcu = free_rcu,
    .prefill = prefill,
    .refill = refill,
    .return_sheaf = return_sheaf,
    .alloc_from_sheaf = alloc_from_sheaf,
    .sheaf_size = sheaf_size,
    .kmalloc = size_alloc,
    .kmalloc_node = size_alloc_node,
    .krealloc = size_realloc,
    .kfree = size_free,
    .ksize = size_of,
    .kmalloc_size_roundup = size_roundup,
    .cache_of = cache_of,
    .free_rcu_barrier = kvfree_rcu_barrier,
    .free_rcu_barrier_on = [](slab_ops_cache *cache) { kvfree_rcu_barrier_on_cache(real(cache)); },
    .counts = counts,
    .cpu_sheaves = cpu_sheaves,
    .stat = stat_of,
    .stat_name = slab_stat_name,
    .stat_clear = stat_clear,
    .object_node = kmirror_slab_nid_of,
    .set_min_partial = set_min_partial,
    .set_sheaf_capacity = kmirror_slab_sheaf_capacity,
    OPS_CPU_ENTRIES,
    OPS_LOOP_ENTRIES(loop_sheaf),
    .set_generation = set_generation,
    .set_cpu_partial = set_cpu_partial,
};

} // namespace
} // namespace kmirror::slub

extern "C" const struct slab_ops *kmirror_slab_ops(void)
{
    return &kmirror::slub::kTable;
}
