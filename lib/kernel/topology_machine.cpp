// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/topology_machine.cpp: from a description to a Machine, through hwloc.
//
// Owns     the presets. hwloc's own structures live inside one call only.
// Bounds   1 to 1024 CPUs and 1 to 64 nodes; counts are multiplied and refused before hwloc builds anything,
//          because it would really build "pu:1000000000".
// Locking  none: start-up, or an option parser's single thread.
// Fails    with one line that says what is wrong.

#include "lib/kernel/topology.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <hwloc.h>
#include <hwloc/distances.h>
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

// Distances as AMD firmware reports them; a package without a number cannot be told apart from others.
constexpr unsigned char kSamePackage = 12;
constexpr unsigned char kOtherPackage = 32;

const kmirror_machine_preset *find_preset(const char *name)
{
    const auto *found = std::find_if(std::begin(kPresets), std::end(kPresets),
                                     [&](const auto &preset) { return std::strcmp(preset.name, name) == 0; });
    return found == std::end(kPresets) ? nullptr : found;
}

// ---- the counts of a synthetic string, before hwloc sees it ----

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

// The count of a level: behind the last colon, or the whole of it. -1 if that is no number.
long level_count(const Level &level)
{
    const char *end = level.text + level.length;
    const char *digits = end;
    while (digits > level.text && std::isdigit(static_cast<unsigned char>(digits[-1])))
        --digits;
    const bool whole = digits == level.text || digits[-1] == ':';
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

// ---- hwloc ----

struct TopologyDestroy {
    void operator()(hwloc_topology *topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDestroy>;

// Loads the synthetic string, or the host for null; null if hwloc refuses.
Topology load_topology(const char *synthetic)
{
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0)
        return nullptr;
    Topology topology(raw);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (synthetic && hwloc_topology_set_synthetic(raw, synthetic) != 0)
        return nullptr;
    if (hwloc_topology_load(raw) != 0)
        return nullptr;
    return topology;
}

int count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

// The logical number of the object of a type above `object`, or `otherwise`.
int above(hwloc_topology_t topology, hwloc_obj_t object, hwloc_obj_type_t type, int otherwise)
{
    const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, object);
    return found ? static_cast<int>(found->logical_index) : otherwise;
}

int node_of(hwloc_topology_t topology, hwloc_obj_t object)
{
    const int first = hwloc_bitmap_first(object->nodeset);
    if (first < 0)
        return 0;
    const hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(first));
    return node ? static_cast<int>(node->logical_index) : 0;
}

struct Pu {
    int thread; // which thread of its core
    int order;  // hwloc's logical number
    struct kmirror_cpu_place place;
};

Pu describe_pu(hwloc_topology_t topology, int index)
{
    const hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, static_cast<unsigned>(index));
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    Pu described = {};
    described.thread = core ? static_cast<int>(pu->sibling_rank) : 0;
    described.order = index;
    described.place.node = node_of(topology, pu);
    described.place.package = above(topology, pu, HWLOC_OBJ_PACKAGE, -1);
    described.place.l3 = above(topology, pu, HWLOC_OBJ_L3CACHE, described.place.node);
    described.place.core = core ? static_cast<int>(core->logical_index) : index;
    return described;
}

// Linux counts the first threads of all cores, then the second ones. Makes (M2) true.
void number_cpus(hwloc_topology_t topology, Machine &machine)
{
    std::vector<Pu> pus;
    for (unsigned int index = 0; index < machine.cpus; ++index)
        pus.push_back(describe_pu(topology, static_cast<int>(index)));
    std::stable_sort(pus.begin(), pus.end(), [](const Pu &a, const Pu &b) { return a.thread < b.thread; });
    for (unsigned int cpu = 0; cpu < machine.cpus; ++cpu)
        machine.place[cpu] = pus[cpu].place;
}

int package_of_node(hwloc_topology_t topology, unsigned int node)
{
    return above(topology, hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node), HWLOC_OBJ_PACKAGE, -1);
}

unsigned char guessed_distance(int package, int other)
{
    if (package < 0 || other < 0)
        return REMOTE_DISTANCE;
    return package == other ? kSamePackage : kOtherPackage;
}

void guess_distances(hwloc_topology_t topology, Machine &machine)
{
    std::array<int, MAX_NUMNODES> package = {};
    for (unsigned int node = 0; node < machine.nodes; ++node)
        package[node] = package_of_node(topology, node);
    for (unsigned int from = 0; from < machine.nodes; ++from)
        for (unsigned int to = 0; to < machine.nodes; ++to)
            machine.distance[from][to] =
                from == to ? LOCAL_DISTANCE : guessed_distance(package[from], package[to]);
}

// What the host's firmware says, where it says something possible.
void read_distances(hwloc_topology_t topology, Machine &machine)
{
    hwloc_distances_s *matrix = nullptr;
    unsigned int found = 1;
    if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &found, &matrix,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        found == 0)
        return;
    for (unsigned int from = 0; from < matrix->nbobjs; ++from) {
        for (unsigned int to = 0; to < matrix->nbobjs; ++to) {
            const unsigned int a = matrix->objs[from]->logical_index, b = matrix->objs[to]->logical_index;
            const hwloc_uint64_t value = matrix->values[from * matrix->nbobjs + to];
            if (a != b && a < machine.nodes && b < machine.nodes && value > LOCAL_DISTANCE)
                machine.distance[a][b] =
                    static_cast<unsigned char>(std::min<hwloc_uint64_t>(value, kMaxDistance));
        }
    }
    hwloc_distances_release(topology, matrix);
}

// A host hwloc cannot read: its CPUs, one node.
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
    std::string text = looks_like_name(spec) ? "no such preset; there are" : "hwloc refuses it; presets are";
    for (const auto &preset : kPresets)
        text = text + " " + preset.name;
    text += ", a string is like \"pack:2 numa:2 l3:6 core:8 pu:1\"";
    std::snprintf(message, room, "%s", text.c_str());
}

bool bounds_possible(hwloc_topology_t topology, char *message, std::size_t room)
{
    const int cpus = count_of(topology, HWLOC_OBJ_PU), nodes = count_of(topology, HWLOC_OBJ_NUMANODE);
    if (cpus >= 1 && cpus <= NR_CPUS && nodes >= 1 && nodes <= MAX_NUMNODES)
        return true;
    std::snprintf(message, room, "%d CPUs on %d nodes; possible are 1 to %d CPUs and 1 to %d nodes", cpus,
                  nodes, NR_CPUS, MAX_NUMNODES);
    return false;
}

void read_topology(hwloc_topology_t topology, Machine &machine, bool host)
{
    machine.cpus = static_cast<unsigned int>(count_of(topology, HWLOC_OBJ_PU));
    machine.nodes = static_cast<unsigned int>(count_of(topology, HWLOC_OBJ_NUMANODE));
    number_cpus(topology, machine);
    guess_distances(topology, machine);
    if (host)
        read_distances(topology, machine);
}

void read_host(Machine &machine)
{
    char ignored[128];
    const Topology topology = load_topology(nullptr);
    if (topology && bounds_possible(topology.get(), ignored, sizeof(ignored)))
        read_topology(topology.get(), machine, true);
    else
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
    const Topology topology = load_topology(synthetic);
    if (!topology) {
        say_no_machine(spec, message, room);
        return false;
    }
    if (!bounds_possible(topology.get(), message, room))
        return false;
    read_topology(topology.get(), machine, false);
    describe(machine, spec, preset);
    return true;
}

}  // namespace kmirror::kernel

extern "C" const struct kmirror_machine_preset *kmirror_machine_presets(int *count)
{
    *count = static_cast<int>(std::size(kmirror::kernel::kPresets));
    return kmirror::kernel::kPresets;
}
