/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/sched.h: what lib/kernel knows of a thread.
 *
 * One task_struct per host thread, in the thread's own static TLS. Only the thread
 * itself writes it, but for `bias` and `leased`, which another thread lowers when
 * it comes to share the CPU or takes it offline, followed by membarrier().
 *
 * (T1) bias == 3  =>  leased, and no other thread has this CPU
 * (T2) cpu, node and percpu_offset change only while preempt_count is 0
 */
#ifndef KMIRROR_LINUX_SCHED_H
#define KMIRROR_LINUX_SCHED_H

#include <linux/compiler.h>
#include <linux/types.h>

struct kmirror_held_locks;

/* What a thread has of its CPU: both bits only if it has it alone. */
#define KMIRROR_BIAS_OWNER 1
#define KMIRROR_BIAS_ALONE 3

struct task_struct {
    unsigned long percpu_offset; /* cpu * PERCPU_UNIT_SIZE */
    unsigned int preempt_count;  /* local locks held and preempt_disable() depth */
    unsigned char bias;          /* 3 alone on its CPU, 1 owner but no longer alone, 0 sharer or none */
    unsigned char leased;        /* 0: take a CPU, or another CPU, at the next chance */
    unsigned char on_cpu_list;   /* registered with lib/kernel/cpu.cpp */
    int cpu;                     /* the leased virtual CPU, -1 for none */
    int node;                    /* its NUMA node, -1 for none */
    unsigned int rcu_nesting;    /* depth of rcu_read_lock() */
    unsigned int flags;          /* PF_* */
    void *rcu;                   /* lib/kernel/rcu.cpp */
    struct kmirror_held_locks *held_locks; /* lib/kernel/lockdep.cpp; NULL until checks are on */
    void *fault;                 /* lib/fault */
    unsigned int fail_nth;
    unsigned char make_it_fail;
    unsigned char nmi_depth;     /* nesting of <linux/hardirq.h> sections; only the thread itself reads it */
    int pid;                     /* host thread id, 0 until asked for */
    unsigned int kasan_depth;    /* kasan_disable_current() */
    int *slab_errors;            /* kmirror_slab_errors_into() */
    struct task_struct *cpu_next; /* threads of one CPU; lib/kernel/cpu.cpp, under its lock */
};

#define PF_EXITING 0x00000004
#define PF_MEMALLOC 0x00000800
#define PF_MEMALLOC_NOFS 0x00040000
#define PF_MEMALLOC_NOIO 0x00080000
#define PF_KTHREAD 0x00200000

#define TASK_COMM_LEN 16
#define MAX_SCHEDULE_TIMEOUT __LONG_MAX__

KM_C_BEGIN

/* The calling thread's task, for instrumented code, which has no TLS. */
struct task_struct *kmirror_current(void);

#if !KMIRROR_INSTRUMENTED
extern __thread struct task_struct kmirror_task __attribute__((tls_model("initial-exec")));
#endif

/* The host's thread id of the caller. */
int kmirror_task_pid(void);

/* Offer the host's processor to another thread. */
void yield(void);
void schedule(void);

KM_C_END

#if KMIRROR_INSTRUMENTED
#define KM_CURRENT kmirror_current()
#else
#define KM_CURRENT (&kmirror_task)
#endif

#ifdef __cplusplus
namespace kmirror {
inline task_struct *current_task() { return KM_CURRENT; }
}
#else
#define current KM_CURRENT
#endif

/* cond_resched() - The host preempts by itself. Return: 0, nothing else ran. */
static inline int cond_resched(void)
{
    return 0;
}

static inline bool need_resched(void)
{
    return false;
}

#endif /* KMIRROR_LINUX_SCHED_H */
#include_next <linux/sched.h>
