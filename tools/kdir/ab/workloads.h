// SPDX-License-Identifier: GPL-2.0-only
//
// What make ab measures of a maple tree: loads in the shape of known benchmarks, through the table of operations,
// so that both sides do the same calls in the same order.
//
// Owns     the trees of the workload that runs.
// Fails    returns 0 operations where a call failed, which ends the comparison.
#ifndef KMIRROR_TOOLS_KDIR_AB_WORKLOADS_H
#define KMIRROR_TOOLS_KDIR_AB_WORKLOADS_H

#include <kmirror/maple_ops.h>

#include <span>

namespace kmirror::ab {

struct Measured {
    unsigned long operations = 0;
    double seconds = 0;  // of this thread's CPU time
};

struct Workload {
    const char *name;
    const char *what;
    Measured (*run)(const maple_ops *ops);  // some ten milliseconds
};

std::span<const Workload> workloads();

} // namespace kmirror::ab

#endif
