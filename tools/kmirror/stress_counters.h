// SPDX-License-Identifier: GPL-2.0-only
//
// Counters of the processor for this process and the threads that it starts, where the kernel gives them.
#pragma once

#include <cstdint>
#include <string>

namespace kmirror::command {

struct Counters {
    bool known = false;
    std::uint64_t cycles = 0, instructions = 0, cache_misses = 0;
};

class CounterGroup {
public:
    // Threads that start later are counted as well: open it before they do.
    CounterGroup();
    ~CounterGroup();
    CounterGroup(const CounterGroup &) = delete;
    CounterGroup &operator=(const CounterGroup &) = delete;

    // Since the construction.
    Counters read() const;
    // Why there are none; empty: there are.
    const std::string &missing() const { return missing_; }

private:
    int events_[3] = {-1, -1, -1};
    std::string missing_;
};

Counters operator-(const Counters &after, const Counters &before);

}  // namespace kmirror::command
