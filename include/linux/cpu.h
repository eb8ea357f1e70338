/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/cpu.h: taking virtual CPUs on- and offline. */
#ifndef KMIRROR_LINUX_CPU_H
#define KMIRROR_LINUX_CPU_H

#include <linux/cpuhotplug.h>
#include <linux/smp.h>

KM_C_BEGIN

/**
 * cpu_down() - Take a CPU offline.
 * @cpu: The CPU.
 *
 * Threads on it finish their section and move to another CPU with their next
 * operation; the CPU's per-CPU data is then the callbacks' alone.
 *
 * Context: Outside of sections and of cpus_read_lock(); waits for sections.
 * Return: 0, also if it was offline; -EINVAL for a CPU that cannot exist, -EBUSY
 *         for the last online CPU or inside a section, or a callback's error, and
 *         then the CPU is online as before.
 */
int cpu_down(unsigned int cpu);

/**
 * cpu_up() - Take a CPU online.
 * @cpu: The CPU.
 *
 * Context: Outside of sections and of cpus_read_lock().
 * Return: 0, also if it was online; -EINVAL, -EBUSY or a start-up callback's error,
 *         and then the CPU is offline as before.
 */
int cpu_up(unsigned int cpu);

/* remove_cpu() and add_cpu(): the kernel's names for drivers. */
static inline int remove_cpu(unsigned int cpu)
{
    return cpu_down(cpu);
}

static inline int add_cpu(unsigned int cpu)
{
    return cpu_up(cpu);
}

/* cpus_read_lock() - No CPU comes or goes until cpus_read_unlock(). Does not nest. */
void cpus_read_lock(void);
void cpus_read_unlock(void);
int cpus_read_trylock(void);
void cpus_write_lock(void);
void cpus_write_unlock(void);

/* lockdep_assert_cpus_held() - Warn unless the hotplug lock is held by somebody. */
void lockdep_assert_cpus_held(void);

KM_C_END

#endif /* KMIRROR_LINUX_CPU_H */
