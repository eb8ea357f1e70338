// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/debug_sites.cpp: where the objects of a cache were allocated, or freed, by how many:
// the kernel's alloc_traces and free_traces.
//
// Owns     a copy of the tracks while it sorts them.
// Bounds   as many tracks as the cache had objects when it began; later ones are left out.
// Locking  list_lock while a node's tracks are copied; memory is taken before.
// Fails    -EINVAL for a cache that stores no users, -ENOMEM.
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/sprintf.h>
#include <linux/stackdepot.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <kmirror/slab_info.h>

#include "lib/slub/debug.h"
#include "lib/slub/sort.h"

namespace kmirror::slub {

namespace {

// One object's track.
struct Use {
    struct track track;
    unsigned long waste; // bytes that were not asked for
    int node;
};

bool same_site(const Use &a, const Use &b)
{
    return a.track.addr == b.track.addr && a.track.handle == b.track.handle && a.waste == b.waste;
}

bool site_before(const Use &a, const Use &b)
{
    if (a.track.addr != b.track.addr)
        return a.track.addr < b.track.addr;
    if (a.track.handle != b.track.handle)
        return a.track.handle < b.track.handle;
    return a.waste < b.waste;
}

// The uses [first, first + count) are of one site.
struct Site {
    unsigned long first;
    unsigned long count;
};

// Most objects first; of equal ones that which was found first.
bool more_objects(const Site &a, const Site &b)
{
    return a.count != b.count ? a.count > b.count : a.first < b.first;
}

struct Sites {
    Use *uses;
    Site *sites;
    unsigned long room;
    unsigned long nr_uses = 0;
    unsigned long nr_sites = 0;

    explicit Sites(unsigned long objects)
        : uses(static_cast<Use *>(vmalloc(objects * sizeof(Use)))),
          sites(static_cast<Site *>(vmalloc(objects * sizeof(Site)))), room(objects)
    {
    }
    ~Sites()
    {
        vfree(sites);
        vfree(uses);
    }
    Sites(const Sites &) = delete;
    Sites &operator=(const Sites &) = delete;

    void note(const struct kmem_cache *s, int node, void *object, track_item item)
    {
        const struct track *track = get_track(s, object, item);
        if (!track->addr || nr_uses == room)
            return;
        const bool alloc = item == TRACK_ALLOC;
        uses[nr_uses++] = {*track, alloc ? s->object_size - get_orig_size(s, object) : 0UL, node};
    }

    void sort()
    {
        sort_items(uses, nr_uses, site_before);
        for (unsigned long i = 0; i < nr_uses; i++) {
            if (i && same_site(uses[i - 1], uses[i]))
                sites[nr_sites - 1].count++;
            else
                sites[nr_sites++] = {i, 1};
        }
        sort_items(sites, nr_sites, more_objects);
    }
};

// Of a slab, the objects in use for their allocation, the others for their free.
void note_slab(Sites *found, const struct kmem_cache *s, int node, struct slab *slab, track_item item)
{
    for_each_object(s, slab, [&](void *object) {
        const bool free = on_freelist(s, slab, object);
        if (free == (item == TRACK_FREE))
            found->note(s, node, object, item);
        return true;
    });
}

// A line as it grows.
struct Line {
    char text[KSYM_SYMBOL_LEN + 256];
    int used = 0;

    template <class... Args>
    void add(const char *format, Args... args)
    {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
        used += scnprintf(text + used, sizeof(text) - (size_t)used, format, args...);
#pragma GCC diagnostic pop
    }

    void add_symbol(unsigned long address)
    {
        char symbol[KSYM_SYMBOL_LEN];
        sprint_symbol(symbol, address);
        add("%s", symbol);
    }
};

// " cpus=0-3,7": the numbers of which has(number) is true.
template <class Has>
void add_list(Line *line, const char *name, unsigned int end, Has has)
{
    const char *separator = name;

    for (unsigned int first = 0; first < end; first++) {
        if (!has(first))
            continue;
        unsigned int last = first;
        while (last + 1 < end && has(last + 1))
            last++;
        line->add(first == last ? "%s%u" : "%s%u-%u", separator, first, last);
        separator = ",";
        first = last;
    }
}

void add_ages(Line *line, const Use *uses, unsigned long count, unsigned long now)
{
    unsigned long least = ~0UL, most = 0, sum = 0;

    for (unsigned long i = 0; i < count; i++) {
        const unsigned long age = now - uses[i].track.when;
        least = age < least ? age : least;
        most = age > most ? age : most;
        sum += age;
    }
    if (sum != least)
        line->add(" age=%lu/%lu/%lu", least, sum / count, most);
    else
        line->add(" age=%lu", least);
}

void add_pids(Line *line, const Use *uses, unsigned long count)
{
    int least = uses->track.pid, most = least;

    for (unsigned long i = 1; i < count; i++) {
        least = uses[i].track.pid < least ? uses[i].track.pid : least;
        most = uses[i].track.pid > most ? uses[i].track.pid : most;
    }
    line->add(least != most ? " pid=%d-%d" : " pid=%d", least, most);
}

void add_places(Line *line, const Use *uses, unsigned long count)
{
    unsigned char cpus[NR_CPUS];
    unsigned char nodes[MAX_NUMNODES];

    memset(cpus, 0, sizeof(cpus));
    memset(nodes, 0, sizeof(nodes));
    for (unsigned long i = 0; i < count; i++) {
        cpus[uses[i].track.cpu] = 1;
        nodes[uses[i].node] = 1;
    }
    if (num_online_cpus() > 1)
        add_list(line, " cpus=", nr_cpu_ids, [&](unsigned int cpu) { return cpus[cpu]; });
    if (nr_node_ids > 1)
        add_list(line, " nodes=", nr_node_ids, [&](unsigned int node) { return nodes[node]; });
}

using Say = void(const char *line, void *arg);

void say_stack(unsigned int handle, Say *say, void *arg)
{
    const unsigned long *frames;
    const unsigned int count = stack_depot_fetch(handle, &frames);

    for (unsigned int i = 0; i < count; i++) {
        Line line;
        line.add("        ");
        line.add_symbol(frames[i]);
        say(line.text, arg);
    }
}

void say_site(const Use *uses, unsigned long count, Say *say, void *arg)
{
    Line line;

    line.add("%7lu ", count);
    line.add_symbol(uses->track.addr);
    if (uses->waste)
        line.add(" waste=%lu/%lu", uses->waste * count, uses->waste);
    add_ages(&line, uses, count, jiffies);
    add_pids(&line, uses, count);
    add_places(&line, uses, count);
    say(line.text, arg);
    say_stack(uses->track.handle, say, arg);
}

} // namespace

} // namespace kmirror::slub

using namespace kmirror::slub;

long kmirror_slab_sites(struct kmem_cache *s, bool freed, void (*say)(const char *line, void *arg), void *arg)
{
    unsigned long objects = 1; // vmalloc() has nothing for no bytes

    if (!(s->flags & SLAB_STORE_USER))
        return -EINVAL;
    for_each_cache_node(s, [&](int, struct kmem_cache_node *n) { objects += node_nr_objs(n); });
    Sites found(objects);
    if (!found.uses || !found.sites)
        return -ENOMEM;
    for_each_cache_node(s, [&](int node, struct kmem_cache_node *n) {
        ListHold hold(n);
        for (struct slab *slab : SlabsOn(&n->partial))
            note_slab(&found, s, node, slab, freed ? TRACK_FREE : TRACK_ALLOC);
        for (struct slab *slab : SlabsOn(&n->full))
            note_slab(&found, s, node, slab, freed ? TRACK_FREE : TRACK_ALLOC);
        for (struct slab *slab : SlabsOn(&n->partial))
            leave_partial_if_full(s, n, slab);
    });
    found.sort();
    for (unsigned long i = 0; i < found.nr_sites; i++)
        say_site(found.uses + found.sites[i].first, found.sites[i].count, say, arg);
    return (long)found.nr_sites;
}
