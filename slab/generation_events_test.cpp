// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: at each event the four generations take the locks and count what their kernels do. One test an
// event; each names what every generation does there.
//
//   A  cpu-slab           a CPU's slab and chain of slabs
//   B  double, and        the same below sheaves
//      cpu-slab+sheaves
//   C  sheaves            sheaves straight over the lists of slabs
//
// A machine of 8 CPUs: 32 objects of 256 bytes a slab, sheaves of 32, chains of 4 slabs.

#include "slab/generation.h"

#include "lib/slub/cache.h"

#include <linux/rcupdate.h>

#include <algorithm>
#include <set>

namespace kmirror::slab_test {
namespace {

#define EIGHT_CPUS "KMIRROR_MACHINE=pack:1 core:8 pu:1"
#define TWO_NODES "KMIRROR_MACHINE=numa:2 core:4 pu:1"

constexpr unsigned kSlab = 32, kSheaf = 32, kChain = 4;

bool is_a(const std::string &generation) { return generation == "cpu-slab"; }
bool is_b(const std::string &generation)
{
    return generation == "double" || generation == "cpu-slab+sheaves";
}
bool is_c(const std::string &generation) { return generation == "sheaves"; }

// Runs body(generation, cache) on CPU 0 with a cache of each generation, which must be valid afterwards.
template <class Body>
void in_each_generation(Body body)
{
    WITHOUT_DEBUGGING();
    for (const char *generation : kGenerations) {
        SCOPED_TRACE(generation);
        const OfGeneration chosen(generation);
        Pinned here(0);
        Cache cache(256, 0, kSheaf);
        ASSERT_EQ(cache.geometry().objects, kSlab);
        ASSERT_STREQ(cache.geometry().generation, generation);
        ASSERT_EQ(cache.geometry().sheaf_capacity, is_a(generation) ? 0u : kSheaf);
        ASSERT_EQ(cache.geometry().cpu_partial_slabs, is_c(generation) ? 0u : kChain);
        body(std::string(generation), cache);
        cache.verify();
    }
}

// Freed on another CPU.
void free_on(Cache &cache, int cpu, const std::vector<void *> &objects)
{
    Pinned there(cpu);
    cache.free(objects);
}

std::vector<void *> part(const std::vector<void *> &objects, std::size_t from, std::size_t count)
{
    return {objects.begin() + long(from), objects.begin() + long(from + count)};
}

// Every stride-th object.
std::vector<void *> spread(const std::vector<void *> &objects, std::size_t stride)
{
    std::vector<void *> some;
    for (std::size_t i = 0; i < objects.size(); i += stride)
        some.push_back(objects[i]);
    return some;
}

void free_rest(Cache &cache, const std::vector<void *> &objects, const std::vector<void *> &freed)
{
    const std::set<void *> gone(freed.begin(), freed.end());
    for (void *object : objects)
        if (!gone.count(object))
            cache.free(object);
}

// `slabs` whole slabs of objects, in use, and nothing in sheaves, on CPUs or on lists.
std::vector<void *> full_slabs(Cache &cache, unsigned slabs)
{
    std::vector<void *> objects(slabs * kSlab);
    EXPECT_TRUE(cache.alloc_bulk(objects.size(), objects.data()));
    EXPECT_EQ(cache.counts().slabs, slabs);
    cache.shrink();
    cache.clear_stats();
    return objects;
}

#define EXPECT_HOLDS(list_holds, barn_holds, work) \
    EXPECT_EQ(holds_of([&] { work; }), (Holds{list_holds, barn_holds}))
#define EXPECT_STATS(cache, text)                     \
    do {                                              \
        if (KMIRROR_STATS) {                          \
            EXPECT_EQ(stats_of(cache), text);         \
        }                                             \
    } while (0)

// A: pop of the CPU's list; B and C: pop of main. No lock at all.
KMIRROR_TEST_IN(SlabEvent, an_allocation_that_hits, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        cache.free(cache.alloc());
        cache.clear_stats();
        void *object = nullptr;
        EXPECT_HOLDS(0, 0, object = cache.alloc());
        EXPECT_STATS(cache, is_b(generation) ? "alloc_pcs 1" : "alloc_fastpath 1");
        cache.free(object);
    });
}

// A: what others freed into the CPU's slab, in one swap; B and C: the other sheaf.
KMIRROR_TEST_IN(SlabEvent, an_allocation_that_misses_once, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        std::vector<void *> objects = cache.alloc_many(is_a(generation) ? kSlab : 2 * kSheaf);
        cache.clear_stats();
        if (is_a(generation)) {
            EXPECT_HOLDS(0, 0, free_on(cache, 1, part(objects, 0, 4)));
            EXPECT_STATS(cache, "free_slowpath 4, free_frozen 4");
            cache.clear_stats();
            void *object = nullptr;
            EXPECT_HOLDS(0, 0, object = cache.alloc());
            EXPECT_STATS(cache, "alloc_slowpath 1, alloc_refill 1");
            objects[0] = object;
            objects.erase(objects.begin() + 1, objects.begin() + 4);
            cache.free(objects);
            return;
        }
        cache.free(objects);
        objects = cache.alloc_many(cache.sheaves(0).main);
        ASSERT_EQ(cache.sheaves(0).main, 0);
        ASSERT_GT(cache.sheaves(0).spare, 0);
        cache.clear_stats();
        EXPECT_HOLDS(0, 0, objects.push_back(cache.alloc()));
        EXPECT_STATS(cache, is_b(generation) ? "alloc_pcs 1" : "alloc_fastpath 1");
        cache.free(objects);
    });
}

// A: the next slab of the chain, frozen by the swap that takes its objects; B and C: a full sheaf of the barn
// for the empty one.
KMIRROR_TEST_IN(SlabEvent, an_allocation_that_misses_twice, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        if (is_a(generation)) {
            std::vector<void *> objects = full_slabs(cache, 2);
            cache.free(objects[0]);
            ASSERT_EQ(cache.counts().cpu_chained, 1u);
            cache.clear_stats();
            EXPECT_HOLDS(0, 0, objects[0] = cache.alloc());
            EXPECT_STATS(cache, "alloc_slowpath 1, cpu_partial_alloc 1");
            EXPECT_EQ(cache.counts().cpu_slabs, 1u);
            cache.free(objects);
            return;
        }
        cache.free(cache.alloc_many(4 * kSheaf));
        const unsigned long stock = cache.counts().barn_full;
        ASSERT_GT(stock, 0u);
        const slab_ops_cpu_sheaves mine = cache.sheaves(0);
        std::vector<void *> objects = cache.alloc_many(std::size_t(mine.main + std::max(mine.spare, 0)));
        cache.clear_stats();
        EXPECT_HOLDS(0, 1, objects.push_back(cache.alloc()));
        EXPECT_STATS(cache, is_b(generation) ? "alloc_pcs 1, barn_get 1" : "alloc_fastpath 1, barn_get 1");
        EXPECT_EQ(cache.counts().barn_full, stock - 1);
        cache.free(objects);
    });
}

// Eight half-free slabs on the node's list. A and B take 2 + 4/2 of them in one hold and keep what is left
// over; C takes two, which are just enough for a sheaf.
KMIRROR_TEST_IN(SlabEvent, an_allocation_from_the_nodes_list, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        std::vector<void *> objects = full_slabs(cache, 8);
        const std::vector<void *> half = spread(objects, 2);
        free_on(cache, 1, half);
        cache.shrink();
        ASSERT_EQ(cache.counts().partial_slabs, 8u);
        cache.clear_stats();
        void *object = nullptr;
        EXPECT_HOLDS(1, is_b(generation) ? 1 : 0, object = cache.alloc());
        if (is_a(generation)) {
            EXPECT_STATS(cache, "alloc_slowpath 1, alloc_from_partial 1, cpu_partial_node 3");
            EXPECT_EQ(cache.counts().cpu_slabs + cache.counts().cpu_chained, 4u);
            EXPECT_EQ(cache.counts().partial_slabs, 4u);
        } else if (is_b(generation)) {
            // The second slab of 16 comes out of the chain: no hold for it. The old main goes to the barn.
            EXPECT_STATS(cache, "alloc_pcs 1, alloc_fastpath 30, alloc_slowpath 2, alloc_from_partial 1, "
                                "deactivate_bypass 1, cpu_partial_alloc 1, cpu_partial_node 3, "
                                "sheaf_refill 32, sheaf_alloc 1, barn_get_fail 1");
            EXPECT_EQ(cache.counts().partial_slabs, 4u);
            EXPECT_EQ(cache.counts().cpu_chained, 2u);
            EXPECT_EQ(cache.counts().barn_empty, 1u);
            EXPECT_EQ(cache.sheaves(0).spare, -1);
        } else {
            EXPECT_STATS(cache, "alloc_fastpath 1, sheaf_refill 32, sheaf_alloc 1, barn_get_fail 1");
            EXPECT_EQ(cache.counts().partial_slabs, 6u);
            EXPECT_EQ(cache.counts().barn_empty, 0u);
            EXPECT_EQ(cache.sheaves(0).spare, 0);
        }
        cache.verify();
        cache.free(object);
        free_rest(cache, objects, half);
    });
}

// Three slabs with 12 free objects each: C needs all of the third's lower bound and puts 4 back, which costs
// a second hold; B keeps them.
KMIRROR_TEST_IN(SlabEvent, objects_left_over_by_a_refill, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        std::vector<void *> objects = full_slabs(cache, 3), freed;
        for (unsigned slab = 0; slab < 3; slab++)
            for (unsigned i = 0; i < 12; i++)
                freed.push_back(objects[slab * kSlab + i]);
        free_on(cache, 1, freed);
        cache.shrink();
        cache.clear_stats();
        void *object = nullptr;
        EXPECT_HOLDS(is_c(generation) ? 2 : 1, is_b(generation) ? 1 : 0, object = cache.alloc());
        EXPECT_EQ(cache.counts().partial_slabs, is_c(generation) ? 1u : 0u);
        if (is_b(generation)) {
            EXPECT_EQ(cache.counts().cpu_objects, 4u);
        }
        cache.free(object);
        free_rest(cache, objects, freed);
    });
}

// A and B give the whole slab to the CPU, without a lock. C hands out what is wanted: all of it here.
KMIRROR_TEST_IN(SlabEvent, a_new_slab, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        void *object = nullptr;
        EXPECT_HOLDS(0, is_b(generation) ? 1 : 0, object = cache.alloc());
        if (is_a(generation))
            EXPECT_STATS(cache, "alloc_slowpath 1, alloc_slab 1");
        EXPECT_EQ(cache.stat("alloc_slab"), KMIRROR_STATS ? 1 : 0);
        EXPECT_EQ(cache.counts().partial_slabs, 0u);
        EXPECT_EQ(cache.counts().cpu_objects, is_a(generation) ? kSlab - 1 : 0u);
        cache.free(object);
    });
}

// The rest of a slab that is not used whole: C lists it, at the head, with one hold.
KMIRROR_TEST_IN(SlabEvent, a_new_slab_that_is_not_used_whole, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        std::vector<void *> objects(10);
        EXPECT_HOLDS(is_c(generation) ? 1 : 0, 0, EXPECT_TRUE(cache.alloc_bulk(10, objects.data())));
        EXPECT_EQ(cache.counts().partial_slabs, is_c(generation) ? 1u : 0u);
        EXPECT_EQ(cache.counts().cpu_objects, is_c(generation) ? 0u : kSlab - 10);
        cache.free_bulk(10, objects.data());
    });
}

// Who may not block: B fills no sheaf for it, and counts a miss of the barn for each object.
KMIRROR_TEST_IN(SlabEvent, allocations_that_may_not_block, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        std::vector<void *> objects = cache.alloc_many(3, SLAB_OPS_ATOMIC);
        if (is_a(generation))
            EXPECT_STATS(cache, "alloc_fastpath 2, alloc_slowpath 1, alloc_slab 1");
        else if (is_b(generation))
            EXPECT_STATS(cache, "alloc_fastpath 2, alloc_slowpath 1, alloc_slab 1, sheaf_alloc 8, "
                                "barn_get_fail 3");
        else
            EXPECT_STATS(cache, "alloc_fastpath 3, alloc_slab 1, sheaf_refill 32, sheaf_alloc 9, "
                                "barn_get_fail 1");
        cache.free(objects);
    });
}

// The CPU's sheaves are locked by whom we interrupted: B has its lockless list below, C pays a hold.
KMIRROR_TEST_IN(SlabEvent, the_sheaves_are_locked, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        if (is_a(generation))
            return;
        std::vector<void *> objects(10);
        ASSERT_TRUE(cache.alloc_bulk(10, objects.data()));
        cache.clear_stats();
        kmem_cache *s = as_kmem_cache(cache);
        local_lock(&s->cpu_sheaves->lock);
        void *object = nullptr;
        EXPECT_HOLDS(is_b(generation) ? 0 : 1, 0, object = cache.alloc());
        EXPECT_HOLDS(0, 0, cache.free(object));
        local_unlock(&s->cpu_sheaves->lock);
        EXPECT_STATS(cache, is_b(generation) ? "alloc_fastpath 1, free_fastpath 1"
                                             : "alloc_slowpath 1, free_slowpath 1");
        cache.free_bulk(10, objects.data());
    });
}

// Into the slab the CPU allocates from, or into main: no lock.
KMIRROR_TEST_IN(SlabEvent, a_free_to_the_cpus_own_slab, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        void *object = cache.alloc();
        cache.clear_stats();
        EXPECT_HOLDS(0, 0, cache.free(object));
        EXPECT_STATS(cache, is_b(generation) ? "free_pcs 1" : "free_fastpath 1");
    });
}

// Into any other slab of the node: A swaps in the slab, B and C do not touch it.
KMIRROR_TEST_IN(SlabEvent, a_free_to_a_partial_slab, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        std::vector<void *> objects = full_slabs(cache, 1);
        free_on(cache, 1, part(objects, 0, 2));
        cache.shrink();
        ASSERT_EQ(cache.counts().partial_slabs, 1u);
        const unsigned long used = cache.counts().used_objects;
        cache.clear_stats();
        EXPECT_HOLDS(0, 0, cache.free(objects[2]));
        EXPECT_STATS(cache, is_a(generation)   ? "free_slowpath 1"
                            : is_b(generation) ? "free_pcs 1"
                                               : "free_fastpath 1");
        EXPECT_EQ(cache.counts().used_objects, used - (is_a(generation) ? 1 : 0));
        cache.free(part(objects, 3, kSlab - 3));
    });
}

// A node's object freed on another node: never into a sheaf. A and B chain its full slab to this CPU.
KMIRROR_TEST_IN(SlabEvent, a_free_of_another_nodes_object, TWO_NODES)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        std::vector<void *> objects;
        {
            Pinned there(4);
            objects = full_slabs(cache, 1);
        }
        ASSERT_EQ(ops().object_node(objects[0]), 1);
        EXPECT_HOLDS(is_c(generation) ? 1 : 0, 0, cache.free(objects[0]));
        EXPECT_STATS(cache, is_c(generation) ? "free_slowpath 1, free_add_partial 1"
                                             : "free_slowpath 1, cpu_partial_free 1");
        EXPECT_EQ(cache.counts(1).cpu_chained, is_c(generation) ? 0u : 1u);
        EXPECT_EQ(cache.counts(1).partial_slabs, is_c(generation) ? 1u : 0u);
        cache.free(part(objects, 1, kSlab - 1));
    });
}

// Main and spare are full. One hold of the barn is enough to put main there.
KMIRROR_TEST_IN(SlabEvent, main_is_full_and_the_barn_has_room, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        if (is_a(generation))
            return;
        std::vector<void *> objects = full_slabs(cache, 4);
        cache.free(part(objects, 0, 2 * kSheaf));
        ASSERT_EQ(cache.sheaves(0).main, int(kSheaf));
        ASSERT_EQ(cache.sheaves(0).spare, int(kSheaf));
        cache.clear_stats();
        EXPECT_HOLDS(0, 1, cache.free(objects[2 * kSheaf])) << "a new sheaf is main, the full one away";
        EXPECT_STATS(cache, is_b(generation) ? "free_pcs 1, sheaf_alloc 1, barn_put 1"
                                             : "free_fastpath 1, sheaf_alloc 1, barn_put 1");
        cache.free(part(objects, 2 * kSheaf + 1, 2 * kSheaf - 1));
    });
}

// The barn has its ten: a sheaf is flushed, by groups of slabs. A whole slab in one sheaf is one free; to B
// its slab is a full one and goes to the chain, to C it is one hold.
KMIRROR_TEST_IN(SlabEvent, main_is_full_and_the_barn_as_well, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        if (is_a(generation))
            return;
        std::vector<void *> objects = full_slabs(cache, 13);
        cache.free(part(objects, 0, 12 * kSheaf));
        ASSERT_EQ(cache.counts().barn_full, 10u);
        cache.clear_stats();
        EXPECT_HOLDS(is_c(generation) ? 1 : 0, 0, cache.free(objects[12 * kSheaf]));
        EXPECT_STATS(cache, std::string(is_b(generation) ? "free_pcs 1, free_slowpath 1, cpu_partial_free 1"
                                                         : "free_fastpath 1, free_add_partial 1") +
                                ", sheaf_flush 32, barn_put_fail 1");
        cache.free(part(objects, 12 * kSheaf + 1, kSheaf - 1));
    });
}

// Full slabs that get an object back, one each. A: four fit the chain, then each push drains the whole chain
// with one hold. C: one hold each.
KMIRROR_TEST_IN(SlabEvent, full_slabs_become_partial, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &) {
        if (is_b(generation))
            return; // below the sheaves it is A, see the flush above
        ops().set_sheaf_capacity(0); // every free is one of the slow path
        Cache bare(256);
        ops().set_sheaf_capacity(-1);
        std::vector<void *> objects = full_slabs(bare, 9);
        const std::vector<void *> one_each = spread(objects, kSlab);
        EXPECT_HOLDS(is_a(generation) ? 2 : 9, 0, bare.free(one_each));
        EXPECT_STATS(bare, is_a(generation) ? "free_slowpath 9, free_add_partial 8, cpu_partial_free 9, "
                                              "cpu_partial_drain 2"
                                            : "free_slowpath 9, free_add_partial 9");
        EXPECT_EQ(bare.counts().cpu_chained, is_a(generation) ? 1u : 0u);
        EXPECT_EQ(bare.counts().partial_slabs, is_a(generation) ? 8u : 9u);
        free_rest(bare, objects, one_each);
    });
}

// A slab loses its last object. On the node's list that is one hold, and the slab goes if there are enough;
// in a chain the lock is taken for nothing.
KMIRROR_TEST_IN(SlabEvent, a_slab_becomes_empty, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        if (!is_a(generation))
            return;
        ops().set_min_partial(cache, 0);
        std::vector<void *> objects = full_slabs(cache, 2);
        cache.free(objects[0]); // chained
        for (unsigned i = 1; i + 1 < kSlab; i++)
            EXPECT_HOLDS(0, 0, cache.free(objects[i]));
        EXPECT_HOLDS(1, 0, cache.free(objects[kSlab - 1]));
        EXPECT_EQ(cache.counts().slabs, 2u) << "it is in a chain, so it stays";
        EXPECT_STATS(cache, "free_slowpath 32, cpu_partial_free 1");
        cache.shrink();
        EXPECT_EQ(cache.counts().slabs, 1u);
        cache.free(objects[kSlab]);
        ops().set_min_partial(cache, 1);
        cache.shrink();
        ops().set_min_partial(cache, 0);
        ASSERT_EQ(cache.counts().partial_slabs, 1u);
        cache.clear_stats();
        for (unsigned i = 1; i + 1 < kSlab; i++)
            EXPECT_HOLDS(0, 0, cache.free(objects[kSlab + i]));
        EXPECT_HOLDS(1, 0, cache.free(objects[2 * kSlab - 1]));
        EXPECT_EQ(cache.counts().slabs, 0u);
        EXPECT_STATS(cache, "free_slowpath 31, free_remove_partial 1, free_slab 1");
    });
}

// A and cpu-slab+sheaves: a callback an object, which then is an ordinary free. double and C: a callback a
// sheaf, which goes to the barn whole.
KMIRROR_TEST_IN(SlabEvent, kfree_rcu_of_a_sheaf_of_objects, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        const bool sheaves = generation == "double" || is_c(generation);
        std::vector<void *> objects = full_slabs(cache, 1);
        for (void *object : objects)
            ops().free_rcu(object, 64);
        rcu_barrier();
        if (sheaves) {
            EXPECT_STATS(cache, "free_rcu_sheaf 32, sheaf_alloc 1, barn_put 1");
            EXPECT_EQ(cache.counts().barn_full, 1u);
            return;
        }
        const slab_ops_counts now = cache.counts();
        EXPECT_EQ(now.barn_full, 0u);
        long held = 0;
        for (int cpu = 0; cpu < ops().nr_cpus(); cpu++)
            held += std::max(cache.sheaves(cpu).main, 0);
        EXPECT_EQ(held, is_a(generation) ? 0 : 32) << "the CPU that ran the callbacks";
        EXPECT_EQ(now.used_objects, std::size_t(held));
    });
}

// Within the capacity: double and C take the spare, or a sheaf of the barn; the others have no such sheaves.
KMIRROR_TEST_IN(SlabEvent, a_prefill_within_the_capacity, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        const bool sheaves = generation == "double" || is_c(generation);
        cache.free(cache.alloc_many(2 * kSheaf));
        cache.clear_stats();
        const int spare = cache.sheaves(0).spare;
        slab_ops_sheaf *sheaf = ops().prefill(cache, SLAB_OPS_KERNEL, 20);
        ASSERT_NE(sheaf, nullptr);
        EXPECT_EQ(ops().sheaf_size(sheaf), sheaves ? kSheaf : 20u);
        if (sheaves) {
            EXPECT_GT(spare, 0);
            EXPECT_STATS(cache, "sheaf_prefill_fast 1");
        }
        EXPECT_EQ(cache.stat("sheaf_prefill_oversize"), sheaves || KMIRROR_STATS == 0 ? 0 : -ENOENT);
        void *object = ops().alloc_from_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
        ops().return_sheaf(cache, SLAB_OPS_KERNEL, sheaf);
        EXPECT_EQ(cache.sheaves(0).spare, sheaves ? int(kSheaf) - 1 : spare);
        cache.free(object);
    });
}

// A CPU gives up all it has: its slab with one hold, its chain with one a node.
KMIRROR_TEST_IN(SlabEvent, a_flush, EIGHT_CPUS)
{
    in_each_generation([](const std::string &generation, Cache &cache) {
        if (!is_a(generation))
            return;
        std::vector<void *> objects = full_slabs(cache, 4);
        const std::vector<void *> one_each = spread(objects, kSlab);
        cache.free(one_each);
        void *object = cache.alloc(); // now one slab is the CPU's, three are chained
        ASSERT_EQ(cache.counts().cpu_slabs, 1u);
        ASSERT_EQ(cache.counts().cpu_chained, 3u);
        cache.free(object);
        cache.clear_stats();
        long slabs = 0;
        EXPECT_HOLDS(2 + 1, 0, slabs = ops().validate(cache)) << "one more for the check of the flushed node";
        EXPECT_EQ(slabs, 4);
        EXPECT_STATS(cache, "free_add_partial 3, cpuslab_flush 1, deactivate_to_head 1");
        EXPECT_EQ(cache.counts().cpu_slabs + cache.counts().cpu_chained, 0u);
        EXPECT_EQ(cache.counts().partial_slabs, 4u);
        free_rest(cache, objects, one_each);
    });
}

} // namespace
} // namespace kmirror::slab_test
