// SPDX-License-Identifier: GPL-2.0-only
//
// Ways of using memory that users have asked about: objects allocated on one CPU and freed on another, mixed
// sizes with objects that stay, caches destroyed while their objects wait for a grace period. One operation is one
// object allocated and freed.
//
// Owns     caches; kBox objects in each lane's mailbox; kStay objects a lane.
// Bounds   as said; of a destroyed cache kPending objects a lane.
// Locking  a mailbox is TBB's queue; all else is its lane's.
// Fails    an allocation that failed, an object whose stamp changed, a cache that is not valid and empty at the end.

#include "slab/implementation.h"
#include "slab/stress_close.h"
#include "slab/stress_load.h"

#include <tbb/concurrent_queue.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace kmirror::stress {
namespace {

constexpr unsigned kSize = 256;
constexpr unsigned kBox = 1024;        // requests in flight to one CPU
constexpr unsigned kMixed[] = {32, 96, 192, 512, 1024, 2048};
constexpr unsigned kStay = 512;        // objects that outlive a step
constexpr unsigned kShortLived = 48;   // for each that stays
constexpr unsigned kPending = 40;      // objects that a destroyed cache has in RCU's hands: more than a sheaf
constexpr unsigned kOwnBatch = 4096, kOwnDestroys = 20;

const slab_ops &ops() { return slab_under_test(); }

struct Object {
    Object *self;
    std::uint64_t rcu[2];
};

void *stamped(void *object)
{
    if (object)
        static_cast<Object *>(object)->self = static_cast<Object *>(object);
    return object;
}
bool whole(const void *object) { return static_cast<const Object *>(object)->self == object; }

slab_ops_cache *new_cache(const std::string &name, unsigned size, int sheaf_capacity)
{
    slab_ops_cache_args args{};
    args.size = size;
    args.sheaf_capacity = static_cast<unsigned>(sheaf_capacity);
    args.flags = SLAB_OPS_NO_MERGE;
    const int before = ops().set_sheaf_capacity(sheaf_capacity);
    slab_ops_cache *cache = ops().create(name.c_str(), &args);
    ops().set_sheaf_capacity(before);
    return cache;
}

unsigned lanes_of(const Plan &plan) { return std::max(plan.cpus, plan.threads); }

// What every pattern has: caches and a count of what went wrong.
class Pattern : public Load {
public:
    Pattern(const Plan &plan, unsigned own_batch) : batch_(plan.grace_period ? plan.grace_period : own_batch) {}

    Memory memory() const override
    {
        Memory sum;
        for (slab_ops_cache *cache : caches_)
            sum = sum + memory_of(cache);
        return sum;
    }

    std::vector<std::string> finish() override
    {
        std::vector<std::string> wrong;
        give_back();
        for (slab_ops_cache *cache : caches_)
            if (cache)
                close_cache(cache, wrong);
            else
                wrong.push_back("a cache could not be made");
        caches_.clear();
        if (wrong_)
            wrong.push_back(std::to_string(wrong_) + " allocations failed or objects were changed");
        return wrong;
    }

protected:
    virtual void give_back() {}
    void free(slab_ops_cache *cache, void *object)
    {
        wrong_ += !whole(object);
        ops().free(cache, object);
    }

    unsigned batch_;
    std::vector<slab_ops_cache *> caches_;
    std::atomic<std::uint64_t> wrong_{0};
};

// Requests made by one CPU and completed by the next, as a block device's interrupts do.
class CrossCpu final : public Pattern {
public:
    CrossCpu(const Plan &plan, int sheaf_capacity) : Pattern(plan, kOwnBatch), boxes_(lanes_of(plan))
    {
        caches_.push_back(new_cache("stress_request", kSize, sheaf_capacity));
    }

    void batch(Lane &lane) override
    {
        Box &mine = boxes_[lane.index], &next = boxes_[(lane.index + 1) % boxes_.size()];
        for (unsigned i = 0; caches_[0] && i < batch_; i++) {
            void *object = lane.timed([&] { return stamped(ops().alloc(caches_[0], SLAB_OPS_KERNEL)); });
            wrong_ += !object;
            if (object && next.unsafe_size() < static_cast<std::ptrdiff_t>(kBox))
                next.push(object);
            else if (object)
                free(caches_[0], object);
            void *request = nullptr;
            if (mine.try_pop(request))
                free(caches_[0], request);
        }
    }

private:
    using Box = tbb::concurrent_queue<void *>;

    void give_back() override
    {
        void *request = nullptr;
        for (Box &box : boxes_)
            while (box.try_pop(request))
                free(caches_[0], request);
    }

    std::vector<Box> boxes_;
};

// Many short-lived objects of mixed sizes, and between them a few that stay: they hold their slabs.
class Fragments final : public Pattern {
public:
    Fragments(const Plan &plan, int sheaf_capacity) : Pattern(plan, kOwnBatch), stays_(lanes_of(plan))
    {
        for (const unsigned size : kMixed)
            caches_.push_back(new_cache("stress_mixed_" + std::to_string(size), size, sheaf_capacity));
        for (std::vector<Held> &stay : stays_)
            stay.resize(kStay);
        ready_ = std::count(caches_.begin(), caches_.end(), nullptr) == 0;
    }

    void batch(Lane &lane) override
    {
        const std::uint64_t end = lane.operations + batch_;
        while (ready_ && lane.operations < end)
            step(lane);
    }

private:
    struct Held {
        slab_ops_cache *cache = nullptr;
        void *object = nullptr;
    };

    Held take(Lane &lane)
    {
        slab_ops_cache *cache = caches_[lane.random() % caches_.size()];
        void *object = lane.timed([&] { return stamped(ops().alloc(cache, SLAB_OPS_KERNEL)); });
        wrong_ += !object;
        return {cache, object};
    }
    void drop(Held &held)
    {
        if (held.object)
            free(held.cache, held.object);
        held = {};
    }
    void step(Lane &lane)
    {
        Held shorts[kShortLived];
        const unsigned stays = static_cast<unsigned>(lane.random() % kShortLived);
        Held &slot = stays_[lane.index][lane.random() % kStay];
        for (unsigned i = 0; i < kShortLived; i++) {
            shorts[i] = take(lane);
            if (i == stays) {
                drop(slot);
                std::swap(slot, shorts[i]);
            }
        }
        for (Held &held : shorts)
            drop(held);
    }
    void give_back() override
    {
        for (std::vector<Held> &stay : stays_)
            for (Held &held : stay)
                drop(held);
    }

    std::vector<std::vector<Held>> stays_;
    bool ready_;
};

// A cache comes, gives its objects to RCU, and is destroyed at once: that has to wait for them.
class Destroys final : public Pattern {
public:
    Destroys(const Plan &plan, int sheaf_capacity)
        : Pattern(plan, kOwnDestroys * kPending), sheaf_capacity_(sheaf_capacity)
    {
    }

    void batch(Lane &lane) override
    {
        const std::uint64_t end = lane.operations + batch_;
        while (lane.operations < end && wrong_ == 0)
            step(lane);
    }

private:
    void step(Lane &lane)
    {
        slab_ops_cache_args args{};
        args.size = kSize;
        args.sheaf_capacity = static_cast<unsigned>(sheaf_capacity_);
        args.flags = SLAB_OPS_NO_MERGE;
        const std::string name = "stress_gone_" + std::to_string(lane.index);
        slab_ops_cache *cache = ops().create(name.c_str(), &args);
        if (!cache) {
            wrong_++;
            return;
        }
        for (unsigned i = 0; i < kPending; i++)
            if (void *object = lane.timed([&] { return stamped(ops().alloc(cache, SLAB_OPS_KERNEL)); }))
                ops().free_rcu(object, offsetof(Object, rcu));
            else
                wrong_++;
        ops().destroy(cache);
    }

    int sheaf_capacity_;
};

template <class Kind>
std::unique_ptr<Load> make(const Plan &plan, int sheaf_capacity)
{
    return std::make_unique<Kind>(plan, sheaf_capacity);
}

constexpr LoadKind kKinds[] = {
    {"cross_cpu", "an object allocated on one CPU and freed on the next", "list_lock of slabs that others empty",
     make<CrossCpu>},
    {"fragment", "one of 48 objects of mixed sizes; one of them stays", "six caches; partial slabs, list_lock",
     make<Fragments>},
    {"destroy_pending", "one of 40 objects freed by RCU while their cache is destroyed",
     "the list of caches, RCU sheaves, barriers", make<Destroys>},
};

} // namespace

std::span<const LoadKind> pattern_loads() { return kKinds; }

} // namespace kmirror::stress
