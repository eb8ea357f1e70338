/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmirror/topology.h: the simulated machine, and a thread's place on it.
 *
 * The machine comes from KMIRROR_MACHINE before main(): a preset name or an hwloc
 * synthetic string such as "pack:2 numa:2 l3:6 core:8 pu:1"; unset, it is the host
 * as far as this process may use it. An impossible value is one line on stderr
 * and exit status 2.
 */
#ifndef KMIRROR_TOPOLOGY_H
#define KMIRROR_TOPOLOGY_H

#include <linux/topology.h>

KM_C_BEGIN

/* A machine whose figures were published. */
struct kmirror_machine_preset {
    const char *name;        /* what KMIRROR_MACHINE may say */
    const char *synthetic;   /* hwloc's description of it */
    const char *description; /* one line for people */
};

/* kmirror_machine_presets() - All presets; *count is their number. */
const struct kmirror_machine_preset *kmirror_machine_presets(int *count);

/**
 * kmirror_machine_set() - Replace the machine.
 * @machine: Preset name or synthetic string; NULL or "" for the host.
 * @message: Receives one line without newline on failure.
 * @room: Bytes at @message.
 *
 * Context: Before the first per-CPU allocation, page and lease of the process,
 *          that is: in a program's option parsing.
 * Return: 0; -EINVAL with the reason in @message, or -EBUSY; the machine is unchanged.
 */
int kmirror_machine_set(const char *machine, char *message, size_t room);

/* kmirror_machine_describe() - "192 CPUs, 4 nodes: <string>", valid until the next set. */
const char *kmirror_machine_describe(void);

/* Where a CPU sits; all numbers count from 0 over the whole machine. */
struct kmirror_cpu_place {
    int node;
    int package; /* -1 where the description has no packages */
    int l3; /* group of CPUs with one last-level cache */
    int core;
};

/* kmirror_cpu_place() - Place of a possible CPU. */
const struct kmirror_cpu_place *kmirror_cpu_place(int cpu);

/**
 * kmirror_parse_size() - Read "64M" and the like.
 * @text: Digits and one of K, M, G, T or nothing; a decimal number.
 * @end: Receives the first character not read; NULL if nothing may follow.
 * @bytes: Receives the size.
 *
 * Return: 0; -EINVAL if there is no number, something follows it, or it does not
 *         fit 63 bits; *bytes is unchanged.
 */
int kmirror_parse_size(const char *text, const char **end, unsigned long *bytes);

/**
 * kmirror_bad_setting() - Refuse an environment setting and leave.
 * @variable: Its name. @value: What was given. @reason: What is allowed.
 *
 * Prints one line on stderr and exits with status 2.
 */
__attribute__((__noreturn__)) void kmirror_bad_setting(const char *variable, const char *value,
                                                       const char *reason);

/**
 * kmirror_node_set_memory() - Say whether a node has memory.
 * @node: An online node.
 * @present: False for a node with CPUs only.
 *
 * Every node has memory until told otherwise. Fallback lists, N_MEMORY and
 * cpu_to_mem() follow. Context: start-up of the page allocator, one thread.
 */
void kmirror_node_set_memory(int node, bool present);

/**
 * kmirror_node_fallback() - Nodes with memory, nearest first: the zonelist.
 * @node: An online node.
 * @count: Receives the number of nodes.
 */
const int *kmirror_node_fallback(int node, int *count);

/**
 * kmirror_cpu_lease() - Put the calling thread on a CPU.
 * @cpu: An online CPU, or -1 for the least used one.
 *
 * A thread on that CPU already is joined; then both share.
 * Return: The CPU number; -EINVAL if @cpu is not online, -EBUSY inside a section:
 *         the thread stays where it is.
 */
int kmirror_cpu_lease(int cpu);

/* kmirror_cpu_release() - Give the CPU back; the next operation takes one again. -EBUSY inside a section. */
int kmirror_cpu_release(void);

/* kmirror_cpu_threads() - Threads on a CPU now. */
int kmirror_cpu_threads(int cpu);

/* kmirror_cpu_revocations() - How often an owner was stopped because another thread came. */
unsigned long kmirror_cpu_revocations(void);

KM_C_END

#endif /* KMIRROR_TOPOLOGY_H */
