// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: with consistency checks an allocation never hands out a damaged object, and takes its slab out of
// use; a free takes back nothing that is damaged, free already, or no object. Everything else goes on.

#include "slab/debug_test.h"

#include <algorithm>

namespace kmirror::slab_test {
namespace {

TEST(SlabDebugPaths, a_damaged_object_is_not_handed_out_and_its_slab_not_used_again)
{
    DebugCache cache(kAllChecks);
    void *other = cache.alloc();
    void *object = cache.freed();
    slab *bad = slab_of(object);
    ASSERT_EQ(bad, slab_of(other));
    poke(object, 5, 0x99);

    void *got = nullptr;
    Said said = said_by(1, [&] { got = cache.alloc(); });
    EXPECT_SAID(said, "[Poison overwritten]");
    EXPECT_SAID(said, "FIX slab_debug_test: Marking all objects used\n");
    ASSERT_NE(got, nullptr);
    EXPECT_NE(slab_of(got), bad);
    EXPECT_TRUE(slub::slab_counters(bad).frozen());
    EXPECT_EQ(slub::slab_counters(bad).free(), 0u);
    cache.free(got);

    // What is left of it cannot be given back any more.
    said = said_by(1, [&] { cache.free(other); });
    EXPECT_SAID(said, "): Slab disabled since SLUB metadata consistency check failed\n");
    EXPECT_SAID(said, "FIX slab_debug_test: Object at 0x");
    EXPECT_EQ(slub::slab_counters(bad).free(), 0u);
    said_by(1, [&] { cache.close(); });
}

TEST(SlabDebugPaths, a_free_list_that_begins_nowhere_is_noticed_by_an_allocation)
{
    DebugCache cache(kAllChecks);
    void *object = cache.freed();
    slab *bad = slab_of(object);
    const slub::FreelistCounters sound = slub::slab_word_read(*bad);
    slub::slab_word_init(*bad, {static_cast<char *>(object) + 8, sound.counters});
    void *got = nullptr;
    const Said said = said_by(1, [&] { got = cache.alloc(); });
    EXPECT_SAID(said, "): Freelist Pointer check fails\n");
    // It is no object, so nothing of it is shown.
    EXPECT_SAID(said, "\nInvalid pointer 0x");
    EXPECT_FALSE(said.has("\nRedzone  "));
    EXPECT_NE(slab_of(got), bad);
    cache.free(got);
    slub::slab_word_init(*bad, sound);
    said_by(1, [&] { cache.close(); });
}

TEST(SlabDebugPaths, a_second_free_is_refused)
{
    DebugCache cache(kAllChecks);
    void *stays = cache.alloc();
    void *object = cache.alloc();
    cache.free(object);
    const Said said = said_by(1, [&] { cache.free(object); });
    EXPECT_SAID(said, "BUG slab_debug_test (");
    EXPECT_SAID(said, "): Object already free\n");
    EXPECT_SAID(said, "FIX slab_debug_test: Object at 0x");
    EXPECT_SAID(said, " not freed\n");
    EXPECT_SAID(said, "Freed in ");
    EXPECT_EQ(errors_of_validation(cache), 0u);
    cache.free(stays);
}

TEST(SlabDebugPaths, a_free_of_the_last_live_object_twice_is_refused_by_the_count)
{
    DebugCache cache(kAllChecks);
    void *object = cache.freed();
    const Said said = said_by(1, [&] { cache.free(object); });
    EXPECT_SAID(said, "): Slab has 0 allocated objects but 1 are to be freed\n");
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

TEST(SlabDebugPaths, an_address_inside_an_object_is_no_object)
{
    DebugCache cache(kAllChecks);
    auto *object = static_cast<char *>(cache.alloc());
    const Said said = said_by(1, [&] { cache.free(object + 8); });
    EXPECT_SAID(said, "): Invalid object pointer 0x");
    EXPECT_EQ(errors_of_validation(cache), 0u);
    cache.free(object);
}

TEST(SlabDebugPaths, an_object_whose_surroundings_are_damaged_stays_used)
{
    DebugCache cache(kAllChecks);
    void *object = cache.alloc();
    poke(object, -2, 0x31);
    const Said said = said_by(1, [&] { cache.free(object); });
    EXPECT_SAID(said, "[Left Redzone overwritten]");
    EXPECT_SAID(said, " not freed\n");
    EXPECT_EQ(slub::slab_counters(slab_of(object)).inuse(), 1u);
    // Repaired by now, so that a second try goes well.
    said_by(0, [&] { cache.free(object); });
    EXPECT_EQ(slub::slab_counters(slab_of(object)).inuse(), 0u);
}

TEST(SlabDebugPaths, damage_that_was_not_noticed_before_is_found_when_the_slab_is_freed)
{
    DebugCache cache(kAllChecks);
    kmirror_slab_set_min_partial(cache, 0);
    void *stays = cache.alloc();
    void *object = cache.freed();
    poke(object, 9, 0);
    const Said said = said_by(1, [&] { cache.free(stays); });
    EXPECT_SAID(said, "[Poison overwritten]");
    EXPECT_EQ(said.errors, 2u);
}

TEST(SlabDebugPaths, an_object_twice_in_a_bulk_free_is_noticed)
{
    DebugCache cache(kAllChecks);
    void *objects[] = {cache.alloc(), cache.alloc(), cache.alloc()};
    void *twice[] = {objects[0], objects[1], objects[1]};
    // Who closes each object for the sanitizer finds the right number on the way.
    const Said said = said_by(!KMIRROR_ASAN, [&] { kmem_cache_free_bulk(cache, 3, twice); });
    EXPECT_EQ(said.has("): Bulk free expected 3 objects but found 2\n"), !KMIRROR_ASAN) << said.text;
    EXPECT_EQ(slub::slab_counters(slab_of(objects[2])).inuse(), 1u) << "each was taken once";
    EXPECT_EQ(errors_of_validation(cache), 0u);
    cache.free(objects[2]);
}

TEST(SlabDebugPaths, without_checks_nothing_is_looked_at)
{
    DebugCache cache(SLAB_RED_ZONE | SLAB_POISON);
    void *object = cache.alloc();
    poke(object, 64, 0);
    EXPECT_EQ(said_by(0, [&] { cache.free(object); }).errors, 0u);
    EXPECT_EQ(errors_of_validation(cache), 0u) << "the free has written it anew";
    poke(object, 1, 0);
    EXPECT_EQ(said_by(0, [&] { object = cache.alloc(); }).errors, 0u);
    cache.free(object);
}

TEST(SlabDebugPaths, bulk_and_prefill_are_exact)
{
    DebugCache cache(kAllChecks);
    void *objects[100];
    ASSERT_TRUE(kmem_cache_alloc_bulk(cache, GFP_KERNEL, 100, objects));
    std::sort(objects, objects + 100);
    EXPECT_EQ(std::unique(objects, objects + 100), objects + 100);
    EXPECT_EQ(errors_of_validation(cache), 0u);
    kmem_cache_free_bulk(cache, 100, objects);

    for (unsigned n : {1u, 7u, 40u}) {
        slab_sheaf *sheaf = kmem_cache_prefill_sheaf(cache, GFP_KERNEL, n);
        ASSERT_NE(sheaf, nullptr);
        EXPECT_EQ(kmem_cache_sheaf_size(sheaf), n);
        void *object = kmem_cache_alloc_from_sheaf(cache, GFP_KERNEL, sheaf);
        EXPECT_EQ(kmem_cache_sheaf_size(sheaf), n - 1);
        kmem_cache_return_sheaf(cache, GFP_KERNEL, sheaf);
        cache.free(object);
    }
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

TEST(SlabDebugPaths, empty_slabs_beyond_min_partial_are_given_back_at_once)
{
    DebugCache cache(SLAB_STORE_USER, 256);
    const unsigned per_slab = cache.geometry().objects;
    kmirror_slab_set_min_partial(cache, 5);
    std::vector<void *> objects;
    for (unsigned i = 0; i < 8 * per_slab; i++)
        objects.push_back(cache.alloc());
    EXPECT_EQ(cache.validate(), 8);
    std::sort(objects.begin(), objects.end());
    for (void *object : objects)
        cache.free(object);
    EXPECT_EQ(cache.validate(), 4) << "the slab that becomes empty is one of the five";
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

// An unmapped object of a class knows its size; a reallocation moves the border of what it may use.
TEST(SlabDebugPaths, krealloc_moves_the_red_zone_behind_the_requested_bytes)
{
    DebugCache cache(SLAB_KMALLOC | SLAB_STORE_USER | SLAB_RED_ZONE);
    void *object = __kmalloc_cache(cache, GFP_KERNEL, 48);
    EXPECT_TRUE(all_are(object, 48, 72, SLUB_RED_ACTIVE));
    fill(object, 0xff, 48);
    ASSERT_EQ(krealloc(object, 40, GFP_KERNEL | __GFP_ZERO), object);
    EXPECT_TRUE(all_are(object, 40, 72, SLUB_RED_ACTIVE));
    ASSERT_EQ(krealloc(object, 56, GFP_KERNEL | __GFP_ZERO), object);
    EXPECT_TRUE(all_are(object, 40, 56, 0));
    EXPECT_TRUE(all_are(object, 56, 72, SLUB_RED_ACTIVE));
    EXPECT_EQ(errors_of_validation(cache), 0u);

    poke(object, 57, 0);
    const Said said = said_by_validation(cache, 1);
    EXPECT_SAID(said, "[kmalloc Redzone overwritten]");
    EXPECT_EQ(said.errors, 2u);

    fill(object, 0xfe, 56);
    auto *moved = static_cast<unsigned char *>(krealloc(object, 112, GFP_KERNEL | __GFP_ZERO));
    ASSERT_NE(moved, object);
    EXPECT_TRUE(all_are(moved, 0, 56, 0xfe));
    EXPECT_TRUE(all_are(moved, 56, 112, 0)) << "no red zone was copied";
    kfree(moved);
}

TEST(SlabDebugPaths, ksize_makes_the_whole_object_its_users)
{
    DebugCache cache(SLAB_KMALLOC | kAllChecks);
    void *object = __kmalloc_cache(cache, GFP_KERNEL, 18);
    EXPECT_EQ(ksize(object), 64u);
    for (long i = 18; i < 64; i++)
        poke(object, i, 0x44);
    EXPECT_EQ(errors_of_validation(cache), 0u);
    cache.free(object);
    object = __kmalloc_cache(cache, GFP_KERNEL | __GFP_ZERO, 18);
    EXPECT_TRUE(all_are(object, 0, 18, 0));
    EXPECT_TRUE(all_are(object, 18, 64, SLUB_RED_ACTIVE)) << "zeroing stops at what was asked for";
    cache.free(object);
}

TEST(SlabDebugPaths, objects_are_aligned_whatever_surrounds_them)
{
    for (unsigned align : {8u, 64u, 256u})
        for (slab_flags_t flags : {SLAB_RED_ZONE, SLAB_STORE_USER, kAllChecks}) {
            kmem_cache_args args{};
            args.align = align;
            DebugCache cache(flags, 256, args);
            EXPECT_EQ(cache.geometry().sheaf_capacity, 0u);
            void *objects[20];
            ASSERT_TRUE(kmem_cache_alloc_bulk(cache, GFP_KERNEL, 20, objects));
            for (void *object : objects)
                EXPECT_EQ(reinterpret_cast<uintptr_t>(object) % align, 0u);
            kmem_cache_free_bulk(cache, 20, objects);
        }
}

TEST(SlabDebugPaths, a_constructed_object_stays_as_it_was)
{
    kmem_cache_args args{};
    args.ctor = [](void *object) { fill(object, 0xc7, 64); };
    DebugCache cache(kAllChecks, 64, args);
    for (int round = 0; round < 3; round++) {
        void *object = cache.alloc();
        EXPECT_TRUE(all_are(object, 0, 64, 0xc7));
        cache.free(object);
    }
    EXPECT_EQ(errors_of_validation(cache), 0u);
}

TEST(SlabDebugPaths, objects_freed_by_rcu_come_back_to_the_right_address)
{
    DebugCache cache(kAllChecks, 96);
    std::vector<void *> objects;
    for (int i = 0; i < 50; i++)
        objects.push_back(cache.alloc());
    for (void *object : objects)
        kvfree_call_rcu(reinterpret_cast<rcu_head *>(static_cast<char *>(object) + 40), object);
    kvfree_rcu_barrier();
    EXPECT_EQ(errors_of_validation(cache), 0u);
    EXPECT_EQ(slub::slab_counters(slab_of(cache.freed())).inuse(), 0u);
}

} // namespace
} // namespace kmirror::slab_test
