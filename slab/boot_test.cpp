// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the allocator starts once, whoever comes first, and its size classes have one sheaf a CPU each;
// making a sheaf for a size class never needs another sheaf for a size class.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>
#include <linux/slab.h>

#include <thread>

namespace kmirror::slab_test {
namespace {

slab_ops_cache *handle(kmem_cache *s) { return reinterpret_cast<slab_ops_cache *>(s); }

// Made, and not on a CPU as main, spare or rcu_free, nor in a barn.
long sheaves_lost(kmem_cache *s)
{
    if (!KMIRROR_STATS)
        return 0; // nobody counts
    slab_ops_counts all{};
    ops().counts(handle(s), -1, &all);
    long lost = ops().stat(handle(s), "sheaf_alloc") - ops().stat(handle(s), "sheaf_free");
    lost -= long(all.barn_full + all.barn_empty);
    for (int cpu = 0; cpu < ops().nr_cpus(); cpu++) {
        slab_ops_cpu_sheaves held{};
        ops().cpu_sheaves(handle(s), cpu, &held);
        EXPECT_GE(held.main, 0) << "every CPU has a main sheaf";
        lost -= (held.main >= 0) + (held.spare >= 0) + (held.rcu_free >= 0);
    }
    return lost;
}

// The caches behind kmalloc.
std::vector<kmem_cache *> size_classes()
{
    std::vector<kmem_cache *> found;
    kmirror_slab_for_each_cache(
        [](kmem_cache *s, void *out) {
            struct kmirror_slab_geometry made;
            kmirror_slab_geometry(s, &made);
            if (made.flags & SLAB_KMALLOC)
                static_cast<std::vector<kmem_cache *> *>(out)->push_back(s);
            return 0;
        },
        &found);
    return found;
}

KMIRROR_TEST_IN(SlabBoot, makes_one_sheaf_a_cpu_for_each_size_class,
                "KMIRROR_MACHINE=pack:2 numa:1 core:4 pu:1")
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    kmem_cache_init();
    const std::vector<kmem_cache *> classes = size_classes();
    EXPECT_EQ(classes.size(), 3u * 13u) << "8 to 8192 bytes with 96 and 192, of three kinds";
    for (kmem_cache *s : classes) {
        struct kmirror_slab_geometry made;
        kmirror_slab_geometry(s, &made);
        EXPECT_EQ(made.sheaf_capacity, rules::sheaf_capacity(made.size)) << made.name;
        EXPECT_EQ(sheaves_lost(s), 0) << made.name << " was set up twice";
    }
    kmem_cache_init(); // once more changes nothing
    for (kmem_cache *s : classes)
        EXPECT_EQ(sheaves_lost(s), 0);
}

KMIRROR_TEST_IN(ConcurrentSlabBoot, is_done_once_when_all_threads_come_first,
                "KMIRROR_MACHINE=pack:1 core:4 pu:1")
{
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([i] {
            void *object = ops().kmalloc(std::size_t{16} << i, SLAB_OPS_KERNEL);
            EXPECT_NE(object, nullptr);
            ops().kfree(object);
        });
    threads.clear();
    EXPECT_TRUE(slab_is_available());
    EXPECT_EQ(size_classes().size(), 3u * 13u);
}

KMIRROR_TEST_IN(SlabBoot, first_use_of_every_size_class_needs_no_second_level_of_sheaves,
                "KMIRROR_MACHINE=pack:1 core:2 pu:1")
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Pinned here;
    for (std::size_t bytes = 8; bytes <= 8192; bytes *= 2) {
        std::vector<void *> objects;
        for (int i = 0; i < 300; i++)
            objects.push_back(ops().kmalloc(bytes, SLAB_OPS_KERNEL));
        slab_ops_cache *cache = ops().cache_of(objects.front());
        for (void *object : objects)
            ops().kfree(object);
        EXPECT_EQ(ops().check(cache), 0) << bytes;
        if (KMIRROR_STATS) {
            EXPECT_GT(ops().stat(cache, "sheaf_refill"), 0) << bytes;
        }
    }
    for (kmem_cache *s : size_classes())
        EXPECT_EQ(kmirror_slab_validate(s), 0);
}

TEST(SlabBoot, boot_caches_have_no_sheaves)
{
    kmem_cache_init();
    int seen = 0;
    kmirror_slab_for_each_cache(
        [](kmem_cache *s, void *out) {
            struct kmirror_slab_geometry made;
            kmirror_slab_geometry(s, &made);
            const std::string name = made.name;
            if (name == "kmem_cache" || name == "kmem_cache_node") {
                EXPECT_EQ(made.sheaf_capacity, 0u) << name;
                ++*static_cast<int *>(out);
            }
            return 0;
        },
        &seen);
    EXPECT_EQ(seen, 2);
}

} // namespace
} // namespace kmirror::slab_test
