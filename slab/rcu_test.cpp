// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: an object given to kfree_rcu() stays what it is until every reader that could see it is gone, then
// it is free; whole sheaves of such objects go to the barn; barriers and destruction wait for them, for one
// cache only.

#include "slab/slab_test.h"

#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

namespace kmirror::slab_test {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kCapacity = 32;

struct Object {
    unsigned long payload[4];
    rcu_head rcu;
    unsigned long more[256 / sizeof(long) - 6];
};

constexpr std::size_t kHead = offsetof(Object, rcu);
static_assert(sizeof(Object) == 256, "smaller objects get larger sheaves");

// A reader that stands in a read section until it is let go.
class Reader {
public:
    Reader()
        : thread_([this] {
              rcu_read_lock();
              entered_ = true;
              while (!leave_)
                  std::this_thread::sleep_for(1ms);
              rcu_read_unlock();
          })
    {
        while (!entered_)
            std::this_thread::yield();
    }
    ~Reader() { let_go(); }
    void let_go() { leave_ = true; }

private:
    std::atomic<bool> entered_{false}, leave_{false};
    std::jthread thread_;
};

class SlabKfreeRcu : public ::testing::Test {
protected:
    SlabKfreeRcu() : cache(sizeof(Object), 0, kCapacity) {}

    void free_rcu(void *object) { ops().free_rcu(object, kHead); }
    void free_rcu(const std::vector<void *> &objects)
    {
        for (void *object : objects)
            free_rcu(object);
    }
    int waiting() const { return cache.sheaves(ops().cpu()).rcu_free; }

    Pinned here;
    Cache cache;
};

TEST_F(SlabKfreeRcu, collects_objects_in_a_sheaf_of_the_cpu)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    free_rcu(cache.alloc_many(5));
    EXPECT_EQ(waiting(), 5);
    EXPECT_STAT(cache, "free_rcu_sheaf", 5);
    EXPECT_STAT(cache, "free_rcu_sheaf_fail", 0);
    cache.verify();
    ops().free_rcu_barrier();
    EXPECT_EQ(waiting(), -1);
    ops().validate(cache);
    EXPECT_EQ(cache.counts().used_objects, 0u);
}

TEST_F(SlabKfreeRcu, hands_a_whole_sheaf_to_the_barn_after_the_grace_period)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    free_rcu(cache.alloc_many(kCapacity));
    EXPECT_EQ(waiting(), -1);
    rcu_barrier();
    EXPECT_EQ(cache.counts().barn_full, 1u);
    EXPECT_STAT(cache, "barn_put", 1);
    EXPECT_STAT(cache, "sheaf_flush", 0) << "no slab was touched";
    cache.clear_stats();
    cache.free(cache.alloc_many(kCapacity));
    EXPECT_STAT(cache, "barn_get", 1);
    EXPECT_STAT(cache, "alloc_slab", 0);
    cache.verify();
}

TEST_F(SlabKfreeRcu, flushes_what_a_full_barn_does_not_take)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    free_rcu(cache.alloc_many(kCapacity * (rules::kBarnFullMax + 1)));
    rcu_barrier();
    EXPECT_EQ(cache.counts().barn_full, rules::kBarnFullMax);
    EXPECT_EQ(cache.counts().barn_empty, 1u);
    EXPECT_STAT(cache, "barn_put", long(rules::kBarnFullMax));
    EXPECT_STAT(cache, "barn_put_fail", 1);
    EXPECT_STAT(cache, "sheaf_flush", kCapacity);
    cache.verify();
}

TEST_F(SlabKfreeRcu, leaves_objects_alone_while_a_reader_may_look)
{
    std::vector<void *> objects = cache.alloc_many(3 * kCapacity);
    for (void *object : objects)
        static_cast<Object *>(object)->payload[0] = 0x1234;
    std::vector<void *> others;
    {
        Reader reader;
        free_rcu(objects);
        const std::set<void *> waiting(objects.begin(), objects.end());
        others = cache.alloc_many(20 * kCapacity);
        for (void *object : others)
            EXPECT_EQ(waiting.count(object), 0u) << "reused under a reader";
        for (void *object : objects)
            EXPECT_EQ(static_cast<Object *>(object)->payload[0], 0x1234u);
    }
    cache.free(others);
    ops().free_rcu_barrier();
    cache.shrink();
    EXPECT_EQ(cache.counts().used_objects, 0u);
}

TEST_F(SlabKfreeRcu, barrier_waits_for_the_readers)
{
    Reader reader;
    free_rcu(cache.alloc_many(kCapacity + 3));
    std::atomic<bool> done{false};
    std::jthread waiter([&] {
        ops().free_rcu_barrier_on(cache);
        done = true;
    });
    std::this_thread::sleep_for(30ms);
    EXPECT_FALSE(done);
    reader.let_go();
    waiter.join();
    EXPECT_TRUE(done);
}

TEST_F(SlabKfreeRcu, barrier_on_one_cache_leaves_the_others_waiting)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    Cache other(sizeof(Object), 0, kCapacity);
    free_rcu(cache.alloc_many(5));
    free_rcu(other.alloc_many(7));
    ops().free_rcu_barrier_on(cache);
    EXPECT_EQ(waiting(), -1);
    EXPECT_EQ(other.sheaves(ops().cpu()).rcu_free, 7) << "only the named cache is flushed";
}

TEST_F(SlabKfreeRcu, barrier_on_one_cache_flushes_one_of_a_hundred)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    std::vector<std::unique_ptr<Cache>> caches;
    for (int i = 0; i < 100; i++) {
        caches.push_back(std::make_unique<Cache>(sizeof(Object)));
        free_rcu(caches.back()->alloc());
    }
    caches[50]->close();
    for (int i = 0; i < 100; i++)
        if (i != 50) {
            EXPECT_EQ(caches[i]->sheaves(ops().cpu()).rcu_free, 1);
        }
}

TEST_F(SlabKfreeRcu, destruction_right_after_it_waits_and_is_silent)
{
    for (unsigned n : {1u, kCapacity - 1, kCapacity, 3 * kCapacity + 1}) {
        slab_ops_cache_args args = args_of(sizeof(Object), 0, kCapacity);
        slab_ops_cache *doomed = ops().create("slab_test_doomed", &args);
        for (unsigned i = 0; i < n; i++)
            free_rcu(ops().alloc(doomed, SLAB_OPS_KERNEL));
        const kmirror::testing::ExpectWarnings none(0);
        ops().destroy(doomed);
    }
}

TEST_F(SlabKfreeRcu, destruction_waits_for_a_reader)
{
    for (unsigned n : {3u, kCapacity}) {
        slab_ops_cache_args args = args_of(sizeof(Object), 0, kCapacity);
        slab_ops_cache *doomed = ops().create("slab_test_doomed", &args);
        Reader reader;
        for (unsigned i = 0; i < n; i++)
            free_rcu(ops().alloc(doomed, SLAB_OPS_KERNEL));
        std::atomic<bool> done{false};
        std::jthread destroyer([&] {
            ops().destroy(doomed);
            done = true;
        });
        std::this_thread::sleep_for(20ms);
        EXPECT_FALSE(done) << n;
        reader.let_go();
        destroyer.join();
    }
}

TEST_F(SlabKfreeRcu, takes_kmalloc_memory_of_any_size)
{
    for (std::size_t bytes : {std::size_t{16}, std::size_t{100}, std::size_t{5000}, std::size_t{100000}})
        for (int i = 0; i < 70; i++)
            ops().free_rcu(ops().kmalloc(bytes, SLAB_OPS_KERNEL), 0);
    ops().free_rcu_barrier();
}

TEST_F(SlabKfreeRcu, works_object_by_object_without_sheaves)
{
    SHEAVES_ONLY();
    const int before = ops().set_sheaf_capacity(0);
    {
        Cache bare(sizeof(Object));
        free_rcu(bare.alloc_many(40));
        EXPECT_STAT(bare, "free_rcu_sheaf", 0);
        EXPECT_STAT(bare, "free_rcu_sheaf_fail", 40);
        ops().free_rcu_barrier();
        EXPECT_EQ(bare.counts().used_objects, 0u);
        EXPECT_STAT(bare, "free_slowpath", 40);
    }
    ops().set_sheaf_capacity(before);
}

TEST_F(SlabKfreeRcu, macro_form_finds_the_head_by_its_member)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    auto *object = static_cast<Object *>(cache.alloc());
    kfree_rcu(object, rcu);
    EXPECT_EQ(waiting(), 1);
    auto *other = static_cast<Object *>(cache.alloc());
    kfree_rcu_mightsleep(other);
    ops().free_rcu_barrier();
}

TEST_F(SlabKfreeRcu, typesafe_pages_outlive_the_last_free_by_a_grace_period)
{
    Cache typesafe(sizeof(Object), SLAB_OPS_TYPESAFE_BY_RCU, kCapacity);
    auto *object = static_cast<Object *>(typesafe.alloc());
    object->payload[0] = 99;
    Reader reader;
    typesafe.free(object);
    EXPECT_EQ(typesafe.shrink(), 0);
    EXPECT_EQ(object->payload[0], 99u) << "the page is still a slab of this cache";
    reader.let_go();
    rcu_barrier();
}

} // namespace
} // namespace kmirror::slab_test
