// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/topology_machine.cpp: from a description to a Machine; machine_build() does the building.
//
// Owns     the presets.
// Bounds   1 to 1024 CPUs and 1 to 64 nodes; counts are multiplied and refused before anything is built,
//          because hwloc would really build "pu:1000000000".
// Locking  none: start-up, or an option parser's single thread.
// Fails    with one line that says what is wrong.

#include "lib/kernel/topology.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sched.h>

namespace kmirror::kernel {
namespace {

constexpr kmirror_machine_preset kPresets[] = {
    {"turin-64c", "pack:1 numa:1 l3:8 core:8 pu:2", "AMD Turin, 1 socket, 64 cores, 128 threads"},
    {"turin-2s-128c", "pack:2 numa:1 l3:8 core:8 pu:2", "AMD Turin, 2 sockets, 128 cores, 256 threads"},
    {"bergamo-128c", "pack:1 numa:1 l3:16 core:8 pu:2", "AMD Bergamo, 1 socket, 128 cores, 256 threads"},
    {"2s-192c-4n", "pack:2 numa:2 l3:6 core:8 pu:1", "2 sockets, 192 cores, 1 thread each, 4 nodes of 48"},
    {"icelake-2s-64t", "pack:2 numa:1 l3:1 core:16 pu:2", "Intel Ice Lake, 2 sockets, 32 cores, 64 threads"},
};

const kmirror_machine_preset *find_preset(const char *name)
{
    const auto *found = std::find_if(std::begin(kPresets), std::end(kPresets),
                                     [&](const auto &preset) { return std::strcmp(preset.name, name) == 0; });
    return found == std::end(kPresets) ? nullptr : found;
}

// ---- the counts of a synthetic string, before anything is built from it ----

// One level of the string: "type:count(attributes)", "count" or "[memory child]".
struct Level {
    const char *text;
    std::size_t length;
    bool memory_child;
};

const char *skip_past(const char *at, char closing)
{
    const char *end = std::strchr(at, closing);
    return end ? end + 1 : at + std::strlen(at);
}

// The next level at or after `at`; length 0 at the end. `at` moves behind it.
Level next_level(const char *&at)
{
    at += std::strspn(at, " \t\n");
    Level level = {at, 0, *at == '['};
    if (level.memory_child) {
        at = skip_past(at, ']');
        level.length = static_cast<std::size_t>(at - level.text);
        return level;
    }
    level.length = std::strcspn(at, " \t\n([");
    at += level.length;
    if (*at == '(')
        at = skip_past(at, ')');
    return level;
}

// The count of a level: behind the last colon, or the whole of it. -1 if that is no number, or if a number stands
// before the level's type: hwloc takes it for a level of its own.
long level_count(const Level &level)
{
    const char *end = level.text + level.length;
    const char *digits = end;
    while (digits > level.text && std::isdigit(static_cast<unsigned char>(digits[-1])))
        --digits;
    const bool typed = !std::isdigit(static_cast<unsigned char>(level.text[0]));
    const bool whole = digits == level.text || (typed && digits[-1] == ':');
    if (digits == end || !whole)
        return -1;
    return end - digits > 9 ? NR_CPUS + 1L : std::strtol(digits, nullptr, 10);
}

// Says what is impossible about the counts; true if nothing is.
bool counts_possible(const char *synthetic, char *message, std::size_t room)
{
    long cpus = 1;
    for (const char *at = synthetic;;) {
        const Level level = next_level(at);
        if (level.length == 0)
            return true;
        if (level.memory_child)
            continue;
        const long count = level_count(level);
        if (count < 1) {
            std::snprintf(message, room, "\"%.*s\" needs a count of at least 1, as in \"core:8\"",
                          static_cast<int>(std::min<std::size_t>(level.length, 40)), level.text);
            return false;
        }
        cpus *= std::min(count, NR_CPUS + 1L);
        if (cpus > NR_CPUS) {
            std::snprintf(message, room, "more than %d CPUs", NR_CPUS);
            return false;
        }
    }
}

// ---- the machine ----

void describe(Machine &machine, const char *spec, const kmirror_machine_preset *preset)
{
    const char *name = preset ? preset->synthetic : spec ? spec : "this host";
    std::snprintf(machine.text, sizeof(machine.text), "%u CPUs, %u node%s: %s", machine.cpus, machine.nodes,
                  machine.nodes == 1 ? "" : "s", name);
}

bool looks_like_name(const char *spec)
{
    const auto last = static_cast<unsigned char>(spec[std::strlen(spec) - 1]);
    return !std::strpbrk(spec, ": \t[(") && !std::isdigit(last);
}

void say_no_machine(const char *spec, char *message, std::size_t room)
{
    std::string text = looks_like_name(spec) ? "no such preset; there are" : "no such machine; presets are";
    for (const auto &preset : kPresets)
        text = text + " " + preset.name;
    text += ", a string is like \"pack:2 numa:2 l3:6 core:8 pu:1\"";
    std::snprintf(message, room, "%s", text.c_str());
}

// (M1), of what a description amounts to.
bool bounds_possible(const Machine &machine, char *message, std::size_t room)
{
    if (machine.cpus >= 1 && machine.cpus <= NR_CPUS && machine.nodes >= 1 && machine.nodes <= MAX_NUMNODES)
        return true;
    std::snprintf(message, room, "%u CPUs on %u nodes; possible are 1 to %d CPUs and 1 to %d nodes",
                  machine.cpus, machine.nodes, NR_CPUS, MAX_NUMNODES);
    return false;
}

// A host nobody can read: its CPUs, one node.
void flat_machine(Machine &machine)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    const int count = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    machine.cpus = static_cast<unsigned int>(std::clamp(count, 1, NR_CPUS));
    machine.nodes = 1;
    machine.distance[0][0] = LOCAL_DISTANCE;
    for (unsigned int cpu = 0; cpu < machine.cpus; ++cpu)
        machine.place[cpu] = {0, 0, 0, static_cast<int>(cpu)};
}

void read_host(Machine &machine)
{
    char ignored[128];
    if (!machine_build(nullptr, machine) || !bounds_possible(machine, ignored, sizeof(ignored)))
        flat_machine(machine);
    describe(machine, nullptr, nullptr);
}

}  // namespace

bool machine_read(const char *spec, Machine &machine, char *message, std::size_t room)
{
    if (!spec || !*spec) {
        read_host(machine);
        return true;
    }
    const kmirror_machine_preset *preset = find_preset(spec);
    const char *synthetic = preset ? preset->synthetic : spec;
    if (!preset && looks_like_name(spec)) {
        say_no_machine(spec, message, room);
        return false;
    }
    if (!counts_possible(synthetic, message, room))
        return false;
    if (!machine_build(synthetic, machine)) {
        say_no_machine(spec, message, room);
        return false;
    }
    if (!bounds_possible(machine, message, room))
        return false;
    describe(machine, spec, preset);
    return true;
}

}  // namespace kmirror::kernel

extern "C" const struct kmirror_machine_preset *kmirror_machine_presets(int *count)
{
    *count = static_cast<int>(std::size(kmirror::kernel::kPresets));
    return kmirror::kernel::kPresets;
}
