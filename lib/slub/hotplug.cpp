// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/hotplug.cpp: CPUs that go offline leave no objects behind.
//
// Owns     the sheaves of a dead CPU while they are emptied. Its main sheaf stays, empty,
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

static int slub_cpu_dead(unsigned int cpu)
{
    struct kmem_cache *s;

    mutex_lock(&slab_mutex);
    list_for_each_entry (s, &slab_caches, list) {
        if (cache_has_sheaves(s))
            pcs_flush_dead_cpu(s, cpu);
        if (s->cpu_slab)
            __flush_cpu_slab(s, cpu);
    }
    mutex_unlock(&slab_mutex);
    return 0;
}

void hotplug_init()
{
    WARN_ON(cpuhp_setup_state_nocalls(CPUHP_SLUB_DEAD, "slub:dead", nullptr, slub_cpu_dead));
}

} // namespace kmirror::slub
