// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror slabinfo --dump: every sheaf, barn and listed slab of one cache.
//
// Owns     what it was shown, copied, because a visitor is called with locks held.
// Bounds   the cache at hand; of a sheaf's objects the addresses.
// Fails    never; what does not agree is marked and counted.

#include "tools/kmirror/slabinfo.h"
#include "tools/kmirror/table.h"

#include <kmirror/slab_dump.h>
#include <kmirror/slab_info.h>

#include <fmt/format.h>

namespace kmirror::command {
namespace {

struct Sheaf {
    kmirror_slab_dump_sheaf shown;
    std::vector<void *> objects;
};

struct Shown {
    std::vector<Sheaf> sheaves;
    std::vector<kmirror_slab_dump_slab> slabs;
    std::vector<kmirror_slab_dump_count> counts;
    long disagreements = 0;
};

Shown look(kmem_cache *cache)
{
    static constexpr kmirror_slab_dump_visitor kVisitor = {
        [](const kmirror_slab_dump_sheaf *sheaf, void *arg) {
            static_cast<Shown *>(arg)->sheaves.push_back(
                {*sheaf, {sheaf->objects, sheaf->objects + sheaf->size}});
        },
        [](const kmirror_slab_dump_slab *slab, void *arg) {
            static_cast<Shown *>(arg)->slabs.push_back(*slab);
        },
        [](const kmirror_slab_dump_count *count, void *arg) {
            static_cast<Shown *>(arg)->counts.push_back(*count);
        },
    };
    Shown shown;
    shown.disagreements = kmirror_slab_dump(cache, &kVisitor, &shown);
    return shown;
}

std::string address(const void *at) { return fmt::format("{}", at); }

std::string where(int cpu, int node)
{
    return cpu >= 0 ? "CPU " + std::to_string(cpu) : "node " + std::to_string(node);
}

bool slab_agrees(const kmirror_slab_dump_slab &slab)
{
    return slab.free >= 0 && slab.inuse + static_cast<unsigned>(slab.free) == slab.objects;
}

void print_text(const struct kmirror_slab_geometry &made, const Shown &shown)
{
    std::printf("%s: %u bytes, %u apart, slabs of %u objects, sheaves of %u\n\n", made.name, made.object_size,
                made.size, made.objects, made.sheaf_capacity);
    Table sheaves({"sheaf", "where", "objects", "of", "address"});
    for (const auto &[sheaf, objects] : shown.sheaves)
        sheaves.row({sheaf.place, where(sheaf.cpu, sheaf.node), std::to_string(sheaf.size),
                     std::to_string(sheaf.capacity), address(sheaf.address)});
    sheaves.print(stdout);
    std::printf("\n");
    Table slabs(
        {"slab", "where", "objects", "in use", "on free list", "order", "memory", "reserve", "agrees"});
    for (const kmirror_slab_dump_slab &slab : shown.slabs)
        slabs.row({slab.place, where(slab.cpu, slab.node), std::to_string(slab.objects),
                   std::to_string(slab.inuse), std::to_string(slab.free), std::to_string(slab.order),
                   address(slab.start), slab.pfmemalloc ? "yes" : "", slab_agrees(slab) ? "yes" : "NO"});
    slabs.print(stdout);
    std::printf("\n");
    Table counts({"counter", "node", "value", "found", "agrees"});
    for (const kmirror_slab_dump_count &one : shown.counts)
        counts.row({one.what, std::to_string(one.node), count(one.counter), count(one.found),
                    one.agrees ? "yes" : "NO"});
    counts.print(stdout);
    std::printf("\n%ld of them do not agree\n", shown.disagreements);
}

void print_json(const struct kmirror_slab_geometry &made, const Shown &shown)
{
    Json json("kmirror-slab-dump", 1);
    json.set("/cache", made.name);
    json.set("/object_size", made.object_size);
    json.set("/size", made.size);
    json.set("/sheaf_capacity", made.sheaf_capacity);
    json.set("/disagreements", shown.disagreements);
    for (std::size_t i = 0; i < shown.sheaves.size(); ++i) {
        const auto &[sheaf, objects] = shown.sheaves[i];
        const std::string at = "/sheaves/" + std::to_string(i);
        json.set(at + "/place", sheaf.place);
        json.set(at + (sheaf.cpu >= 0 ? "/cpu" : "/node"), sheaf.cpu >= 0 ? sheaf.cpu : sheaf.node);
        json.set(at + "/capacity", sheaf.capacity);
        json.set(at + "/size", sheaf.size);
        for (std::size_t k = 0; k < objects.size(); ++k)
            json.set(at + "/objects/" + std::to_string(k), address(objects[k]));
    }
    for (std::size_t i = 0; i < shown.slabs.size(); ++i) {
        const kmirror_slab_dump_slab &slab = shown.slabs[i];
        const std::string at = "/slabs/" + std::to_string(i);
        json.set(at + "/place", slab.place);
        json.set(at + "/node", slab.node);
        json.set(at + "/memory", address(slab.start));
        json.set(at + "/order", slab.order);
        json.set(at + "/objects", slab.objects);
        json.set(at + "/inuse", slab.inuse);
        json.set(at + "/free", slab.free);
        json.set(at + "/pfmemalloc", slab.pfmemalloc);
    }
    for (std::size_t i = 0; i < shown.counts.size(); ++i) {
        const std::string at = "/counters/" + std::to_string(i);
        json.set(at + "/name", shown.counts[i].what);
        json.set(at + "/node", shown.counts[i].node);
        json.set(at + "/value", shown.counts[i].counter);
        json.set(at + "/found", shown.counts[i].found);
        json.set(at + "/agrees", shown.counts[i].agrees);
    }
    std::fputs(json.text().c_str(), stdout);
}

} // namespace

long print_slab_dump(kmem_cache *cache, bool json)
{
    struct kmirror_slab_geometry made;
    kmirror_slab_geometry(cache, &made);
    const Shown shown = look(cache);
    json ? print_json(made, shown) : print_text(made, shown);
    return shown.disagreements;
}

} // namespace kmirror::command
