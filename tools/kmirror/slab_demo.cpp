// SPDX-License-Identifier: GPL-2.0-only
//
// The load that kmirror slabinfo shows when it is given no folder.
//
// Owns     its caches and their objects, until its end.
// Bounds   kRounds steps on every CPU, some thousand objects.
// Locking  one thread, which goes from CPU to CPU.
// Fails    an allocation that fails is one object less.

#include "tools/kmirror/slabinfo.h"

#include <kmirror/slab_ops.h>

#include <random>

namespace kmirror::command {
namespace {

constexpr unsigned kRounds = 600;

struct Kind {
    const char *name;
    unsigned size;
    unsigned flags;
};

constexpr Kind kKinds[] = {
    {"demo_small", 40, 0},
    {"demo_small_too", 36, 0}, // shares the one before
    {"demo_node", 256, SLAB_OPS_HWCACHE_ALIGN | SLAB_OPS_NO_MERGE},
    {"demo_typesafe", 192, SLAB_OPS_TYPESAFE_BY_RCU},
    {"demo_large", 3000, 0},
};

} // namespace

struct SlabDemo::World {
    const slab_ops &ops = *kmirror_slab_ops();
    std::mt19937_64 random;
    struct Used {
        slab_ops_cache *cache;
        std::vector<void *> objects;
    };
    std::vector<Used> caches;

    explicit World(std::uint64_t seed) : random(seed)
    {
        for (const Kind &kind : kKinds) {
            slab_ops_cache_args args{};
            args.size = kind.size;
            args.flags = kind.flags;
            if (slab_ops_cache *cache = ops.create(kind.name, &args))
                caches.push_back({cache, {}});
        }
    }

    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random() % limit); }

    void fill(Used &used)
    {
        for (std::size_t n = 1 + below(60); n > 0; --n)
            if (void *object = ops.alloc(used.cache, SLAB_OPS_KERNEL))
                used.objects.push_back(object);
    }

    void *take(Used &used)
    {
        std::swap(used.objects[below(used.objects.size())], used.objects.back());
        void *object = used.objects.back();
        used.objects.pop_back();
        return object;
    }

    void drain(Used &used)
    {
        for (std::size_t n = below(used.objects.size() + 1); n > 0; --n)
            below(8) ? ops.free(used.cache, take(used)) : ops.free_rcu(take(used), 8);
    }

    void reserve(Used &used)
    {
        if (slab_ops_sheaf *sheaf = ops.prefill(used.cache, SLAB_OPS_KERNEL, 1 + unsigned(below(40)))) {
            if (void *object = ops.alloc_from_sheaf(used.cache, SLAB_OPS_KERNEL, sheaf))
                used.objects.push_back(object);
            ops.return_sheaf(used.cache, SLAB_OPS_KERNEL, sheaf);
        }
    }

    void step()
    {
        Used &used = caches[below(caches.size())];
        switch (below(8)) {
        case 0:
            return reserve(used);
        case 1:
        case 2:
        case 3:
            return drain(used);
        default:
            return fill(used);
        }
    }

    void run()
    {
        for (unsigned round = 0; round < kRounds && !caches.empty(); ++round) {
            ops.cpu_pin(static_cast<int>(round / 20) % ops.nr_cpus());
            step();
            ops.cpu_unpin();
        }
        ops.free_rcu_barrier();
    }

    ~World()
    {
        for (Used &used : caches) {
            for (void *object : used.objects)
                ops.free(used.cache, object);
            ops.destroy(used.cache);
        }
    }
};

SlabDemo::SlabDemo(std::uint64_t seed) : world_(std::make_unique<World>(seed)) { world_->run(); }

SlabDemo::~SlabDemo() = default;

} // namespace kmirror::command
