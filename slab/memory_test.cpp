// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: when memory really runs out, allocations fail cleanly at every layer, smaller slabs are tried
// before giving up, and all of it can be allocated again once it was freed. Emergency memory never serves
// ordinary requests.

#include "slab/failing.h"

#include <kmirror/pages.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

namespace kmirror::slab_test {
namespace {

#define SMALL_MACHINE "KMIRROR_MACHINE=pack:1 core:2 pu:1", "KMIRROR_MEM=16M"

unsigned long free_pages_of_all()
{
    kmirror_drain_pages();
    unsigned long pages = 0;
    for (int node = 0; node < ops().nr_nodes(); node++) {
        kmirror_page_counts found;
        if (kmirror_node_pages(node, &found) == 0)
            pages += found.free;
    }
    return pages;
}

// Everything there is, without a word about its end.
std::vector<void *> alloc_all(Cache &cache, unsigned gfp = SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN)
{
    std::vector<void *> objects;
    while (void *object = cache.alloc(gfp))
        objects.push_back(object);
    return objects;
}

KMIRROR_TEST_IN(SlabMemory, that_ran_out_can_be_allocated_again, SMALL_MACHINE)
{
    Pinned here;
    Cache cache(1000);
    std::size_t first = 0;
    for (int round = 0; round < 3; round++) {
        const std::vector<void *> objects = alloc_all(cache);
        EXPECT_GT(objects.size() * 1024, 12u << 20) << "most of 16 MiB";
        cache.verify();
        if (round == 0)
            first = objects.size();
        EXPECT_NEAR(double(objects.size()), double(first), 64.0);
        cache.free(objects);
        cache.verify();
        EXPECT_EQ(cache.shrink(), 0);
    }
}

KMIRROR_TEST_IN(SlabMemory, is_all_back_after_destruction, SMALL_MACHINE)
{
    ops().kfree(ops().kmalloc(8, SLAB_OPS_KERNEL)); // the allocator has started
    const unsigned long before = free_pages_of_all();
    for (int round = 0; round < 3; round++) {
        Cache cache(700);
        cache.free(alloc_all(cache));
    }
    rcu_barrier();
    const unsigned long after = free_pages_of_all();
    EXPECT_GE(after + 64, before) << "only size classes may have grown, by their sheaves";
}

KMIRROR_TEST_IN(SlabMemory, gone_makes_bulk_and_prefill_fail_whole, SMALL_MACHINE)
{
    Pinned here;
    Cache hog(4096), cache(256, 0, 32);
    const std::vector<void *> hogged = alloc_all(hog);
    std::vector<void *> objects(5000);
    EXPECT_FALSE(cache.alloc_bulk(objects.size(), objects.data(), SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN));
    EXPECT_EQ(ops().prefill(cache, SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN, 5000), nullptr);
    cache.verify();
    EXPECT_EQ(live_objects(cache), 0);
    hog.free(hogged);
    EXPECT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
    cache.free_bulk(objects.size(), objects.data());
}

KMIRROR_TEST_IN(SlabMemory, gone_still_lets_objects_be_freed_in_every_way, SMALL_MACHINE)
{
    Pinned here;
    Cache cache(256, 0, 32), hog(4096);
    std::vector<void *> objects = cache.alloc_many(3000);
    const std::vector<void *> hogged = alloc_all(hog);
    std::vector<void *> small;
    while (void *object = ops().kmalloc(512, SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN)) // sheaves live in this class
        small.push_back(object);
    for (int i = 0; i < 1000; i++)
        cache.free(objects[i]);
    for (int i = 1000; i < 2000; i++)
        ops().free_rcu(objects[i], 64);
    cache.free_bulk(1000, &objects[2000]);
    ops().free_rcu_barrier();
    EXPECT_EQ(live_objects(cache), 0);
    cache.verify();
    for (void *object : small)
        ops().kfree(object);
    hog.free(hogged);
}

KMIRROR_TEST_IN(SlabMemory, in_single_pages_is_used_for_smaller_slabs, "KMIRROR_MACHINE=pack:1 core:8 pu:1",
                "KMIRROR_MEM=16M")
{
    Pinned here;
    Cache cache(256, 0, 32);
    ASSERT_GT(cache.geometry().order, 0u);
    std::vector<void *> pages;
    while (page *one = alloc_frozen_pages(GFP_NOWAIT | __GFP_MEMALLOC | __GFP_NOWARN, 0)) // the reserves too
        pages.push_back(one);
    for (std::size_t i = 0; i < pages.size(); i += 2)
        free_frozen_pages(static_cast<page *>(pages[i]), 0);
    const std::vector<void *> objects = cache.alloc_many(2000, SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN);
    if (KMIRROR_STATS) {
        EXPECT_GT(cache.stat("order_fallback"), 0);
    }
    EXPECT_LT(cache.counts().total_objects, cache.counts().slabs * cache.geometry().objects);
    cache.verify();
    cache.free(objects);
    cache.verify();
    for (std::size_t i = 1; i < pages.size(); i += 2)
        free_frozen_pages(static_cast<page *>(pages[i]), 0);
}

KMIRROR_TEST_IN(SlabMemory, that_ran_out_is_reported_unless_told_not_to, SMALL_MACHINE)
{
    Cache hog(4096);
    const std::vector<void *> objects = alloc_all(hog);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(hog.alloc(SLAB_OPS_NOWAIT), nullptr) << "GFP_NOWAIT holds __GFP_NOWARN";
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(hog.alloc(SLAB_OPS_KERNEL), nullptr);
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("SLUB: Unable to allocate memory"),
              std::string::npos);
    hog.free(objects);
}

// ---- emergency memory -------------------------------------------------------------------------------

class Emergency {
public:
    // A cache whose next slab comes from the reserves.
    Emergency() : hog_(4096), cache_(256, 0, 32) { hogged_ = alloc_all(hog_); }
    ~Emergency() { hog_.free(hogged_); }

    Cache &cache() { return cache_; }
    // An object of a slab that only privileged requests may use; NULL: there are no reserves.
    void *alloc_reserve() { return cache_.alloc(SLAB_OPS_NOWAIT | SLAB_OPS_MEMALLOC | SLAB_OPS_NOWARN); }

private:
    Cache hog_, cache_;
    std::vector<void *> hogged_;
};

KMIRROR_TEST_IN(SlabReserve, objects_do_not_enter_a_sheaf_when_freed, SMALL_MACHINE)
{
    SHEAVES_ONLY();
    Pinned here;
    Emergency world;
    void *object = world.alloc_reserve();
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(world.cache().alloc(SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN), nullptr)
        << "the rest of that slab is for privileged requests";
    const int before = world.cache().sheaves(ops().cpu()).main;
    world.cache().free(object);
    EXPECT_EQ(world.cache().sheaves(ops().cpu()).main, before);
    EXPECT_EQ(world.cache().alloc(SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN), nullptr);
    world.cache().verify();
}

KMIRROR_TEST_IN(SlabReserve, objects_send_their_whole_rcu_sheaf_to_the_slabs, SMALL_MACHINE)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    Pinned here;
    Cache hog(4096), cache(256, 0, 32);
    std::vector<void *> objects = cache.alloc_many(32); // leaves an empty spare for kfree_rcu
    const std::vector<void *> hogged = alloc_all(hog);
    void *reserve = nullptr;
    for (int i = 0; i < 64 && !reserve; i++) {
        void *object = cache.alloc(SLAB_OPS_NOWAIT | SLAB_OPS_MEMALLOC | SLAB_OPS_NOWARN);
        ASSERT_NE(object, nullptr);
        reserve = object;
    }
    ops().free_rcu(reserve, 64);
    for (int i = 0; i < 31; i++)
        ops().free_rcu(objects[i], 64);
    rcu_barrier();
    EXPECT_EQ(cache.counts().barn_full, 0u) << "emergency memory must not be kept";
    EXPECT_STAT(cache, "barn_put_fail", 1);
    cache.free(objects[31]);
    hog.free(hogged);
}

KMIRROR_TEST_IN(SlabReserve, sheaf_filled_from_it_is_flushed_on_return, SMALL_MACHINE)
{
    SHEAVES_ONLY();
    Pinned here;
    Emergency world;
    Cache &cache = world.cache();
    slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_NOWAIT | SLAB_OPS_MEMALLOC | SLAB_OPS_NOWARN, 5);
    ASSERT_NE(sheaf, nullptr);
    void *object = ops().alloc_from_sheaf(cache, SLAB_OPS_NOWAIT, sheaf);
    ops().return_sheaf(cache, SLAB_OPS_NOWAIT, sheaf);
    EXPECT_EQ(cache.sheaves(ops().cpu()).spare, -1);
    EXPECT_EQ(cache.counts().barn_full, 0u);
    EXPECT_EQ(cache.counts().used_objects, 1u);
    cache.free(object);
}

KMIRROR_TEST_IN(SlabReserve, is_open_to_a_task_that_frees_memory, SMALL_MACHINE)
{
    Pinned here;
    Emergency world;
    Cache &cache = world.cache();
    EXPECT_EQ(cache.alloc(SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN), nullptr);
    task_struct *task = kmirror::current_task();
    task->flags |= PF_MEMALLOC;
    void *object = cache.alloc(SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN);
    EXPECT_NE(object, nullptr);
    EXPECT_EQ(ops().prefill(cache, SLAB_OPS_NOWAIT | SLAB_OPS_NOMEMALLOC | SLAB_OPS_NOWARN, 100), nullptr);
    task->flags &= ~PF_MEMALLOC;
    if (object)
        cache.free(object);
}

} // namespace
} // namespace kmirror::slab_test
