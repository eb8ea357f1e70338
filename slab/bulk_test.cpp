// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a bulk allocation hands out all it was asked for, each object once, or nothing; a bulk free takes
// any objects of one cache, or of any caches, in any order, from an array that it may reorder.

#include "slab/slab_test.h"

#include <algorithm>

namespace kmirror::slab_test {
namespace {

TEST(SlabBulk, hands_out_each_object_once)
{
    for (unsigned size : {16u, 256u, 2000u}) {
        Cache cache(size);
        const slab_ops_geometry made = cache.geometry();
        for (std::size_t n : {1u, 2u, 16u, 64u, 200u, 1000u}) {
            Shadow shadow(size, made.size, made.align);
            std::vector<void *> objects(n);
            ASSERT_TRUE(cache.alloc_bulk(n, objects.data()));
            for (void *object : objects)
                EXPECT_EQ(shadow.add(object), "");
            for (void *object : objects)
                EXPECT_EQ(shadow.remove(object), "");
            cache.free_bulk(n, objects.data());
            cache.verify();
        }
    }
}

TEST(SlabBulk, empties_sheaf_and_barn_before_it_takes_new_slabs)
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    Pinned here;
    Cache cache(256, 0, 32);
    cache.free(cache.alloc_many(32 * 6));
    const slab_ops_counts before = cache.counts();
    ASSERT_GT(before.barn_full, 0u);
    std::vector<void *> objects(32 * 6);
    ASSERT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
    EXPECT_EQ(cache.counts().slabs, before.slabs);
    EXPECT_EQ(cache.counts().barn_full, 0u);
    cache.free_bulk(objects.size(), objects.data());
}

TEST(SlabBulk, of_nothing_is_false_and_changes_nothing)
{
    Cache cache(64);
    void *untouched = &cache;
    EXPECT_FALSE(cache.alloc_bulk(0, &untouched));
    EXPECT_EQ(untouched, &cache);
    EXPECT_EQ(cache.counts().slabs, 0u);
    cache.free_bulk(0, &untouched);
    EXPECT_EQ(cache.counts().slabs, 0u);
}

TEST(SlabBulk, frees_in_any_order)
{
    KMIRROR_RANDOM(random);
    Cache cache(96);
    std::vector<void *> objects(2000);
    ASSERT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
    std::shuffle(objects.begin(), objects.end(), random);
    for (std::size_t done = 0; done < objects.size();) {
        const std::size_t n = std::min<std::size_t>(pick(random, 1, 300), objects.size() - done);
        cache.free_bulk(n, objects.data() + done);
        done += n;
        cache.verify();
    }
}

TEST(SlabBulk, frees_an_array_that_lives_in_one_of_the_objects)
{
    Cache cache(256, 0, 32);
    std::vector<void *> objects(16);
    ASSERT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
    // As the maple tree frees a dead parent: its slots name the children, and it goes right after.
    auto **inside = static_cast<void **>(objects.back());
    objects.pop_back();
    std::copy(objects.begin(), objects.end(), inside);
    cache.free_bulk(objects.size(), inside);
    cache.free(inside);
}

TEST(SlabBulk, frees_objects_of_several_caches_without_being_told_which)
{
    Cache small(40), large(900), typesafe(72, SLAB_OPS_TYPESAFE_BY_RCU);
    std::vector<void *> objects;
    for (int i = 0; i < 100; i++)
        for (Cache *cache : {&small, &large, &typesafe})
            objects.push_back(cache->alloc());
    ops().free_bulk(nullptr, objects.size(), objects.data());
    for (Cache *cache : {&small, &large, &typesafe})
        cache->verify();
}

TEST(SlabBulk, counts_sheaf_objects_as_fast_and_slab_objects_as_slow)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Pinned here;
    Cache cache(256, 0, 32);
    cache.free(cache.alloc_many(32)); // main holds 32, spare nothing
    ASSERT_EQ(cache.sheaves(ops().cpu()).main, 32);
    cache.clear_stats();
    std::vector<void *> objects(100);
    ASSERT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
    EXPECT_STAT(cache, "alloc_fastpath", 32);
    EXPECT_STAT(cache, "alloc_slowpath", 68);
    EXPECT_STAT(cache, "barn_get_fail", 1);
    EXPECT_STAT(cache, "sheaf_refill", 0) << "bulk takes slab objects straight, not through a sheaf";
    cache.free_bulk(objects.size(), objects.data());
    // main and spare take 64; then there is no empty sheaf in the barn, and bulk makes none.
    EXPECT_STAT(cache, "free_fastpath", 64);
    EXPECT_STAT(cache, "free_slowpath", 36);
    EXPECT_STAT(cache, "barn_put_fail", 1);
}

// Under the address sanitizer the free hook withholds an object that is free already: here those that lie in
// the CPU's main sheaf.
TEST(SlabBulk, takes_what_is_withheld_as_not_freed)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    if (!KMIRROR_ASAN)
        GTEST_SKIP() << "no free is withheld";
    for (bool told : {true, false}) {
        SCOPED_TRACE(told ? "of a named cache" : "of any caches");
        Pinned here;
        Cache cache(256, 0, 32);
        std::vector<void *> objects(30), free_already;
        ASSERT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
        for (std::size_t i = 0; i < objects.size(); i += 3) {
            free_already.push_back(objects[i]);
            cache.free(objects[i]);
        }
        {
            const kmirror::testing::ExpectWarnings ten(10);
            slab_ops_cache *named = told ? static_cast<slab_ops_cache *>(cache) : nullptr;
            ops().free_bulk(named, objects.size(), objects.data());
        }
        EXPECT_EQ(cache.sheaves(ops().cpu()).main, told ? 30 : 10);
        EXPECT_EQ(cache.counts().used_objects, told ? 30u : 10u);
        cache.verify();
        {
            const kmirror::testing::ExpectWarnings all(10);
            ops().free_bulk(nullptr, free_already.size(), free_already.data());
        }
        EXPECT_EQ(cache.counts().used_objects, told ? 30u : 10u);
        cache.verify();
    }
}

} // namespace
} // namespace kmirror::slab_test
