/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/smp.h: on which virtual CPU the caller is, and running on another one.
 *
 * A thread takes a CPU when it first asks and keeps it until it exits or the CPU
 * goes offline. More threads than CPUs share. Outside a section (local lock,
 * preempt_disable()) the answer may be out of date at once, as under preemption.
 */
#ifndef KMIRROR_LINUX_SMP_H
#define KMIRROR_LINUX_SMP_H

#include <linux/cpumask.h>
#include <linux/preempt.h>

KM_C_BEGIN

/* Slow and instrumented bodies: lease or move if needed, then answer. lib/kernel/cpu.cpp. */
int kmirror_smp_processor_id(void);
unsigned long kmirror_percpu_offset(void);
int kmirror_numa_node_id(void);

/**
 * smp_call_function_single() - Run a function on a given CPU.
 * @cpu: An online CPU.
 * @function: Called once, by the calling thread, which shares @cpu meanwhile.
 * @info: Its argument.
 * @wait: Ignored: the function has run on return.
 *
 * Context: Outside of sections. May wait for a local lock only if @function does.
 * Return: 0; -ENXIO if @cpu is not online, -EBUSY inside a section: nothing ran.
 */
int smp_call_function_single(int cpu, void (*function)(void *info), void *info, int wait);

/* on_each_cpu() - The same on every online CPU in turn, under the hotplug read lock. */
void on_each_cpu(void (*function)(void *info), void *info, int wait);

KM_C_END

static __always_inline int raw_smp_processor_id(void)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(READ_ONCE(kmirror_task.leased)))
        return kmirror_task.cpu;
#endif
    return kmirror_smp_processor_id();
}

#define smp_processor_id() raw_smp_processor_id()

/* get_cpu() - The CPU, kept until put_cpu(). */
static __always_inline int get_cpu(void)
{
    preempt_disable();
    return raw_smp_processor_id();
}

#define put_cpu() preempt_enable()

#endif /* KMIRROR_LINUX_SMP_H */
