// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: every switch of the allocator changes how it works and not what it promises: slab updates by one
// wide compare-and-swap or under a lock bit, links in the clear or encoded, objects in order or shuffled.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>

#include <algorithm>

namespace kmirror::slab_test {
namespace {

// A switch in another position during its life.
class Switched {
public:
    Switched(enum kmirror_slab_switch which, bool on) : which_(which), before_(kmirror_slab_switch(which, on))
    {
    }
    ~Switched() { kmirror_slab_switch(which_, before_); }
    Switched(const Switched &) = delete;
    Switched &operator=(const Switched &) = delete;

private:
    enum kmirror_slab_switch which_;
    int before_;
};

// Enough of everything to take every path into and out of a slab.
void exercise(unsigned size, int sheaf_capacity)
{
    KMIRROR_RANDOM(random);
    const int before = ops().set_sheaf_capacity(sheaf_capacity);
    {
        Cache cache(size);
        const slab_ops_geometry made = cache.geometry();
        Shadow shadow(size, made.size, made.align);
        std::vector<void *> live;
        for (int round = 0; round < 60; round++) {
            std::vector<void *> objects(pick(random, 1, 150));
            ASSERT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
            for (void *object : objects)
                EXPECT_EQ(shadow.add(object), "");
            live.insert(live.end(), objects.begin(), objects.end());
            std::shuffle(live.begin(), live.end(), random);
            for (std::size_t keep = pick(random, 0, 200); live.size() > keep; live.pop_back()) {
                EXPECT_EQ(shadow.remove(live.back()), "");
                cache.free(live.back());
            }
            cache.verify();
        }
        for (void *object : live)
            EXPECT_EQ(shadow.remove(object), "");
        cache.free(live);
    }
    ops().set_sheaf_capacity(before);
}

void exercise_all()
{
    for (unsigned size : {8u, 256u, 1500u})
        for (int capacity : {-1, 0, 4})
            exercise(size, capacity);
}

TEST(SlabSwitches, updates_under_the_slab_lock_keep_every_promise)
{
    const Switched slab_lock(KMIRROR_SLAB_CMPXCHG_DOUBLE, false);
    exercise_all();
}

TEST(SlabSwitches, updates_by_wide_compare_and_swap_keep_every_promise)
{
    const Switched wide(KMIRROR_SLAB_CMPXCHG_DOUBLE, true);
    exercise_all();
}

TEST(SlabSwitches, encoded_links_keep_every_promise)
{
    const Switched hardened(KMIRROR_SLAB_FREELIST_HARDENED, true);
    exercise_all();
}

TEST(SlabSwitches, shuffled_slabs_keep_every_promise)
{
    const Switched shuffled(KMIRROR_SLAB_FREELIST_RANDOM, true);
    exercise_all();
}

TEST(SlabSwitches, all_at_once_keep_every_promise)
{
    const Switched shuffled(KMIRROR_SLAB_FREELIST_RANDOM, true),
        hardened(KMIRROR_SLAB_FREELIST_HARDENED, true), slab_lock(KMIRROR_SLAB_CMPXCHG_DOUBLE, false);
    exercise_all();
}

// The word that links a free object to the next free one of its slab.
std::uintptr_t link_of(const void *object, const slab_ops_geometry &made)
{
    return *reinterpret_cast<const std::uintptr_t *>(static_cast<const char *>(object) + made.freeptr_offset);
}

TEST(SlabSwitches, hardening_hides_addresses_in_links)
{
    WITHOUT_DEBUGGING();
    Pinned here;
    const int before = ops().set_sheaf_capacity(0);
    for (bool on : {false, true}) {
        const Switched hardened(KMIRROR_SLAB_FREELIST_HARDENED, on);
        slab_ops_cache_args args = args_of(256, SLAB_OPS_TYPESAFE_BY_RCU); // whose free objects may be read
        args.use_freeptr_offset = true;
        Cache cache(args);
        std::vector<void *> objects = cache.alloc_many(2);
        cache.free(objects[0]);
        cache.free(objects[1]); // now linked to objects[0]
        const bool plain =
            link_of(objects[1], cache.geometry()) == reinterpret_cast<std::uintptr_t>(objects[0]);
        EXPECT_EQ(plain, !on);
    }
    ops().set_sheaf_capacity(before);
}

TEST(SlabSwitches, shuffling_changes_the_order_of_first_use)
{
    WITHOUT_DEBUGGING();
    Pinned here;
    for (bool on : {false, true}) {
        const Switched shuffled(KMIRROR_SLAB_FREELIST_RANDOM, on);
        Cache cache(64);
        std::vector<void *> objects(cache.geometry().objects);
        ASSERT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
        EXPECT_EQ(std::is_sorted(objects.begin(), objects.end()), !on);
        std::sort(objects.begin(), objects.end());
        for (std::size_t i = 1; i < objects.size(); i++)
            EXPECT_EQ(static_cast<char *>(objects[i]) - static_cast<char *>(objects[i - 1]), 64);
        cache.free_bulk(objects.size(), objects.data());
    }
}

TEST(SlabSwitches, merging_can_be_switched_off)
{
    const Switched apart(KMIRROR_SLAB_MERGE, false);
    slab_ops_cache_args args{};
    args.size = 3000;
    slab_ops_cache *first = ops().create("slab_test_first", &args);
    slab_ops_cache *second = ops().create("slab_test_second", &args);
    EXPECT_NE(first, second);
    ops().destroy(second);
    ops().destroy(first);
}

} // namespace
} // namespace kmirror::slab_test
