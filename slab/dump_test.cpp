// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a dump shows every sheaf, barn and listed slab of a cache, once, and every counter that is not
// what was found is counted.

#include "slab/slab_test.h"

#include <kmirror/slab_dump.h>

#include "lib/slub/cache.h"

#include <algorithm>
#include <set>

namespace kmirror::slab_test {
namespace {

struct Shown {
    std::vector<kmirror_slab_dump_sheaf> sheaves;
    std::vector<kmirror_slab_dump_slab> slabs;
    std::vector<kmirror_slab_dump_count> counts;
    std::multiset<void *> objects;
    long disagreements = 0;

    unsigned long sum(const std::string &what) const
    {
        unsigned long sum = 0;
        for (const kmirror_slab_dump_count &count : counts)
            sum += what == count.what ? count.counter : 0;
        return sum;
    }
    long sheaves_at(const std::string &place) const
    {
        return std::count_if(sheaves.begin(), sheaves.end(),
                             [&](const kmirror_slab_dump_sheaf &sheaf) { return place == sheaf.place; });
    }
};

Shown dump(Cache &cache)
{
    static constexpr kmirror_slab_dump_visitor kVisitor = {
        [](const kmirror_slab_dump_sheaf *sheaf, void *arg) {
            Shown &shown = *static_cast<Shown *>(arg);
            shown.sheaves.push_back(*sheaf);
            shown.objects.insert(sheaf->objects, sheaf->objects + sheaf->size);
        },
        [](const kmirror_slab_dump_slab *slab, void *arg) {
            static_cast<Shown *>(arg)->slabs.push_back(*slab);
        },
        [](const kmirror_slab_dump_count *count, void *arg) {
            static_cast<Shown *>(arg)->counts.push_back(*count);
        },
    };
    Shown shown;
    shown.disagreements = kmirror_slab_dump(as_kmem_cache(cache), &kVisitor, &shown);
    return shown;
}

constexpr const char *kMachine = "KMIRROR_MACHINE=pack:1 numa:2 core:2 pu:1";

KMIRROR_TEST_IN(SlabDump, shows_each_sheaf_and_slab_once, kMachine)
{
    WITHOUT_DEBUGGING();
    WHERE_PREFILL_IS();
    Cache cache(256, 0, 32);
    std::vector<void *> objects;
    for (int cpu : {0, 2}) {
        Pinned there(cpu);
        objects = cache.alloc_many(700);
        for (int i = 0; i < 20; i++)
            ops().free_rcu(objects[i], 64);
        for (std::size_t i = 20; i < 600; i++)
            cache.free(objects[i]);
        objects.erase(objects.begin(), objects.begin() + 600);
        cache.free(objects);
    }
    const bool sheaves_alone = generation_is("sheaves");
    if (!sheaves_alone)
        ops().free_rcu_barrier(); // objects of the other node are on their way one by one
    const Shown shown = dump(cache);
    const slab_ops_counts counts = cache.counts();
    EXPECT_EQ(shown.disagreements, 0);
    EXPECT_EQ(shown.sheaves.size(), std::size_t(cache.sheaves_found()));
    EXPECT_EQ(shown.sheaves_at("main"), ops().nr_cpus());
    EXPECT_EQ(shown.sheaves_at("rcu_free"), sheaves_alone ? 2 : 0);
    EXPECT_EQ(shown.sheaves_at("barn full"), long(counts.barn_full));
    EXPECT_EQ(shown.sheaves_at("barn empty"), long(counts.barn_empty));
    EXPECT_EQ(shown.slabs.size(), counts.partial_slabs + counts.cpu_slabs + counts.cpu_chained);
    EXPECT_EQ(shown.sum("nr_full"), counts.barn_full);
    EXPECT_EQ(shown.sum("nr_partial"), counts.partial_slabs);
    EXPECT_EQ(shown.sum("nr_slabs"), counts.slabs);
    EXPECT_EQ(shown.sum("total_objects"), counts.total_objects);
    EXPECT_EQ(std::set<void *>(shown.objects.begin(), shown.objects.end()).size(), shown.objects.size());
    EXPECT_EQ(counts.used_objects, shown.objects.size()) << "nobody has any";
    unsigned long free_in_slabs = 0;
    for (const kmirror_slab_dump_slab &slab : shown.slabs)
        free_in_slabs += unsigned(slab.free);
    if (sheaves_alone) {
        EXPECT_EQ(counts.total_objects - free_in_slabs, shown.objects.size());
    }
}

// Changes a counter for the time of a dump.
template <class Number>
long disagreements_with(Cache &cache, Number &counter, Number wrong)
{
    const Number right = counter;
    counter = wrong;
    const Shown shown = dump(cache);
    counter = right;
    return shown.disagreements;
}

KMIRROR_TEST_IN(SlabDump, counts_every_counter_that_is_wrong, "KMIRROR_MACHINE=pack:1 core:1 pu:1")
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    Pinned here;
    Cache cache(256, 0, 32);
    const std::vector<void *> objects = cache.alloc_many(400);
    cache.free(objects);
    kmem_cache_per_node_ptrs &node = as_kmem_cache(cache)->per_node[0];
    ASSERT_GT(node.barn->nr_full, 0u);
    ASSERT_GT(node.node->nr_partial, 0u);
    EXPECT_EQ(disagreements_with(cache, node.barn->nr_full, node.barn->nr_full + 1), 1);
    EXPECT_EQ(disagreements_with(cache, node.barn->nr_empty, node.barn->nr_empty + 1), 1);
    EXPECT_EQ(disagreements_with(cache, node.node->nr_partial, node.node->nr_partial - 1), 1);
    EXPECT_EQ(disagreements_with(cache, node.node->nr_slabs, atomic_long_t{0}), 1);
    EXPECT_EQ(disagreements_with(cache, node.node->total_objects, atomic_long_t{0}), 1);
    EXPECT_EQ(dump(cache).disagreements, 0);
}

KMIRROR_TEST_IN(SlabDump, shows_what_cpus_allocate_from, "KMIRROR_MACHINE=pack:1 core:1 pu:1",
                "KMIRROR_SLAB=cpu-slab")
{
    WITHOUT_DEBUGGING();
    Pinned here;
    Cache cache(1024);
    const unsigned per_slab = cache.geometry().objects;
    const std::vector<void *> objects = cache.alloc_many(3 * per_slab);
    cache.free(objects[0]);
    const Shown shown = dump(cache);
    ASSERT_EQ(shown.slabs.size(), 2u);
    EXPECT_STREQ(shown.slabs[0].place, "cpu slab");
    EXPECT_STREQ(shown.slabs[1].place, "cpu partial");
    EXPECT_EQ(shown.slabs[1].free, 1);
    EXPECT_EQ(shown.sum("cpu_partial"), 1u);
    EXPECT_EQ(shown.disagreements, 0);
    for (std::size_t i = 1; i < objects.size(); i++)
        cache.free(objects[i]);
}

KMIRROR_TEST_IN(SlabDump, of_a_cache_without_sheaves_shows_the_slabs_alone, "KMIRROR_SHEAF_CAPACITY=0")
{
    WITHOUT_CPU_SLABS();
    Cache cache(256);
    void *object = cache.alloc();
    const Shown shown = dump(cache);
    EXPECT_TRUE(shown.sheaves.empty());
    ASSERT_EQ(shown.slabs.size(), 1u);
    EXPECT_EQ(shown.slabs[0].inuse, 1u);
    EXPECT_EQ(unsigned(shown.slabs[0].free), cache.geometry().objects - 1);
    EXPECT_EQ(shown.disagreements, 0);
    cache.free(object);
}

} // namespace
} // namespace kmirror::slab_test
