/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/mempolicy.h: from which nodes a thread wants its memory.
 *
 * The page allocator follows the policy for each request without a node, and so do new
 * slabs and large kmallocs. Objects of slabs that exist follow it only with the slab
 * allocator's switch KMIRROR_SLAB_STRICT_NUMA on; so do those of sheaves, whose refill
 * asks for the CPU's own node (Linux 7.3).
 */
#ifndef KMIRROR_LINUX_MEMPOLICY_H
#define KMIRROR_LINUX_MEMPOLICY_H

#include <linux/nodemask.h>
#include <linux/sched.h>

enum {
    MPOL_DEFAULT,   /* the thread's own node */
    MPOL_PREFERRED, /* the first node of the set */
    MPOL_BIND,      /* the nearest node of the set */
    MPOL_INTERLEAVE, /* the nodes of the set in turn */
    MPOL_LOCAL
};

/* In a task's flags: it has a policy. */
#define PF_HAS_MEMPOLICY 0x01000000

struct mempolicy {
    unsigned short mode;
    int il_prev; /* the node MPOL_INTERLEAVE came to last; -1 to begin with */
    nodemask_t nodes;
};

KM_C_BEGIN

/**
 * kmirror_set_mempolicy() - The calling thread's policy from now on.
 * @policy: Stays the caller's, who keeps it until the next call; NULL: none.
 *
 * A thread with a policy never counts as alone on its CPU, so all its requests take the
 * general way. Context: outside of sections.
 */
void kmirror_set_mempolicy(struct mempolicy *policy);

/* kmirror_mempolicy() - The calling thread's policy, or NULL. Context: any. */
struct mempolicy *kmirror_mempolicy(void);

/* mempolicy_slab_node() - The node the calling thread's policy wants now. Context: any. */
int mempolicy_slab_node(void);

/**
 * mempolicy_page_node() - The node a request for pages without one begins with.
 * @bound: Set to the nodes that alone may serve it (MPOL_BIND), or NULL: any may. Valid as long as the policy.
 *
 * A policy none of whose nodes has memory, and one in an interrupt, mean the thread's own
 * node. With MPOL_INTERLEAVE each call is one turn. Context: any.
 */
int mempolicy_page_node(const nodemask_t **bound);

KM_C_END

#endif /* KMIRROR_LINUX_MEMPOLICY_H */
