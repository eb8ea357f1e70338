// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/irq_work.cpp: work that was raised in a section that may not wait.
//
// Owns     the stack of queued work. A struct irq_work is its user's, and may be queued again while it runs.
// Bounds   each work is on the stack once.
// Locking  none. (W1) `pending` is cleared before func runs, so a work queued meanwhile runs once more;
//          `busy` counts who is in func, so irq_work_sync() never returns while somebody is.
// Fails    never.

#include <linux/bug.h>
#include <linux/irq_work.h>
#include <linux/preempt.h>

struct llist_head kmirror_irq_works;

namespace {

// busy before pending: who reads pending == 0 after this sees busy.
void run_one(irq_work *work)
{
    __atomic_fetch_add(&work->busy, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&work->pending, 0, __ATOMIC_SEQ_CST);
    work->func(work);
    __atomic_fetch_sub(&work->busy, 1, __ATOMIC_RELEASE);
}

bool in_use(const irq_work *work)
{
    return __atomic_load_n(&work->pending, __ATOMIC_SEQ_CST) ||
           __atomic_load_n(&work->busy, __ATOMIC_SEQ_CST);
}

}  // namespace

extern "C" bool irq_work_queue(struct irq_work *work)
{
    if (__atomic_exchange_n(&work->pending, 1, __ATOMIC_SEQ_CST))
        return false;
    llist_add(&work->node, &kmirror_irq_works);
    return true;
}

extern "C" void irq_work_run(void)
{
    WARN_ON_ONCE(in_nmi());
    llist_node *at = llist_reverse_order(llist_del_all(&kmirror_irq_works));
    while (at != nullptr) {
        llist_node *const next = at->next;   // the work may be queued again from here on
        run_one(llist_entry(at, irq_work, node));
        at = next;
    }
}

extern "C" void irq_work_sync(struct irq_work *work)
{
    irq_work_run();
    while (in_use(work)) {
        yield();
        irq_work_run();
    }
}
