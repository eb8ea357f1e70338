// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a node keeps min_partial slabs and gives further empty ones back at once; shrink gives back every
// empty slab and puts the fullest first, so that the emptiest have a chance to become free.

#include "slab/slab_test.h"

namespace kmirror::slab_test {
namespace {

// Caches whose every operation goes to the slabs: what happens is then countable.
class SlabShrink : public ::testing::Test {
protected:
    SlabShrink() : before(ops().set_sheaf_capacity(0)), cache(256), per_slab(cache.geometry().objects) {}
    ~SlabShrink() override { ops().set_sheaf_capacity(before); }

    std::uintptr_t slab_of(const void *object) const
    {
        return reinterpret_cast<std::uintptr_t>(object) / (rules::kPage << cache.geometry().order);
    }
    // Objects of `n` full slabs, slab after slab.
    std::vector<std::vector<void *>> full_slabs(unsigned n)
    {
        std::vector<std::vector<void *>> slabs;
        for (unsigned i = 0; i < n; i++) {
            slabs.push_back(cache.alloc_many(per_slab));
            for (void *object : slabs.back())
                EXPECT_EQ(slab_of(object), slab_of(slabs.back().front()));
        }
        return slabs;
    }

    Pinned here;
    int before;
    Cache cache;
    unsigned per_slab;
};

TEST_F(SlabShrink, a_slab_emptied_object_by_object_counts_itself_among_the_min_partial)
{
    SHEAVES_ONLY();
    ops().set_min_partial(cache, 5);
    auto slabs = full_slabs(8);
    for (unsigned i = 0; i < 8; i++) {
        cache.free(slabs[i]);
        EXPECT_EQ(cache.counts().partial_slabs, std::min(i + 1, 4u)) << "after emptying " << i + 1;
        EXPECT_EQ(cache.counts().slabs, 7 - i + std::min(i + 1, 4u));
    }
    EXPECT_STAT(cache, "free_remove_partial", 4);
    EXPECT_STAT(cache, "free_slab", 4);
}

TEST_F(SlabShrink, a_slab_emptied_in_one_free_finds_min_partial_others)
{
    SHEAVES_ONLY();
    ops().set_min_partial(cache, 5);
    auto slabs = full_slabs(8);
    for (unsigned i = 0; i < 8; i++) {
        cache.free_bulk(per_slab, slabs[i].data());
        EXPECT_EQ(cache.counts().partial_slabs, std::min(i + 1, 5u)) << "after emptying " << i + 1;
    }
    EXPECT_STAT(cache, "free_slab", 3);
    EXPECT_STAT(cache, "free_remove_partial", 0) << "they never were on the list";
    EXPECT_STAT(cache, "free_add_partial", 5);
}

TEST_F(SlabShrink, min_partial_of_0_keeps_nothing)
{
    SHEAVES_ONLY();
    ops().set_min_partial(cache, 0);
    auto slabs = full_slabs(3);
    for (auto &slab : slabs)
        cache.free(slab);
    EXPECT_EQ(cache.counts().slabs, 0u);
}

TEST_F(SlabShrink, counts_every_list_move_exactly)
{
    SHEAVES_ONLY();
    ops().set_min_partial(cache, 5);
    cache.clear_stats();
    auto slabs = full_slabs(8);
    EXPECT_STAT(cache, "alloc_slab", 8);
    EXPECT_STAT(cache, "alloc_slowpath", long(8 * per_slab));
    for (auto &slab : slabs)
        cache.free(slab.front());
    EXPECT_STAT(cache, "free_add_partial", 8) << "each was full";
    EXPECT_STAT(cache, "free_slowpath", 8);
    EXPECT_EQ(cache.counts().partial_slabs, 8u);
    for (auto &slab : slabs)
        slab.front() = cache.alloc();
    EXPECT_EQ(cache.counts().partial_slabs, 0u);
    EXPECT_STAT(cache, "alloc_slab", 8) << "the list served them";
    for (auto &slab : slabs)
        cache.free(slab);
}

TEST_F(SlabShrink, gives_back_every_empty_slab_and_says_whether_any_is_left)
{
    auto slabs = full_slabs(4);
    for (unsigned i = 1; i < 4; i++)
        cache.free(slabs[i]);
    ASSERT_GT(cache.counts().slabs, 1u);
    EXPECT_EQ(cache.shrink(), 1);
    EXPECT_EQ(cache.counts().slabs, 1u);
    cache.free(slabs[0]);
    EXPECT_EQ(cache.shrink(), 0);
    EXPECT_EQ(cache.counts().slabs, 0u);
}

TEST_F(SlabShrink, puts_the_fullest_slab_first)
{
    SHEAVES_ONLY();
    auto slabs = full_slabs(5);
    const unsigned keep[] = {3, 12, 1, 7, 15};
    for (unsigned i = 0; i < 5; i++)
        while (slabs[i].size() > std::min(keep[i], per_slab - 1)) {
            cache.free(slabs[i].back());
            slabs[i].pop_back();
        }
    EXPECT_EQ(cache.shrink(), 1);
    for (unsigned i : {4u, 1u, 3u, 0u, 2u})
        while (slabs[i].size() < per_slab) {
            void *object = cache.alloc();
            ASSERT_EQ(slab_of(object), slab_of(slabs[i].front())) << "slab " << i << " should be filled now";
            slabs[i].push_back(object);
        }
    for (auto &slab : slabs)
        cache.free(slab);
}

TEST(SlabShrinkSheaves, empties_what_all_cpus_and_barns_hold)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Cache cache(128);
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu++) {
        Pinned there(cpu);
        cache.free(cache.alloc_many(300));
        EXPECT_GT(cache.sheaves(cpu).main, 0);
    }
    EXPECT_EQ(cache.shrink(), 0);
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu++) {
        EXPECT_EQ(cache.sheaves(cpu).main, 0);
        EXPECT_EQ(cache.sheaves(cpu).spare, -1);
    }
    EXPECT_EQ(cache.counts().slabs, 0u);
    EXPECT_EQ(cache.counts().barn_full + cache.counts().barn_empty, 0u);
}

TEST(SlabShrinkSheaves, keeps_what_is_in_use)
{
    Cache cache(128);
    const slab_ops_geometry made = cache.geometry();
    Shadow shadow(128, made.size, made.align);
    std::vector<void *> objects = cache.alloc_many(1000);
    for (void *object : objects)
        EXPECT_EQ(shadow.add(object), "");
    for (std::size_t i = 0; i < objects.size(); i += 2) {
        EXPECT_EQ(shadow.remove(objects[i]), "");
        cache.free(objects[i]);
    }
    EXPECT_EQ(cache.shrink(), 1);
    EXPECT_EQ(cache.counts().used_objects, 500u);
    EXPECT_EQ(shadow.check(), "");
    for (std::size_t i = 1; i < objects.size(); i += 2)
        cache.free(objects[i]);
}

} // namespace
} // namespace kmirror::slab_test
