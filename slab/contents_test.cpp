// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: every live object is its owner's alone. No two overlap, nobody changes a byte of one, and an
// object that was asked for zeroed is zeroed, whichever way it was allocated and freed.

#include "slab/random_walk.h"

#include <algorithm>
#include <cstring>

namespace kmirror::slab_test {
namespace {

TEST(SlabContents, are_kept_under_random_operations_on_small_objects)
{
    for (unsigned size : {1u, 8u, 24u, 64u, 100u}) {
        SCOPED_TRACE("size " + std::to_string(size));
        Cache cache(size);
        walk(cache, 400);
    }
}

TEST(SlabContents, are_kept_under_random_operations_on_large_objects)
{
    for (unsigned size : {256u, 700u, 1024u, 5000u, 9000u}) {
        SCOPED_TRACE("size " + std::to_string(size));
        Cache cache(size);
        walk(cache, 120);
    }
}

TEST(SlabContents, are_kept_in_a_typesafe_cache_and_in_one_of_aligned_objects)
{
    Cache typesafe(80, SLAB_OPS_TYPESAFE_BY_RCU);
    walk(typesafe, 200);
    slab_ops_cache_args args = args_of(80, SLAB_OPS_HWCACHE_ALIGN);
    args.align = 128;
    Cache aligned(args);
    walk(aligned, 200);
}

KMIRROR_TEST_IN(SlabContents, are_kept_on_a_machine_of_four_nodes,
                "KMIRROR_MACHINE=pack:2 numa:2 core:2 pu:1")
{
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu += 3) {
        Pinned here(cpu);
        Cache cache(120);
        walk(cache, 200);
    }
}

// ---- zeroing ----------------------------------------------------------------------------------------

bool all_zero(const void *object, std::size_t bytes)
{
    const auto *at = static_cast<const unsigned char *>(object);
    return std::all_of(at, at + bytes, [](unsigned char byte) { return byte == 0; });
}

// Leaves behind enough dirty free objects for any way of allocating.
void make_dirty(Cache &cache, std::size_t n)
{
    std::vector<void *> objects = cache.alloc_many(n);
    for (void *object : objects)
        std::memset(object, 0xa5, cache.geometry().object_size);
    cache.free(objects);
}

TEST(SlabZeroing, clears_objects_allocated_one_by_one)
{
    for (unsigned size : {8u, 20u, 256u, 3000u}) {
        Cache cache(size);
        make_dirty(cache, 100);
        std::vector<void *> objects = cache.alloc_many(150, SLAB_OPS_ZERO);
        for (void *object : objects)
            EXPECT_TRUE(all_zero(object, size)) << size;
        cache.free(objects);
        make_dirty(cache, 100);
        void *object = cache.alloc_node(0, SLAB_OPS_ZERO);
        EXPECT_TRUE(all_zero(object, size)) << size;
        cache.free(object);
    }
}

TEST(SlabZeroing, clears_objects_allocated_in_bulk_and_from_a_sheaf)
{
    Cache cache(200);
    make_dirty(cache, 200);
    void *objects[160];
    ASSERT_TRUE(cache.alloc_bulk(160, objects, SLAB_OPS_ZERO));
    for (void *object : objects)
        EXPECT_TRUE(all_zero(object, 200));
    cache.free_bulk(160, objects);
    make_dirty(cache, 200);
    slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, 20);
    ASSERT_NE(sheaf, nullptr);
    void *object = ops().alloc_from_sheaf(cache, SLAB_OPS_ZERO, sheaf);
    EXPECT_TRUE(all_zero(object, 200));
    ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
    cache.free(object);
}

TEST(SlabZeroing, is_not_done_for_who_did_not_ask)
{
    Pinned here;
    Cache cache(64, SLAB_OPS_TYPESAFE_BY_RCU);
    auto *object = static_cast<unsigned char *>(cache.alloc());
    std::memset(object, 0x5a, 64);
    cache.free(object);
    EXPECT_EQ(cache.alloc(), object) << "a sheaf gives back what was freed last";
    EXPECT_TRUE(std::all_of(object, object + 64, [](unsigned char byte) { return byte == 0x5a; }));
    cache.free(object);
}

} // namespace
} // namespace kmirror::slab_test
