// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/stats.cpp: reading the statistics of a cache, by the names sysfs gives them.
//
// Owns     the table of names, in the order of enum stat_item.
// Bounds   sums wrap with the word.
// Locking  none: each counter is read whole, the sum is of no single moment.
// Fails    an unknown item has no name and the value 0.
#include <linux/cpumask.h>
#include <kmirror/slab_info.h>

#include "lib/slub/cache.h"

namespace kmirror::slub {

static constexpr const char *kStatNames[] = {
    "alloc_fastpath",
    "alloc_slowpath",
    "free_rcu_sheaf",
    "free_rcu_sheaf_fail",
    "free_fastpath",
    "free_slowpath",
    "free_add_partial",
    "free_remove_partial",
    "alloc_slab",
    "alloc_node_mismatch",
    "free_slab",
    "order_fallback",
    "cmpxchg_double_fail",
    "sheaf_flush",
    "sheaf_refill",
    "sheaf_alloc",
    "sheaf_free",
    "barn_get",
    "barn_get_fail",
    "barn_put",
    "barn_put_fail",
    "sheaf_prefill_fast",
    "sheaf_prefill_slow",
    "sheaf_prefill_oversize",
    "sheaf_return_fast",
    "sheaf_return_slow",
};

static_assert(sizeof(kStatNames) / sizeof(kStatNames[0]) == NR_SLUB_STAT_ITEMS);

} // namespace kmirror::slub

using namespace kmirror::slub;

const char *slab_stat_name(unsigned int item)
{
    return item < NR_SLUB_STAT_ITEMS ? kStatNames[item] : nullptr;
}

unsigned long slab_stat_cpu(struct kmem_cache *s, unsigned int item, unsigned int cpu)
{
    if (item >= NR_SLUB_STAT_ITEMS || item >= kStatSlots || cpu >= nr_cpu_ids)
        return 0;
    return READ_ONCE(per_cpu_ptr(s->cpu_sheaves, cpu)->stats.stat[item]);
}

unsigned long slab_stat_sum(struct kmem_cache *s, unsigned int item)
{
    unsigned long sum = 0;
    unsigned int cpu;

    for_each_possible_cpu (cpu)
        sum += slab_stat_cpu(s, item, cpu);
    return sum;
}

void slab_stat_clear(struct kmem_cache *s)
{
    unsigned int cpu;

    for_each_possible_cpu (cpu)
        for (unsigned long &counter : per_cpu_ptr(s->cpu_sheaves, cpu)->stats.stat)
            WRITE_ONCE(counter, 0UL);
}
