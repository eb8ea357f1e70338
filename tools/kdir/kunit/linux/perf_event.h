/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/perf_event.h for check-kernel: a counter of CPU cycles whose overflow interrupts the thread that made
 * it. A timer plays it, and a signal the interrupt; see ../perf.c.
 */
#ifndef KMIRROR_KUNIT_PERF_EVENT_H
#define KMIRROR_KUNIT_PERF_EVENT_H

#include <linux/sched.h>
#include <linux/types.h>

struct perf_sample_data;
struct pt_regs;
struct perf_event;

typedef void (*perf_overflow_handler_t)(struct perf_event *event, struct perf_sample_data *data,
                                        struct pt_regs *regs);

enum { PERF_TYPE_HARDWARE };
enum { PERF_COUNT_HW_CPU_CYCLES };

struct perf_event_attr {
    u32 type;
    u32 size;
    u64 config;
    u64 sample_freq;    /* interrupts a second, at most */
    bool pinned;
    bool disabled;
    bool freq;
};

struct perf_event {
    void *overflow_handler_context;
    perf_overflow_handler_t overflow_handler;
    u64 sample_freq;
};

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
                                                    struct task_struct *task,
                                                    perf_overflow_handler_t handler, void *context);
void perf_event_enable(struct perf_event *event);
void perf_event_disable(struct perf_event *event);
int perf_event_release_kernel(struct perf_event *event);

#endif /* KMIRROR_KUNIT_PERF_EVENT_H */
