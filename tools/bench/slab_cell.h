// SPDX-License-Identifier: GPL-2.0-only
//
// Cells of the allocator table: running the process that measures one, and the middle of several results.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/slab_rows.h"

namespace kmirror::bench {

// What a worker found; `error` says why there is nothing.
struct Sample {
    double ns = 0;
    unsigned long unaligned = 0;
    std::string error;
};
Sample measure(const SlabRow& row, const SlabColumn& column);

struct MemorySample {
    long live_bytes = 0, kept_bytes = 0;
    unsigned long slabs = 0, slabs_kept = 0;
    unsigned slab_bytes = 0;
    std::string error;
};
MemorySample measure_memory(const SlabRow& row, const SlabColumn& column);

// Median, and the quartiles as the spread. Of no values: all 0.
struct Middle {
    double median = 0, low = 0, high = 0;
};
Middle middle_of(std::vector<double> values);

}  // namespace kmirror::bench
