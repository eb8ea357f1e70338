// SPDX-License-Identifier: GPL-2.0-only
/*
 * The harness of a kernel tree's node cache, see nodes.h. Compiled once, with our headers.
 */
#include "tools/kdir/maple/nodes.h"

#include <kmirror/harness.h>
#include <kmirror/slab_info.h>
#include <linux/cpumask.h>
#include <linux/numa.h>

static unsigned long in_sheaf(int objects)
{
    return objects > 0 ? (unsigned long)objects : 0;
}

/* Mock mode counts one by one; else it is what slabs gave out, less what waits in sheaves. */
unsigned long kmirror_kdir_nodes_alive(struct kmem_cache *cache)
{
    struct kmirror_slab_counts counts;
    unsigned long waiting;

    if (kmirror_harness_exact())
        return kmem_cache_nr_allocated(cache);
    kmirror_slab_counts(cache, NUMA_NO_NODE, &counts);
    waiting = counts.barn_objects;
    for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++) {
        struct kmirror_slab_cpu in;

        kmirror_slab_cpu_sheaves(cache, cpu, &in);
        waiting += in_sheaf(in.main) + in_sheaf(in.spare) + in_sheaf(in.rcu_free);
    }
    return counts.used_objects - waiting;
}

unsigned long kmirror_kdir_nodes_handed_out(struct kmem_cache *cache) { return kmem_cache_nr_tallocated(cache); }
void kmirror_kdir_nodes_zero(struct kmem_cache *cache) { kmem_cache_zero_nr_tallocated(cache); }

void kmirror_kdir_nodes_budget(struct kmem_cache *cache, unsigned int budget)
{
    kmem_cache_set_non_kernel(cache, budget);
}

void kmirror_kdir_nodes_private(struct kmem_cache *cache, void *data) { kmem_cache_set_private(cache, data); }

void kmirror_kdir_nodes_callback(struct kmem_cache *cache, void (*callback)(void *))
{
    kmem_cache_set_callback(cache, callback);
}
