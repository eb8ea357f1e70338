// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: with every cache of the process debugged, in every generation, ordinary work goes on as before,
// finds nothing, and leaves nothing; and validation beside it finds nothing either.

#include "slab/debug_test.h"

#include <linux/maple_tree.h>

#include <atomic>
#include <random>
#include <thread>

namespace kmirror::slab_test {
namespace {

constexpr unsigned long kRounds = KMIRROR_TSAN ? 3000 : 8000;

int validate_one(kmem_cache *s, void *)
{
    validate_slab_cache(s);
    return 0;
}

void expect_nothing_found()
{
    kvfree_rcu_barrier();
    kmirror_slab_for_each_cache(validate_one, nullptr);
    EXPECT_EQ(kmirror_slab_errors(), 0ul);
}

// Random sizes, written to the last byte; some are resized, some freed by RCU.
void random_kmalloc(unsigned long seed, unsigned long rounds)
{
    std::mt19937_64 random(seed);
    std::vector<std::pair<unsigned char *, size_t>> live(64);
    for (unsigned long round = 0; round < rounds; round++) {
        auto &[object, bytes] = live[random() % live.size()];
        if (object && random() % 4 == 0) {
            bytes = 16 + random() % 600;
            object = static_cast<unsigned char *>(krealloc(object, bytes, GFP_KERNEL));
            fill(object, 0xab, bytes);
        } else if (object) {
            EXPECT_TRUE(object[0] == 0xab && object[bytes - 1] == 0xab);
            if (random() % 4 == 0)
                kvfree_call_rcu(reinterpret_cast<rcu_head *>(object), object);
            else
                kfree(object);
            object = nullptr;
        } else {
            bytes = 16 + random() % 3000;
            object = static_cast<unsigned char *>(kmalloc(bytes, random() % 2 ? GFP_KERNEL : GFP_NOWAIT));
            fill(object, 0xab, bytes);
        }
    }
    for (auto &[object, bytes] : live)
        kfree(object);
}

void random_tree(unsigned long seed, unsigned long rounds)
{
    std::mt19937_64 random(seed);
    static maple_tree tree;
    static int entry;
    mt_init_flags(&tree, MT_FLAGS_USE_RCU | MT_FLAGS_ALLOC_RANGE);
    for (unsigned long round = 0; round < rounds; round++) {
        const unsigned long first = random() % 20000;
        const unsigned long last = first + random() % 40;
        ASSERT_EQ(mtree_store_range(&tree, first, last, random() % 3 ? &entry : nullptr, GFP_KERNEL), 0);
    }
    mtree_destroy(&tree);
    rcu_barrier();
}

void ordinary_work()
{
    random_kmalloc(testing::seed(), kRounds);
    random_tree(testing::seed(), kRounds / 2);
    kmem_cache *s = kmem_cache_create("slab_debug_ordinary", 184, nullptr, 0);
    slab_sheaf *sheaf = kmem_cache_prefill_sheaf(s, GFP_KERNEL, 50);
    EXPECT_EQ(kmem_cache_sheaf_size(sheaf), 50u) << "no sheaf of its own, so exactly what was asked for";
    kmem_cache_return_sheaf(s, GFP_KERNEL, sheaf);
    kmem_cache_destroy(s);
    expect_nothing_found();
}

#define ORDINARY_WORK_IN(name, ...) \
    KMIRROR_TEST_IN(SlabDebugEverywhere, name, __VA_ARGS__) { ordinary_work(); }

ORDINARY_WORK_IN(sheaves, "KMIRROR_SLAB_DEBUG=FZPU", "KMIRROR_SLAB=sheaves")
ORDINARY_WORK_IN(cpu_slabs_and_all_sheaves, "KMIRROR_SLAB_DEBUG=FZPU", "KMIRROR_SLAB=double")
ORDINARY_WORK_IN(cpu_slabs_and_first_sheaves, "KMIRROR_SLAB_DEBUG=FZPU", "KMIRROR_SLAB=cpu-slab+sheaves")
ORDINARY_WORK_IN(cpu_slabs, "KMIRROR_SLAB_DEBUG=FZPU", "KMIRROR_SLAB=cpu-slab")
ORDINARY_WORK_IN(red_zones_alone, "KMIRROR_SLAB_DEBUG=Z")
ORDINARY_WORK_IN(hardened_shuffled_and_locked, "KMIRROR_SLAB_DEBUG=FZPU", "KMIRROR_SLAB_FREELIST_HARDENED=1",
                 "KMIRROR_SLAB_FREELIST_RANDOM=1", "KMIRROR_SLAB_CMPXCHG_DOUBLE=0")

KMIRROR_TEST_IN(SlabDebugEverywhere, several_nodes, "KMIRROR_SLAB_DEBUG=FZPU",
                "KMIRROR_MACHINE=pack:2 numa:2 core:2 pu:1")
{
    ordinary_work();
    for (int node = 0; node < ops().nr_nodes(); node++) {
        void *object = __kmalloc_node(100, GFP_KERNEL | __GFP_THISNODE, node);
        EXPECT_EQ(kmirror_slab_nid_of(object), node);
        kfree(object);
    }
    expect_nothing_found();
}

// Counts and lists change in one section, so a look from outside finds them agreeing.
TEST(ConcurrentSlabDebug, validation_beside_allocations_and_frees_finds_nothing)
{
    DebugCache cache(kAllChecks, 512);
    const unsigned long before = kmirror_slab_errors();
    std::atomic<bool> stop{false};
    std::vector<std::thread> workers;
    for (int i = 0; i < 2; i++)
        workers.emplace_back([&] {
            void *objects[40];
            while (!stop.load(std::memory_order_relaxed)) {
                for (void *&object : objects) {
                    object = cache.alloc();
                    fill(object, 0x55, 512);
                }
                for (void *object : objects)
                    cache.free(object);
            }
        });
    for (int round = 0; round < (KMIRROR_TSAN ? 150 : 400); round++)
        cache.validate();
    stop.store(true);
    for (std::thread &worker : workers)
        worker.join();
    EXPECT_EQ(kmirror_slab_errors(), before);
}

} // namespace
} // namespace kmirror::slab_test
