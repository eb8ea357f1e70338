/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/numa.h: bounds of node numbers. */
#ifndef KMIRROR_LINUX_NUMA_H
#define KMIRROR_LINUX_NUMA_H

#include <linux/compiler_types.h>

#define NODES_SHIFT CONFIG_NODES_SHIFT
#define MAX_NUMNODES (1 << NODES_SHIFT)
#define NUMA_NO_NODE (-1)

#endif /* KMIRROR_LINUX_NUMA_H */
