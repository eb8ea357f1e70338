// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/validate.cpp: is a cache what its invariants say?
//
// The numbers are those beside the data:
//   S1 .. S4  a slab            slab.h
//   H1 H2     a sheaf           sheaf.h
//   P1 P2     a CPU's sheaves   cache.h    P3: a CPU that is offline holds no objects
//   B1 B2     a barn            cache.h    B3: full sheaves hold objects, empty ones none
//   C1 C2 C3  a CPU's slab      cpu_slab.h C4: a CPU that is offline has none, and no chain
//   N1 N2 N3  a node            cache.h    here: listed slabs and objects are at most those
//   V1        no object is in two places: sheaves, CPUs' free lists, slabs' free lists
//   V2        the slabs count as many objects in use as lie in sheaves and on CPUs, or more
//
// Owns     nothing.
// Bounds   time: each free list once, and once more for each object in a sheaf.
// Locking  list_lock and barn->lock as it goes. The whole is only right when nobody uses
//          the cache; every single step is safe at any time.
// Fails    -ENOMEM when there is no room to note the sheaves' objects.
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <kmirror/slab_info.h>

#include "lib/slub/cpu_partial.h"
#include "lib/slub/debug.h"
#include "lib/slub/kmalloc.h"
#include "lib/slub/node.h"
#include "lib/slub/percpu_sheaves.h"
#include "lib/slub/sort.h"

namespace kmirror::slub {

namespace {

// One look at one cache.
struct Check {
    struct kmem_cache *s;
    long violations;
    unsigned long slabs;         // on lists
    unsigned long objects_inuse; // by the slabs' counters
    unsigned long objects_sheaved; // in sheaves and on the free lists of CPUs
    void **sheaved;              // those objects, or NULL while they are only counted
    unsigned long room;

    explicit Check(struct kmem_cache *cache)
    {
        memset(this, 0, sizeof(*this));
        s = cache;
    }
};

void violated(Check &check, const char *number, const char *what, const void *where)
{
    check.violations++;
    pr_err("SLUB %s: (%s) %s at %p\n", check.s->name, number, what, where);
}

// Is that the address of an object of this slab?
bool is_object(const struct kmem_cache *s, const struct slab *slab, const void *object)
{
    return object && check_valid_pointer(s, slab, object);
}

// Calls visit(object) along the free list until it returns false. How many, or -1 when
// the list leaves the slab or is longer than it can be.
template <class Visit>
int walk_freelist(const struct kmem_cache *s, const struct slab *slab, Visit visit)
{
    const FreelistCounters word = slab_word_read(slab->word);
    int length = 0;

    for (void *object = word.freelist; object; object = get_freepointer(s, object)) {
        // A list that comes back to itself is found by its length.
        if (!is_object(s, slab, object) || length >= (int)word.counters.objects())
            return -1;
        length++;
        if (!visit(object))
            break;
    }
    return length;
}

// The slab of an object of this cache, or NULL.
const struct slab *slab_of_own(const struct kmem_cache *s, const void *object)
{
    const struct slab *slab = virt_addr_valid(object) ? virt_to_slab(object) : nullptr;
    return slab && slab->slab_cache == s && is_object(s, slab, object) ? slab : nullptr;
}

} // namespace

int slab_freelist_length(const struct kmem_cache *s, const struct slab *slab)
{
    return walk_freelist(s, slab, [](const void *) { return true; });
}

namespace {

void check_listed_slab(Check &check, struct kmem_cache_node *n, struct slab *slab)
{
    const SlabCounters counters = slab_counters(slab);
    const int length = slab_freelist_length(check.s, slab);

    check.slabs++;
    if (!PageSlab(slab_page(slab)) || slab->slab_cache != check.s)
        violated(check, "S3", "a listed slab is not this cache's", slab);
    if (get_node(check.s, slab_nid(slab)) != n || !slab->on_partial)
        violated(check, "S2", "a slab is on the wrong list or does not know it", slab);
    if (counters.free() == 0)
        violated(check, "S2", "a full slab is listed", slab);
    if (counters.frozen())
        violated(check, "S4", "a frozen slab is listed", slab);
    if (length < 0)
        violated(check, "S1", "a free list leaves its slab or has no end", slab);
    else if ((unsigned int)length != counters.free())
        violated(check, "S1", "inuse and the free list do not add up", slab);
}

void check_node(Check &check, struct kmem_cache_node *n)
{
    unsigned long listed = 0, free = 0;

    ListHold hold(n);
    for (struct slab *slab : SlabsOn(&n->partial)) {
        check_listed_slab(check, n, slab);
        listed++;
        free += slab_counters(slab).free();
    }
    if (listed != n->nr_partial)
        violated(check, "N1", "nr_partial is not the length of the list", n);
    if (listed > node_nr_slabs(n))
        violated(check, "N2", "more slabs listed than there are", n);
    if (free > node_nr_objs(n))
        violated(check, "N3", "more objects free than there are", n);
    check.objects_inuse += node_nr_objs(n) - free;
}

void note_object(Check &check, void *object)
{
    if (check.sheaved && check.objects_sheaved < check.room)
        check.sheaved[check.objects_sheaved] = object;
    check.objects_sheaved++;
}

void check_sheaf(Check &check, const struct slab_sheaf *sheaf)
{
    if (sheaf->size > check.s->sheaf_capacity) {
        violated(check, "H1", "a sheaf is over-full", sheaf);
        return;
    }
    if (sheaf->cache != check.s)
        violated(check, "H2", "a sheaf is not this cache's", sheaf);
    for (unsigned int i = 0; i < sheaf->size; i++) {
        void *object = sheaf->objects[i];
        if (!slab_of_own(check.s, object))
            violated(check, "H2", "a sheaf holds what is no object of this cache", sheaf);
        else
            note_object(check, object);
    }
}

void check_barn_list(Check &check, const struct list_head *list, unsigned int count, bool full)
{
    const struct slab_sheaf *sheaf;
    unsigned int length = 0;

    list_for_each_entry (sheaf, list, barn_list) {
        length++;
        check_sheaf(check, sheaf);
        if ((sheaf->size != 0) != full)
            violated(check, "B3", "a sheaf is on the wrong list of its barn", sheaf);
    }
    if (length != count)
        violated(check, full ? "B1" : "B2", "a barn's count is not the length of its list", list);
}

void check_barn(Check &check, struct node_barn *barn)
{
    raw_spin_lock(&barn->lock);
    check_barn_list(check, &barn->sheaves_full, barn->nr_full, true);
    check_barn_list(check, &barn->sheaves_empty, barn->nr_empty, false);
    raw_spin_unlock(&barn->lock);
}

void check_pcs(Check &check, const struct slub_percpu_sheaves *pcs)
{
    if (!pcs->main)
        violated(check, "P1", "a CPU has no main sheaf", pcs);
    else
        check_sheaf(check, pcs->main);
    if (pcs->spare)
        check_sheaf(check, pcs->spare);
    if (!pcs->rcu_free)
        return;
    if (pcs->rcu_free->size >= check.s->sheaf_capacity)
        violated(check, "P2", "a full rcu_free sheaf was not sent off", pcs->rcu_free);
    check_sheaf(check, pcs->rcu_free);
}

void check_cpu_freelist(Check &check, CpuSlab own)
{
    unsigned int length = 0;

    for (void *object = own.freelist; object; object = get_freepointer(check.s, object)) {
        if (slab_of_own(check.s, object) != own.slab || ++length > slab_objects(own.slab)) {
            violated(check, "C2", "a CPU's free list leaves its slab or has no end", own.slab);
            return;
        }
        note_object(check, object);
    }
}

void check_cpu_slab(Check &check, struct kmem_cache_cpu *c)
{
    if (!c->slab && c->word.freelist)
        violated(check, "C1", "a CPU has objects of no slab", c);
    look_at_cpu_slab(c, [&](CpuSlab own) {
        if (!slab_counters(own.slab).frozen() || own.slab->on_partial || own.slab->slab_cache != check.s)
            violated(check, "C2", "a CPU allocates from a slab that is not its own", own.slab);
        check_cpu_freelist(check, own);
        check.objects_inuse -= slab_counters(own.slab).free();
    });
    unsigned int length = c->partial ? c->partial->slabs : 0;
    for_each_chained_slab(c, [&](const struct slab *slab) {
        const SlabCounters counters = slab_counters(slab);
        const int free = walk_freelist(check.s, slab, [](const void *) { return true; });
        if (counters.frozen() || slab->on_partial || slab->slab_cache != check.s || counters.free() == 0)
            violated(check, "C3", "a chained slab is frozen, listed, full or not this cache's", slab);
        if (slab->slabs != length--)
            violated(check, "C3", "a chained slab does not know the length of its chain", slab);
        if (free < 0 || (unsigned int)free != counters.free())
            violated(check, "S1", "inuse and the free list of a chained slab do not add up", slab);
        check.objects_inuse -= counters.free();
    });
}

void check_this_cpu(void *arg)
{
    Check &check = *static_cast<Check *>(arg);

    local_lock(&check.s->cpu_sheaves->lock);
    if (cache_has_sheaves(check.s))
        check_pcs(check, pcs_of_this_cpu(check.s));
    local_unlock(&check.s->cpu_sheaves->lock);
    if (!check.s->cpu_slab)
        return;
    local_lock(&check.s->cpu_slab->lock);
    check_cpu_slab(check, this_cpu_ptr(check.s->cpu_slab));
    local_unlock(&check.s->cpu_slab->lock);
}

// The CPU set is held.
void check_cpu(Check &check, unsigned int cpu)
{
    const struct slub_percpu_sheaves *pcs = per_cpu_ptr(check.s->cpu_sheaves, cpu);

    if (cpu_online(cpu)) {
        WARN_ON(smp_call_function_single((int)cpu, check_this_cpu, &check, true));
        return;
    }
    if (!pcs->main || pcs->main->size || pcs->spare || pcs->rcu_free)
        violated(check, "P3", "an offline CPU holds objects", pcs);
    if (check.s->cpu_slab && has_cpu_slab(check.s, cpu))
        violated(check, "C4", "an offline CPU has slabs", per_cpu_ptr(check.s->cpu_slab, cpu));
}

void check_sheaves(Check &check)
{
    unsigned int cpu;

    check.objects_sheaved = 0;
    if (!cache_has_sheaves(check.s) && !check.s->cpu_slab)
        return;
    cpus_read_lock();
    for_each_possible_cpu (cpu)
        check_cpu(check, cpu);
    cpus_read_unlock();
    for_each_cache_barn(check.s, [&](struct node_barn *barn) { check_barn(check, barn); });
}

void check_no_object_twice(Check &check)
{
    const unsigned long count = min_t(unsigned long, check.objects_sheaved, check.room);

    sort_items(check.sheaved, count, [](const void *a, const void *b) { return a < b; });
    for (unsigned long i = 0; i < count; i++) {
        void *object = check.sheaved[i];
        if (i && object == check.sheaved[i - 1])
            violated(check, "V1", "an object is in two sheaves, or in one and on a CPU", object);
        bool free = false;
        walk_freelist(check.s, slab_of_object(object), [&](const void *other) {
            free = other == object;
            return !free;
        });
        if (free)
            violated(check, "V1", "an object in a sheaf or on a CPU is free in its slab", object);
    }
}

// Goes over the sheaves a second time, to note what the first time was counted.
void check_sheaved_objects(Check &check)
{
    const long violations_before = check.violations;

    check.room = check.objects_sheaved;
    check_sheaves(check);
    check.violations = violations_before;
    check_no_object_twice(check);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

long kmirror_slab_validate(struct kmem_cache *s)
{
    Check check(s);

    for_each_cache_node(s, [&](int, struct kmem_cache_node *n) { check_node(check, n); });
    check_sheaves(check);
    if (check.objects_sheaved > check.objects_inuse)
        violated(check, "V2", "more objects in sheaves than in use", s);
    if (!check.objects_sheaved || check.violations)
        return check.violations;

    check.sheaved = static_cast<void **>(kmalloc_flags(check.objects_sheaved * sizeof(void *),
                                                       GFP_KERNEL, SLAB_ALLOC_NO_HOOKS,
                                                       NUMA_NO_NODE));
    if (!check.sheaved)
        return -ENOMEM;
    check_sheaved_objects(check);
    kfree_internal(check.sheaved);
    return check.violations;
}

long validate_slab_cache(struct kmem_cache *s)
{
    Check check(s);

    flush_all(s);
    for_each_cache_node(s, [&](int, struct kmem_cache_node *n) {
        // Where frees take no lock, a look from outside finds what is only half done.
        if (kmem_cache_debug(s))
            check.slabs += validate_slab_node(s, n);
        else
            check_node(check, n);
    });
    return check.slabs;
}
