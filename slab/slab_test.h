// SPDX-License-Identifier: GPL-2.0-only
//
// What the SLUB tests share: the table of operations under test, a cache that checks itself at its end, a
// pinned CPU, and short names for what tests look at.
//
// Owns     a Cache owns its kmem_cache and destroys it; a Pinned gives its CPU back.
// Locking  each object belongs to one thread.
// Fails    as failures of the running test.
#pragma once

#include <gtest/gtest.h>

#include <kmirror/slab_ops.h>
#include <linux/slab.h>

#include "slab/implementation.h"
#include "slab/rules.h"
#include "slab/shadow.h"
#include "tools/testing/harness.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace kmirror::slab_test {

inline const slab_ops &ops() { return slab_under_test(); }

// For what the table does not offer: a handle of the mirror is the cache itself.
inline kmem_cache *as_kmem_cache(slab_ops_cache *cache) { return reinterpret_cast<kmem_cache *>(cache); }

// Arguments of a cache that shares its slabs with no other.
inline slab_ops_cache_args args_of(unsigned size, unsigned flags = 0, unsigned sheaf_capacity = 0)
{
    slab_ops_cache_args args{};
    args.size = size;
    args.flags = flags | SLAB_OPS_NO_MERGE;
    args.sheaf_capacity = sheaf_capacity;
    return args;
}

// A cache for one test. At its end nothing may be left of it.
class Cache {
public:
    explicit Cache(const slab_ops_cache_args &args)
    {
        static unsigned serial;
        char name[32];
        std::snprintf(name, sizeof name, "slab_test_%u", ++serial);
        cache_ = ops().create(name, &args);
        if (!cache_)
            ADD_FAILURE() << "no cache of " << args.size << " bytes";
    }
    explicit Cache(unsigned size, unsigned flags = 0, unsigned sheaf_capacity = 0)
        : Cache(args_of(size, flags, sheaf_capacity))
    {
    }
    ~Cache() { close(); }
    Cache(const Cache &) = delete;
    Cache &operator=(const Cache &) = delete;

    operator slab_ops_cache *() const { return cache_; }

    void *alloc(unsigned gfp = SLAB_OPS_KERNEL) { return ops().alloc(cache_, gfp); }
    void *alloc_node(int node, unsigned gfp = SLAB_OPS_KERNEL) { return ops().alloc_node(cache_, gfp, node); }
    void free(void *object) { ops().free(cache_, object); }
    void free(const std::vector<void *> &objects)
    {
        for (void *object : objects)
            free(object);
    }
    std::vector<void *> alloc_many(std::size_t n, unsigned gfp = SLAB_OPS_KERNEL)
    {
        std::vector<void *> objects;
        while (objects.size() < n)
            if (void *object = alloc(gfp))
                objects.push_back(object);
            else
                break;
        EXPECT_EQ(objects.size(), n) << "allocations failed";
        return objects;
    }
    bool alloc_bulk(std::size_t n, void **objects, unsigned gfp = SLAB_OPS_KERNEL)
    {
        return ops().alloc_bulk(cache_, gfp, n, objects);
    }
    void free_bulk(std::size_t n, void **objects) { ops().free_bulk(cache_, n, objects); }

    slab_ops_geometry geometry() const
    {
        slab_ops_geometry out{};
        ops().geometry(cache_, &out);
        return out;
    }
    slab_ops_counts counts(int node = -1) const
    {
        slab_ops_counts out{};
        ops().counts(cache_, node, &out);
        return out;
    }
    slab_ops_cpu_sheaves sheaves(int cpu) const
    {
        slab_ops_cpu_sheaves out{};
        ops().cpu_sheaves(cache_, cpu, &out);
        return out;
    }
    long stat(const char *name) const { return ops().stat(cache_, name); }
    void clear_stats()
    {
        made_before_ = sheaves_made();
        ops().stat_clear(cache_);
    }
    // Sheaves that exist: made and not freed. Exact as long as statistics are cleared by clear_stats() only.
    long sheaves_made() const { return made_before_ + stat("sheaf_alloc") - stat("sheaf_free"); }
    void expect_sheaves_made(long expected) const
    {
        if (KMIRROR_STATS) {
            EXPECT_EQ(sheaves_made(), expected);
        }
    }
    // Sheaves that can be found: on the CPUs and in the barns. A prefilled one is its owner's.
    long sheaves_found() const
    {
        const slab_ops_counts all = counts();
        long found = long(all.barn_full + all.barn_empty);
        for (int cpu = 0; cpu < ops().nr_cpus(); cpu++) {
            const slab_ops_cpu_sheaves held = sheaves(cpu);
            found += (held.main >= 0) + (held.spare >= 0) + (held.rcu_free >= 0);
        }
        return found;
    }
    int shrink() { return ops().shrink(cache_); }

    // Every sheaf, list and slab is sound. Nobody else may be using the cache; nothing is flushed.
    void verify() const { EXPECT_EQ(ops().check(cache_), 0) << ops().cache_name(cache_) << " is not valid"; }

    // Valid, and empty down to the last slab; then gone.
    void close()
    {
        if (!cache_)
            return;
        ops().free_rcu_barrier_on(cache_);
        verify();
        EXPECT_EQ(shrink(), 0) << "slabs are left";
        const slab_ops_counts left = counts();
        EXPECT_EQ(left.used_objects, 0u);
        EXPECT_EQ(left.slabs, 0u);
        EXPECT_EQ(left.barn_full + left.barn_empty, 0u);
        if (KMIRROR_STATS && geometry().sheaf_capacity) {
            EXPECT_EQ(sheaves_made(), ops().nr_cpus()) << "sheaves are lost, or freed twice";
        }
        ops().destroy(cache_);
        cache_ = nullptr;
    }
    // The cache now belongs to the caller.
    slab_ops_cache *leave()
    {
        slab_ops_cache *cache = cache_;
        cache_ = nullptr;
        return cache;
    }

private:
    slab_ops_cache *cache_ = nullptr;
    long made_before_ = 0; // sheaves, when statistics were cleared last
};

// The calling thread stays on one CPU during its life.
class Pinned {
public:
    explicit Pinned(int cpu = 0)
    {
        if (const int error = ops().cpu_pin(cpu))
            ADD_FAILURE() << "cpu " << cpu << " cannot be had: " << error;
    }
    ~Pinned() { ops().cpu_unpin(); }
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
};

// The generation of new caches: "sheaves", unless KMIRROR_SLAB says otherwise.
inline bool generation_is(const char *name) { return ops().set_generation(nullptr) == std::string(name); }

// For a test of what not every generation does; slab/generation_*_test.cpp have what the others do instead.
#define SKIP_UNLESS(condition, what)               \
    do {                                           \
        if (!(condition))                          \
            GTEST_SKIP() << "a fact of " << what;  \
    } while (0)
#define SHEAVES_ONLY() SKIP_UNLESS(generation_is("sheaves"), "generation sheaves alone")
#define WHERE_PREFILL_IS() \
    SKIP_UNLESS(generation_is("sheaves") || generation_is("double"), "generations double and sheaves")
#define WHERE_SHEAVES_ARE() SKIP_UNLESS(!generation_is("cpu-slab"), "generations with sheaves")

// Letters that every cache of this process is made with, or NULL; see <kmirror/slab_info.h>.
inline const char *debugging()
{
    const char *letters = std::getenv("KMIRROR_SLAB_DEBUG");
    return letters && *letters ? letters : nullptr;
}

// For a test of sheaves, cpu slabs, or bytes that slab debugging takes for itself.
#define WITHOUT_DEBUGGING() SKIP_UNLESS(!debugging(), "caches without slab debugging")

// A CPU hands out what its own slab has without asking whose it is, and its free objects count as used.
#define WITHOUT_CPU_SLABS() \
    SKIP_UNLESS(generation_is("sheaves") || debugging(), "caches without cpu slabs")

// A statistic's value, in builds that keep statistics.
#define EXPECT_STAT(cache, name, value) \
    EXPECT_EQ(KMIRROR_STATS ? (cache).stat(name) : static_cast<long>(value), static_cast<long>(value))

// A random engine and a trace that puts the seed into each failure of its scope.
#define KMIRROR_RANDOM(name)                                   \
    std::mt19937_64 name(::kmirror::testing::seed());         \
    SCOPED_TRACE("KMIRROR_SEED=" + std::to_string(::kmirror::testing::seed()))

// Uniform in [low, high].
template <class Engine>
unsigned long pick(Engine &engine, unsigned long low, unsigned long high)
{
    return std::uniform_int_distribution<unsigned long>(low, high)(engine);
}

} // namespace kmirror::slab_test
