// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/info.cpp: what <kmirror/slab_info.h> shows of a cache, but for the checker.
//
// Owns     nothing.
// Bounds   a count walks each partial list once.
// Locking  list_lock or barn->lock around what it counts, one at a time; a CPU's sheaves are
//          looked at on that CPU, under its lock.
// Fails    never.
#include <linux/cpu.h>
#include <kmirror/slab_info.h>

#include "lib/slub/cpu_partial.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/node.h"
#include "lib/slub/percpu_sheaves.h"

namespace kmirror::slub {

namespace {

void count_node(struct kmem_cache_node *n, struct kmirror_slab_counts *out)
{
    unsigned long free = 0;

    ListHold hold(n);
    for (struct slab *slab : SlabsOn(&n->partial)) {
        const SlabCounters counters = slab_counters(slab);
        free += counters.free();
        out->partial_objects += counters.inuse();
    }
    out->partial_slabs += n->nr_partial;
    out->slabs += node_nr_slabs(n);
    out->total_objects += node_nr_objs(n);
    out->used_objects += node_nr_objs(n) - free;
}

void count_barn(struct node_barn *barn, struct kmirror_slab_counts *out)
{
    raw_spin_lock(&barn->lock);
    struct slab_sheaf *sheaf;
    list_for_each_entry (sheaf, &barn->sheaves_full, barn_list)
        out->barn_objects += sheaf->size;
    out->barn_full += barn->nr_full;
    out->barn_empty += barn->nr_empty;
    raw_spin_unlock(&barn->lock);
}

struct CpuQuestion {
    struct kmem_cache *s;
    struct kmirror_slab_cpu *out;
};

// What a CPU has below its sheaves, of one node or all.
struct CpuSlabQuestion {
    struct kmem_cache *s;
    int node;
    struct kmirror_slab_counts *out;

    bool wanted(const struct slab *slab) const
    {
        return node == NUMA_NO_NODE || slab_nid(slab) == node;
    }
};

// The CPU's lock is held, or nobody is on it.
void count_cpu_slab(const CpuSlabQuestion &asked, struct kmem_cache_cpu *c)
{
    look_at_cpu_slab(c, [&](CpuSlab own) {
        if (!asked.wanted(own.slab))
            return;
        asked.out->cpu_slabs++;
        asked.out->cpu_objects += slab_counters(own.slab).free();
        for (void *free = own.freelist; free; free = get_freepointer(asked.s, free))
            asked.out->cpu_objects++;
    });
    for_each_chained_slab(c, [&](const struct slab *chained) {
        if (!asked.wanted(chained))
            return;
        asked.out->cpu_chained++;
        asked.out->cpu_objects += slab_counters(chained).free();
    });
}

void count_this_cpu_slab(void *question)
{
    const CpuSlabQuestion &asked = *static_cast<CpuSlabQuestion *>(question);

    local_lock(&asked.s->cpu_slab->lock);
    count_cpu_slab(asked, this_cpu_ptr(asked.s->cpu_slab));
    local_unlock(&asked.s->cpu_slab->lock);
}

// An offline CPU has nothing, see lib/slub/hotplug.cpp.
void count_cpu_slabs(struct kmem_cache *s, int node, struct kmirror_slab_counts *out)
{
    CpuSlabQuestion question = {s, node, out};
    unsigned int cpu;

    cpus_read_lock();
    for_each_online_cpu (cpu)
        WARN_ON(smp_call_function_single((int)cpu, count_this_cpu_slab, &question, true));
    cpus_read_unlock();
    out->used_objects -= out->cpu_objects;
}

int sheaf_fill(const struct slab_sheaf *sheaf)
{
    return sheaf ? (int)sheaf->size : -1;
}

void look_at_sheaves(const struct slub_percpu_sheaves *pcs, struct kmirror_slab_cpu *out)
{
    out->main = sheaf_fill(pcs->main);
    out->spare = sheaf_fill(pcs->spare);
    out->rcu_free = sheaf_fill(pcs->rcu_free);
}

void answer_on_cpu(void *question)
{
    const CpuQuestion &asked = *static_cast<CpuQuestion *>(question);

    local_lock(&asked.s->cpu_sheaves->lock);
    look_at_sheaves(pcs_of_this_cpu(asked.s), asked.out);
    local_unlock(&asked.s->cpu_sheaves->lock);
}

// Counted from the oldest; NULL past the newest.
struct kmem_cache *cache_by_number(unsigned int number)
{
    struct kmem_cache *found = nullptr;
    struct kmem_cache *s;

    mutex_lock(&slab_mutex);
    list_for_each_entry_reverse (s, &slab_caches, list) {
        if (number-- == 0) {
            found = s;
            break;
        }
    }
    mutex_unlock(&slab_mutex);
    return found;
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

void kmirror_slab_geometry(struct kmem_cache *s, struct kmirror_slab_geometry *out)
{
    out->name = s->name;
    out->flags = s->flags;
    out->object_size = s->object_size;
    out->size = s->size;
    out->align = s->align;
    out->inuse = s->inuse;
    out->red_left_pad = s->red_left_pad;
    out->freeptr_offset = s->offset;
    out->order = s->oo.order;
    out->objects = s->oo.objects;
    out->min_order = s->min.order;
    out->min_objects = s->min.objects;
    out->sheaf_capacity = s->sheaf_capacity;
    out->min_partial = READ_ONCE(s->min_partial);
    out->aliases = s->refcount > 0 ? s->refcount - 1 : 0;
    out->useroffset = s->useroffset;
    out->usersize = s->usersize;
    out->generation = kmirror_slab_generation_name(s->generation.number);
    out->cpu_partial = s->cpu_partial;
    out->cpu_partial_slabs = READ_ONCE(s->cpu_partial_slabs);
}

void kmirror_slab_counts(struct kmem_cache *s, int node, struct kmirror_slab_counts *out)
{
    memset(out, 0, sizeof(*out));
    for (int nid = 0; nid < (int)nr_node_ids; nid++) {
        if (node != NUMA_NO_NODE && node != nid)
            continue;
        if (struct kmem_cache_node *n = get_node(s, nid))
            count_node(n, out);
        if (struct node_barn *barn = get_barn_node(s, nid))
            count_barn(barn, out);
    }
    if (s->cpu_slab)
        count_cpu_slabs(s, node, out);
}

void kmirror_slab_cpu_sheaves(struct kmem_cache *s, unsigned int cpu, struct kmirror_slab_cpu *out)
{
    CpuQuestion question = {s, out};

    out->main = out->spare = out->rcu_free = -1;
    if (!cache_has_sheaves(s) || cpu >= nr_cpu_ids)
        return;
    cpus_read_lock();
    if (!cpu_online(cpu))
        look_at_sheaves(per_cpu_ptr(s->cpu_sheaves, cpu), out);
    else
        WARN_ON(smp_call_function_single((int)cpu, answer_on_cpu, &question, true));
    cpus_read_unlock();
}

struct kmem_cache *kmirror_slab_cache_of(const void *object)
{
    if (!virt_addr_valid(object))
        return nullptr;
    struct slab *slab = virt_to_slab(object);
    return slab ? slab->slab_cache : nullptr;
}

int kmirror_slab_nid_of(const void *object)
{
    return page_to_nid(virt_to_page(object));
}

int kmirror_slab_for_each_cache(int (*visit)(struct kmem_cache *s, void *arg), void *arg)
{
    int result = 0;

    kmem_cache_init();
    // By number and not by list: a visitor may take the CPU set, which comes before slab_mutex.
    for (unsigned int number = 0; !result; number++) {
        struct kmem_cache *s = cache_by_number(number);
        if (!s)
            break;
        result = visit(s, arg);
    }
    return result;
}

void kmirror_slab_for_each_alias(struct kmem_cache *s, void (*visit)(const char *name, void *arg),
                                 void *arg)
{
    struct slab_alias *alias;

    mutex_lock(&slab_mutex);
    list_for_each_entry (alias, &s->alias_names, list)
        visit(alias->name, arg);
    mutex_unlock(&slab_mutex);
}

void kmirror_slab_set_min_partial(struct kmem_cache *s, unsigned long slabs)
{
    WRITE_ONCE(s->min_partial, slabs);
}

void kmirror_slab_set_cpu_partial(struct kmem_cache *s, unsigned int objects)
{
    if (s->cpu_slab)
        slub_set_cpu_partial(s, objects);
}

void kmirror_slab_set_defrag_ratio(struct kmem_cache *s, unsigned int of_1024)
{
    WRITE_ONCE(s->remote_node_defrag_ratio, of_1024);
}
