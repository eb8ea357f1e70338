// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the generation and the numbers of the allocator are chosen by the environment or by a call, for
// caches made from then on; a bad value ends the process with one line and exit status 2; caches of
// different generations live side by side and are never merged.

#include "slab/generation.h"

#include <kmirror/slab_info.h>

#include <cstring>
#include <limits>

namespace kmirror::slab_test {
namespace {

#define ONE_CPU "KMIRROR_MACHINE=pack:1 core:1 pu:1"
#define EIGHT_CPUS "KMIRROR_MACHINE=pack:1 core:8 pu:1"

// A number in another position during its life.
class Tuned {
public:
    Tuned(enum kmirror_slab_number which, long value) : which_(which), before_(kmirror_slab_number(which))
    {
        EXPECT_EQ(kmirror_slab_set_number(which, value), 0);
    }
    ~Tuned() { kmirror_slab_set_number(which_, before_); }
    Tuned(const Tuned &) = delete;
    Tuned &operator=(const Tuned &) = delete;

private:
    enum kmirror_slab_number which_;
    long before_;
};

KMIRROR_TEST_IN(SlabGeneration, of_the_process_comes_from_the_environment, "KMIRROR_SLAB=double", ONE_CPU)
{
    Cache cache(256);
    EXPECT_STREQ(cache.geometry().generation, "double");
    EXPECT_EQ(cache.geometry().sheaf_capacity, 0u) << "it did not ask";
    void *object = ops().kmalloc(100, SLAB_OPS_KERNEL);
    slab_ops_geometry made{};
    ops().geometry(ops().cache_of(object), &made);
    EXPECT_STREQ(made.generation, "double");
    ops().kfree(object);
}

// In the child: uses the allocator, which reads the environment. In the parent: how that ended.
void expect_refused(const char *setting)
{
    if (kmirror::testing::in_child()) {
        ops().kmalloc(8, SLAB_OPS_KERNEL);
        return;
    }
    const kmirror::testing::ChildResult result = kmirror::testing::rerun_this_test({setting});
    EXPECT_EQ(result.status, 2) << result.output;
    const std::string name(setting, std::strcspn(setting, "="));
    EXPECT_NE(result.output.find("kmirror: " + name + "="), std::string::npos) << result.output;
}

TEST(SlabGeneration, that_does_not_exist_is_refused) { expect_refused("KMIRROR_SLAB=slob"); }
TEST(SlabGeneration, number_out_of_range_is_refused) { expect_refused("KMIRROR_SLAB_DEFRAG_RATIO=1025"); }
TEST(SlabGeneration, number_that_is_none_is_refused) { expect_refused("KMIRROR_SLAB_BARN_FULL=ten"); }

TEST(SlabGeneration, is_chosen_by_name)
{
    EXPECT_EQ(ops().set_generation("slob"), nullptr);
    for (const char *generation : kGenerations) {
        const OfGeneration chosen(generation);
        EXPECT_STREQ(ops().set_generation(nullptr), generation);
        EXPECT_STREQ(Cache(64).geometry().generation, generation);
    }
}

TEST(SlabGeneration, numbers_out_of_range_are_refused)
{
    for (int which = 0; which < KMIRROR_SLAB_NR_NUMBERS; which++) {
        const auto number = static_cast<enum kmirror_slab_number>(which);
        const long before = kmirror_slab_number(number);
        EXPECT_EQ(kmirror_slab_set_number(number, -2), -EINVAL);
        EXPECT_EQ(kmirror_slab_set_number(number, std::numeric_limits<long>::max()), -EINVAL);
        EXPECT_EQ(kmirror_slab_number(number), before);
    }
    EXPECT_EQ(kmirror_slab_set_number(KMIRROR_SLAB_NR_NUMBERS, 0), -EINVAL);
}

TEST(SlabGeneration, caches_of_two_are_not_merged)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args args{};
    args.size = 1000;
    const auto create = [&](const char *name) { return ops().create(name, &args); };
    slab_ops_cache *first, *second, *third;
    {
        const OfGeneration older("cpu-slab");
        first = create("generation_first");
        second = create("generation_second");
    }
    {
        const OfGeneration newer("sheaves");
        third = create("generation_third");
    }
    EXPECT_EQ(first, second) << "merged, as caches are";
    EXPECT_NE(first, third);
    for (slab_ops_cache *cache : {first, second, third})
        ops().destroy(cache);
}

// All four at work, each object back to its own.
TEST(SlabGeneration, all_live_side_by_side)
{
    KMIRROR_RANDOM(random);
    Pinned here(0);
    std::vector<std::unique_ptr<Cache>> caches;
    for (const char *generation : kGenerations) {
        const OfGeneration chosen(generation);
        caches.push_back(std::make_unique<Cache>(192, 0, 20));
    }
    std::vector<std::pair<Cache *, void *>> live;
    for (int step = 0; step < 20000; step++) {
        if (live.size() < 2000 && random() % 5 < 3) {
            Cache &cache = *caches[random() % caches.size()];
            live.emplace_back(&cache, cache.alloc(random() % 3 ? SLAB_OPS_KERNEL : SLAB_OPS_ATOMIC));
            std::memset(live.back().second, 0x5a, 192);
        } else if (!live.empty()) {
            std::swap(live[random() % live.size()], live.back());
            const auto [cache, object] = live.back();
            random() % 4 ? cache->free(object) : ops().free_rcu(object, 64);
            live.pop_back();
        }
    }
    for (const auto &[cache, object] : live)
        cache->free(object);
    ops().free_rcu_barrier();
    for (const auto &cache : caches)
        cache->verify();
}

KMIRROR_TEST_IN(SlabGeneration, cpu_partial_says_how_long_a_chain_gets, EIGHT_CPUS)
{
    WITHOUT_DEBUGGING();
    const OfGeneration chosen("cpu-slab");
    for (const long objects : {0L, 16L, 100L}) {
        const Tuned limit(KMIRROR_SLAB_CPU_PARTIAL, objects);
        Cache cache(256);
        const unsigned slabs = unsigned(objects * 2 + 31) / 32;
        EXPECT_EQ(cache.geometry().cpu_partial_slabs, slabs);
        Pinned here(0);
        std::vector<void *> held(16 * 32);
        ASSERT_TRUE(cache.alloc_bulk(held.size(), held.data()));
        unsigned long longest = 0;
        for (std::size_t i = 0; i < held.size(); i += 32) {
            cache.free(held[i]);
            longest = std::max(longest, cache.counts().cpu_chained);
        }
        EXPECT_EQ(longest, std::max(slabs, 1u)) << "the limit is looked at before the push";
        for (std::size_t i = 0; i < held.size(); i++)
            if (i % 32)
                cache.free(held[i]);
    }
}

// A chain of 0 slabs: an allocation takes one slab of the list, not a batch.
KMIRROR_TEST_IN(SlabGeneration, cpu_partial_of_0_takes_single_slabs, EIGHT_CPUS)
{
    WITHOUT_DEBUGGING();
    const OfGeneration chosen("cpu-slab");
    const Tuned limit(KMIRROR_SLAB_CPU_PARTIAL, 0);
    Pinned here(0);
    Cache cache(256);
    std::vector<void *> held(4 * 32);
    ASSERT_TRUE(cache.alloc_bulk(held.size(), held.data()));
    for (std::size_t i = 0; i < held.size(); i += 2)
        cache.free(held[i]);
    cache.shrink();
    ASSERT_EQ(cache.counts().partial_slabs, 4u);
    void *object = cache.alloc();
    EXPECT_EQ(cache.counts().partial_slabs, 3u);
    EXPECT_EQ(cache.counts().cpu_chained, 0u);
    cache.free(object);
    for (std::size_t i = 1; i < held.size(); i += 2)
        cache.free(held[i]);
}

KMIRROR_TEST_IN(SlabGeneration, barn_limits_say_how_many_sheaves_are_kept, EIGHT_CPUS)
{
    WITHOUT_DEBUGGING();
    for (const char *generation : {"double", "sheaves"}) {
        const OfGeneration chosen(generation);
        const Tuned full(KMIRROR_SLAB_BARN_FULL, 3);
        Pinned here(0);
        Cache cache(256, 0, 32);
        cache.free(cache.alloc_many(32 * 12));
        EXPECT_EQ(cache.counts().barn_full, 3u) << generation;
        cache.verify();
    }
}

// Allocations alone, never a free: with the spare kept two sheaves trade places and no barn lock is taken.
KMIRROR_TEST_IN(SlabGeneration, kept_spare_saves_the_barn_lock, EIGHT_CPUS)
{
    WITHOUT_DEBUGGING();
    for (const char *generation : {"double", "sheaves"})
        for (const long keep : {0L, 1L}) {
            const OfGeneration chosen(generation);
            const Tuned spare(KMIRROR_SLAB_KEEP_SPARE, keep);
            Pinned here(0);
            Cache cache(256, 0, 32);
            std::vector<void *> objects = cache.alloc_many(33);
            const Holds holds = holds_of([&] {
                for (int i = 0; i < 32 * 4; i++)
                    objects.push_back(cache.alloc());
            });
            EXPECT_EQ(holds.barn, keep ? 0 : 2 * 4) << generation << ": one out and one in for each refill";
            cache.free(objects);
        }
}

KMIRROR_TEST_IN(SlabGeneration, min_partial_and_defrag_ratio_are_the_caches, EIGHT_CPUS)
{
    const Tuned stock(KMIRROR_SLAB_MIN_PARTIAL, 2);
    for (const char *generation : kGenerations) {
        const OfGeneration chosen(generation);
        Cache cache(256);
        EXPECT_EQ(cache.geometry().min_partial, 2u);
        Pinned here(0);
        cache.free(cache.alloc_many(32 * 40));
        cache.verify();
    }
}

} // namespace
} // namespace kmirror::slab_test
