/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/kprobes.h for check-kernel: a program cannot be probed, so registering says no. */
#ifndef KMIRROR_KUNIT_KPROBES_H
#define KMIRROR_KUNIT_KPROBES_H

#include <linux/errno.h>

struct pt_regs;

struct kprobe {
    const char *symbol_name;
    int (*pre_handler)(struct kprobe *probe, struct pt_regs *regs);
};

static inline int register_kprobe(struct kprobe *probe)
{
    (void)probe;
    return -EOPNOTSUPP;
}

static inline void unregister_kprobe(struct kprobe *probe)
{
    (void)probe;
}

#endif /* KMIRROR_KUNIT_KPROBES_H */
