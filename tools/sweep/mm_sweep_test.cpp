// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: the calls of lib/mm, and those of recorded programs, survive the failure of any of their allocations,
// are done or undone, and lose no object.

#include "tools/sweep/log_cases.h"
#include "tools/sweep/sweep_test.h"

namespace {

using namespace kmirror::sweeping;

class MmSweep : public Sweep {};

TEST_F(MmSweep, TheCallsOfAddressSpacesSurviveEachFailure) { sweep_all(mm_cases(), 8, "200 mappings"); }

// Each fifth call, with each of its first requests failing once.
TEST_F(MmSweep, TheCallsOfRecordedProgramsSurviveEachFailure) {
    for (const char* name : {"gcc.log", "python3.log", "shell.log"}) {
        unsigned number = 0, swept = 0;
        unsigned long injected = 0;
        each_call_of(read_log_file(std::string("tools/replay/logs/") + name), name, [&](const Case& one) {
            if (number++ % 5 != 0) return;
            ++swept;
            injected += sweep_one(one, KMIRROR_SWEEP_ONCE, 12);
        });
        EXPECT_GT(swept, 10u) << name;
        EXPECT_GT(injected, swept) << name;
    }
}

}  // namespace
