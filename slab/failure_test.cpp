// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: whichever request fails inside an operation, once or from then on, the caller gets all or nothing,
// no object and no slab is lost, and the same operation succeeds afterwards.

#include "slab/failing.h"

#include <linux/errno.h>
#include <linux/rcupdate.h>

#include <algorithm>

namespace kmirror::slab_test {
namespace {

constexpr unsigned kCapacity = 32;

// Objects in the hands of all users must be as before.
class Balance {
public:
    Balance() : before_(settled()) {}
    void expect_same() const { EXPECT_EQ(settled(), before_); }

private:
    static LiveObjects settled()
    {
        rcu_barrier();
        return live_objects();
    }
    LiveObjects before_;
};

class SlabFailure : public ::testing::Test {
protected:
    SlabFailure() : cache(256, 0, kCapacity) {}
    void SetUp() override
    {
        if (!KMIRROR_FAULTS)
            GTEST_SKIP() << "nothing can be made to fail with FAULTS=0";
    }

    // Nothing cached anywhere, so that the next operation has to go all the way down.
    void make_bare() { EXPECT_EQ(cache.shrink(), 0); }

    Pinned here;
    Cache cache;
};

TEST_F(SlabFailure, of_creation_leaves_nothing_behind)
{
    SHEAVES_ONLY();
    for (unsigned size : {24u, 256u, 3000u}) {
        const Balance balance;
        const unsigned failures = each_failure([&](Attempt &attempt) {
            slab_ops_cache_args args = args_of(size);
            slab_ops_cache *made = ops().create("slab_test_unlucky", &args);
            const bool failed = attempt.over();
            if (!made) {
                EXPECT_TRUE(failed);
                balance.expect_same();
                return;
            }
            ops().free(made, ops().alloc(made, SLAB_OPS_KERNEL));
            ops().destroy(made);
            balance.expect_same();
        });
        EXPECT_GT(failures, debugging() ? 2u : 3u) << "the cache, its name, its nodes and its sheaves can each fail";
    }
}

TEST_F(SlabFailure, of_one_allocation_is_null_or_an_object)
{
    for (unsigned gfp : {unsigned(SLAB_OPS_KERNEL), unsigned(SLAB_OPS_NOWAIT), unsigned(SLAB_OPS_ATOMIC)}) {
        unsigned nulls = 0;
        const unsigned failures = each_failure([&](Attempt &attempt) {
            make_bare();
            void *object = cache.alloc(gfp);
            EXPECT_EQ(attempt.over() || object, true);
            nulls += !object;
            cache.verify();
            if (object)
                cache.free(object);
            make_bare();
        });
        EXPECT_GT(failures, 1u);
        EXPECT_GT(nulls, 0u);
    }
}

// The second slab of a refill fails: what the first gave must not be lost (a real bug of 7.0).
TEST_F(SlabFailure, of_a_refill_half_way_loses_no_object)
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    ASSERT_GT(kCapacity, cache.geometry().objects) << "a sheaf must need two slabs";
    const unsigned failures = each_failure(FailMode::FromThenOn, [&](Attempt &attempt) {
        make_bare();
        void *object = cache.alloc();
        attempt.over();
        cache.verify();
        if (object)
            cache.free(object);
        make_bare();
    });
    EXPECT_GE(failures, 4u) << "object, sheaf, first slab, second slab";
}

TEST_F(SlabFailure, of_a_bulk_allocation_is_all_or_nothing)
{
    for (std::size_t n : {1u, 16u, 64u, 200u}) {
        const unsigned failures = each_failure([&](Attempt &attempt) {
            attempt.pause();
            make_bare();
            if (n > 5)
                cache.free(cache.alloc_many(5)); // part of it comes from the sheaf
            attempt.begin();
            std::vector<void *> objects(n);
            const bool got = cache.alloc_bulk(n, objects.data());
            EXPECT_EQ(attempt.over() || got, true);
            cache.verify();
            EXPECT_EQ(live_objects(cache), got ? long(n) : 0);
            if (got)
                cache.free_bulk(n, objects.data());
            EXPECT_TRUE(cache.alloc_bulk(n, objects.data())) << "the same again";
            cache.free_bulk(n, objects.data());
            make_bare();
        });
        EXPECT_GT(failures, 0u) << n;
    }
}

TEST_F(SlabFailure, of_a_prefill_takes_nothing)
{
    for (unsigned n : {1u, kCapacity, 3 * kCapacity}) {
        const Balance balance;
        const unsigned failures = each_failure([&](Attempt &attempt) {
            make_bare();
            slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, n);
            EXPECT_EQ(attempt.over() || sheaf, true);
            cache.verify();
            if (sheaf) {
                EXPECT_GE(ops().sheaf_size(sheaf), n);
                ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
            }
            make_bare();
            balance.expect_same();
        });
        EXPECT_GT(failures, 1u) << n;
    }
}

TEST_F(SlabFailure, of_a_refill_leaves_the_sheaf_and_its_objects)
{
    for (unsigned wanted : {20u, kCapacity, 50u}) {
        const Balance balance;
        unsigned refused = 0;
        const unsigned failures = each_failure([&](Attempt &attempt) {
            attempt.pause();
            make_bare();
            slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, 8), *before = sheaf;
            ASSERT_NE(sheaf, nullptr);
            std::vector<void *> objects;
            while (ops().sheaf_size(sheaf) > 8)
                objects.push_back(ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf));
            attempt.begin();
            const int error = ops().refill(cache, SLAB_OPS_KERNEL, &sheaf, wanted);
            attempt.over();
            if (error) {
                EXPECT_EQ(error, -ENOMEM);
                EXPECT_EQ(sheaf, before);
                refused++;
            }
            EXPECT_GE(ops().sheaf_size(sheaf), error ? 8u : wanted);
            for (unsigned i = 0; i < (error ? 8 : wanted); i++) {
                objects.push_back(ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf));
                ASSERT_NE(objects.back(), nullptr);
            }
            ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
            cache.free(objects);
            make_bare();
            balance.expect_same();
        });
        EXPECT_GT(failures, 0u) << wanted;
        EXPECT_GT(refused, 0u) << wanted;
    }
}

TEST_F(SlabFailure, while_returning_a_sheaf_loses_nothing)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    const unsigned failures = each_failure([&](Attempt &attempt) {
        attempt.pause();
        make_bare();
        slab_ops_sheaf *first = ops().prefill(cache, SLAB_OPS_KERNEL, 8);
        slab_ops_sheaf *second = ops().prefill(cache, SLAB_OPS_KERNEL, 8);
        std::vector<void *> objects;
        for (slab_ops_sheaf *sheaf : {first, second})
            objects.push_back(ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf));
        attempt.begin();
        ops().return_sheaf(cache, SLAB_OPS_KERNEL, first);
        ops().return_sheaf(cache, SLAB_OPS_KERNEL, second); // is topped up on its way to the barn
        attempt.over();
        cache.verify();
        cache.free(objects);
        make_bare();
    });
    EXPECT_GT(failures, 0u);
}

TEST_F(SlabFailure, of_sheaf_memory_does_not_disturb_a_free)
{
    WITHOUT_DEBUGGING();
    WHERE_SHEAVES_ARE();
    const unsigned failures = each_failure([&](Attempt &attempt) {
        attempt.pause();
        make_bare();
        std::vector<void *> objects = cache.alloc_many(kCapacity * 5);
        attempt.begin();
        cache.free(objects);
        attempt.over();
        cache.verify();
        EXPECT_EQ(live_objects(cache), 0);
        make_bare();
    });
    EXPECT_GT(failures, 0u) << "freeing makes sheaves for the barn";
}

TEST_F(SlabFailure, of_sheaf_memory_does_not_disturb_kfree_rcu)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    const unsigned failures = each_failure([&](Attempt &attempt) {
        attempt.pause();
        make_bare();
        std::vector<void *> objects = cache.alloc_many(kCapacity * 2 + 3);
        attempt.begin();
        for (void *object : objects)
            ops().free_rcu(object, 64);
        attempt.over();
        ops().free_rcu_barrier();
        EXPECT_EQ(live_objects(cache), 0);
        make_bare();
    });
    EXPECT_GT(failures, 0u);
}

TEST_F(SlabFailure, of_kmalloc_and_krealloc_keeps_the_old_memory)
{
    for (std::size_t bytes : {std::size_t{100}, std::size_t{3000}, std::size_t{50000}}) {
        const Balance balance;
        unsigned nulls = 0;
        const unsigned failures = each_failure([&](Attempt &attempt) {
            attempt.pause();
            auto *object = static_cast<unsigned char *>(ops().kmalloc(40, SLAB_OPS_KERNEL));
            std::fill(object, object + 40, 0x71);
            attempt.begin();
            auto *moved = static_cast<unsigned char *>(ops().krealloc(object, bytes, SLAB_OPS_KERNEL));
            EXPECT_EQ(attempt.over() || moved, true);
            nulls += !moved;
            unsigned char *now = moved ? moved : object;
            EXPECT_EQ(std::count(now, now + 40, 0x71), 40);
            ops().kfree(now);
            balance.expect_same();
        });
        EXPECT_GT(failures, 0u) << bytes;
        EXPECT_GT(nulls, 0u) << bytes;
    }
}

TEST_F(SlabFailure, never_reaches_who_cannot_bear_it)
{
    for (unsigned nth = 1; nth <= 8; nth++) {
        make_bare();
        kmirror_fail_from_nth(nth);
        void *object = cache.alloc(SLAB_OPS_NOFAIL);
        kmirror_fail_nth(0);
        ASSERT_NE(object, nullptr) << nth;
        cache.free(object);
    }
}

TEST_F(SlabFailure, can_be_random_and_is_counted)
{
    KMIRROR_RANDOM(random);
    const unsigned long before = kmirror_fault_count("failslab");
    ASSERT_EQ(kmirror_fault_enable("failslab", 0.3, 0), 0);
    std::vector<void *> objects;
    for (int i = 0; i < 2000; i++)
        if (void *object = cache.alloc(); object && pick(random, 0, 1))
            cache.free(object);
        else if (object)
            objects.push_back(object);
    ASSERT_EQ(kmirror_fault_disable("failslab"), 0);
    EXPECT_GT(kmirror_fault_count("failslab"), before + 300);
    cache.verify();
    cache.free(objects);
}

} // namespace
} // namespace kmirror::slab_test
