// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a cache takes hardly more memory than its live objects, and keeps a bounded amount when all are
// freed: full sheaves on one CPU and in the barn, min_partial slabs on the list, one CPU's slab and chain. The
// table of slab/README.md is this test's output.

#include "slab/generation.h"

#include <cstdio>

namespace kmirror::slab_test {
namespace {

constexpr std::size_t kLive = 20000;

struct Footprint {
    double per_object; // bytes, with all that belongs to the cache, while all are live
    unsigned long slabs_kept;
    unsigned long bytes_kept;
};

unsigned long bytes_of(const Cache &cache)
{
    const slab_ops_geometry made = cache.geometry();
    const unsigned long sheaf =
        rules::kmalloc_class(rules::kSheafHeader + made.sheaf_capacity * rules::kWord);
    const unsigned long sheaves = made.sheaf_capacity ? unsigned(cache.sheaves_found()) * sheaf : 0;
    return cache.counts().slabs * (rules::kPage << made.order) + sheaves;
}

Footprint footprint(Cache &cache)
{
    Footprint found{};
    std::vector<void *> objects = cache.alloc_many(kLive);
    found.per_object = double(bytes_of(cache)) / kLive;
    cache.free(objects);
    found.slabs_kept = cache.counts().slabs;
    found.bytes_kept = bytes_of(cache);
    return found;
}

// Slabs that one CPU and its node may keep of a cache nobody uses: each object kept could be in another slab.
unsigned long most_kept(const Cache &cache)
{
    const slab_ops_geometry made = cache.geometry();
    const unsigned long sheaved = made.sheaf_capacity * (2ul + rules::kBarnFullMax);
    return sheaved + made.min_partial + made.cpu_partial_slabs + 1;
}

TEST(SlabFootprint, is_the_live_objects_and_a_bounded_rest)
{
    WITHOUT_DEBUGGING();
    std::printf("# %zu objects on one CPU of %d\n", kLive, ops().nr_cpus());
    std::printf("# %-17s %5s %17s %16s %16s\n", "generation", "size", "bytes per object", "kept slabs",
                "kept bytes");
    for (const char *generation : kGenerations)
        for (unsigned size : {184u, 256u}) {
            SCOPED_TRACE(std::string(generation) + ", size " + std::to_string(size));
            const OfGeneration chosen(generation);
            Pinned here;
            Cache cache(size, 0, 32);
            const Footprint found = footprint(cache);
            std::printf("# %-17s %5u %17.1f %16lu %16lu\n", generation, size, found.per_object,
                        found.slabs_kept, found.bytes_kept);
            EXPECT_GE(found.per_object, size);
            EXPECT_LT(found.per_object, size * 1.07);
            EXPECT_LE(found.slabs_kept, most_kept(cache));
            EXPECT_LT(found.bytes_kept, kLive * size / 10);
            EXPECT_EQ(cache.shrink(), 0);
            EXPECT_EQ(cache.counts().slabs, 0u);
        }
}

} // namespace
} // namespace kmirror::slab_test
