// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/scenario/scenario.h: small programs for the exploring world: a few operations on two or three CPUs, and what
// must hold afterwards. They are instrumented, as the code under test is.
#pragma once

namespace kmirror::sim {

struct Scenario {
    const char *name;
    const char *what;
    const char *topology;      // of hwloc; a task on each CPU
    const char *generation;    // of the allocator
    int sheaf_capacity;        // -1: the generation's own rule
    void (*prepare)();         // before the tasks; nothing else runs
    void (*body)(unsigned cpu);
    void (*finish)();          // after the last task, on its CPU
};

extern const Scenario *const kScenarios[];
extern const unsigned kScenarioCount;

// Says what is wrong; the first one is kept. Called by scenarios.
void scenario_wrong(const char *what);
const char *scenario_verdict();   // null: nothing was wrong

} // namespace kmirror::sim
