// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a cache works on a CPU whose node has no barn: whatever would trade sheaves there goes to the
// slabs; nothing is lost. A node's barn holds what its counts say.

#include "slab/slab_test.h"

#include <linux/rcupdate.h>

#include "lib/slub/cache.h"

#include <utility>

namespace kmirror::slab_test {
namespace {

constexpr unsigned kCapacity = 32;

// The barn of the CPU's node is away, as that of a node which came after the cache.
class SlabNoBarn : public ::testing::Test {
protected:
    SlabNoBarn() : cache(256, 0, kCapacity)
    {
        if (cache.geometry().sheaf_capacity)
            barn = std::exchange(place(), nullptr);
    }
    ~SlabNoBarn() override
    {
        cache.verify();
        if (barn)
            place() = barn;
    }
    void SetUp() override
    {
        if (!barn)
            GTEST_SKIP() << "this generation has no barns";
    }

    node_barn *&place() { return as_kmem_cache(cache)->per_node[ops().cpu_node(ops().cpu())].barn; }
    // Everything in use, nothing in sheaves.
    std::vector<void *> from_slabs(std::size_t n)
    {
        std::vector<void *> objects(n);
        EXPECT_TRUE(cache.alloc_bulk(n, objects.data()));
        return objects;
    }

    Pinned here;
    Cache cache;
    node_barn *barn = nullptr;
};

TEST_F(SlabNoBarn, an_empty_main_leaves_it_to_the_slabs)
{
    void *object = cache.alloc();
    ASSERT_NE(object, nullptr);
    EXPECT_STAT(cache, "alloc_slowpath", 1);
    cache.free(object);
}

TEST_F(SlabNoBarn, a_full_main_leaves_it_to_the_slabs)
{
    cache.free(from_slabs(kCapacity + 1));
    EXPECT_EQ(cache.sheaves(ops().cpu()).main, int(kCapacity));
    if (generation_is("sheaves")) { // else it may be the CPU's own slab
        EXPECT_STAT(cache, "free_slowpath", 1);
    }
}

TEST_F(SlabNoBarn, bulk_takes_main_and_then_slabs)
{
    cache.free(from_slabs(kCapacity));
    std::vector<void *> objects = from_slabs(kCapacity + 10);
    EXPECT_EQ(cache.sheaves(ops().cpu()).main, 0);
    cache.free_bulk(objects.size(), objects.data());
    EXPECT_EQ(cache.sheaves(ops().cpu()).main, int(kCapacity));
    EXPECT_EQ(cache.counts().used_objects, kCapacity);
}

TEST_F(SlabNoBarn, kfree_rcu_flushes_its_full_sheaf)
{
    WHERE_PREFILL_IS();
    for (void *object : from_slabs(kCapacity + 3))
        ops().free_rcu(object, 64);
    ops().free_rcu_barrier();
    EXPECT_EQ(cache.counts().used_objects, 0u);
}

TEST_F(SlabNoBarn, a_prefilled_sheaf_is_made_and_goes_back)
{
    slab_ops_sheaf *first = ops().prefill(cache, SLAB_OPS_KERNEL, 10);
    slab_ops_sheaf *second = ops().prefill(cache, SLAB_OPS_KERNEL, 10);
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    ops().return_sheaf(cache, SLAB_OPS_KERNEL, first);
    ops().return_sheaf(cache, SLAB_OPS_KERNEL, second); // the spare's place is taken
    EXPECT_LE(cache.counts().used_objects, kCapacity);
}

// ---- counts -------------------------------------------------------------------------------------------

TEST(SlabBarn, of_large_objects_holds_ten_full_sheaves_and_gives_all_back)
{
    Pinned here;
    Cache cache(4096, 0, 4);
    if (!cache.geometry().sheaf_capacity)
        GTEST_SKIP() << "this generation has no barns";
    const unsigned capacity = cache.geometry().sheaf_capacity;
    cache.free(cache.alloc_many(capacity * (2 + rules::kBarnFullMax) + 1));
    EXPECT_EQ(cache.counts().barn_full, rules::kBarnFullMax);
    cache.verify();
    cache.free(cache.alloc_many(capacity * (2 + rules::kBarnFullMax)));
    cache.verify();
    EXPECT_EQ(cache.shrink(), 0);
    EXPECT_EQ(cache.counts().barn_full + cache.counts().barn_empty, 0u);
    cache.expect_sheaves_made(cache.sheaves_found());
}

} // namespace
} // namespace kmirror::slab_test
