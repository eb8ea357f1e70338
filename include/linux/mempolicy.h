/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/mempolicy.h: from which nodes a thread wants its memory.
 *
 * Only the slab allocator asks, and only with its switch KMIRROR_SLAB_STRICT_NUMA on:
 * then each request of the thread without a node of its own follows the policy.
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

KM_C_END

#endif /* KMIRROR_LINUX_MEMPOLICY_H */
