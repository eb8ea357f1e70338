// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror slabinfo: its tables, after those of the kernel's tools/mm/slabinfo, with what sheaves add.

#include "tools/kmirror/slabinfo.h"
#include "tools/kmirror/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace kmirror::command {
namespace {

std::string share_of(std::uint64_t part, std::uint64_t whole)
{
    return std::to_string(whole ? part * 100 / whole : 0);
}

// The letters of slabinfo: how the cache is made and what watches it.
std::string flags_of(const SlabFigures &cache)
{
    static constexpr std::pair<const char *, char> kFlags[] = {
        {"cache_dma", 'd'}, {"hwcache_align", 'A'}, {"poison", 'P'},     {"reclaim_account", 'a'},
        {"red_zone", 'Z'},  {"sanity_checks", 'F'}, {"store_user", 'U'}, {"trace", 'T'}};
    std::string letters = cache.aliases.empty() ? "" : "*";
    for (const auto &[file, letter] : kFlags)
        if (cache[file])
            letters += letter;
    return letters;
}

std::vector<std::string> size_row(const SlabFigures &cache)
{
    return {cache.name,
            count(cache["objects"]),
            count(cache["object_size"]),
            short_number(static_cast<double>(cache.bytes())),
            fmt::format("{}/{}/{}", cache["slabs"], cache["partial"], cache["cpu_slabs"]),
            std::to_string(cache["objs_per_slab"]),
            std::to_string(cache["order"]),
            std::to_string(cache["sheaf_capacity"]),
            share_of(cache["partial"], cache["slabs"]),
            share_of(cache.used_bytes(), cache.bytes()),
            flags_of(cache)};
}

std::vector<std::string> activity_row(const SlabFigures &cache)
{
    return {cache.name,
            count(cache["objects"]),
            count(cache.allocations()),
            count(cache.frees()),
            share_of(cache["alloc_fastpath"], cache.allocations()),
            share_of(cache["free_fastpath"], cache.frees()),
            count(cache["sheaf_refill"]),
            count(cache["sheaf_flush"]),
            fmt::format("{}/{}", cache["barn_get"], cache["barn_put"]),
            count(cache["order_fallback"]),
            count(cache["cmpxchg_double_fail"])};
}

std::string yes_no(std::uint64_t value) { return value ? "On" : "Off"; }

void print_sizes(const SlabFigures &cache)
{
    const std::uint64_t objects = cache["objects"], size = cache["slab_size"];
    const std::uint64_t padding = cache.slab_bytes() - cache["objs_per_slab"] * size;
    Table table({"bytes", "", "slabs", "", "debug", "", "memory", ""});
    table.row({"object", count(cache["object_size"]), "total", count(cache["slabs"]), "sanity checks",
               yes_no(cache["sanity_checks"]), "total", count(cache.bytes())});
    table.row({"with overhead", count(size), "full",
               count(cache["slabs"] - cache["partial"] - cache["cpu_slabs"]), "red zones",
               yes_no(cache["red_zone"]), "used", count(cache.used_bytes())});
    table.row({"slab", count(cache.slab_bytes()), "partial", count(cache["partial"]), "poison",
               yes_no(cache["poison"]), "lost", count(cache.loss())});
    table.row({"alignment", count(cache["align"]), "per CPU", count(cache["cpu_slabs"]), "tracking",
               yes_no(cache["store_user"]), "by overhead",
               count((size - cache["object_size"]) * objects)});
    table.row({"sheaf", count(cache["sheaf_capacity"]), "objects each", count(cache["objs_per_slab"]),
               "tracing", yes_no(cache["trace"]), "by padding", count(padding * cache["slabs"])});
    table.print(stdout);
}

void print_nodes(const SlabFigures &cache)
{
    const Figure *slabs = cache.figure("slabs"), *partial = cache.figure("partial");
    if (!slabs || slabs->shares.size() < 2)
        return;
    std::printf("\n");
    Table table({"node", "slabs", "partial"});
    for (const auto &[node, of_node] : slabs->shares)
        table.row({node, count(of_node),
                   count(partial && partial->shares.count(node) ? partial->shares.at(node) : 0)});
    table.print(stdout);
}

// Everything that was counted, alphabetically; not the figures that say what the cache is.
void print_counters(const SlabFigures &cache)
{
    static constexpr const char *kPrefixes[] = {"alloc_", "free_",   "sheaf_",      "barn_", "cpu_partial_",
                                                "order_", "cmpxchg", "deactivate_", "cpuslab"};
    Table table({"statistic", "count", "by CPU"});
    bool any = false;
    for (const auto &[file, figure] : cache.figures) {
        const auto begins = [&name = file](const char *prefix) { return name.starts_with(prefix); };
        const bool counter = std::any_of(std::begin(kPrefixes), std::end(kPrefixes), begins);
        if (!counter || !figure.total || file == "sheaf_capacity")
            continue;
        std::string cpus;
        for (const auto &[cpu, share] : figure.shares)
            cpus += fmt::format("{}{}={}", cpus.empty() ? "" : " ", cpu, share);
        table.row({file, count(figure.total), cpus});
        any = true;
    }
    if (!any)
        return;
    std::printf("\n");
    table.print(stdout);
}

using Measure = std::function<std::uint64_t(const SlabFigures &)>;

void total_row(Table &table, const char *what, const std::vector<SlabFigures> &caches, const Measure &of)
{
    std::vector<std::uint64_t> values;
    for (const SlabFigures &cache : caches)
        if (cache["slabs"])
            values.push_back(of(cache));
    if (values.empty())
        values.push_back(0);
    const std::uint64_t sum = std::accumulate(values.begin(), values.end(), std::uint64_t{0});
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    table.row({what, count(*least), count(sum / values.size()), count(*most), count(sum)});
}

std::uint64_t total_of(const std::vector<SlabFigures> &caches, const Measure &of)
{
    std::uint64_t sum = 0;
    for (const SlabFigures &cache : caches)
        sum += of(cache);
    return sum;
}

} // namespace

void print_slab_list(const std::vector<SlabFigures> &caches, bool activity)
{
    Table table(activity ? std::vector<std::string>{"name", "objects", "alloc", "free", "%fast", "%fast free",
                                                    "refilled", "flushed", "barn get/put", "fallback", "CmpX"}
                         : std::vector<std::string>{"name", "objects", "objsize", "space", "slabs/part/cpu",
                                                    "O/S", "O", "sheaf", "%Fr", "%Ef", "Flg"});
    for (const SlabFigures &cache : caches)
        table.row(activity ? activity_row(cache) : size_row(cache));
    table.print(stdout);
}

void print_slab_report(const SlabFigures &cache)
{
    std::printf("\nSlabcache: %s  aliases: %llu  order: %llu  objects: %s\n", cache.name.c_str(),
                static_cast<unsigned long long>(cache["aliases"]),
                static_cast<unsigned long long>(cache["order"]), count(cache["objects"]).c_str());
    static constexpr std::pair<const char *, const char *> kNotes[] = {
        {"hwcache_align", "aligned to cache lines"},
        {"cache_dma", "memory of a special DMA zone"},
        {"destroy_by_rcu", "slabs outlive their last object by a grace period"},
        {"reclaim_account", "counted as reclaimable"}};
    for (const auto &[file, note] : kNotes)
        if (cache[file])
            std::printf("** %s\n", note);
    if (!cache.ctor.empty())
        std::printf("ctor : %s\n", cache.ctor.c_str());
    std::printf("\n");
    print_sizes(cache);
    print_nodes(cache);
    print_counters(cache);
    if (!cache.traces.empty())
        print_slab_tracking(cache);
}

void print_slab_tracking(const SlabFigures &cache)
{
    for (const auto &[file, done] : {std::pair{"alloc_traces", "allocated"}, std::pair{"free_traces", "freed"}}) {
        const auto found = cache.traces.find(file);
        std::printf("\n%s: objects by who %s them\n%s", cache.name.c_str(), done,
                    found == cache.traces.end() ? "No data\n" : found->second.c_str());
    }
}

void print_slab_totals(const std::vector<SlabFigures> &caches)
{
    const Measure bytes = [](const SlabFigures &cache) { return cache.bytes(); };
    const Measure used = [](const SlabFigures &cache) { return cache.used_bytes(); };
    const std::uint64_t all = total_of(caches, bytes), in_use = total_of(caches, used);
    std::printf("caches %zu, further names %s, in use %s\n", caches.size(),
                count(total_of(caches, [](const SlabFigures &c) { return c.aliases.size(); })).c_str(),
                count(total_of(caches, [](const SlabFigures &c) { return c["slabs"] != 0; })).c_str());
    std::printf("memory %s, used %s, lost %s: %s%% used\n\n", count(all).c_str(), count(in_use).c_str(),
                count(all - in_use).c_str(), share_of(in_use, all).c_str());
    Table table({"per cache in use", "least", "average", "most", "total"});
    total_row(table, "objects", caches, [](const SlabFigures &c) { return c["objects"]; });
    total_row(table, "slabs", caches, [](const SlabFigures &c) { return c["slabs"]; });
    total_row(table, "partial slabs", caches, [](const SlabFigures &c) { return c["partial"]; });
    total_row(table, "objects in partial slabs", caches,
              [](const SlabFigures &c) { return c["objects_partial"]; });
    total_row(table, "bytes", caches, bytes);
    total_row(table, "bytes used", caches, used);
    total_row(table, "bytes lost", caches, [](const SlabFigures &c) { return c.loss(); });
    total_row(table, "allocations", caches, [](const SlabFigures &c) { return c.allocations(); });
    total_row(table, "frees", caches, [](const SlabFigures &c) { return c.frees(); });
    table.print(stdout);
}

void print_slab_aliases(const std::vector<SlabFigures> &caches)
{
    for (const SlabFigures &cache : caches) {
        if (cache.aliases.empty())
            continue;
        std::printf("%-12s <- %s", cache.folder.c_str(), cache.name.c_str());
        for (const std::string &alias : cache.aliases)
            std::printf(" %s", alias.c_str());
        std::printf("\n");
    }
}

Json slab_list_json(const std::vector<SlabFigures> &caches)
{
    Json json("kmirror-slabinfo", 1);
    for (std::size_t i = 0; i < caches.size(); ++i) {
        const std::string at = "/caches/" + std::to_string(i);
        json.set(at + "/name", caches[i].name);
        json.set(at + "/folder", caches[i].folder);
        for (std::size_t k = 0; k < caches[i].aliases.size(); ++k)
            json.set(at + "/names/" + std::to_string(k), caches[i].aliases[k]);
        for (const auto &[file, figure] : caches[i].figures) {
            json.set(at + "/figures/" + file + "/total", figure.total);
            for (const auto &[who, share] : figure.shares)
                json.set(at + "/figures/" + file + "/" + who, share);
        }
    }
    return json;
}

} // namespace kmirror::command
