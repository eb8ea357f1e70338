/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/preempt.h: staying on a CPU.
 *
 * preempt_disable() keeps the caller on its virtual CPU, so that cpu_down() waits
 * for it. It does not keep other threads away: two threads may share a CPU, as
 * two tasks do under preemption. Exclusion is local_lock()'s job.
 */
#ifndef KMIRROR_LINUX_PREEMPT_H
#define KMIRROR_LINUX_PREEMPT_H

#include <linux/sched.h>

KM_C_BEGIN
/* Slow and instrumented bodies; lib/kernel/cpu.cpp. */
void kmirror_preempt_disable(void);
void kmirror_preempt_enable(void);
unsigned int kmirror_preempt_count(void);
KM_C_END

/* preempt_disable() - Stay on this CPU until preempt_enable(). Nests. */
static __always_inline void preempt_disable(void)
{
#if KMIRROR_INSTRUMENTED
    kmirror_preempt_disable();
#else
    struct task_struct *task = &kmirror_task;

    WRITE_ONCE(task->preempt_count, task->preempt_count + 1);
    barrier(); /* (P1) counted before `leased` is read; pairs with membarrier() in cpu_down() */
    if (unlikely(!READ_ONCE(task->leased))) {
        WRITE_ONCE(task->preempt_count, task->preempt_count - 1);
        kmirror_preempt_disable();
    }
#endif
}

static __always_inline void preempt_enable(void)
{
#if KMIRROR_INSTRUMENTED
    kmirror_preempt_enable();
#else
    /* (P2) The section's stores come before the count that ends it. Pairs with (P3) in cpu_down(). */
    __atomic_store_n(&kmirror_task.preempt_count, kmirror_task.preempt_count - 1, __ATOMIC_RELEASE);
#endif
}

#define preempt_enable_no_resched() preempt_enable()
#define migrate_disable() preempt_disable()
#define migrate_enable() preempt_enable()

static __always_inline unsigned int preempt_count(void)
{
#if KMIRROR_INSTRUMENTED
    return kmirror_preempt_count();
#else
    return kmirror_task.preempt_count;
#endif
}

#define in_atomic() (preempt_count() != 0)
#define preemptible() (preempt_count() == 0)

/*
 * The only interrupts are sections between nmi_enter() and nmi_exit(), see
 * <linux/hardirq.h>: signal handlers, and tests that play one.
 */
#define in_nmi() (KM_CURRENT->nmi_depth != 0)
#define in_interrupt() in_nmi()
#define in_task() (!in_nmi())
#define in_hardirq() 0
#define in_softirq() 0
#define in_serving_softirq() 0
#define in_irq() 0

#define local_bh_disable() preempt_disable()
#define local_bh_enable() preempt_enable()

#endif /* KMIRROR_LINUX_PREEMPT_H */
