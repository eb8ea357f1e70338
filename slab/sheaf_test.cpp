// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a CPU works from its main and spare sheaf; it trades whole sheaves with the node's barn, which
// keeps at most ten full ones; nothing is lost on any of these ways, and every sheaf that was made is freed.

#include "slab/slab_test.h"

#include <functional>
#include <utility>

namespace kmirror::slab_test {
namespace {

constexpr unsigned kCapacity = 32;
constexpr unsigned kAll = 2 + rules::kBarnFullMax; // sheaves' worth of objects a lone CPU can keep

class SlabSheaf : public ::testing::Test {
protected:
    SlabSheaf() : cache(256, 0, kCapacity) {}

    slab_ops_cpu_sheaves mine() const { return cache.sheaves(ops().cpu()); }
    void expect_mine(int main, int spare) const
    {
        EXPECT_EQ(mine().main, main);
        EXPECT_EQ(mine().spare, spare);
    }
    void expect_barn(unsigned long full, unsigned long empty) const
    {
        EXPECT_EQ(cache.counts().barn_full, full);
        EXPECT_EQ(cache.counts().barn_empty, empty);
        EXPECT_EQ(cache.counts().barn_objects, full * kCapacity);
    }
    Pinned here;
    Cache cache;
};

TEST_F(SlabSheaf, starts_empty_with_one_sheaf_a_cpu)
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    expect_mine(0, -1);
    expect_barn(0, 0);
    cache.expect_sheaves_made(ops().nr_cpus());
    EXPECT_EQ(cache.counts().slabs, 0u);
}

TEST_F(SlabSheaf, is_refilled_whole_by_the_first_allocation)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    void *object = cache.alloc();
    expect_mine(kCapacity - 1, 0);
    EXPECT_STAT(cache, "sheaf_refill", kCapacity);
    EXPECT_STAT(cache, "barn_get_fail", 1);
    EXPECT_STAT(cache, "alloc_fastpath", 1);
    EXPECT_STAT(cache, "alloc_slowpath", 0);
    EXPECT_EQ(cache.counts().used_objects, kCapacity);
    cache.free(object);
    expect_mine(kCapacity, 0);
}

TEST_F(SlabSheaf, keeps_the_emptied_main_as_spare_over_many_refills)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    std::vector<void *> objects = cache.alloc_many(kCapacity * 20);
    expect_mine(0, 0);
    expect_barn(0, 0);
    cache.expect_sheaves_made(ops().nr_cpus() + 1); // two sheaves trade places
    cache.free(objects);
}

TEST_F(SlabSheaf, frees_into_main_then_spare_then_the_barn)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    std::vector<void *> objects = cache.alloc_many(kCapacity * 4);
    cache.clear_stats();
    std::size_t done = 0;
    const auto free_up_to = [&](std::size_t n) {
        for (; done < n; done++)
            cache.free(objects[done]);
    };
    free_up_to(kCapacity);
    expect_mine(kCapacity, 0);
    free_up_to(kCapacity + 1);
    expect_mine(1, kCapacity);
    free_up_to(2 * kCapacity);
    expect_mine(kCapacity, kCapacity);
    expect_barn(0, 0);
    free_up_to(2 * kCapacity + 1);
    expect_mine(1, kCapacity);
    expect_barn(1, 0);
    EXPECT_STAT(cache, "barn_put", 1);
    EXPECT_STAT(cache, "sheaf_alloc", 1) << "the barn had no empty one";
    free_up_to(4 * kCapacity);
    expect_barn(2, 0);
    EXPECT_STAT(cache, "free_fastpath", 4 * kCapacity);
    EXPECT_STAT(cache, "free_slowpath", 0);
}

TEST_F(SlabSheaf, flushes_one_sheaf_when_the_barn_has_ten_full_ones)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    std::vector<void *> objects = cache.alloc_many(kCapacity * (kAll + 1));
    std::vector<void *> rest(objects.begin() + kCapacity * kAll, objects.end());
    objects.resize(kCapacity * kAll);
    cache.free(objects);
    expect_mine(kCapacity, kCapacity);
    expect_barn(rules::kBarnFullMax, 0);
    cache.clear_stats();
    cache.free(rest.back());
    rest.pop_back();
    expect_mine(1, kCapacity);
    expect_barn(rules::kBarnFullMax, 0);
    EXPECT_STAT(cache, "barn_put_fail", 1);
    EXPECT_STAT(cache, "sheaf_flush", kCapacity);
    EXPECT_STAT(cache, "barn_put", 0);
    EXPECT_STAT(cache, "free_fastpath", 1);
    cache.verify();
    cache.free(rest);
}

TEST_F(SlabSheaf, trades_empty_sheaves_for_full_ones_and_back)
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    cache.free(cache.alloc_many(kCapacity * kAll));
    expect_barn(rules::kBarnFullMax, 0);
    cache.clear_stats();
    std::vector<void *> objects = cache.alloc_many(kCapacity * kAll);
    EXPECT_STAT(cache, "barn_get", long(rules::kBarnFullMax));
    EXPECT_STAT(cache, "sheaf_refill", 0);
    EXPECT_STAT(cache, "alloc_slab", 0);
    expect_barn(0, rules::kBarnEmptyMax);
    cache.free(objects);
    expect_barn(rules::kBarnFullMax, 0);
    EXPECT_STAT(cache, "barn_put", long(rules::kBarnFullMax));
    EXPECT_STAT(cache, "sheaf_alloc", 0) << "the barn's empty ones came back";
    cache.verify();
}

TEST_F(SlabSheaf, is_gone_after_a_shrink_but_for_the_mains)
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    cache.free(cache.alloc_many(kCapacity * (kAll + 3)));
    EXPECT_EQ(cache.shrink(), 0);
    expect_mine(0, -1);
    expect_barn(0, 0);
    cache.expect_sheaves_made(ops().nr_cpus());
    EXPECT_EQ(cache.counts().slabs, 0u);
}

TEST_F(SlabSheaf, is_flushed_to_the_last_object_even_above_one_batch)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Cache wide(8); // sheaves of 60: more than the 32 objects that one hold flushes
    ASSERT_GT(wide.geometry().sheaf_capacity, rules::kFlushBatch);
    const unsigned capacity = wide.geometry().sheaf_capacity;
    void *kept = wide.alloc(); // its slab stays, and can be looked at
    wide.free(wide.alloc_many(capacity - 1));
    ASSERT_EQ(wide.sheaves(ops().cpu()).main, int(capacity) - 1);
    wide.clear_stats();
    wide.shrink();
    EXPECT_STAT(wide, "sheaf_flush", capacity - 1);
    EXPECT_EQ(wide.sheaves(ops().cpu()).main, 0);
    EXPECT_EQ(wide.counts().used_objects, 1u);
    wide.verify(); // each once
    wide.free(kept);
}

TEST_F(SlabSheaf, gives_back_what_was_freed_last)
{
    std::vector<void *> objects = cache.alloc_many(5);
    cache.free(objects);
    for (auto object = objects.rbegin(); object != objects.rend(); ++object)
        EXPECT_EQ(cache.alloc(), *object);
    cache.free(objects);
}

TEST_F(SlabSheaf, is_refilled_for_a_caller_who_may_not_wait)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    std::vector<void *> objects = cache.alloc_many(10 * kCapacity, SLAB_OPS_NOWAIT);
    EXPECT_STAT(cache, "alloc_slowpath", 0);
    EXPECT_STAT(cache, "sheaf_refill", 10 * kCapacity);
    cache.free(objects);
}

// ---- while a refill has the CPU unlocked ------------------------------------------------------------

// A refill takes new slabs with the CPU unlocked, and a constructor runs in them: there this test does what
// another thread on the same CPU could do. The refill then finds another main and spare than it left.
class SlabSheafRefill : public ::testing::Test {
protected:
    SlabSheafRefill() : cache(args()), held(cache.alloc_many(kCapacity * 6)) { during = {}; }
    ~SlabSheafRefill() override
    {
        during = {};
        finish();
    }
    void SetUp() override { WHERE_SHEAVES_ARE(); }

    static slab_ops_cache_args args()
    {
        slab_ops_cache_args made = args_of(256, 0, kCapacity);
        made.use_freeptr_offset = true;
        made.ctor = [](void *) {
            if (during)
                std::exchange(during, {})(); // once
        };
        return made;
    }
    void free_held(unsigned n)
    {
        for (; n; n--) {
            cache.free(held.back());
            held.pop_back();
        }
    }
    void alloc_held(unsigned n)
    {
        for (; n; n--)
            held.push_back(cache.alloc());
    }
    // The refill of an allocation with nothing at hand, `meanwhile` in its middle; then all sheaves are
    // accounted for.
    void refill(std::function<void()> meanwhile)
    {
        ASSERT_EQ(mine().main, 0);
        during = std::move(meanwhile);
        held.push_back(cache.alloc());
        ASSERT_FALSE(during) << "the refill did not take a new slab";
        cache.verify();
        cache.expect_sheaves_made(cache.sheaves_found());
    }
    slab_ops_cpu_sheaves mine() const { return cache.sheaves(ops().cpu()); }
    void finish() { free_held(unsigned(held.size())); }

    inline static std::function<void()> during;
    Pinned here;
    Cache cache;
    std::vector<void *> held;
};

TEST_F(SlabSheafRefill, becomes_main_when_nobody_came)
{
    WITHOUT_DEBUGGING();
    refill([] {});
    EXPECT_EQ(mine().main, int(kCapacity) - 1);
    EXPECT_EQ(mine().spare, generation_is("sheaves") ? 0 : -1) << "before, the empty one went to the barn";
    finish();
}

TEST_F(SlabSheafRefill, becomes_spare_when_main_has_objects_meanwhile)
{
    WITHOUT_DEBUGGING();
    refill([this] { free_held(5); });
    EXPECT_EQ(mine().main, 4) << "five freed, one taken";
    EXPECT_EQ(mine().spare, int(kCapacity));
    finish();
}

TEST_F(SlabSheafRefill, goes_to_the_barn_when_main_and_spare_have_objects_meanwhile)
{
    WITHOUT_DEBUGGING();
    refill([this] { free_held(kCapacity + 3); });
    EXPECT_EQ(mine().main, 2);
    EXPECT_EQ(mine().spare, int(kCapacity));
    EXPECT_EQ(cache.counts().barn_full, 1u);
    EXPECT_STAT(cache, "barn_put", 1);
    finish();
}

TEST_F(SlabSheafRefill, replaces_a_spare_that_is_empty_meanwhile)
{
    WITHOUT_DEBUGGING();
    refill([this] {
        free_held(kCapacity + 1);
        alloc_held(2); // main is used up and trades places with the full spare
        ASSERT_EQ(mine().main, int(kCapacity) - 1);
        ASSERT_EQ(mine().spare, 0);
    });
    EXPECT_EQ(mine().main, int(kCapacity) - 2);
    EXPECT_EQ(mine().spare, int(kCapacity));
    EXPECT_EQ(cache.counts().barn_empty, 1u);
    finish();
}

TEST_F(SlabSheafRefill, becomes_main_and_the_old_one_goes_to_the_barn_when_both_are_empty_meanwhile)
{
    WITHOUT_DEBUGGING();
    refill([this] {
        free_held(kCapacity + 1);
        alloc_held(kCapacity + 1);
        ASSERT_EQ(mine().main, 0);
        ASSERT_EQ(mine().spare, 0);
    });
    EXPECT_EQ(mine().main, int(kCapacity) - 1);
    EXPECT_EQ(mine().spare, 0);
    EXPECT_EQ(cache.counts().barn_empty, 1u);
    finish();
}

TEST_F(SlabSheafRefill, goes_to_the_cpu_the_thread_is_on_afterwards)
{
    WITHOUT_DEBUGGING();
    if (ops().nr_cpus() < 2)
        GTEST_SKIP() << "needs two CPUs";
    refill([] { ASSERT_EQ(ops().cpu_pin(1), 0); });
    EXPECT_EQ(ops().cpu(), 1);
    EXPECT_EQ(mine().main, int(kCapacity) - 1);
    EXPECT_EQ(cache.sheaves(0).main, 0);
    finish();
}

// ---- other capacities -------------------------------------------------------------------------------

TEST(SlabSheafOff, leaves_every_operation_to_the_slabs)
{
    SHEAVES_ONLY();
    Pinned here;
    const int before = ops().set_sheaf_capacity(0);
    {
        Cache cache(256);
        std::vector<void *> objects = cache.alloc_many(100);
        EXPECT_STAT(cache, "alloc_fastpath", 0);
        EXPECT_STAT(cache, "alloc_slowpath", 100);
        EXPECT_EQ(cache.counts().used_objects, 100u);
        cache.free(objects);
        EXPECT_STAT(cache, "free_fastpath", 0);
        EXPECT_STAT(cache, "free_slowpath", 100);
        EXPECT_STAT(cache, "sheaf_alloc", 0);
        EXPECT_EQ(cache.counts().used_objects, 0u);
    }
    ops().set_sheaf_capacity(before);
}

TEST(SlabSheafOff, and_sheaves_of_any_capacity_hold_that_many)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Pinned here;
    const int before = ops().set_sheaf_capacity(4);
    for (int capacity : {1, 4, 5, 200}) {
        ops().set_sheaf_capacity(capacity);
        Cache cache(64);
        EXPECT_EQ(cache.geometry().sheaf_capacity, unsigned(capacity));
        std::vector<void *> objects = cache.alloc_many(3 * unsigned(capacity));
        EXPECT_STAT(cache, "sheaf_refill", 3 * capacity);
        cache.free(objects);
    }
    ops().set_sheaf_capacity(before);
}

} // namespace
} // namespace kmirror::slab_test
