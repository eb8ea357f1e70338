/* SPDX-License-Identifier: GPL-2.0-only */
/* Zones, policies, and who is told of nodes: one zone a node, its fallback order from this library's topology. */
#ifndef KDIR_SHIM_NUMA_H
#define KDIR_SHIM_NUMA_H

#include <linux/memory.h>
#include <linux/mempolicy.h>

struct zone {
    int node;
};
struct zoneref {
    int node;
};
struct zonelist;
enum zone_type { ZONE_NORMAL };

const int *kmirror_node_fallback(int node, int *count);

/* A list of zones is the number of its node, from 1 on. */
#define node_zonelist(node, gfp) ((struct zonelist *)(long)((node) + 1))
#define gfp_zone(gfp) ((void)(gfp), ZONE_NORMAL)
#define zone_to_nid(zone) ((zone)->node)
#define for_each_zone_zonelist(zone, ref, list, highest)                                                        \
    for (int kdir_count = 0, kdir_at = ((void)(highest),                                                        \
              (ref) = (struct zoneref *)kmirror_node_fallback((int)(long)(list) - 1, &kdir_count), 0);          \
         (zone) = (struct zone *)(ref), kdir_at < kdir_count; kdir_at++, (ref)++)

#define cpuset_zone_allowed(zone, gfp) true
#define read_mems_allowed_begin() 0
#define read_mems_allowed_retry(cookie) ((void)(cookie), 0)

typedef struct pglist_data pg_data_t;

/* The thread, as far as the allocator looks at it. */
struct kdir_task {
    int pid;
    struct mempolicy *mempolicy;
};
#ifndef KDIR_USER
#undef current
#define current (&(struct kdir_task){KM_CURRENT->pid ?: kmirror_task_pid(), kmirror_mempolicy()})
#endif

#define get_cycles() ((unsigned long)__builtin_ia32_rdtsc())

/* ---- nodes that come and go -------------------------------------------------------------------------------- */

struct notifier_block {
    int (*notifier_call)(struct notifier_block *self, unsigned long action, void *about);
};
#define NOTIFY_OK 1
#define notifier_from_errno(error) ((error) ? 0x8000 | (1 - (error)) : NOTIFY_OK)
#define SLAB_CALLBACK_PRI 1

struct node_notify {
    int nid;
};
struct memory_notify {
    int status_change_nid;
    int status_change_nid_normal;
};
#define MEM_ONLINE NODE_ADDED_FIRST_MEMORY
#define MEM_GOING_OFFLINE NODE_REMOVING_LAST_MEMORY
#define MEM_OFFLINE NODE_REMOVED_LAST_MEMORY
#define MEM_GOING_ONLINE NODE_ADDING_FIRST_MEMORY
#define MEM_CANCEL_ONLINE NODE_CANCEL_ADDING_FIRST_MEMORY
#define MEM_CANCEL_OFFLINE NODE_CANCEL_REMOVING_LAST_MEMORY

typedef int (*kdir_notifier_t)(struct notifier_block *self, unsigned long action, void *about);
/* runtime.c: told of both shapes. */
int kdir_node_notifier(kdir_notifier_t call, bool by_node);
#define hotplug_node_notifier(call, priority) kdir_node_notifier((call), true)
#define hotplug_memory_notifier(call, priority) kdir_node_notifier((call), false)

#endif /* KDIR_SHIM_NUMA_H */
