// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/cpu_partial.h: the chain of a CPU, and slabs on their way from a CPU to a node.
//
// Owns     nothing beyond cpu_slab.h; this is what cpu_slab.cpp and cpu_partial.cpp share.
// Bounds   see cpu_slab.h.
// Locking  see cpu_slab.h.
// Fails    never.
#pragma once

#include "lib/slub/cpu_slab.h"

namespace kmirror::slub {

// A cpu slab between CPUs: frozen, and its free objects.
struct CpuSlab {
    struct slab *slab;
    void *freelist;
};

// Takes the CPU's slab with all its objects away from it. Local lock held, or nobody on the
// CPU; there need be no slab.
CpuSlab cpu_slab_take(struct kmem_cache_cpu *c);

// Gives the CPU a slab; it has none. Local lock held, or nobody on the CPU.
void cpu_slab_install(struct kmem_cache_cpu *c, struct slab *slab, void *freelist);

// Calls visit(CpuSlab) for the CPU's slab, if it has one; nobody else gets at it meanwhile.
// Local lock held, or nobody on the CPU.
template <class Visit>
inline void look_at_cpu_slab(struct kmem_cache_cpu *c, Visit visit)
{
    const CpuSlab own = cpu_slab_take(c);
    if (!own.slab)
        return;
    visit(own);
    cpu_slab_install(c, own.slab, own.freelist);
}

// Slabs of a CPU's chain; as above.
template <class Visit>
inline void for_each_chained_slab(const struct kmem_cache_cpu *c, Visit visit)
{
    for (struct slab *slab = c->partial; slab; slab = slab->next)
        visit(slab);
}

// Puts the objects back and the slab where its state belongs: to the pages, to the list, or
// nowhere when it is full. No lock held.
void deactivate_slab(struct kmem_cache *s, CpuSlab own);

// The newest slab of the chain, or NULL. Local lock held, or nobody on the CPU.
struct slab *pop_cpu_partial(struct kmem_cache_cpu *c);

// A chain that is nobody's goes to the node lists, empty slabs beyond min_partial to the
// pages. list_lock once per run of slabs of one node.
void __put_partials(struct kmem_cache *s, struct slab *chain);

} // namespace kmirror::slub
