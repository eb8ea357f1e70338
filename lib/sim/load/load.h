// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/load/load.h: what the simulated tasks do. Loads are instrumented, as the code under test is; they keep no
// counters, because a shared one would be contended.
#pragma once

#include <cstdint>

namespace kmirror::sim {

struct Load {
    const char *name;
    const char *what;          // one iteration
    // The caches it needs; the engine is idle. `sheaf_capacity`: -1 the generation's own rule.
    void (*prepare)(int sheaf_capacity);
    // A task's own state, made on its CPU; null when something failed.
    void *(*begin)(unsigned index, std::uint64_t seed);
    // One iteration; false: something was wrong.
    bool (*iterate)(void *state);
    // Gives everything back; the number of things that were wrong.
    unsigned (*end)(void *state);
    // After the last task and its callbacks: closes the caches. The number of objects that are left.
    unsigned long (*finish)();
    unsigned operations;       // of one iteration, for figures
};

extern const Load kMmapLoad, kStormLoad;

} // namespace kmirror::sim

// The part of an iteration that is neither tree nor allocator, as a 1024th of costs.mmap_base.
extern "C" void kmirror_sim_spend_base(unsigned part);
