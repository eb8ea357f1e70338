// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/hotplug.cpp: CPUs that go offline leave no objects behind.
//
// Owns     the sheaves and slabs of a dead CPU while they are emptied. Its main sheaf stays, empty,
//          for the day it comes back.
// Bounds   every cache, one after the other. Nodes do not come and go: those with CPUs have
//          barns and those with memory have lists from the start.
// Locking  called with the CPU set changing, so with nobody on the CPU and no cache being
//          destroyed; takes slab_mutex for the list of caches.
// Fails    never.
#include <linux/cpuhotplug.h>

#include "lib/slub/cpu_slab.h"
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

} // namespace

void hotplug_init()
{
    WARN_ON(cpuhp_setup_state_nocalls(CPUHP_SLUB_DEAD, "slub:dead", nullptr, slub_cpu_dead));
}

} // namespace kmirror::slub
