// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/scenario/list.cpp: all scenarios, and what was wrong in the one that runs.
#include "lib/sim/scenario/scenario.h"

namespace kmirror::sim {

extern const Scenario kBarnScenario, kListScenario, kNodesScenario, kCpuSlabScenario, kAbaScenario, kDoubleScenario, kShrinkScenario,
    kRcuScenario, kFlushScenario, kTreeScenario, kTreeCallbackScenario;

const Scenario *const kScenarios[] = {&kBarnScenario,   &kListScenario,   &kNodesScenario, &kCpuSlabScenario,
                                      &kAbaScenario, &kDoubleScenario, &kShrinkScenario, &kRcuScenario,   &kFlushScenario, &kTreeScenario,
                                      &kTreeCallbackScenario};
const unsigned kScenarioCount = sizeof(kScenarios) / sizeof(*kScenarios);

static const char *verdict;

void scenario_wrong(const char *what)
{
    if (!verdict)
        verdict = what;
}

const char *scenario_verdict() { return verdict; }

} // namespace kmirror::sim
