/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/topology.h: which CPU belongs to which NUMA node, and how far nodes are.
 * Fixed before main(); only the memory of nodes is entered a little later, by the
 * page allocator's start.
 */
#ifndef KMIRROR_LINUX_TOPOLOGY_H
#define KMIRROR_LINUX_TOPOLOGY_H

#include <linux/nodemask.h>
#include <linux/smp.h>

#define LOCAL_DISTANCE 10
#define REMOTE_DISTANCE 20

KM_C_BEGIN

/* cpu_to_node() - Node of a possible CPU. */
int cpu_to_node(int cpu);

/* cpu_to_mem() - Nearest node with memory; the CPU's own node if that has some. */
int cpu_to_mem(int cpu);

/* node_to_mem_node() - The same for a node. */
int node_to_mem_node(int node);

/* cpumask_of_node() - CPUs of a node, online or not. */
const struct cpumask *cpumask_of_node(int node);

/* node_distance() - LOCAL_DISTANCE for a node itself, more for farther ones. */
int node_distance(int from, int to);

KM_C_END

/* numa_node_id() - Node of the caller's CPU. */
static __always_inline int numa_node_id(void)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(READ_ONCE(kmirror_task.leased)))
        return kmirror_task.node;
#endif
    return kmirror_numa_node_id();
}

/* numa_mem_id() - Nearest node with memory. */
static __always_inline int numa_mem_id(void)
{
    return node_to_mem_node(numa_node_id());
}

#endif /* KMIRROR_LINUX_TOPOLOGY_H */
