// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/dump.cpp: showing what a cache is made of.
//
// Owns     nothing.
// Bounds   each list and each free list once.
// Locking  see <kmirror/slab_dump.h>; one lock at a time.
// Fails    never.
#include <linux/cpu.h>
#include <linux/smp.h>
#include <kmirror/slab_dump.h>

#include "lib/slub/cpu_partial.h"
#include "lib/slub/node.h"
#include "lib/slub/percpu_sheaves.h"

namespace kmirror::slub {

namespace {

struct Dump {
    struct kmem_cache *s;
    const struct kmirror_slab_dump_visitor *visitor;
    void *arg;
    long disagreements;

    void sheaf(const char *place, int cpu, int node, const struct slab_sheaf *shown) const
    {
        if (!shown)
            return;
        const struct kmirror_slab_dump_sheaf out = {place,         cpu,
                                                    node,          shown,
                                                    shown->size,   s->sheaf_capacity,
                                                    shown->objects};
        visitor->sheaf(&out, arg);
    }

    void count(const char *what, int node, unsigned long counter, unsigned long found, bool agrees)
    {
        const struct kmirror_slab_dump_count out = {what, node, counter, found, agrees};
        disagreements += !agrees;
        visitor->count(&out, arg);
    }
};

void dump_slab(Dump &dump, const char *place, int cpu, const struct slab *slab)
{
    const SlabCounters counters = slab_counters(slab);
    struct kmirror_slab_dump_slab out;

    out.place = place;
    out.cpu = cpu;
    out.node = slab_nid(slab);
    out.address = slab;
    out.start = slab_address(slab);
    out.order = slab_order(slab);
    out.objects = counters.objects();
    out.inuse = counters.inuse();
    out.free = slab_freelist_length(dump.s, slab);
    out.pfmemalloc = slab_test_pfmemalloc(slab);
    dump.disagreements += out.free < 0 || out.inuse + (unsigned int)out.free != out.objects;
    dump.visitor->slab(&out, dump.arg);
}

// The slab a CPU allocates from: all objects on the CPU's own free list count as in use.
void dump_cpu_slab(Dump &dump, unsigned int cpu)
{
    struct kmem_cache_cpu *c = per_cpu_ptr(dump.s->cpu_slab, cpu);
    unsigned long length = 0;

    look_at_cpu_slab(c, [&](CpuSlab own) { dump_slab(dump, "cpu slab", (int)cpu, own.slab); });
    for_each_chained_slab(c, [&](const struct slab *slab) {
        dump_slab(dump, "cpu partial", (int)cpu, slab);
        length++;
    });
    const unsigned long counted = c->partial ? c->partial->slabs : 0;
    dump.count("cpu_partial", (int)cpu, counted, length, counted == length);
}

void dump_pcs(const Dump &dump, unsigned int cpu)
{
    const struct slub_percpu_sheaves *pcs = per_cpu_ptr(dump.s->cpu_sheaves, cpu);

    dump.sheaf("main", (int)cpu, -1, pcs->main);
    dump.sheaf("spare", (int)cpu, -1, pcs->spare);
    dump.sheaf("rcu_free", (int)cpu, -1, pcs->rcu_free);
}

void dump_this_cpu(void *arg)
{
    Dump &dump = *static_cast<Dump *>(arg);
    const auto cpu = (unsigned int)raw_smp_processor_id();

    if (cache_has_sheaves(dump.s)) {
        local_lock(&dump.s->cpu_sheaves->lock);
        dump_pcs(dump, cpu);
        local_unlock(&dump.s->cpu_sheaves->lock);
    }
    if (!dump.s->cpu_slab)
        return;
    local_lock(&dump.s->cpu_slab->lock);
    dump_cpu_slab(dump, cpu);
    local_unlock(&dump.s->cpu_slab->lock);
}

// A CPU that is offline has neither slab nor chain, and an empty main sheaf.
void dump_dead_cpu(const Dump &dump, unsigned int cpu)
{
    if (cache_has_sheaves(dump.s))
        dump_pcs(dump, cpu);
}

void dump_cpus(Dump &dump)
{
    unsigned int cpu;

    if (!cache_has_sheaves(dump.s) && !dump.s->cpu_slab)
        return;
    cpus_read_lock();
    for_each_possible_cpu (cpu)
        if (!cpu_online(cpu))
            dump_dead_cpu(dump, cpu);
        else
            WARN_ON(smp_call_function_single((int)cpu, dump_this_cpu, &dump, true));
    cpus_read_unlock();
}

unsigned long dump_sheaves(const Dump &dump, const char *place, int node, const struct list_head *list)
{
    const struct slab_sheaf *sheaf;
    unsigned long length = 0;

    list_for_each_entry (sheaf, list, barn_list) {
        dump.sheaf(place, -1, node, sheaf);
        length++;
    }
    return length;
}

void dump_barn(Dump &dump, int node, struct node_barn *barn)
{
    raw_spin_lock(&barn->lock);
    const unsigned long full = dump_sheaves(dump, "barn full", node, &barn->sheaves_full);
    const unsigned long empty = dump_sheaves(dump, "barn empty", node, &barn->sheaves_empty);
    dump.count("nr_full", node, barn->nr_full, full, barn->nr_full == full);
    dump.count("nr_empty", node, barn->nr_empty, empty, barn->nr_empty == empty);
    raw_spin_unlock(&barn->lock);
}

void dump_node(Dump &dump, int node, struct kmem_cache_node *n)
{
    unsigned long listed = 0, objects = 0;

    ListHold hold(n);
    for (struct slab *slab : SlabsOn(&n->partial)) {
        dump_slab(dump, "partial", -1, slab);
        listed++;
        objects += slab_objects(slab);
    }
    const unsigned long all = node_nr_slabs(n), all_objects = node_nr_objs(n);
    dump.count("nr_partial", node, n->nr_partial, listed, n->nr_partial == listed);
    dump.count("nr_slabs", node, all, listed, all >= listed);
    dump.count("total_objects", node, all_objects, objects, all_objects >= objects);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

long kmirror_slab_dump(struct kmem_cache *s, const struct kmirror_slab_dump_visitor *visitor, void *arg)
{
    Dump dump = {s, visitor, arg, 0};

    dump_cpus(dump);
    for (int node = 0; node < (int)nr_node_ids; node++)
        if (struct node_barn *barn = get_barn_node(s, node))
            dump_barn(dump, node, barn);
    for_each_cache_node(s, [&](int node, struct kmem_cache_node *n) { dump_node(dump, node, n); });
    return dump.disagreements;
}
