// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/mempolicy.cpp: the policies of <linux/mempolicy.h>.
//
// Owns     nothing: a policy is its thread's.
// Locking  none: only the thread itself looks at its policy.
// Fails    never; a policy without a node that could be had means the nearest node with memory.

#include "lib/kernel/cpu.h"

#include <linux/mempolicy.h>
#include <linux/preempt.h>
#include <linux/topology.h>

#include <kmirror/topology.h>

namespace kmirror::kernel {
namespace {

thread_local struct mempolicy *mine;

int nearest_of(const nodemask_t &nodes)
{
    int count;
    const int *nearest = kmirror_node_fallback(numa_mem_id(), &count);
    for (int i = 0; i < count; ++i)
        if (node_isset(nearest[i], nodes))
            return nearest[i];
    return numa_mem_id();
}

bool any_has_memory(const nodemask_t &nodes)
{
    int node;
    for_each_node_mask(node, nodes)
        if (node_state(node, N_MEMORY))
            return true;
    return false;
}

int next_of(struct mempolicy &policy)
{
    int next = next_node(policy.il_prev, policy.nodes);
    if (next >= MAX_NUMNODES)
        next = first_node(policy.nodes);
    policy.il_prev = next;
    return next;
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

void kmirror_set_mempolicy(struct mempolicy *policy)
{
    mine = policy;
    kmirror_task.flags = policy ? kmirror_task.flags | PF_HAS_MEMPOLICY
                                : kmirror_task.flags & ~static_cast<unsigned int>(PF_HAS_MEMPOLICY);
    bias_changed(kmirror_task);
}

struct mempolicy *kmirror_mempolicy(void)
{
    return mine;
}

int mempolicy_slab_node(void)
{
    struct mempolicy *policy = mine;
    if (!policy || nodes_empty(policy->nodes))
        return numa_mem_id();
    switch (policy->mode) {
    case MPOL_PREFERRED:
        return first_node(policy->nodes);
    case MPOL_INTERLEAVE:
        return next_of(*policy);
    case MPOL_BIND:
        return nearest_of(policy->nodes);
    default:
        return numa_mem_id();
    }
}

int mempolicy_page_node(const nodemask_t **bound)
{
    struct mempolicy *policy = mine;
    *bound = nullptr;
    if (!policy || in_interrupt() || !any_has_memory(policy->nodes))
        return numa_node_id();
    if (policy->mode != MPOL_BIND)
        return mempolicy_slab_node();
    *bound = &policy->nodes;
    return numa_node_id();
}

}  // extern "C"
