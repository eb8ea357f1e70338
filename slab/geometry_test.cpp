// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a cache has the object layout, slab order, object count, sheaf capacity and min_partial that the
// kernel's rules give its size on a machine with that many CPUs.

#include "slab/slab_test.h"

namespace kmirror::slab_test {
namespace {

void construct(void *) {}

// The machine's CPU count as slab sizing sees it.
unsigned cpus() { return unsigned(ops().nr_cpus()); }

std::string text_of(const slab_ops_cache_args &args)
{
    return "size " + std::to_string(args.size) + " align " + std::to_string(args.align) + " flags " +
           std::to_string(args.flags) + (args.ctor ? " ctor" : "") + " sheaf " +
           std::to_string(args.sheaf_capacity) +
           (args.use_freeptr_offset ? " link at " + std::to_string(args.freeptr_offset) : "") + " on " +
           std::to_string(cpus()) + " CPUs";
}

void expect_geometry(const slab_ops_cache_args &args)
{
    SCOPED_TRACE(text_of(args));
    Cache cache(args);
    if (!cache)
        return;
    const slab_ops_geometry made = cache.geometry();
    const rules::Layout layout = rules::layout(args);
    EXPECT_EQ(made.object_size, args.size);
    EXPECT_EQ(made.align, layout.align);
    EXPECT_EQ(made.inuse, layout.inuse);
    EXPECT_EQ(made.freeptr_offset, layout.offset);
    EXPECT_EQ(made.size, layout.size);
    EXPECT_EQ(made.order, rules::slab_order(layout.size, cpus()));
    EXPECT_EQ(made.objects, rules::objects_in(made.order, layout.size));
    EXPECT_EQ(made.min_order, rules::order_of(layout.size));
    EXPECT_EQ(made.min_partial, rules::min_partial(layout.size));
    EXPECT_EQ(made.sheaf_capacity, generation_is("sheaves")
                                       ? rules::sheaf_capacity(layout.size, args.sheaf_capacity)
                                   : generation_is("cpu-slab") ? 0
                                                               : args.sheaf_capacity);
}

// The sizes at which a rule changes, and what lies on both sides of them.
std::vector<unsigned> edge_sizes()
{
    std::vector<unsigned> sizes;
    for (unsigned size : {8u,     16u,    32u,    64u,    96u,     128u,     192u,    256u,  512u,
                          680u,   1024u,  1360u,  2048u,  2728u,   4096u,    5000u,   8192u, 10000u,
                          16384u, 20000u, 32768u, 65536u, 100000u, 1u << 20, 4u << 20})
        for (unsigned near : {size - 1, size, size + 1})
            if (near <= 4u << 20)
                sizes.push_back(near);
    return sizes;
}

void expect_edge_geometries()
{
    for (unsigned size : edge_sizes())
        expect_geometry(args_of(size));
}

TEST(SlabGeometry, follows_the_kernels_rules_for_every_small_size)
{
    WITHOUT_DEBUGGING();
    for (unsigned size = 1; size <= 300; size += size < 72 ? 1 : 7)
        expect_geometry(args_of(size));
}

TEST(SlabGeometry, follows_the_kernels_rules_around_every_edge)
{
    WITHOUT_DEBUGGING();
    expect_edge_geometries();
}

TEST(SlabGeometry, follows_the_kernels_rules_for_random_arguments)
{
    WITHOUT_DEBUGGING();
    KMIRROR_RANDOM(random);
    for (int i = 0; i < 150; i++) {
        slab_ops_cache_args args = args_of(unsigned(pick(random, 1, pick(random, 0, 1) ? 400 : 20000)));
        args.align = pick(random, 0, 2) ? 0 : 1u << pick(random, 0, 9);
        if (pick(random, 0, 1))
            args.flags |= SLAB_OPS_HWCACHE_ALIGN;
        if (pick(random, 0, 1))
            args.flags |= SLAB_OPS_TYPESAFE_BY_RCU;
        if (pick(random, 0, 1))
            args.flags |= SLAB_OPS_RECLAIM_ACCOUNT;
        args.ctor = pick(random, 0, 1) ? construct : nullptr;
        args.sheaf_capacity = pick(random, 0, 2) ? 0 : unsigned(pick(random, 1, 100));
        const bool may_place_link = (args.flags & SLAB_OPS_TYPESAFE_BY_RCU) || args.ctor;
        if (may_place_link && args.size >= 8 && pick(random, 0, 1)) {
            args.use_freeptr_offset = true;
            args.freeptr_offset = unsigned(pick(random, 0, args.size / 8 - 1)) * 8;
        }
        expect_geometry(args);
    }
}

KMIRROR_TEST_IN(SlabGeometry, follows_the_kernels_rules_on_1_cpu, "KMIRROR_MACHINE=pack:1 core:1 pu:1")
{
    WITHOUT_DEBUGGING();
    ASSERT_EQ(cpus(), 1u);
    expect_edge_geometries();
}

KMIRROR_TEST_IN(SlabGeometry, follows_the_kernels_rules_on_8_cpus, "KMIRROR_MACHINE=pack:1 core:8 pu:1")
{
    WITHOUT_DEBUGGING();
    ASSERT_EQ(cpus(), 8u);
    expect_edge_geometries();
}

KMIRROR_TEST_IN(SlabGeometry, follows_the_kernels_rules_on_192_cpus,
                "KMIRROR_MACHINE=pack:2 numa:2 core:24 pu:2")
{
    WITHOUT_DEBUGGING();
    ASSERT_EQ(cpus(), 192u);
    for (unsigned size : {8u, 64u, 100u, 256u, 1000u, 4096u, 9000u, 40000u})
        expect_geometry(args_of(size));
}

TEST(SlabGeometry, fills_a_slab_with_as_many_objects_as_it_says)
{
    Pinned here;
    for (unsigned size : {16u, 100u, 256u, 1000u, 3000u}) {
        Cache cache(size);
        const slab_ops_geometry made = cache.geometry();
        Shadow shadow(size, made.size, made.align);
        std::vector<void *> objects = cache.alloc_many(3 * made.objects);
        for (void *object : objects)
            EXPECT_EQ(shadow.add(object), "");
        const slab_ops_counts counts = cache.counts();
        EXPECT_EQ(counts.total_objects, counts.slabs * made.objects);
        EXPECT_GE(counts.used_objects, objects.size());
        EXPECT_LE(counts.used_objects, counts.total_objects);
        cache.free(objects);
    }
}

TEST(SlabGeometry, keeps_256_byte_objects_aligned_to_256)
{
    slab_ops_cache_args args = args_of(256, 0, 32);
    args.align = 256;
    Cache cache(args);
    std::vector<void *> objects = cache.alloc_many(200);
    for (void *object : objects)
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object) % 256, 0u);
    cache.free(objects);
}

} // namespace
} // namespace kmirror::slab_test
