/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/hardirq.h: code that came in between and must not wait for whom it interrupted.
 *
 * A signal handler, or a test that plays one, runs between nmi_enter() and nmi_exit().
 * The interrupted thread may hold any lock, so in between locks are only tried: whoever
 * waits for one there is reported (lib/kernel/spinlock.cpp). Allowed are the _nolock
 * functions of <linux/slab.h> and <linux/gfp.h>, irq_work_queue() and atomics.
 */
#ifndef KMIRROR_LINUX_HARDIRQ_H
#define KMIRROR_LINUX_HARDIRQ_H

#include <linux/preempt.h>

/* nmi_enter() - Begin such a section. Nests. Context: any; keeps the thread on its CPU. */
static inline void nmi_enter(void)
{
    struct task_struct *task = KM_CURRENT;

    WRITE_ONCE(task->nmi_depth, task->nmi_depth + 1);
    barrier();
}

/* nmi_exit() - End it. */
static inline void nmi_exit(void)
{
    struct task_struct *task = KM_CURRENT;

    barrier();
    WRITE_ONCE(task->nmi_depth, task->nmi_depth - 1);
}

/*
 * can_spin_trylock() - May per-CPU data be used and locks be tried here? Not in a section
 * that interrupted a thread without a CPU: to take one means to wait.
 */
static inline bool can_spin_trylock(void)
{
    return !in_nmi() || READ_ONCE(KM_CURRENT->leased);
}

#endif /* KMIRROR_LINUX_HARDIRQ_H */
