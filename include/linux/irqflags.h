/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/irqflags.h: there are no interrupts to disable. The section still keeps
 * its CPU, as preempt_disable() does; `flags` is set so that its type is checked.
 */
#ifndef KMIRROR_LINUX_IRQFLAGS_H
#define KMIRROR_LINUX_IRQFLAGS_H

#include <linux/preempt.h>

#define local_irq_disable() preempt_disable()
#define local_irq_enable() preempt_enable()
#define local_irq_save(flags)           \
    do {                                \
        unsigned long *km_flags = &(flags); \
        *km_flags = 0;                  \
        preempt_disable();              \
    } while (0)
#define local_irq_restore(flags)        \
    do {                                \
        (void)(flags);                  \
        preempt_enable();               \
    } while (0)
#define irqs_disabled() 0

#endif /* KMIRROR_LINUX_IRQFLAGS_H */
