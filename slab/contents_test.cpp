// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: every live object is its owner's alone. No two overlap, nobody changes a byte of one, and an
// object that was asked for zeroed is zeroed, whichever way it was allocated and freed.

#include "slab/slab_test.h"

#include <algorithm>
#include <cstring>

namespace kmirror::slab_test {
namespace {

// Random operations of all kinds on one cache, with the model beside it.
class RandomWalk {
public:
    RandomWalk(Cache &cache, std::mt19937_64 &random)
        : cache_(cache), random_(random), made_(cache.geometry()),
          shadow_(made_.object_size, made_.size, made_.align)
    {
    }
    void step()
    {
        const unsigned long choice = pick(random_, 0, 11);
        if (choice <= 3)
            take(cache_.alloc());
        else if (choice == 4)
            take(cache_.alloc_node(int(pick(random_, 0, ops().nr_nodes() - 1))));
        else if (choice == 5)
            bulk_alloc();
        else if (choice == 6)
            from_sheaf();
        else if (choice <= 9)
            free_some(pick(random_, 1, 3));
        else if (choice == 10)
            bulk_free();
        else
            free_some(pick(random_, 1, 60));
    }
    void finish()
    {
        while (!live_.empty())
            free_some(live_.size());
        EXPECT_EQ(shadow_.size(), 0u);
    }
    void check() const { EXPECT_EQ(shadow_.check(), ""); }

private:
    void take(void *object)
    {
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(shadow_.add(object), "");
        live_.push_back(object);
    }
    void *drop()
    {
        std::swap(live_[pick(random_, 0, live_.size() - 1)], live_.back());
        void *object = live_.back();
        live_.pop_back();
        EXPECT_EQ(shadow_.remove(object), "");
        return object;
    }
    void free_some(unsigned long n)
    {
        for (; n && !live_.empty(); n--)
            cache_.free(drop());
    }
    void bulk_alloc()
    {
        void *objects[100];
        const unsigned long n = pick(random_, 1, 100);
        ASSERT_TRUE(cache_.alloc_bulk(n, objects));
        for (unsigned long i = 0; i < n; i++)
            take(objects[i]);
    }
    void bulk_free()
    {
        void *objects[100];
        const unsigned long n = std::min<unsigned long>(pick(random_, 1, 100), live_.size());
        for (unsigned long i = 0; i < n; i++)
            objects[i] = drop();
        if (n)
            ops().free_bulk(pick(random_, 0, 1) ? static_cast<slab_ops_cache *>(cache_) : nullptr, n,
                            objects);
    }
    void from_sheaf()
    {
        const unsigned n = unsigned(pick(random_, 1, std::max(2 * made_.sheaf_capacity, 40u)));
        slab_ops_sheaf *sheaf = ops().prefill(cache_, SLAB_OPS_KERNEL, n);
        ASSERT_NE(sheaf, nullptr);
        for (unsigned i = unsigned(pick(random_, 0, n)); i < n; i++)
            take(ops().alloc_from_sheaf(cache_, SLAB_OPS_KERNEL, sheaf));
        ops().return_sheaf(cache_, SLAB_OPS_KERNEL, sheaf);
    }

    Cache &cache_;
    std::mt19937_64 &random_;
    slab_ops_geometry made_;
    Shadow shadow_;
    std::vector<void *> live_;
};

void walk(Cache &cache, int steps)
{
    KMIRROR_RANDOM(random);
    RandomWalk walk(cache, random);
    for (int i = 0; i < steps; i++) {
        walk.step();
        if (i % 50 == 0) {
            walk.check();
            cache.verify();
        }
        if (::testing::Test::HasFailure())
            break;
    }
    walk.finish();
}

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
