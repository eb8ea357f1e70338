// SPDX-License-Identifier: GPL-2.0-only
/*
 * <tools/kdir/maple/nodes.h> for a tree on its kernel's own allocator, and under a prefix the functions of
 * <kmirror/harness.h> that the tree calls. Only the nodes that are alive are known: there are no budgets and callbacks,
 * and nothing counts what was handed out.
 */
#include "tools/kdir/maple/nodes.h"

#include <kmirror/slab_ops.h>

const struct slab_ops *kdir_kmirror_slab_ops(void);
void kdir_kmem_cache_set_non_kernel(struct kmem_cache *cache, unsigned int budget);
void kdir_kmem_cache_set_callback(struct kmem_cache *cache, void (*callback)(void *));
void kdir_kmem_cache_set_private(struct kmem_cache *cache, void *data);
unsigned long kdir_kmem_cache_get_alloc(struct kmem_cache *cache);
unsigned long kdir_kmem_cache_nr_allocated(struct kmem_cache *cache);
unsigned long kdir_kmem_cache_nr_tallocated(struct kmem_cache *cache);
void kdir_kmem_cache_zero_nr_tallocated(struct kmem_cache *cache);
long kdir_kmirror_slab_validate(struct kmem_cache *cache);

static unsigned long in_sheaf(int objects)
{
    return objects > 0 ? (unsigned long)objects : 0;
}

unsigned long kmirror_kdir_nodes_alive(struct kmem_cache *cache)
{
    const struct slab_ops *ops = kdir_kmirror_slab_ops();
    struct slab_ops_cache *handle = (struct slab_ops_cache *)cache;
    struct slab_ops_counts counts;
    unsigned long waiting;
    int cpu;

    ops->counts(handle, -1, &counts);
    waiting = counts.barn_objects;
    for (cpu = 0; cpu < ops->nr_cpus(); cpu++) {
        struct slab_ops_cpu_sheaves in;

        ops->cpu_sheaves(handle, cpu, &in);
        waiting += in_sheaf(in.main) + in_sheaf(in.spare) + in_sheaf(in.rcu_free);
    }
    return counts.used_objects - waiting;
}

unsigned long kmirror_kdir_nodes_handed_out(struct kmem_cache *cache)
{
    (void)cache;
    return 0;
}

void kmirror_kdir_nodes_zero(struct kmem_cache *cache)
{
    (void)cache;
}

void kmirror_kdir_nodes_budget(struct kmem_cache *cache, unsigned int budget)
{
    (void)cache;
    (void)budget;
}

void kmirror_kdir_nodes_private(struct kmem_cache *cache, void *data)
{
    (void)cache;
    (void)data;
}

void kmirror_kdir_nodes_callback(struct kmem_cache *cache, void (*callback)(void *))
{
    (void)cache;
    (void)callback;
}

void kdir_kmem_cache_set_non_kernel(struct kmem_cache *cache, unsigned int budget)
{
    kmirror_kdir_nodes_budget(cache, budget);
}

void kdir_kmem_cache_set_callback(struct kmem_cache *cache, void (*callback)(void *))
{
    kmirror_kdir_nodes_callback(cache, callback);
}

void kdir_kmem_cache_set_private(struct kmem_cache *cache, void *data)
{
    kmirror_kdir_nodes_private(cache, data);
}

unsigned long kdir_kmem_cache_nr_allocated(struct kmem_cache *cache)
{
    return kmirror_kdir_nodes_alive(cache);
}

unsigned long kdir_kmem_cache_get_alloc(struct kmem_cache *cache)
{
    struct slab_ops_geometry geometry;

    kdir_kmirror_slab_ops()->geometry((struct slab_ops_cache *)cache, &geometry);
    return kmirror_kdir_nodes_alive(cache) * geometry.size;
}

unsigned long kdir_kmem_cache_nr_tallocated(struct kmem_cache *cache)
{
    return kmirror_kdir_nodes_handed_out(cache);
}

void kdir_kmem_cache_zero_nr_tallocated(struct kmem_cache *cache)
{
    kmirror_kdir_nodes_zero(cache);
}

long kdir_kmirror_slab_validate(struct kmem_cache *cache)
{
    return kdir_kmirror_slab_ops()->check((struct slab_ops_cache *)cache);
}
