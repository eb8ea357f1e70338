// SPDX-License-Identifier: GPL-2.0-only
/*
 * tools/kdir/kunit/perf.c: a counter that interrupts its thread, played by a signal.
 *
 * Owns     SIGPROF, and one timer.
 * Bounds   one event at a time.
 * Locking  the handler runs as in an NMI: between nmi_enter() and nmi_exit(), on the thread that it interrupts.
 * Fails    creation says so when the host gives no timer.
 */
#define _GNU_SOURCE
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/hardirq.h>
#include <linux/perf_event.h>

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static struct perf_event the_event;
static timer_t timer;
static volatile int counting;

/* A signal costs a hundred times what an interrupt does: more of them, and nothing else would get done. */
#define MOST_A_SECOND 5000L

/* One more interrupt, so long from now: counted anew each time, or a slow handler would never let go. */
static void count_on(void)
{
    const long wanted = (long)the_event.sample_freq;
    const long frequency = wanted < MOST_A_SECOND ? wanted : MOST_A_SECOND;
    const struct itimerspec next = {{0, 0}, {0, 1000000000L / frequency}};

    timer_settime(timer, 0, &next, NULL);
}

static void interrupted(int number)
{
    (void)number;
    if (!counting)
        return;
    nmi_enter();
    the_event.overflow_handler(&the_event, NULL, NULL);
    nmi_exit();
    count_on();
}

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
                                                    struct task_struct *task,
                                                    perf_overflow_handler_t handler, void *context)
{
    struct sigaction action;
    struct sigevent event;

    (void)cpu;
    (void)task;
    the_event.overflow_handler = handler;
    the_event.overflow_handler_context = context;
    the_event.sample_freq = attr->sample_freq;

    memset(&action, 0, sizeof(action));
    action.sa_handler = interrupted;
    action.sa_flags = SA_RESTART;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_notify_thread_id = gettid();
    if (sigaction(SIGPROF, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
        return ERR_PTR(-EOPNOTSUPP);
    return &the_event;
}

void perf_event_enable(struct perf_event *event)
{
    (void)event;
    counting = 1;
    count_on();
}

void perf_event_disable(struct perf_event *event)
{
    (void)event;
    counting = 0;
}

int perf_event_release_kernel(struct perf_event *event)
{
    (void)event;
    timer_delete(timer);
    signal(SIGPROF, SIG_IGN);
    return 0;
}
