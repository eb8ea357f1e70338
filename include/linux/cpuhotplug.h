/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/cpuhotplug.h: what is called when a CPU comes and goes.
 *
 * Going up, start-up callbacks run in ascending order of states; going down,
 * teardowns in descending order. States below CPUHP_BRINGUP_CPU run while the CPU
 * is dead (no thread is on it and none can come); states above run on the CPU.
 */
#ifndef KMIRROR_LINUX_CPUHOTPLUG_H
#define KMIRROR_LINUX_CPUHOTPLUG_H

#include <linux/types.h>

enum cpuhp_state {
    CPUHP_INVALID = -1,
    CPUHP_OFFLINE = 0,
    CPUHP_PAGE_ALLOC,
    CPUHP_SLUB_DEAD,
    CPUHP_RCUTREE_PREP,
    CPUHP_BP_PREPARE_DYN,
    CPUHP_BP_PREPARE_DYN_END = CPUHP_BP_PREPARE_DYN + 15,
    CPUHP_BRINGUP_CPU,
    CPUHP_AP_ONLINE,
    CPUHP_AP_ONLINE_DYN,
    CPUHP_AP_ONLINE_DYN_END = CPUHP_AP_ONLINE_DYN + 15,
    CPUHP_ONLINE
};

typedef int (*cpuhp_callback_t)(unsigned int cpu);

KM_C_BEGIN

/**
 * cpuhp_setup_state() - Register callbacks and call @startup for every online CPU.
 * @state: A fixed state nobody has, or one of the two _DYN values for a free one.
 * @name: For reports.
 * @startup: May be NULL; an error keeps the CPU down.
 * @teardown: May be NULL; an error is only allowed above CPUHP_BRINGUP_CPU.
 *
 * Context: Outside of sections and of cpus_read_lock().
 * Return: 0, or the state number for a _DYN request; -EBUSY if the state is taken,
 *         -ENOSPC if no dynamic one is left, -EINVAL, or what @startup returned,
 *         after the teardown of the CPUs done before; then nothing is registered.
 */
int cpuhp_setup_state(enum cpuhp_state state, const char *name, cpuhp_callback_t startup,
                      cpuhp_callback_t teardown);

/* cpuhp_setup_state_nocalls() - The same without the calls for CPUs already online. */
int cpuhp_setup_state_nocalls(enum cpuhp_state state, const char *name, cpuhp_callback_t startup,
                              cpuhp_callback_t teardown);

/* cpuhp_remove_state() - Call @teardown for every online CPU and unregister. */
void cpuhp_remove_state(enum cpuhp_state state);
void cpuhp_remove_state_nocalls(enum cpuhp_state state);

KM_C_END

#endif /* KMIRROR_LINUX_CPUHOTPLUG_H */
