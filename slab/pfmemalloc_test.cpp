// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: objects on pages from the emergency reserves are for those who are let into the reserves, by each
// way an object can be asked for, and no way of freeing one puts it where others take from.

#include "slab/slab_test.h"

#include <linux/gfp.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "lib/slub/sheaf.h"
#include "lib/slub/slab.h"

namespace kmirror::slab_test {
namespace {

#define SMALL_MACHINE "KMIRROR_MACHINE=pack:1 core:2 pu:1", "KMIRROR_MEM=16M"

constexpr unsigned kOrdinary = SLAB_OPS_NOWAIT | SLAB_OPS_NOWARN;
constexpr unsigned kEntitled = kOrdinary | SLAB_OPS_MEMALLOC;

bool from_reserve(void *object)
{
    return kmirror::slub::slab_test_pfmemalloc(kmirror::slub::slab_of_object(object));
}

// Ordinary memory is used up; the cache has one slab, from the reserves, with one object taken.
class Emergency {
public:
    Emergency() : hog_(4096), cache_(256, 0, 32)
    {
        while (void *object = hog_.alloc(kOrdinary))
            hogged_.push_back(object);
        reserve = cache_.alloc(kEntitled);
        EXPECT_TRUE(reserve && from_reserve(reserve));
    }
    ~Emergency()
    {
        cache_.free(reserve);
        hog_.free(hogged_);
    }

    Cache &cache() { return cache_; }
    // One object of ordinary memory becomes free, and with it a page.
    void relieve()
    {
        for (int i = 0; i < 64; i++) {
            hog_.free(hogged_.back());
            hogged_.pop_back();
        }
        hog_.shrink();
    }

    void *reserve = nullptr;

private:
    Cache hog_, cache_;
    std::vector<void *> hogged_;
};

KMIRROR_TEST_IN(SlabPfmemalloc, objects_are_refused_to_ordinary_requests_of_every_kind, SMALL_MACHINE)
{
    WITHOUT_CPU_SLABS();
    Pinned here;
    Emergency world;
    Cache &cache = world.cache();
    void *bulk[2];
    EXPECT_EQ(cache.alloc(kOrdinary), nullptr);
    EXPECT_EQ(cache.alloc_node(0, kOrdinary), nullptr);
    EXPECT_FALSE(cache.alloc_bulk(2, bulk, kOrdinary));
    EXPECT_EQ(ops().prefill(cache, kOrdinary, 2), nullptr);
    EXPECT_EQ(ops().prefill(cache, kOrdinary, 40), nullptr);
    EXPECT_EQ(cache.alloc(kEntitled | SLAB_OPS_NOMEMALLOC), nullptr) << "one bit takes away what the other gives";
    task_struct *task = kmirror::current_task();
    task->flags |= PF_MEMALLOC;
    EXPECT_EQ(cache.alloc(kOrdinary | SLAB_OPS_NOMEMALLOC), nullptr);
    task->flags &= ~PF_MEMALLOC;
    EXPECT_EQ(cache.counts().slabs, 1u);
}

KMIRROR_TEST_IN(SlabPfmemalloc, objects_are_given_to_entitled_requests_of_every_kind, SMALL_MACHINE)
{
    WITHOUT_CPU_SLABS();
    Pinned here;
    Emergency world;
    Cache &cache = world.cache();
    std::vector<void *> objects(3);
    ASSERT_TRUE(cache.alloc_bulk(2, objects.data(), kEntitled));
    const unsigned before = memalloc_noreclaim_save();
    objects[2] = cache.alloc_node(0, kOrdinary);
    memalloc_noreclaim_restore(before);
    for (void *object : objects) {
        ASSERT_NE(object, nullptr);
        EXPECT_TRUE(from_reserve(object));
    }
    EXPECT_EQ(cache.alloc(kOrdinary), nullptr) << "and no longer";
    cache.free(objects);
}

// When there is ordinary memory again, it is what ordinary requests get.
KMIRROR_TEST_IN(SlabPfmemalloc, slabs_are_passed_over_by_a_refill, SMALL_MACHINE)
{
    WITHOUT_CPU_SLABS();
    Pinned here;
    Emergency world;
    Cache &cache = world.cache();
    world.relieve();
    const std::vector<void *> objects = cache.alloc_many(40, kOrdinary);
    for (void *object : objects)
        EXPECT_FALSE(from_reserve(object));
    EXPECT_FALSE(kmirror::slub::slab_of_object(world.reserve)->slab_cache == nullptr);
    cache.free(objects);
}

bool any_sheaf_has_one(Cache &cache)
{
    const slub_percpu_sheaves *pcs = per_cpu_ptr(as_kmem_cache(cache)->cpu_sheaves, 0);
    bool found = false;
    for (const slab_sheaf *sheaf : {pcs->main, pcs->spare, pcs->rcu_free})
        for (unsigned i = 0; sheaf && i < sheaf->size; i++)
            found |= from_reserve(sheaf->objects[i]);
    return found;
}

KMIRROR_TEST_IN(SlabPfmemalloc, objects_stay_out_of_sheaves_however_they_are_freed, SMALL_MACHINE)
{
    WITHOUT_CPU_SLABS();
    Pinned here;
    Emergency world;
    Cache &cache = world.cache();
    std::vector<void *> objects(12);
    for (void *&object : objects)
        ASSERT_NE(object = cache.alloc(kEntitled), nullptr);
    cache.free(objects[0]);
    EXPECT_FALSE(any_sheaf_has_one(cache));
    cache.free_bulk(4, &objects[1]);
    EXPECT_FALSE(any_sheaf_has_one(cache));
    ops().free_bulk(nullptr, 4, &objects[5]);
    EXPECT_FALSE(any_sheaf_has_one(cache));
    kfree_nolock(objects[9]);
    EXPECT_FALSE(any_sheaf_has_one(cache));
    for (int i = 10; i < 12; i++)
        ops().free_rcu(objects[i], 64);
    ops().free_rcu_barrier();
    EXPECT_FALSE(any_sheaf_has_one(cache));
    EXPECT_EQ(cache.counts().barn_objects, 0u);
    EXPECT_EQ(cache.alloc(kOrdinary), nullptr);
    cache.verify();
}

KMIRROR_TEST_IN(SlabPfmemalloc, nolock_requests_are_never_entitled, SMALL_MACHINE)
{
    WITHOUT_CPU_SLABS();
    kmem_cache_init();
    Pinned here;
    const unsigned before = memalloc_noreclaim_save();
    std::vector<void *> objects;
    while (void *object = kmalloc_nolock(4000, 0, NUMA_NO_NODE)) {
        EXPECT_FALSE(from_reserve(object));
        objects.push_back(object);
    }
    EXPECT_GT(objects.size(), 900u);
    void *entitled = kmalloc(4000, GFP_NOWAIT);
    ASSERT_NE(entitled, nullptr);
    EXPECT_EQ(kmalloc_nolock(4000, 0, NUMA_NO_NODE), nullptr) << "the rest of that slab is not for it";
    memalloc_noreclaim_restore(before);
    kfree(entitled);
    for (void *object : objects)
        kfree_nolock(object);
}

} // namespace
} // namespace kmirror::slab_test
