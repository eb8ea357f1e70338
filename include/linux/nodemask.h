/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/nodemask.h: sets of NUMA nodes, and which nodes there are.
 *
 * node_states[] is set up before main() from KMIRROR_MACHINE and KMIRROR_MEM and
 * then only read. A node without memory is in N_ONLINE but not in N_MEMORY.
 */
#ifndef KMIRROR_LINUX_NODEMASK_H
#define KMIRROR_LINUX_NODEMASK_H

#include <linux/bitops.h>
#include <linux/numa.h>

typedef struct {
    DECLARE_BITMAP(bits, MAX_NUMNODES);
} nodemask_t;

enum node_states {
    N_POSSIBLE,
    N_ONLINE,
    N_NORMAL_MEMORY,
    N_HIGH_MEMORY = N_NORMAL_MEMORY,
    N_MEMORY,
    N_CPU,
    NR_NODE_STATES
};

KM_C_BEGIN
extern nodemask_t node_states[NR_NODE_STATES];
/* One more than the highest node number. */
extern unsigned int nr_node_ids;
extern unsigned int nr_online_nodes;
KM_C_END

#define node_set(node, mask) __set_bit((node), (mask).bits)
#define node_clear(node, mask) __clear_bit((node), (mask).bits)
#define node_isset(node, mask) test_bit((node), (mask).bits)

static inline void km_nodes_clear(nodemask_t *mask)
{
    unsigned int word;

    for (word = 0; word < BITS_TO_LONGS(MAX_NUMNODES); word++)
        mask->bits[word] = 0;
}
#define nodes_clear(mask) km_nodes_clear(&(mask))
#define nodes_empty(mask) (find_first_bit((mask).bits, MAX_NUMNODES) == MAX_NUMNODES)
#define nodes_weight(mask) ((int)bitmap_weight((mask).bits, MAX_NUMNODES))
#define first_node(mask) ((int)find_first_bit((mask).bits, MAX_NUMNODES))
#define next_node(node, mask) \
    ((int)find_next_bit((mask).bits, MAX_NUMNODES, (unsigned long)(node) + 1))

#define node_state(node, state) ((int)node_isset((unsigned long)(node), node_states[state]))
#define node_online(node) node_state((node), N_ONLINE)
#define node_possible(node) node_state((node), N_POSSIBLE)
#define num_node_state(state) nodes_weight(node_states[state])
#define num_online_nodes() num_node_state(N_ONLINE)
#define num_possible_nodes() num_node_state(N_POSSIBLE)
#define first_online_node first_node(node_states[N_ONLINE])
#define first_memory_node first_node(node_states[N_MEMORY])
#define node_online_map node_states[N_ONLINE]
#define node_possible_map node_states[N_POSSIBLE]

#define for_each_node_mask(node, mask)                                \
    for ((node) = first_node(mask); (node) < (int)MAX_NUMNODES;       \
         (node) = next_node((node), (mask)))
#define for_each_node_state(node, state) for_each_node_mask(node, node_states[state])
#define for_each_node(node) for_each_node_state(node, N_POSSIBLE)
#define for_each_online_node(node) for_each_node_state(node, N_ONLINE)

#endif /* KMIRROR_LINUX_NODEMASK_H */
