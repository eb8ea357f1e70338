/* SPDX-License-Identifier: GPL-2.0-only */
/* <trace/events/maple_tree.h>: the tree's trace points; nobody listens to them yet. */
#ifndef _TRACE_EVENTS_MAPLE_TREE_H
#define _TRACE_EVENTS_MAPLE_TREE_H

#include <linux/kconfig.h>
#include <linux/tracepoint.h>

struct ma_state;

/* @fn reads or changes no entry (op), reads one (read), or writes @val up to @piv (write). */
static inline void trace_ma_op(const char *fn, struct ma_state *mas)
{
    (void)fn;
    (void)mas;
}

static inline void trace_ma_read(const char *fn, struct ma_state *mas)
{
    (void)fn;
    (void)mas;
}

static inline void trace_ma_write(const char *fn, struct ma_state *mas, unsigned long piv, void *val)
{
    (void)fn;
    (void)mas;
    (void)piv;
    (void)val;
}

#endif /* _TRACE_EVENTS_MAPLE_TREE_H */
