/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/irq_work.h: work raised where it cannot be done, and done by who comes next.
 *
 * irq_work_queue() may be called anywhere, also in a section that may not wait for a
 * lock. There is no interrupt to do the work at once: it is done by the next caller of
 * irq_work_run(), which lib/slub calls wherever it leaves its fast paths, and at the
 * latest by irq_work_sync().
 */
#ifndef KMIRROR_LINUX_IRQ_WORK_H
#define KMIRROR_LINUX_IRQ_WORK_H

#include <linux/llist.h>

struct irq_work {
    struct llist_node node;
    void (*func)(struct irq_work *work);
    unsigned int pending; /* queued, and not begun */
    unsigned int busy;    /* threads that are in func */
};

#define IRQ_WORK_INIT(function) { { NULL }, (function), 0, 0 }

KM_C_BEGIN

/* Work that is queued; non-empty says that irq_work_run() has something to do. */
extern struct llist_head kmirror_irq_works;

/*
 * irq_work_queue() - Have @work->func called soon. Context: any.
 * Return: false when it was queued already; one call then serves both.
 */
bool irq_work_queue(struct irq_work *work);

/*
 * irq_work_run() - Do all that is queued. Context: no lock held that a func may want,
 * and no nmi_enter() section.
 */
void irq_work_run(void);

/* irq_work_sync() - Return when @work is neither queued nor running. Context: may sleep. */
void irq_work_sync(struct irq_work *work);

KM_C_END

static inline void init_irq_work(struct irq_work *work, void (*func)(struct irq_work *work))
{
    work->node.next = NULL;
    work->func = func;
    work->pending = 0;
    work->busy = 0;
}

/* irq_work_raised() - Is something queued? Context: any; a hint. */
static inline bool irq_work_raised(void)
{
    return unlikely(!llist_empty(&kmirror_irq_works));
}

#endif /* KMIRROR_LINUX_IRQ_WORK_H */
