// SPDX-License-Identifier: GPL-2.0-only
//
// The tree's load: one shared maple tree in RCU mode, readers without a lock, writers that take turns.
//
// Range k of the tree is [k * kStride, k * kStride + kLength - 1]; it holds the value k or nothing, and what
// lies between two ranges holds nothing. So every answer a reader gets can be judged without knowing what
// writers do: the value of that range, or none. Writers store and erase ranges at random; every node they
// replace goes through kfree_rcu and comes back from the allocator.
//
// Owns     the tree, and its node cache's sheaf capacity during the run.
// Bounds   kRanges ranges.
// Locking  reads in an RCU read section, writes under the tree's own lock.
// Fails    a wrong answer, a failed store, a tree that is not valid, nodes that are left at the end.

#include "slab/implementation.h"
#include "slab/stress_load.h"

#include <kmirror/maple_ops.h>
#include <kmirror/slab_ops.h>

#include <algorithm>
#include <atomic>

namespace kmirror::stress {
namespace {

constexpr unsigned long kStride = 16, kLength = 8, kRanges = 20000;
constexpr unsigned long kScatter = 7919; // a prime that does not divide kRanges
constexpr unsigned kStepsPerBatch = 1500; // of all lanes of a CPU
constexpr unsigned kReadsInTen = 8;
constexpr unsigned kLongest = 40; // ranges that one erase covers: some cross nodes

const maple_ops &ops() { return *kmirror_maple_ops(); }
void *value_of(unsigned long range) { return maple_ops_value(range); }

// Zipf's distribution with exponent 1; which ranges are wanted most has nothing to do with where they lie.
unsigned long skewed(std::mt19937_64 &random)
{
    static const std::vector<double> sums = [] {
        std::vector<double> all(kRanges);
        double sum = 0;
        for (unsigned long k = 0; k < kRanges; k++)
            all[k] = sum += 1.0 / static_cast<double>(k + 1);
        return all;
    }();
    const double at = std::uniform_real_distribution<double>(0, sums.back())(random);
    const auto rank = static_cast<unsigned long>(std::lower_bound(sums.begin(), sums.end(), at) - sums.begin());
    return std::min(rank, kRanges - 1) * kScatter % kRanges;
}

class TreeLoad final : public Load {
public:
    TreeLoad(const Plan &plan, int sheaf_capacity, bool skewed)
        : steps_(std::max(1u, kStepsPerBatch / lanes_per_cpu(plan))), skewed_(skewed)
    {
        const int before = slab_under_test().set_sheaf_capacity(sheaf_capacity);
        renewed_ = ops().cache_renew && ops().cache_renew() == 0;
        ops().boot();
        slab_under_test().set_sheaf_capacity(before);
        tree_ = ops().tree_new(MAPLE_OPS_RCU);
        for (unsigned long range = 0; tree_ && range < kRanges; range += 2)
            store(range);
    }

    void batch(Lane &lane) override
    {
        for (unsigned step = 0; tree_ && step < steps_; step++) {
            const unsigned long range = skewed_ ? skewed(lane.random) : lane.random() % kRanges;
            if (lane.random() % 10 < kReadsInTen)
                lane.random() % 8 ? look_up(lane, range) : walk(lane, range);
            else
                lane.timed(
                    [&] { lane.random() % 2 ? store(range) : erase(range, lane.random() % kLongest); });
        }
    }

    std::uint64_t refused() const override { return failed_; }

    std::vector<std::string> finish() override
    {
        std::vector<std::string> wrong;
        if (!tree_)
            return {"the tree could not be made"};
        if (!renewed_)
            wrong.push_back("the node cache could not be made anew");
        ops().lock(tree_);
        if (const unsigned long violations = ops().check(tree_, true))
            wrong.push_back("tree: " + std::to_string(violations) + " rules are violated");
        ops().unlock(tree_);
        ops().tree_free(tree_);
        ops().rcu_barrier();
        if (const unsigned long left = ops().nr_allocated(); left)
            wrong.push_back("tree: " + std::to_string(left) + " nodes are left");
        if (lies_)
            wrong.push_back("tree: " + std::to_string(lies_) + " wrong answers");
        return wrong;
    }

private:
    void store(unsigned long range)
    {
        const unsigned long first = range * kStride;
        failed_ +=
            ops().store_range(tree_, first, first + kLength - 1, value_of(range), MAPLE_OPS_KERNEL) != 0;
    }
    // A run of whole ranges with the gaps between them.
    void erase(unsigned long range, unsigned long more)
    {
        const unsigned long last = (std::min(range + more, kRanges - 1) + 1) * kStride - 1;
        failed_ += ops().store_range(tree_, range * kStride, last, nullptr, MAPLE_OPS_KERNEL) != 0;
    }

    // One index: of the range, or of the gap behind it.
    void look_up(Lane &lane, unsigned long range)
    {
        const unsigned long within = lane.random() % kStride;
        void *entry = lane.timed([&] { return ops().load(tree_, range * kStride + within); });
        lies_ += entry && (within >= kLength || entry != value_of(range));
    }
    // The next few ranges in order.
    void walk(Lane &lane, unsigned long range)
    {
        maple_ops_cursor cursor;
        maple_ops_position at;
        ops().read_lock();
        ops().cursor_init(&cursor, tree_, range * kStride);
        for (int i = 0; i < 8; i++) {
            void *entry = lane.timed([&] { return ops().mas_find(&cursor, ~0ul); });
            if (!entry)
                break;
            ops().cursor_get(&cursor, &at);
            lies_ += at.first % kStride != 0 || at.last != at.first + kLength - 1 ||
                     entry != value_of(at.first / kStride);
        }
        ops().read_unlock();
    }

    unsigned steps_;
    bool skewed_;
    maple_ops_tree *tree_ = nullptr;
    bool renewed_ = false;
    std::atomic<std::uint64_t> lies_{0}, failed_{0};
};

} // namespace

std::unique_ptr<Load> new_tree_load(const Plan &plan, int sheaf_capacity)
{
    return std::make_unique<TreeLoad>(plan, sheaf_capacity, false);
}

namespace {

std::unique_ptr<Load> new_skewed_load(const Plan &plan, int sheaf_capacity)
{
    return std::make_unique<TreeLoad>(plan, sheaf_capacity, true);
}

constexpr const char *kLocks = "maple_node; the tree's lock, list_lock, barn lock; readers take none";

constexpr LoadKind kTreeKinds[] = {
    {"tree", "an index looked up, or a range stored", kLocks, new_tree_load},
    {"tree_zipf", "the same, the k-th most wanted range 1/k as often as the first", kLocks, new_skewed_load},
};

} // namespace

std::span<const LoadKind> tree_loads() { return kTreeKinds; }

} // namespace kmirror::stress
