// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/topology.h: the machine as lib/kernel sees it.
//
// One Machine is in force; topology.cpp derives nr_cpu_ids, masks and node lists from it before main(). It
// may be replaced until somebody depends on it: the first lease, per-CPU area or page arena pins it.
#pragma once

#include <kmirror/topology.h>

#include <cstddef>

namespace kmirror::kernel {

inline constexpr int kMaxDistance = 255;
// Between nodes, as AMD firmware reports them; a package without a number cannot be told apart from others.
inline constexpr unsigned char kSamePackage = 12;
inline constexpr unsigned char kOtherPackage = 32;

struct Machine {
    // (M1) 1 <= cpus <= NR_CPUS, 1 <= nodes <= MAX_NUMNODES
    // (M2) place[0 .. cpus) is filled; CPUs are numbered as Linux numbers them: first threads of all cores
    // first
    // (M3) distance[a][a] == LOCAL_DISTANCE, everything else in distance[0 .. nodes)^2 is larger
    unsigned int cpus;
    unsigned int nodes;
    struct kmirror_cpu_place place[NR_CPUS];
    unsigned char distance[MAX_NUMNODES][MAX_NUMNODES];
    char text[256];
};

// Reads a preset name, a synthetic string, or the host for null and "". False with one line in `message`, and
// `machine` in any state, if that is no possible machine.
bool machine_read(const char *spec, Machine &machine, char *message, std::size_t room);

// topology_hwloc.cpp, or lib/plain without hwloc: builds what a synthetic string describes, or the host for
// null. False if that is no description. Beyond the bounds of (M1) only cpus and nodes are filled in.
bool machine_build(const char *synthetic, Machine &machine);

// The machine in force.
const Machine &machine();

// From here on the machine stays as it is. Any thread.
void machine_pin();

}  // namespace kmirror::kernel
