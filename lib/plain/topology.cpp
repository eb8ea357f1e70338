// SPDX-License-Identifier: GPL-2.0-only
//
// lib/plain/topology.cpp: machine_build() without hwloc, for builds of 32 bit.
//
// It understands what the presets and tests use: levels "type:count" from the outside to the inside, of the
// types pack, numa, l3, core and pu, each at most once, "pu" last. Attributes and memory children are
// refused.
//
// Owns     nothing.
// Bounds   those of Machine. Of a larger one only the counts are filled in.
// Locking  none: start-up, or an option parser's single thread.
// Fails    false for the host and for other descriptions.

#include "lib/kernel/topology.h"

#include <algorithm>
#include <cstring>

namespace kmirror::kernel {
namespace {

enum Kind { kPackage, kNode, kCache, kCore, kThread, kKinds };
constexpr const char *kNames[kKinds] = {"pack", "numa", "l3", "core", "pu"};

// How many of a kind there are inside one of the next kind further out; 0: the level is not there.
struct Counts {
    unsigned int of[kKinds] = {};

    unsigned int each(Kind kind) const { return std::max(of[kind], 1u); }
    // All of a kind in the machine.
    unsigned int all(Kind kind) const
    {
        unsigned int product = 1;
        for (int outer = 0; outer <= kind; ++outer)
            product *= each(static_cast<Kind>(outer));
        return product;
    }
};

bool read_level(const char *&at, Counts *counts, int *outer)
{
    for (int kind = *outer; kind < kKinds; ++kind) {
        const std::size_t length = std::strlen(kNames[kind]);
        if (std::strncmp(at, kNames[kind], length) != 0 || at[length] != ':')
            continue;
        char *end;
        counts->of[kind] = static_cast<unsigned int>(std::strtoul(at + length + 1, &end, 10));
        at = end;
        *outer = kind + 1;
        return counts->of[kind] != 0 && (*at == ' ' || *at == '\0');
    }
    return false;
}

bool read_counts(const char *text, Counts *counts)
{
    int outer = 0;
    for (const char *at = text; *at != '\0'; at += std::strspn(at, " "))
        if (!read_level(at, counts, &outer))
            return false;
    return counts->of[kThread] != 0;
}

// The first threads of all cores come first. Makes (M2) and (M3) true.
void fill_in(const Counts &counts, Machine &machine)
{
    const unsigned int cores = counts.all(kCore);
    for (unsigned int cpu = 0; cpu < machine.cpus; ++cpu) {
        const unsigned int core = cpu % cores;
        const unsigned int cache = core / counts.each(kCore);
        const unsigned int node = cache / counts.each(kCache);
        machine.place[cpu].core = static_cast<int>(core);
        machine.place[cpu].node = static_cast<int>(node);
        machine.place[cpu].package = counts.of[kPackage] ? static_cast<int>(node / counts.each(kNode)) : -1;
        machine.place[cpu].l3 = static_cast<int>(counts.of[kCache] ? cache : node);
    }
    const bool packages = counts.of[kPackage] != 0;
    for (unsigned int from = 0; from < machine.nodes; ++from)
        for (unsigned int to = 0; to < machine.nodes; ++to) {
            const bool together = from / counts.each(kNode) == to / counts.each(kNode);
            const int apart = !packages ? REMOTE_DISTANCE : together ? kSamePackage : kOtherPackage;
            machine.distance[from][to] = static_cast<unsigned char>(from == to ? LOCAL_DISTANCE : apart);
        }
}

}  // namespace

bool machine_build(const char *synthetic, Machine &machine)
{
    Counts counts;
    if (!synthetic || !read_counts(synthetic, &counts))
        return false;
    machine.cpus = counts.all(kThread);
    machine.nodes = counts.all(kNode);
    if (machine.cpus <= NR_CPUS && machine.nodes <= MAX_NUMNODES)
        fill_in(counts, machine);
    return true;
}

}  // namespace kmirror::kernel
