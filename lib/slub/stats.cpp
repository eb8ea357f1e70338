// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/stats.cpp: reading the statistics of a cache, by the names sysfs gives them.
//
// Owns     the table of names, in the order of enum stat_item, and who has which.
// Bounds   sums wrap with the word.
// Locking  none: each counter is read whole, the sum is of no single moment.
// Fails    an unknown item has no name and the value 0, as one of another generation has.
#include <linux/cpumask.h>
#include <kmirror/slab_info.h>

#include "lib/slub/cache.h"

namespace kmirror::slub {

namespace {

// Layers of the allocator.
enum Layer : unsigned char { kAlways = 0, kSheaves = 1, kCpuSlabs = 2, kPrefill = 4 };

struct StatItem {
    const char *name;
    unsigned char layers; // a cache's generation has all of these
};

constexpr StatItem kItems[] = {
    {"alloc_pcs", kSheaves | kCpuSlabs},
    {"alloc_fastpath", kAlways},
    {"alloc_slowpath", kAlways},
    {"free_pcs", kSheaves | kCpuSlabs},
    {"free_rcu_sheaf", kPrefill},
    {"free_rcu_sheaf_fail", kPrefill},
    {"free_fastpath", kAlways},
    {"free_slowpath", kAlways},
    {"free_frozen", kCpuSlabs},
    {"free_add_partial", kAlways},
    {"free_remove_partial", kAlways},
    {"alloc_from_partial", kCpuSlabs},
    {"alloc_slab", kAlways},
    {"alloc_refill", kCpuSlabs},
    {"alloc_node_mismatch", kAlways},
    {"free_slab", kAlways},
    {"cpuslab_flush", kCpuSlabs},
    {"deactivate_full", kCpuSlabs},
    {"deactivate_empty", kCpuSlabs},
    {"deactivate_to_head", kCpuSlabs},
    {"deactivate_to_tail", kCpuSlabs},
    {"deactivate_remote_frees", kCpuSlabs},
    {"deactivate_bypass", kCpuSlabs},
    {"order_fallback", kAlways},
    {"cmpxchg_double_cpu_fail", kCpuSlabs},
    {"cmpxchg_double_fail", kAlways},
    {"cpu_partial_alloc", kCpuSlabs},
    {"cpu_partial_free", kCpuSlabs},
    {"cpu_partial_node", kCpuSlabs},
    {"cpu_partial_drain", kCpuSlabs},
    {"sheaf_flush", kSheaves},
    {"sheaf_refill", kSheaves},
    {"sheaf_alloc", kSheaves},
    {"sheaf_free", kSheaves},
    {"barn_get", kSheaves},
    {"barn_get_fail", kSheaves},
    {"barn_put", kSheaves},
    {"barn_put_fail", kSheaves},
    {"sheaf_prefill_fast", kPrefill},
    {"sheaf_prefill_slow", kPrefill},
    {"sheaf_prefill_oversize", kPrefill},
    {"sheaf_return_fast", kPrefill},
    {"sheaf_return_slow", kPrefill},
};

static_assert(sizeof(kItems) / sizeof(kItems[0]) == NR_SLUB_STAT_ITEMS);

unsigned char layers_of(const struct kmem_cache *s)
{
    const Generation &generation = s->generation;
    return (generation.cpu_slabs ? kCpuSlabs : 0) |
           (generation.sheaves != SheafRule::none ? kSheaves : 0) | (generation.prefill ? kPrefill : 0);
}

// The counter behind the name: without cpu slabs the fast path is the sheaf.
unsigned int counter_of(const struct kmem_cache *s, unsigned int item)
{
    if (s->generation.cpu_slabs)
        return item;
    return item == ALLOC_FASTPATH ? ALLOC_PCS : item == FREE_FASTPATH ? FREE_PCS : item;
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

const char *slab_stat_name(unsigned int item)
{
    return item < NR_SLUB_STAT_ITEMS ? kItems[item].name : nullptr;
}

bool slab_stat_known(struct kmem_cache *s, unsigned int item)
{
    return item < NR_SLUB_STAT_ITEMS && !(kItems[item].layers & ~layers_of(s));
}

unsigned long slab_stat_cpu(struct kmem_cache *s, unsigned int item, unsigned int cpu)
{
    if (!KMIRROR_STATS || !slab_stat_known(s, item) || cpu >= nr_cpu_ids)
        return 0;
    return READ_ONCE(per_cpu_ptr(s->cpu_sheaves, cpu)->stats.stat[counter_of(s, item) % kStatSlots]);
}

unsigned long slab_stat_sum(struct kmem_cache *s, unsigned int item)
{
    unsigned long sum = 0;
    unsigned int cpu;

    for_each_possible_cpu (cpu)
        sum += slab_stat_cpu(s, item, cpu);
    return sum;
}

void slab_stat_clear_item(struct kmem_cache *s, unsigned int item)
{
    unsigned int cpu;

    if (!KMIRROR_STATS || !slab_stat_known(s, item))
        return;
    for_each_possible_cpu (cpu)
        WRITE_ONCE(per_cpu_ptr(s->cpu_sheaves, cpu)->stats.stat[counter_of(s, item) % kStatSlots], 0ul);
}

void slab_stat_clear(struct kmem_cache *s)
{
    unsigned int cpu;

    for_each_possible_cpu (cpu)
        for (unsigned long &counter : per_cpu_ptr(s->cpu_sheaves, cpu)->stats.stat)
            WRITE_ONCE(counter, 0UL);
}
