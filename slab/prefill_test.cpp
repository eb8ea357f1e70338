// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: after a prefill of n the next n allocations from that sheaf cannot fail; a refill raises that
// number or leaves the sheaf as it was; a returned sheaf gives everything back.

#include "slab/slab_test.h"

#include <linux/errno.h>

namespace kmirror::slab_test {
namespace {

constexpr unsigned kCapacity = 32;

class SlabPrefill : public ::testing::Test {
protected:
    SlabPrefill() : cache(256, 0, kCapacity) {}

    slab_ops_sheaf *prefill(unsigned n) { return ops().prefill(cache, SLAB_OPS_KERNEL, n); }
    void give_back(slab_ops_sheaf *sheaf) { ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf); }
    void *take(slab_ops_sheaf *sheaf) { return ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf); }
    std::vector<void *> take_all(slab_ops_sheaf *sheaf)
    {
        std::vector<void *> objects;
        while (ops().sheaf_size(sheaf))
            objects.push_back(take(sheaf));
        return objects;
    }

    Pinned here;
    Cache cache;
};

TEST_F(SlabPrefill, gives_at_least_what_was_asked_for)
{
    for (unsigned n = 1; n <= 3 * kCapacity; n += n < 5 ? 1 : 9) {
        slab_ops_sheaf *sheaf = prefill(n);
        ASSERT_NE(sheaf, nullptr);
        EXPECT_GE(ops().sheaf_size(sheaf), n);
        std::vector<void *> objects;
        for (unsigned i = 0; i < n; i++) {
            objects.push_back(take(sheaf));
            ASSERT_NE(objects.back(), nullptr);
        }
        give_back(sheaf);
        cache.free(objects);
        cache.verify();
    }
}

TEST_F(SlabPrefill, fills_to_the_capacity_and_an_oversize_sheaf_exactly)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    slab_ops_sheaf *regular = prefill(3);
    EXPECT_EQ(ops().sheaf_size(regular), kCapacity);
    slab_ops_sheaf *oversize = prefill(kCapacity + 5);
    EXPECT_EQ(ops().sheaf_size(oversize), kCapacity + 5);
    EXPECT_STAT(cache, "sheaf_prefill_oversize", 1);
    give_back(regular);
    give_back(oversize);
}

TEST_F(SlabPrefill, of_nothing_is_null) { EXPECT_EQ(prefill(0), nullptr); }

TEST_F(SlabPrefill, takes_the_spare_first_then_the_barn)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    cache.free(cache.alloc_many(kCapacity * 4)); // main, spare and two full sheaves in the barn
    ASSERT_EQ(cache.counts().barn_full, 2u);
    cache.clear_stats();
    slab_ops_sheaf *spare = prefill(1);
    EXPECT_STAT(cache, "sheaf_prefill_fast", 1);
    EXPECT_EQ(cache.sheaves(ops().cpu()).spare, -1);
    slab_ops_sheaf *from_barn = prefill(1);
    EXPECT_STAT(cache, "sheaf_prefill_slow", 1);
    EXPECT_STAT(cache, "barn_get", 1);
    EXPECT_EQ(cache.counts().barn_full, 1u);
    EXPECT_STAT(cache, "sheaf_refill", 0) << "both were full";
    give_back(spare);
    give_back(from_barn);
    EXPECT_STAT(cache, "sheaf_return_fast", 1);
    EXPECT_STAT(cache, "sheaf_return_slow", 1);
    EXPECT_EQ(cache.counts().barn_full, 2u);
}

TEST_F(SlabPrefill, returns_a_partly_used_sheaf_as_spare_or_topped_up_to_the_barn)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    slab_ops_sheaf *first = prefill(10), *second = prefill(10);
    std::vector<void *> objects{take(first), take(first), take(second), take(second)};
    give_back(first);
    EXPECT_EQ(cache.sheaves(ops().cpu()).spare, int(kCapacity) - 2);
    give_back(second);
    EXPECT_EQ(cache.counts().barn_full, 1u);
    EXPECT_EQ(cache.counts().barn_objects, kCapacity);
    cache.free(objects);
}

TEST_F(SlabPrefill, a_partly_full_spare_takes_frees_before_the_barn_is_asked)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    std::vector<void *> filling = cache.alloc_many(kCapacity);
    slab_ops_sheaf *sheaf = prefill(10);
    std::vector<void *> objects{take(sheaf), take(sheaf)};
    cache.free(filling);
    give_back(sheaf);
    ASSERT_EQ(cache.sheaves(ops().cpu()).main, int(kCapacity));
    ASSERT_EQ(cache.sheaves(ops().cpu()).spare, int(kCapacity) - 2);
    cache.clear_stats();
    cache.free(objects[0]);
    EXPECT_EQ(cache.sheaves(ops().cpu()).main, int(kCapacity) - 1);
    EXPECT_EQ(cache.sheaves(ops().cpu()).spare, int(kCapacity));
    EXPECT_STAT(cache, "barn_put", 0);
    EXPECT_STAT(cache, "sheaf_alloc", 0);
    cache.free(objects[1]);
}

TEST_F(SlabPrefill, flushes_a_returned_sheaf_when_the_barn_has_enough)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    cache.free(cache.alloc_many(kCapacity * (2 + rules::kBarnFullMax)));
    slab_ops_sheaf *spare = prefill(1), *from_barn = prefill(1);
    EXPECT_EQ(cache.counts().barn_full, rules::kBarnFullMax - 1);
    give_back(spare);
    cache.free(take(from_barn)); // main and spare are full: one of them fills the barn's last place
    EXPECT_EQ(cache.counts().barn_full, rules::kBarnFullMax);
    cache.clear_stats();
    give_back(from_barn);
    EXPECT_EQ(cache.counts().barn_full, rules::kBarnFullMax);
    EXPECT_STAT(cache, "sheaf_return_slow", 1);
    EXPECT_STAT(cache, "sheaf_flush", kCapacity - 1);
    EXPECT_STAT(cache, "sheaf_free", 1);
}

TEST_F(SlabPrefill, refill_to_what_is_there_changes_nothing)
{
    WHERE_SHEAVES_ARE();
    slab_ops_sheaf *sheaf = prefill(5), *before = sheaf;
    const unsigned size = ops().sheaf_size(sheaf);
    cache.clear_stats();
    EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, size), 0);
    EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, 0), 0);
    EXPECT_EQ(sheaf, before);
    EXPECT_EQ(ops().sheaf_size(sheaf), size);
    EXPECT_STAT(cache, "sheaf_refill", 0);
    give_back(sheaf);
}

TEST_F(SlabPrefill, refill_tops_up_a_sheaf_and_replaces_one_that_is_too_small)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    slab_ops_sheaf *sheaf = prefill(5), *before = sheaf;
    std::vector<void *> objects = take_all(sheaf);
    EXPECT_EQ(take(sheaf), nullptr) << "an empty sheaf gives nothing";
    EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, 7), 0);
    EXPECT_EQ(sheaf, before);
    EXPECT_EQ(ops().sheaf_size(sheaf), kCapacity);
    EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, kCapacity + 1), 0);
    EXPECT_GE(ops().sheaf_size(sheaf), kCapacity + 1);
    EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, 5 * kCapacity), 0);
    EXPECT_GE(ops().sheaf_size(sheaf), 5 * kCapacity);
    give_back(sheaf);
    cache.free(objects);
}

TEST_F(SlabPrefill, refill_of_an_oversize_sheaf_fills_it_to_its_own_capacity)
{
    slab_ops_sheaf *sheaf = prefill(50), *before = sheaf;
    std::vector<void *> objects;
    for (int i = 0; i < 20; i++)
        objects.push_back(take(sheaf));
    EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, 40), 0);
    EXPECT_EQ(sheaf, before);
    EXPECT_EQ(ops().sheaf_size(sheaf), 50u);
    give_back(sheaf);
    cache.free(objects);
}

TEST_F(SlabPrefill, refill_without_a_sheaf_is_invalid)
{
    slab_ops_sheaf *none = nullptr;
    EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, &none, 5), -EINVAL);
    EXPECT_EQ(ops().refill(cache, SLAB_OPS_KERNEL, nullptr, 5), -EINVAL);
}

TEST_F(SlabPrefill, hands_out_what_the_model_does_not_know_yet)
{
    KMIRROR_RANDOM(random);
    const slab_ops_geometry made = cache.geometry();
    Shadow shadow(256, made.size, made.align);
    std::vector<void *> live;
    for (int round = 0; round < 100; round++) {
        const unsigned n = unsigned(pick(random, 1, 80));
        slab_ops_sheaf *sheaf = prefill(n);
        for (unsigned i = 0; i < n; i++) {
            live.push_back(take(sheaf));
            EXPECT_EQ(shadow.add(live.back()), "");
        }
        give_back(sheaf);
        while (live.size() > 100) {
            EXPECT_EQ(shadow.remove(live.back()), "");
            cache.free(live.back());
            live.pop_back();
        }
        cache.verify();
    }
    for (void *object : live)
        EXPECT_EQ(shadow.remove(object), "");
    cache.free(live);
}

TEST_F(SlabPrefill, a_cache_without_sheaves_prefills_exactly)
{
    const int before = ops().set_sheaf_capacity(0);
    {
        Cache bare(256);
        EXPECT_EQ(bare.geometry().sheaf_capacity, 0u);
        for (unsigned n : {1u, 7u, 40u}) {
            slab_ops_sheaf *sheaf = ops().prefill(bare, SLAB_OPS_KERNEL, n);
            ASSERT_NE(sheaf, nullptr);
            EXPECT_EQ(ops().sheaf_size(sheaf), n);
            ops().return_sheaf(bare, SLAB_OPS_KERNEL, sheaf);
        }
    }
    EXPECT_EQ(ops().set_sheaf_capacity(before), 0);
}

} // namespace
} // namespace kmirror::slab_test
