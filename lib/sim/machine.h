// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/machine.h: a simulated machine: its CPUs, and what things cost there.
//
// A machine is a file, lib/sim/machines/NAME.machine. One setting a line:
//
//   topology    = pack:2 numa:2 l3:6 core:8 pu:1      | where this is from
//   cost.l3     = 14 ns                               | where this figure is from
//   speed.0-3   = 2.8                                 | CPUs 0 to 3 take 2.8 times as long for each instruction
//
// Every figure names its source behind the bar; a cost without one is refused, and so is a missing or unknown one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmirror::sim {

// Virtual time, in picoseconds: an integer, so that equal runs have equal clocks.
using Ps = std::int64_t;

inline constexpr Ps kNs = 1000, kUs = 1000 * kNs, kMs = 1000 * kUs;
inline constexpr Ps kNever = INT64_MAX / 4;

// Factors are in 1024ths.
inline constexpr std::int64_t kOne = 1024;

// What happens, and its price. Times in picoseconds; those named as factors in 1024ths.
//
//   name             unit    what
#define KMIRROR_SIM_COSTS(X)                                                                                 \
    X(access)        /* ns     an access to a line that the CPU has at hand                             */   \
    X(l2)            /* ns     the CPU's own line, older than age_l1                                    */   \
    X(l3)            /* ns     the CPU's own line, older than age_l2; a clean line of its L3 group      */   \
    X(dram_local)    /* ns     a line that no cache has, memory of the CPU's node                       */   \
    X(dram_remote)   /* ns     the same, memory of another node                                         */   \
    X(smt)           /* ns     a line that the core's other thread wrote                                */   \
    X(same_l3)       /* ns     ... another core of the L3 group                                         */   \
    X(same_node)     /* ns     ... another L3 group of the node                                         */   \
    X(same_package)  /* ns     ... another node of the package                                          */   \
    X(other_package) /* ns     ... another package                                                      */   \
    X(rmw)           /* ns     an atomic read-modify-write, once the line is there                      */   \
    X(rmw16)         /* ns     the same of 16 bytes                                                     */   \
    X(age_l1)        /* ns     untouched for longer, a line has left L1                                 */   \
    X(age_l2)        /* ns     ... L2                                                                   */   \
    X(age_l3)        /* ns     ... L3                                                                   */   \
    X(store_share)   /* factor the part of a store's miss that the CPU waits for at once                */   \
    X(handoff)       /* factor transfers of a lock's line between one holder and the next               */   \
    X(smt_slowdown)  /* factor a CPU's work takes so much longer while its core's other thread works    */   \
    X(call_rcu)      /* ns     queueing a callback, without its memory accesses                         */   \
    X(callback)      /* ns     starting a callback                                                      */   \
    X(relax)         /* ns     one round of a waiting loop                                              */   \
    X(tick)          /* ns     the timer interrupt itself                                               */   \
    X(tick_period)   /* ns     from one tick to the next                                                */   \
    X(tick_spread)   /* ns     over which the CPUs' ticks are spread                                    */   \
    X(softirq_limit) /* ns     after which callbacks are left to ksoftirqd                              */   \
    X(slice)         /* ns     that a task may use while others wait for its CPU                        */   \
    X(task_switch)   /* ns     from one task to another                                                 */   \
    X(mmap_base)     /* ns     of an mmap and munmap that is neither tree nor allocator                 */

struct Costs {
#define KMIRROR_SIM_MEMBER(name) Ps name = 0;
    KMIRROR_SIM_COSTS(KMIRROR_SIM_MEMBER)
#undef KMIRROR_SIM_MEMBER
};

struct CostName {
    const char *name;
    Ps Costs::*member;
    bool factor;
};
const std::vector<CostName> &cost_names();

// Where a CPU is; all numbers count over the whole machine.
struct Place {
    int node = 0, package = 0, l3 = 0, core = 0;
};

struct Machine {
    std::string name, topology, description;
    Costs costs;
    std::vector<std::string> sources;     // "l3: where it is from", in the order of the file
    std::vector<std::int64_t> speed;      // by CPU, a factor of each instruction's time; missing: kOne
    struct SpeedRange {
        unsigned first, last;
        std::int64_t factor;
    };
    std::vector<SpeedRange> speeds;

    std::int64_t speed_of(unsigned cpu) const;
};

// Reads a machine from the text of its file. False with one line in `error` that names line, setting and what is
// allowed; `machine` is in any state then.
bool machine_parse(std::string_view text, Machine &machine, std::string &error);

// The same from a file.
bool machine_load(const std::string &path, Machine &machine, std::string &error);

// Replaces one cost, as "l3=20" or "store_share=1" or "xfer*=1.5" (all costs of a moving line times 1.5), for the
// table of sensitivities. False with one line in `error`.
bool machine_change(std::string_view setting, Machine &machine, std::string &error);

} // namespace kmirror::sim
