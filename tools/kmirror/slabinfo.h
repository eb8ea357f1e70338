// SPDX-License-Identifier: GPL-2.0-only
//
// What the parts of kmirror slabinfo hand each other.
#pragma once

#include "tools/kmirror/commands.h"
#include "tools/kmirror/json.h"
#include "tools/kmirror/slab_folder.h"

#include <memory>
#include <string>
#include <vector>

struct kmem_cache;

namespace kmirror::command {

// One line a cache: sizes and slabs, or with `activity` what happened to it.
void print_slab_list(const std::vector<SlabFigures> &caches, bool activity);

// A page a cache.
void print_slab_report(const SlabFigures &cache);

// Who allocated and who freed a cache's objects; of one that does not store it, that it does not.
void print_slab_tracking(const SlabFigures &cache);

// All caches together.
void print_slab_totals(const std::vector<SlabFigures> &caches);

// Names that share a cache.
void print_slab_aliases(const std::vector<SlabFigures> &caches);

// Schema "kmirror-slabinfo", version 1: every figure of every cache.
Json slab_list_json(const std::vector<SlabFigures> &caches);

// Every sheaf, barn and listed slab of a cache, as text or (schema "kmirror-slab-dump", version 1) as JSON.
// Returns how many counters did not agree with the lists.
long print_slab_dump(kmem_cache *cache, bool json);

// Caches under a small load that can be replayed: objects of several sizes, some freed on other CPUs, after a
// grace period, or reserved in a sheaf. They live until its end.
class SlabDemo {
public:
    explicit SlabDemo(std::uint64_t seed);
    ~SlabDemo();
    SlabDemo(const SlabDemo &) = delete;
    SlabDemo &operator=(const SlabDemo &) = delete;

private:
    struct World;
    std::unique_ptr<World> world_;
};

} // namespace kmirror::command
