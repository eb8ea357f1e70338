// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/topology.cpp: the machine in force, and what is derived from it.
//
// Owns     nr_cpu_ids, nr_node_ids, the possible mask, the start value of the online mask, node states, the
//          memory fallback lists. Built by a constructor before any other, from KMIRROR_MACHINE.
// Bounds   NR_CPUS CPUs, MAX_NUMNODES nodes; all tables are static.
// Locking  written by one thread at start-up, read by all afterwards. The page allocator enters nodes without
//          memory from its own start-up, before it hands out a page.
// Fails    a bad KMIRROR_MACHINE is one line and exit status 2.

#include "lib/kernel/topology.h"

#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/nodemask.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

unsigned int nr_cpu_ids;
unsigned int nr_node_ids;
unsigned int nr_online_nodes;
struct cpumask __cpu_possible_mask;
struct cpumask __cpu_online_mask;
nodemask_t node_states[NR_NODE_STATES];

namespace kmirror::kernel {
namespace {

// Nodes with memory by distance from each node: the zonelists.
struct Fallback {
    int count;
    int nodes[MAX_NUMNODES];
};

Machine in_force;
Machine candidate;
Fallback fallback[MAX_NUMNODES];
cpumask node_cpus[MAX_NUMNODES];
std::atomic<bool> pinned;

// Nearest first; equally near ones start behind the node itself, so that neighbours do not all spill to node
// 0.
void build_fallback(int node)
{
    Fallback &list = fallback[node];
    const int nodes = static_cast<int>(in_force.nodes);
    list.count = 0;
    for (int step = 0; step < nodes; ++step)
        if (const int other = (node + step) % nodes; node_state(other, N_MEMORY))
            list.nodes[list.count++] = other;
    const unsigned char *distance = in_force.distance[node];
    std::stable_sort(list.nodes, list.nodes + list.count,
                     [&](int a, int b) { return distance[a] < distance[b]; });
}

void build_all_fallbacks()
{
    for (unsigned int node = 0; node < in_force.nodes; ++node)
        build_fallback(static_cast<int>(node));
}

void set_nodes()
{
    nr_node_ids = nr_online_nodes = in_force.nodes;
    for (auto &state : node_states)
        nodes_clear(state);
    for (unsigned int node = 0; node < in_force.nodes; ++node)
        for (const int state : {N_POSSIBLE, N_ONLINE, N_NORMAL_MEMORY, N_MEMORY})
            node_set(node, node_states[state]);
    build_all_fallbacks();
}

void set_cpus()
{
    nr_cpu_ids = in_force.cpus;
    cpumask_clear(&__cpu_possible_mask);
    cpumask_clear(&__cpu_online_mask);
    for (auto &mask : node_cpus)
        cpumask_clear(&mask);
    for (unsigned int cpu = 0; cpu < in_force.cpus; ++cpu) {
        const auto node = static_cast<unsigned long>(in_force.place[cpu].node);
        __cpumask_set_cpu(cpu, &__cpu_possible_mask);
        __cpumask_set_cpu(cpu, &__cpu_online_mask);
        __cpumask_set_cpu(cpu, &node_cpus[node]);
        node_set(node, node_states[N_CPU]);
    }
}

void put_in_force(const Machine &machine)
{
    in_force = machine;
    set_nodes();
    set_cpus();
}

// First of all constructors: others ask for nr_cpu_ids.
[[gnu::constructor(101)]] void read_environment()
{
    const char *spec = std::getenv("KMIRROR_MACHINE");
    char message[256];
    if (!machine_read(spec, candidate, message, sizeof(message)))
        kmirror_bad_setting("KMIRROR_MACHINE", spec, message);
    put_in_force(candidate);
}

bool node_known(int node)
{
    return node >= 0 && static_cast<unsigned int>(node) < nr_node_ids;
}

bool cpu_known(int cpu)
{
    return cpu >= 0 && static_cast<unsigned int>(cpu) < nr_cpu_ids;
}

// 10, 20, 30 or 40 for K, M, G, T; 0 for anything else.
int unit_shift(char unit)
{
    static constexpr char units[] = "KMGT";
    const char *found = unit ? std::strchr(units, std::toupper(static_cast<unsigned char>(unit))) : nullptr;
    return found ? 10 * (static_cast<int>(found - units) + 1) : 0;
}

}  // namespace

const Machine &machine()
{
    return in_force;
}

void machine_pin()
{
    if (!pinned.load(std::memory_order_relaxed))
        pinned.store(true, std::memory_order_relaxed);
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

int kmirror_machine_set(const char *machine, char *message, size_t room)
{
    if (!machine_read(machine, candidate, message, room))
        return -EINVAL;
    if (pinned.load(std::memory_order_relaxed)) {
        std::snprintf(message, room, "the machine is in use already");
        return -EBUSY;
    }
    put_in_force(candidate);
    return 0;
}

const char *kmirror_machine_describe(void)
{
    return in_force.text;
}

const struct kmirror_cpu_place *kmirror_cpu_place(int cpu)
{
    return &in_force.place[cpu_known(cpu) ? cpu : 0];
}

int cpu_to_node(int cpu)
{
    return cpu_known(cpu) ? in_force.place[cpu].node : NUMA_NO_NODE;
}

int cpu_to_mem(int cpu)
{
    return node_to_mem_node(cpu_to_node(cpu));
}

int node_to_mem_node(int node)
{
    if (!node_known(node) || fallback[node].count == 0)
        return node;
    return fallback[node].nodes[0];
}

const struct cpumask *cpumask_of_node(int node)
{
    return node_known(node) ? &node_cpus[node] : cpu_online_mask;
}

int node_distance(int from, int to)
{
    return node_known(from) && node_known(to) ? in_force.distance[from][to] : REMOTE_DISTANCE;
}

const int *kmirror_node_fallback(int node, int *count)
{
    const Fallback &list = fallback[node_known(node) ? node : 0];
    *count = list.count;
    return list.nodes;
}

void kmirror_node_set_memory(int node, bool present)
{
    if (!node_known(node) || present == static_cast<bool>(node_state(node, N_MEMORY)))
        return;
    for (const int state : {N_NORMAL_MEMORY, N_MEMORY}) {
        if (present)
            node_set(static_cast<unsigned long>(node), node_states[state]);
        else
            node_clear(static_cast<unsigned long>(node), node_states[state]);
    }
    build_all_fallbacks();
}

int kmirror_parse_size(const char *text, const char **end, unsigned long *bytes)
{
    const char *at = text;
    unsigned long value = 0;
    for (; std::isdigit(static_cast<unsigned char>(*at)); ++at)
        if (__builtin_mul_overflow(value, 10UL, &value) ||
            __builtin_add_overflow(value, static_cast<unsigned long>(*at - '0'), &value))
            return -EINVAL;
    if (at == text)
        return -EINVAL;
    if (const int shift = unit_shift(*at); shift != 0) {
        if (shift >= BITS_PER_LONG || value > (~0UL >> 1 >> shift))
            return -EINVAL;
        value <<= shift;
        ++at;
    }
    if (value > ~0UL >> 1 || (!end && *at != '\0'))
        return -EINVAL;
    if (end)
        *end = at;
    *bytes = value;
    return 0;
}

void kmirror_bad_setting(const char *variable, const char *value, const char *reason)
{
    char shown[120];
    std::snprintf(shown, sizeof(shown), "%s", value ? value : "");
    std::replace_if(shown, shown + std::strlen(shown), [](unsigned char c) { return !std::isprint(c); }, '?');
    std::fprintf(stderr, "kmirror: %s=\"%s\": %s\n", variable, shown, reason);
    std::fflush(stderr);
    std::_Exit(2);
}

}  // extern "C"
