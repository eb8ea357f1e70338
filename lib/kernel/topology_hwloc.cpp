// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/topology_hwloc.cpp: machine_build() through hwloc.
//
// Owns     nothing: hwloc's own structures live inside one call only.
// Bounds   those of Machine. Of a larger one only the counts are filled in.
// Locking  none: start-up, or an option parser's single thread.
// Fails    false, when hwloc refuses the description.

#include "lib/kernel/topology.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <hwloc.h>
#include <hwloc/distances.h>

namespace kmirror::kernel {
namespace {

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

void fill_in(hwloc_topology_t topology, Machine &machine, bool host)
{
    number_cpus(topology, machine);
    guess_distances(topology, machine);
    if (host)
        read_distances(topology, machine);
}

}  // namespace

bool machine_build(const char *synthetic, Machine &machine)
{
    const Topology topology = load_topology(synthetic);
    if (!topology)
        return false;
    machine.cpus = static_cast<unsigned int>(count_of(topology.get(), HWLOC_OBJ_PU));
    machine.nodes = static_cast<unsigned int>(count_of(topology.get(), HWLOC_OBJ_NUMANODE));
    if (machine.cpus <= NR_CPUS && machine.nodes <= MAX_NUMNODES)
        fill_in(topology.get(), machine, !synthetic);
    return true;
}

}  // namespace kmirror::kernel
