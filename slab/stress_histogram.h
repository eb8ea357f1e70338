// SPDX-License-Identifier: GPL-2.0-only
//
// A histogram of times: each power of two is cut into 16 equal parts, so a percentile is right to about 6 %.
//
// Owns     8 KiB of counters.
// Bounds   values up to 2^64 ns; the smallest 16 are exact, and so is the maximum.
// Locking  none: one thread at a time.
// Fails    never. Without values every answer is 0.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace kmirror::stress {

class Histogram {
public:
    void record(std::uint64_t ns)
    {
        counts_[bucket_of(ns)]++;
        max_ = std::max(max_, ns);
        sum_ += ns;
        total_++;
    }

    void merge(const Histogram &other)
    {
        for (std::size_t i = 0; i < counts_.size(); i++)
            counts_[i] += other.counts_[i];
        max_ = std::max(max_, other.max_);
        sum_ += other.sum_;
        total_ += other.total_;
    }

    // The time that `share` (0 to 1) of all values do not exceed.
    std::uint64_t percentile(double share) const
    {
        const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_) + 0.5);
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); i++)
            if ((seen += counts_[i]) >= wanted && seen)
                return std::min(highest_in(i), max_);
        return max_;
    }

    std::uint64_t max() const { return max_; }
    double mean() const { return total_ ? static_cast<double>(sum_) / static_cast<double>(total_) : 0; }
    std::uint64_t count() const { return total_; }

private:
    static constexpr unsigned kPartBits = 4;
    static constexpr unsigned kParts = 1u << kPartBits;

    // Values below kParts have a bucket each; from there on the top bits after the first choose one.
    static std::size_t bucket_of(std::uint64_t ns)
    {
        if (ns < kParts)
            return ns;
        const unsigned shift = std::bit_width(ns) - 1 - kPartBits;
        return (shift + 1) * kParts + (ns >> shift) % kParts;
    }
    static std::uint64_t highest_in(std::size_t bucket)
    {
        if (bucket < kParts)
            return bucket;
        const std::size_t shift = bucket / kParts - 1;
        return ((kParts + bucket % kParts + 1) << shift) - 1;
    }

    std::array<std::uint64_t, (64 - kPartBits + 1) * kParts> counts_{};
    std::uint64_t max_ = 0, sum_ = 0, total_ = 0;
};

} // namespace kmirror::stress
