// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/hotplug.cpp: CPUs that go offline leave no objects behind, and nodes no empty slabs.
//
// Owns     the sheaves and slabs of a dead CPU while they are emptied. Its main sheaf stays, empty,
//          for the day it comes back.
// Bounds   every cache, one after the other. A node's list and barn stay when its memory goes:
//          objects may still lie there.
// Locking  called with the CPU set changing, so with nobody on the CPU and no cache being
//          destroyed, or held; takes slab_mutex for the list of caches.
// Fails    a node stays away when there is no memory for its lists: -ENOMEM.
#include <linux/cpuhotplug.h>
#include <linux/errno.h>
#include <linux/memory.h>

#include "lib/slub/cpu_slab.h"
#include "lib/slub/create.h"
#include "lib/slub/hotplug.h"
#include "lib/slub/percpu_sheaves.h"

namespace kmirror::slub {

namespace {

template <class Visit>
void for_each_cache(Visit visit)
{
    mutex_lock(&slab_mutex);
    struct kmem_cache *s;
    list_for_each_entry (s, &slab_caches, list)
        visit(s);
    mutex_unlock(&slab_mutex);
}

int slub_cpu_dead(unsigned int cpu)
{
    for_each_cache([cpu](struct kmem_cache *s) {
        if (cache_has_sheaves(s))
            pcs_flush_dead_cpu(s, cpu);
        // Below the sheaves, so after them.
        if (s->cpu_slab)
            __flush_cpu_slab(s, cpu);
    });
    return 0;
}

// What is empty goes back to the pages.
int slab_mem_going_offline_callback()
{
    for_each_cache([](struct kmem_cache *s) { __kmem_cache_shrink_locked(s); });
    return 0;
}

// A list and a barn for every cache that has none on this node yet.
int slab_mem_going_online_callback(int nid)
{
    int error = 0;
    struct kmem_cache *s;

    mutex_lock(&slab_mutex);
    list_for_each_entry (s, &slab_caches, list)
        if (!error)
            error = init_cache_node(s, nid);
    // Caches made from now on have them from the start.
    if (!error) {
        node_set((unsigned long)nid, slab_nodes);
        node_set((unsigned long)nid, slab_barn_nodes);
    }
    mutex_unlock(&slab_mutex);
    return error;
}

int slab_memory_callback(unsigned long action, int nid)
{
    if (action == NODE_ADDING_FIRST_MEMORY)
        return slab_mem_going_online_callback(nid);
    return action == NODE_REMOVING_LAST_MEMORY ? slab_mem_going_offline_callback() : 0;
}

} // namespace

void hotplug_init()
{
    WARN_ON(hotplug_node_callback(slab_memory_callback));
    WARN_ON(cpuhp_setup_state_nocalls(CPUHP_SLUB_DEAD, "slub:dead", nullptr, slub_cpu_dead));
}

} // namespace kmirror::slub
