/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/memory.h: nodes whose memory goes away and comes back, and who is told.
 *
 * A node taken offline hands out no pages any more; what is in use there stays valid
 * and may be freed. Its CPUs go on, with the nearest node's memory.
 */
#ifndef KMIRROR_LINUX_MEMORY_H
#define KMIRROR_LINUX_MEMORY_H

#include <linux/kconfig.h>
#include <linux/types.h>

enum {
    NODE_ADDING_FIRST_MEMORY = 1 << 0, /* before the first page can be had; may fail */
    NODE_ADDED_FIRST_MEMORY = 1 << 1,
    NODE_CANCEL_ADDING_FIRST_MEMORY = 1 << 2,
    NODE_REMOVING_LAST_MEMORY = 1 << 3, /* no page is handed out any more; may fail */
    NODE_REMOVED_LAST_MEMORY = 1 << 4,
    NODE_CANCEL_REMOVING_LAST_MEMORY = 1 << 5
};

/* Told with the CPU set held. Return: 0 or -errno, which matters for the two that may fail. */
typedef int (*node_memory_callback_t)(unsigned long action, int nid);

KM_C_BEGIN

/* hotplug_node_callback() - Register who is told; there is room for four. Return: 0 or -ENOSPC. */
int hotplug_node_callback(node_memory_callback_t callback);

/**
 * kmirror_node_offline_memory() - Take a node's memory out of use.
 * @nid: An online node with memory.
 *
 * Context: May sleep, outside of cpus_read_lock(). Nobody else may be allocating pages.
 * Return: Pages still in use there, 0 for none; -EINVAL for a node without memory, -EBUSY
 *         for the only one that has some, or what a callback said: then nothing has changed.
 */
long kmirror_node_offline_memory(int nid);

/**
 * kmirror_node_online_memory() - Take it into use again.
 * @nid: A node that was taken offline.
 *
 * Context: As above. Return: 0; -EINVAL if it was not offline, or a callback's error.
 */
int kmirror_node_online_memory(int nid);

KM_C_END

#endif /* KMIRROR_LINUX_MEMORY_H */
