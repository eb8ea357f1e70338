// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: with init_on_alloc memory is handed out zeroed, with init_on_free it is zeroed when it comes back
// and therefore when it goes out again, on every way out of the allocator. Objects whose bytes belong to a
// constructor, to readers or to poison keep them.

#include "slab/debug_test.h"

namespace kmirror::slab_test {
namespace {

class Switched {
public:
    explicit Switched(enum kmirror_slab_switch which)
        : which_(which), before_(kmirror_slab_switch(which, 1))
    {
    }
    ~Switched() { kmirror_slab_switch(which_, before_); }
    Switched(const Switched &) = delete;
    Switched &operator=(const Switched &) = delete;

private:
    enum kmirror_slab_switch which_;
    int before_;
};

void dirty_and_free(DebugCache &cache, unsigned count)
{
    std::vector<void *> objects;
    for (unsigned i = 0; i < count; i++) {
        objects.push_back(cache.alloc());
        fill(objects.back(), 0xd1, 64);
    }
    for (void *object : objects)
        cache.free(object);
}

// One by one, in bulk, and from a prefilled sheaf.
void expect_zero_on_every_way(slab_flags_t flags)
{
    DebugCache cache(flags | SLAB_NO_MERGE);
    void *objects[96];
    dirty_and_free(cache, 96);
    for (void *&object : objects) {
        object = cache.alloc();
        EXPECT_TRUE(all_are(object, 0, 64, 0));
        fill(object, 0xd2, 64);
    }
    kmem_cache_free_bulk(cache, 96, objects);
    ASSERT_TRUE(kmem_cache_alloc_bulk(cache, GFP_KERNEL, 96, objects));
    for (void *object : objects) {
        EXPECT_TRUE(all_are(object, 0, 64, 0));
        fill(object, 0xd3, 64);
    }
    kmem_cache_free_bulk(cache, 96, objects);
    slab_sheaf *sheaf = kmem_cache_prefill_sheaf(cache, GFP_KERNEL, 40);
    for (int i = 0; i < 40; i++) {
        objects[i] = kmem_cache_alloc_from_sheaf(cache, GFP_KERNEL, sheaf);
        EXPECT_TRUE(all_are(objects[i], 0, 64, 0));
    }
    kmem_cache_return_sheaf(cache, GFP_KERNEL, sheaf);
    kmem_cache_free_bulk(cache, 40, objects);
}

TEST(SlabZeroingSwitches, memory_is_zero_on_every_way_out)
{
    for (auto which : {KMIRROR_SLAB_INIT_ON_ALLOC, KMIRROR_SLAB_INIT_ON_FREE}) {
        const Switched on(which);
        expect_zero_on_every_way(0);
        expect_zero_on_every_way(SLAB_RED_ZONE);
        expect_zero_on_every_way(SLAB_STORE_USER | SLAB_CONSISTENCY_CHECKS);
    }
}

TEST(SlabZeroingSwitches, freed_memory_is_zero_but_for_its_link)
{
    const Switched on(KMIRROR_SLAB_INIT_ON_FREE);
    DebugCache cache(SLAB_NO_MERGE);
    void *object = cache.alloc();
    fill(object, 0xd1, 64);
    cache.free(object);
    const long link = cache.geometry().freeptr_offset;
    EXPECT_TRUE(all_are(object, 0, link, 0));
    EXPECT_TRUE(all_are(object, link + 8, 64, 0));
}

TEST(SlabZeroingSwitches, constructed_poisoned_and_typesafe_objects_keep_their_bytes)
{
    const Switched alloc(KMIRROR_SLAB_INIT_ON_ALLOC), free(KMIRROR_SLAB_INIT_ON_FREE);
    kmem_cache_args args{};
    args.ctor = [](void *object) { fill(object, 0xc7, 64); };
    DebugCache constructed(0, 64, args);
    void *object = constructed.alloc();
    EXPECT_TRUE(all_are(object, 0, 64, 0xc7));
    constructed.free(object);

    DebugCache typesafe(SLAB_TYPESAFE_BY_RCU, 64, {}, "slab_debug_typesafe");
    object = typesafe.alloc();
    fill(object, 0xd1, 64);
    typesafe.free(object);
    EXPECT_TRUE(all_are(object, 0, 64, 0xd1));

    DebugCache poisoned(SLAB_POISON, 64, {}, "slab_debug_poisoned");
    object = poisoned.alloc();
    EXPECT_TRUE(all_are(object, 0, 63, POISON_FREE));
    poisoned.free(object);
    object = poisoned.alloc(GFP_KERNEL | __GFP_ZERO);
    EXPECT_TRUE(all_are(object, 0, 64, 0));
    poisoned.free(object);
}

KMIRROR_TEST_IN(SlabZeroingSwitches, size_classes_and_whole_pages_follow_the_environment,
                "KMIRROR_INIT_ON_ALLOC=1")
{
    WITHOUT_DEBUGGING();
    for (size_t bytes : {size_t{24}, size_t{500}, size_t{KMALLOC_MAX_CACHE_SIZE + 1}})
        for (int round = 0; round < 2; round++) {
            void *object = kmalloc(bytes, GFP_KERNEL);
            EXPECT_TRUE(all_are(object, 0, long(bytes), 0)) << bytes;
            fill(object, 0xd1, bytes);
            kfree(object);
        }
}

TEST(SlabZeroingSwitches, off_is_the_default)
{
    DebugCache cache(SLAB_NO_MERGE);
    void *object = cache.alloc();
    fill(object, 0xd1, 64);
    cache.free(object);
    EXPECT_EQ(peek(object, 0), 0xd1);
}

} // namespace
} // namespace kmirror::slab_test
