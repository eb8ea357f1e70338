// SPDX-License-Identifier: GPL-2.0-only
//
// Patterns of allocation that each drive one lock, on a cache of 256-byte objects of the load's own. Each lane
// has objects of its own; one operation is one object allocated and freed.
//
// Owns     a cache, and kLive objects for each lane.
// Bounds   kLive objects a lane, and those that wait for a grace period.
// Locking  objects are their lane's.
// Fails    an allocation that failed, an object whose stamp changed, a cache that is not valid and empty at
//          the end.

#include "slab/implementation.h"
#include "slab/stress_close.h"
#include "slab/stress_load.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace kmirror::stress {
namespace {

constexpr unsigned kSize = 256;
constexpr unsigned kLive = 4096;      // objects that a storm's lane holds, in shuffled order
constexpr unsigned kBurst = 2048;     // and how many of them it frees at a time: more than sheaves and barn hold
constexpr unsigned kPingPong = 96;    // three sheaves of 32
constexpr unsigned kBulk = 64;
constexpr unsigned kMostPrefill = 12;
constexpr unsigned kOwnBatch = 4096;

const slab_ops &ops() { return slab_under_test(); }

struct Object {
    Object *self;
    std::uint64_t rcu[2];
};

// What one lane works with.
struct Hands {
    slab_ops_cache *cache;
    std::vector<void *> objects; // NULL where there is none
    std::uint64_t wrong = 0;

    void take(void *object, std::size_t slot)
    {
        objects[slot] = object;
        if (object)
            static_cast<Object *>(object)->self = static_cast<Object *>(object);
        else
            wrong++;
    }
    void *give(std::size_t slot)
    {
        void *object = objects[slot];
        wrong += object && static_cast<Object *>(object)->self != object;
        objects[slot] = nullptr;
        return object;
    }
    void allocate(Lane &lane, std::size_t first, std::size_t count)
    {
        for (std::size_t i = first; i < first + count; i++)
            take(lane.timed([&] { return ops().alloc(cache, SLAB_OPS_KERNEL); }), i);
    }
    void free(std::size_t first, std::size_t count)
    {
        for (std::size_t i = first; i < first + count; i++)
            ops().free(cache, give(i));
    }
};

using Step = void (*)(Hands &, Lane &);

// Objects of many slabs go back at once, then as many are taken: slabs come and go from the partial lists.
void storm(Hands &hands, Lane &lane)
{
    if (!hands.objects[0]) {
        hands.allocate(lane, 0, kLive);
        std::shuffle(hands.objects.begin(), hands.objects.end(), lane.random);
    }
    hands.free(0, kBurst);
    hands.allocate(lane, 0, kBurst);
    // Other objects the next time.
    for (std::size_t i = 0; i < kBurst; i++)
        std::swap(hands.objects[i], hands.objects[i + lane.random() % (kLive - i)]);
}

// More than the CPU's two sheaves hold, up and down.
void ping_pong(Hands &hands, Lane &lane)
{
    hands.allocate(lane, 0, kPingPong);
    hands.free(0, kPingPong);
}

void rcu_flood(Hands &hands, Lane &lane)
{
    hands.allocate(lane, 0, 1);
    if (void *object = hands.give(0))
        ops().free_rcu(object, offsetof(Object, rcu));
}

void bulk(Hands &hands, Lane &lane)
{
    void *objects[kBulk];
    if (!lane.timed([&] { return ops().alloc_bulk(hands.cache, SLAB_OPS_KERNEL, kBulk, objects); })) {
        hands.wrong++;
        return;
    }
    lane.operations += kBulk - 1; // each object counts
    for (unsigned i = 0; i < kBulk; i++)
        hands.take(objects[i], i);
    for (unsigned i = 0; i < kBulk; i++)
        hands.give(i);
    ops().free_bulk(hands.cache, kBulk, objects);
}

// As a store into a maple tree that may need several nodes: ask for some, use a few, give the rest back.
void prefill(Hands &hands, Lane &lane)
{
    const unsigned wanted = 3 + static_cast<unsigned>(lane.random() % (kMostPrefill - 2));
    slab_ops_sheaf *sheaf = ops().prefill(hands.cache, SLAB_OPS_KERNEL, wanted);
    if (!sheaf) {
        hands.wrong++;
        return;
    }
    for (unsigned i = 0; i < 3; i++)
        hands.take(lane.timed([&] { return ops().alloc_from_sheaf(hands.cache, SLAB_OPS_KERNEL, sheaf); }), i);
    ops().return_sheaf(hands.cache, SLAB_OPS_KERNEL, sheaf);
    hands.free(0, 3);
}

class SlabLoad final : public Load {
public:
    SlabLoad(const Plan &plan, int sheaf_capacity, Step step)
        : step_(step), batch_(plan.grace_period ? plan.grace_period : kOwnBatch)
    {
        slab_ops_cache_args args{};
        args.size = kSize;
        args.sheaf_capacity = static_cast<unsigned>(sheaf_capacity);
        args.flags = SLAB_OPS_HWCACHE_ALIGN | SLAB_OPS_NO_MERGE;
        const int before = ops().set_sheaf_capacity(sheaf_capacity);
        cache_ = ops().create("stress_256", &args);
        ops().set_sheaf_capacity(before);
        hands_.resize(std::max(plan.cpus, plan.threads), {cache_, std::vector<void *>(kLive), 0});
    }

    void batch(Lane &lane) override
    {
        const std::uint64_t end = lane.operations + batch_;
        while (cache_ && lane.operations < end)
            step_(hands_[lane.index], lane);
    }

    Memory memory() const override { return memory_of(cache_); }

    std::vector<std::string> finish() override
    {
        if (!cache_)
            return {"a cache could not be made"};
        std::uint64_t objects = 0;
        std::vector<std::string> wrong;
        for (Hands &hands : hands_) {
            for (std::size_t i = 0; i < hands.objects.size(); i++)
                if (void *object = hands.give(i))
                    ops().free(cache_, object);
            objects += hands.wrong;
        }
        if (objects)
            wrong.push_back(std::to_string(objects) + " allocations failed or objects were changed");
        close_cache(cache_, wrong);
        return wrong;
    }

private:
    Step step_;
    unsigned batch_;
    slab_ops_cache *cache_;
    std::vector<Hands> hands_;
};

template <Step step>
std::unique_ptr<Load> make(const Plan &plan, int sheaf_capacity)
{
    return std::make_unique<SlabLoad>(plan, sheaf_capacity, step);
}

constexpr LoadKind kKinds[] = {
    {"list_lock_storm", "an object freed into a random slab and one allocated", "list_lock: 2048 at a time",
     make<storm>},
    {"barn_ping_pong", "one of 96 objects allocated, then freed", "barn lock: three sheaves full and empty",
     make<ping_pong>},
    {"kfree_rcu_flood", "an object allocated and freed after a grace period",
     "RCU sheaves, barn lock, list_lock after each grace period", make<rcu_flood>},
    {"bulk", "one of 64 objects of a bulk allocation and a bulk free", "sheaves and list_lock", make<bulk>},
    {"prefill", "one of 3 objects from a prefilled sheaf of 3 to 12", "prefilled sheaves, barn lock",
     make<prefill>},
};

} // namespace

std::span<const LoadKind> slab_loads() { return kKinds; }

} // namespace kmirror::stress
