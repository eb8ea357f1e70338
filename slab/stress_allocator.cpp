// SPDX-License-Identifier: GPL-2.0-only
//
// The allocator's load: producers and consumers on different CPUs.
//
// A CPU fills a parcel with more objects than a sheaf holds and leaves it in its node's queue; whoever comes
// next on that node, mostly another CPU, checks and frees them. So full and empty sheaves travel through the
// barn all the time, and bursts of parcels that the barn cannot hold reach the slabs and their list_lock. One
// parcel in kForeign changes the node, which frees its objects past the sheaves.
//
// Owns     three caches and kParcelsPerCpu parcels for each CPU.
// Bounds   at most kParcelsPerCpu * kMostObjects objects for each CPU.
// Locking  a parcel is in one queue or in one batch's hands.
// Fails    an object whose stamp changed, an allocation that failed, a cache that is not empty or not valid
//          at the end.

#include "slab/implementation.h"
#include "slab/stress_close.h"
#include "slab/stress_load.h"

#include <kmirror/slab_ops.h>

#include <tbb/concurrent_queue.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kmirror::stress {
namespace {

constexpr unsigned kLeastObjects = 40;    // of a parcel: more than the largest sheaf of the runs
constexpr unsigned kUsualObjects = 160;
constexpr unsigned kMostObjects = 600;    // one parcel in kBurst
constexpr unsigned kBurst = 16;
constexpr unsigned kForeign = 24;
constexpr unsigned kParcelsPerCpu = 6;
constexpr unsigned kStepsPerBatch = 24;   // parcels filled or emptied in one batch
constexpr unsigned kSizes[] = {64, 256, 1024};

const slab_ops &ops() { return slab_under_test(); }

// What an object says about itself while it is live.
struct Stamp {
    void *self;
    std::uint64_t parcel;
    std::uint64_t rcu[2];

    void write(std::uint64_t by) { self = this, parcel = by; }
    bool whole(std::uint64_t by) const { return self == this && parcel == by; }
};

struct Parcel {
    std::uint64_t id = 0;
    unsigned kind = 0;  // which cache
    unsigned count = 0;
    void *objects[kMostObjects];
};

unsigned pick(std::mt19937_64 &random, unsigned low, unsigned high)
{
    return low + static_cast<unsigned>(random() % (high - low + 1));
}

class AllocatorLoad final : public Load {
public:
    AllocatorLoad(const Plan &plan, int sheaf_capacity)
        : full_(static_cast<std::size_t>(ops().nr_nodes())), parcels_(plan.cpus * kParcelsPerCpu)
    {
        const int before = ops().set_sheaf_capacity(sheaf_capacity);
        for (unsigned i = 0; i < std::size(kSizes); i++)
            caches_[i] = new_cache(kSizes[i], sheaf_capacity);
        ops().set_sheaf_capacity(before);
        for (Parcel &parcel : parcels_) {
            parcel.id = static_cast<std::uint64_t>(&parcel - parcels_.data()) + 1;
            empty_.push(&parcel);
        }
    }

    void batch(Lane &lane) override
    {
        const int node = ops().cpu_node(static_cast<int>(lane.cpu));
        for (unsigned step = 0; step < kStepsPerBatch; step++) {
            Parcel *parcel = nullptr;
            if (lane.random() % 2 && empty_.try_pop(parcel))
                send(lane, *parcel, node);
            else if (full_[static_cast<std::size_t>(node)].try_pop(parcel))
                receive(lane, *parcel);
        }
    }

    std::uint64_t refused() const override { return failed_; }

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
        Lane lane;
        Parcel *parcel = nullptr;
        for (Queue &queue : full_)
            while (queue.try_pop(parcel))
                receive(lane, *parcel);
        for (slab_ops_cache *cache : caches_)
            if (cache)
                close_cache(cache, wrong);
            else
                wrong.push_back("a cache could not be made");
        if (broken_)
            wrong.push_back(std::to_string(broken_) + " objects were changed while they were live");
        return wrong;
    }

private:
    using Queue = tbb::concurrent_queue<Parcel *>;

    static slab_ops_cache *new_cache(unsigned size, int sheaf_capacity)
    {
        slab_ops_cache_args args{};
        args.size = size;
        args.sheaf_capacity = static_cast<unsigned>(sheaf_capacity); // some generations want to be asked
        args.flags = SLAB_OPS_NO_MERGE;
        const std::string name = "stress_" + std::to_string(size);
        return ops().create(name.c_str(), &args);
    }

    // Fills a parcel and leaves it for somebody else.
    void send(Lane &lane, Parcel &parcel, int node)
    {
        const unsigned most = lane.random() % kBurst ? kUsualObjects : kMostObjects;
        const unsigned wanted = pick(lane.random, kLeastObjects, most);
        parcel.kind = pick(lane.random, 0, std::size(kSizes) - 1);
        parcel.count = 0;
        if (lane.random() % 8 == 0)
            fill_in_bulk(lane, parcel, wanted);
        else
            fill(lane, parcel, wanted);
        for (unsigned i = 0; i < parcel.count; i++)
            static_cast<Stamp *>(parcel.objects[i])->write(parcel.id);
        const std::size_t there = lane.random() % kForeign ? static_cast<std::size_t>(node)
                                                           : pick(lane.random, 0, unsigned(full_.size()) - 1);
        full_[there].push(&parcel);
    }
    void fill(Lane &lane, Parcel &parcel, unsigned wanted)
    {
        slab_ops_cache *cache = caches_[parcel.kind];
        for (; parcel.count < wanted; parcel.count++) {
            void *object = lane.timed([&] { return ops().alloc(cache, SLAB_OPS_KERNEL); });
            if (!object) {
                failed_++;
                return;
            }
            parcel.objects[parcel.count] = object;
        }
    }
    void fill_in_bulk(Lane &lane, Parcel &parcel, unsigned wanted)
    {
        slab_ops_cache *cache = caches_[parcel.kind];
        if (!lane.timed([&] { return ops().alloc_bulk(cache, SLAB_OPS_KERNEL, wanted, parcel.objects); })) {
            failed_++;
            return;
        }
        parcel.count = wanted;
        lane.operations += wanted - 1; // each object counts
    }

    // Frees what somebody else has left.
    void receive(Lane &lane, Parcel &parcel)
    {
        slab_ops_cache *cache = caches_[parcel.kind];
        for (unsigned i = 0; i < parcel.count; i++)
            broken_ += !static_cast<Stamp *>(parcel.objects[i])->whole(parcel.id);
        const unsigned way = lane.random() % 8;
        if (way == 0 && parcel.count) {
            lane.timed([&] { ops().free_bulk(cache, parcel.count, parcel.objects); });
            lane.operations += parcel.count - 1;
        }
        for (unsigned i = 0; way != 0 && i < parcel.count; i++) {
            void *object = parcel.objects[i];
            if (way == 1)
                lane.timed([&] { ops().free_rcu(object, offsetof(Stamp, rcu)); });
            else
                lane.timed([&] { ops().free(cache, object); });
        }
        parcel.count = 0;
        empty_.push(&parcel);
    }

    slab_ops_cache *caches_[std::size(kSizes)];
    std::vector<Queue> full_; // by node
    Queue empty_;
    std::vector<Parcel> parcels_;
    std::atomic<std::uint64_t> broken_{0}, failed_{0};
};

} // namespace

std::unique_ptr<Load> new_allocator_load(const Plan &plan, int sheaf_capacity)
{
    return std::make_unique<AllocatorLoad>(plan, sheaf_capacity);
}

} // namespace kmirror::stress
