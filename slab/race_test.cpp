// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: where the allocator lets go of a CPU's sheaves or of a list, another thread may do anything there,
// and the first one goes on with what it finds: no sheaf and no object is lost, counted twice or handed out
// twice.
//
// A stop point runs the other thread's part, on the same virtual CPU, at exactly that moment; so every case
// here is the same at every run.

#include "slab/generation.h"

#include <kmirror/stop_point.h>
#include <linux/rcupdate.h>

#include "lib/slub/cache.h"
#include "lib/slub/cpu_slab.h"
#include "lib/slub/slab.h"

#include <cstring>
#include <functional>
#include <utility>

namespace kmirror::slab_test {
namespace {

constexpr unsigned kCapacity = 32;

// Runs `other` once, at the first operation of that name in that function which the calling thread comes to;
// a test in which it never comes there fails.
class Meanwhile {
public:
    Meanwhile(const char *function, const char *operation, std::function<void()> other)
        : function_(function), operation_(operation), other_(std::move(other)), visitor_(Visit{this})
    {
    }
    ~Meanwhile() { EXPECT_FALSE(other_) << function_ << " never came to " << operation_; }
    Meanwhile(const Meanwhile &) = delete;
    Meanwhile &operator=(const Meanwhile &) = delete;

private:
    struct Visit {
        Meanwhile *self;
        void operator()(const char *function, const char *operation) const
        {
            self->visit(function, operation);
        }
    };
    void visit(const char *function, const char *operation)
    {
        if (other_ && !std::strcmp(function, function_) && !std::strcmp(operation, operation_))
            std::exchange(other_, {})();
    }

    const char *function_, *operation_;
    std::function<void()> other_;
    StopVisitor<Visit> visitor_;
};

class SlabRace : public ::testing::Test {
protected:
    SlabRace() : cache(256, 0, kCapacity), held(300)
    {
        EXPECT_TRUE(cache.alloc_bulk(held.size(), held.data())); // from slabs: no sheaf was filled or made
    }
    void SetUp() override
    {
        if (!KMIRROR_STOP_POINTS)
            GTEST_SKIP() << "there are no stop points in a release build";
        SHEAVES_ONLY(); // earlier generations allocate sheaves at other points
    }
    void TearDown() override
    {
        cache.free(held);
        held.clear();
    }

    void *pop()
    {
        void *object = held.back();
        held.pop_back();
        return object;
    }
    void free_held(unsigned n)
    {
        for (; n; n--)
            cache.free(pop());
    }
    void alloc_held(unsigned n)
    {
        for (; n; n--)
            held.push_back(cache.alloc());
    }
    void expect_found(int main, int spare, unsigned barn_full, unsigned barn_empty) const
    {
        EXPECT_EQ(mine().main, main);
        EXPECT_EQ(mine().spare, spare);
        EXPECT_EQ(cache.counts().barn_full, barn_full);
        EXPECT_EQ(cache.counts().barn_empty, barn_empty);
        cache.verify();
        cache.expect_sheaves_made(cache.sheaves_found());
    }
    slab_ops_cpu_sheaves mine() const { return cache.sheaves(ops().cpu()); }

    Pinned here;
    Cache cache;
    std::vector<void *> held;
};

// ---- a free makes a sheaf, with the CPU unlocked ----------------------------------------------------

class SlabRaceFree : public SlabRace {
protected:
    // Frees into a full main with no empty sheaf at hand; `other` while the memory of one is allocated.
    void free_into_full_main(std::function<void()> other)
    {
        free_held(kCapacity);
        ASSERT_EQ(mine().main, int(kCapacity));
        ASSERT_EQ(mine().spare, -1);
        const Meanwhile there("alloc_from_pcs", "local_trylock", std::move(other));
        free_held(1);
    }
};

TEST_F(SlabRaceFree, puts_the_full_main_aside_when_nobody_came)
{
    WITHOUT_DEBUGGING();
    free_into_full_main([] {});
    expect_found(1, kCapacity, 0, 0);
}

TEST_F(SlabRaceFree, gives_its_sheaf_to_the_barn_when_main_has_room_meanwhile)
{
    WITHOUT_DEBUGGING();
    free_into_full_main([this] { free_held(1); });
    expect_found(2, kCapacity, 0, 1);
}

TEST_F(SlabRaceFree, sends_main_to_the_barn_when_main_and_spare_are_full_meanwhile)
{
    WITHOUT_DEBUGGING();
    free_into_full_main([this] { free_held(kCapacity); });
    expect_found(1, kCapacity, 1, 0);
}

TEST_F(SlabRaceFree, swaps_main_and_spare_when_the_spare_has_room_meanwhile)
{
    WITHOUT_DEBUGGING();
    free_into_full_main([this] {
        free_held(kCapacity);
        alloc_held(kCapacity + 1); // main used up, the full spare took its place
        free_held(1);
        ASSERT_EQ(mine().main, int(kCapacity));
        ASSERT_EQ(mine().spare, 0);
    });
    expect_found(1, kCapacity, 0, 1);
}

TEST_F(SlabRaceFree, goes_on_with_the_cpu_it_is_on_afterwards)
{
    WITHOUT_DEBUGGING();
    if (ops().nr_cpus() < 2)
        GTEST_SKIP() << "needs two CPUs";
    free_into_full_main([] { ASSERT_EQ(ops().cpu_pin(1), 0); });
    expect_found(1, 0, 0, 0); // CPU 1: its own empty main is the spare now
    EXPECT_EQ(cache.sheaves(0).main, int(kCapacity));
}

TEST_F(SlabRaceFree, loses_nothing_when_the_spare_is_flushed_and_replaced_meanwhile)
{
    WITHOUT_DEBUGGING();
    held.resize(held.size() + kCapacity * 12);
    ASSERT_TRUE(cache.alloc_bulk(kCapacity * 12, held.data() + held.size() - kCapacity * 12));
    free_held(kCapacity * (2 + rules::kBarnFullMax));
    expect_found(kCapacity, kCapacity, rules::kBarnFullMax, 0);
    {
        // The spare is on its way to the slabs.
        const Meanwhile there("prepare", "lock", [this] { free_held(1); });
        free_held(1);
    }
    EXPECT_EQ(mine().main + mine().spare, int(kCapacity) + 2);
    cache.verify();
    cache.expect_sheaves_made(cache.sheaves_found());
}

// ---- kfree_rcu makes a sheaf, with the CPU unlocked -------------------------------------------------------

class SlabRaceKfreeRcu : public SlabRace {
protected:
    void free_rcu_held(unsigned n)
    {
        for (; n; n--)
            ops().free_rcu(pop(), 64);
    }
};

TEST_F(SlabRaceKfreeRcu, gives_its_sheaf_back_when_the_cpu_has_one_meanwhile)
{
    WITHOUT_DEBUGGING();
    {
        const Meanwhile there("alloc_from_pcs", "local_trylock", [this] { free_rcu_held(5); });
        free_rcu_held(1);
    }
    EXPECT_EQ(mine().rcu_free, 6);
    cache.verify();
    cache.expect_sheaves_made(cache.sheaves_found());
}

TEST_F(SlabRaceKfreeRcu, leaves_no_full_sheaf_behind)
{
    WITHOUT_DEBUGGING();
    {
        const Meanwhile there("alloc_from_pcs", "local_trylock", [this] { free_rcu_held(kCapacity - 1); });
        free_rcu_held(1);
    }
    EXPECT_EQ(mine().rcu_free, -1) << "the last object filled it";
    rcu_barrier();
    cache.verify();
    cache.expect_sheaves_made(cache.sheaves_found());
}

// ---- pages are given back --------------------------------------------------------------------------

// Runs `work` with an allocation inside its first return of pages. Whoever takes pages back may allocate, of
// the same cache and node as well: no lock may be held then.
void reenter(Cache &cache, std::function<void()> work)
{
    void *inner = nullptr;
    {
        const Meanwhile there("__free_slab", "free_pages", [&] {
            kmem_cache_node *n = kmirror::slub::get_node(as_kmem_cache(cache), 0);
            const bool locked = raw_spin_is_locked(&n->list_lock);
            EXPECT_FALSE(locked) << "an allocation would wait for ever";
            if (!locked)
                inner = cache.alloc();
        });
        work();
    }
    ASSERT_NE(inner, nullptr);
    cache.free(inner);
}

KMIRROR_TEST_IN(SlabRacePages, may_be_taken_back_by_who_allocates_of_the_same_cache,
                "KMIRROR_MACHINE=pack:1 core:2 pu:1")
{
    if (!KMIRROR_STOP_POINTS)
        GTEST_SKIP() << "there are no stop points in a release build";
    for (const char *generation : kGenerations) {
        SCOPED_TRACE(generation);
        const OfGeneration chosen(generation);
        Pinned here;
        Cache cache(256, 0, kCapacity);
        ops().set_min_partial(cache, 0);
        std::vector<void *> held(300);
        ASSERT_TRUE(cache.alloc_bulk(held.size(), held.data()));
        void *kept = held.back();
        held.pop_back();
        reenter(cache, [&] {
            cache.free_bulk(held.size(), held.data());
            cache.shrink();
        });
        reenter(cache, [&] {
            cache.free(kept);
            cache.shrink();
        });
    }
}

// ---- ABA -------------------------------------------------------------------------------------------

using kmirror::slub::FreelistCounters;
using kmirror::slub::SlabCounters;
using kmirror::slub::SlabWord;

// The list's head is what it was, but objects came and went: the counters tell.
TEST(SlabRaceAba, a_slabs_swap_fails_when_only_the_list_is_as_it_was)
{
    void *head = &head, *other = &other;
    for (bool wide : {true, false}) {
        SlabWord word{};
        unsigned char lock = 0;
        const auto swap = [&](FreelistCounters old, FreelistCounters fresh) {
            return wide ? slab_word_swap(word, old, fresh) : slab_word_swap_locked(word, lock, old, fresh);
        };
        const FreelistCounters seen = {head, SlabCounters::of(3, 8)};
        slab_word_init(word, {head, SlabCounters::of(4, 8)});
        EXPECT_FALSE(swap(seen, {other, SlabCounters::of(2, 8)}));
        slab_word_init(word, {other, SlabCounters::of(3, 8)});
        EXPECT_FALSE(swap(seen, {nullptr, SlabCounters::of(8, 8)}));
        EXPECT_EQ(slab_word_read(word).freelist, other) << "a swap that fails changes nothing";
        EXPECT_EQ(slab_word_read(word).counters.raw(), SlabCounters::of(3, 8).raw());
        slab_word_init(word, seen);
        EXPECT_TRUE(swap(seen, {other, SlabCounters::of(2, 8)}));
        EXPECT_EQ(slab_word_read(word).freelist, other);
    }
}

// The CPU's list is as it was, down to the last link but one: the transaction number tells.
TEST(SlabRaceAba, a_cpus_swap_fails_when_the_list_is_as_it_was)
{
    WITHOUT_DEBUGGING();
    const OfGeneration chosen("cpu-slab");
    Pinned here;
    Cache cache(256);
    std::vector<void *> objects = cache.alloc_many(4);
    cache.free(objects[3]);
    cache.free(objects[2]);
    kmem_cache_cpu *c = this_cpu_ptr(as_kmem_cache(cache)->cpu_slab);
    // A thread about to take objects[2] has read this, and its link.
    const kmirror::slub::CpuFreelist seen = cpu_freelist_read(c->word);
    ASSERT_EQ(seen.freelist, objects[2]);
    void *const link = objects[3];
    // Then others: that object is on top again, but what it linked to is in use.
    ASSERT_EQ(cache.alloc(), objects[2]);
    ASSERT_EQ(cache.alloc(), objects[3]);
    cache.free(objects[2]);
    ASSERT_EQ(cpu_freelist_read(c->word).freelist, objects[2]);
    EXPECT_NE(cpu_freelist_read(c->word).tid, seen.tid);
    EXPECT_FALSE(cpu_freelist_swap(c->word, seen, {link, seen.tid + 1}))
        << "would hand out an object in use";
    objects.erase(objects.begin() + 2);
    cache.free(objects);
}

} // namespace
} // namespace kmirror::slab_test
