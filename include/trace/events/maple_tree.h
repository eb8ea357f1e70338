/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <trace/events/maple_tree.h>: the tree's trace points, with the arguments of Linux. Off, each is one predictable
 * branch; in a release build nothing. <kmirror/trace.h> says where they go.
 */
#ifndef _TRACE_EVENTS_MAPLE_TREE_H
#define _TRACE_EVENTS_MAPLE_TREE_H

#include <linux/kconfig.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ma_state;

#if !KMIRROR_RELEASE

/* True while a trace is open. */
extern bool kmirror_trace_on;

__attribute__((cold)) void kmirror_trace_ma_op(const char *fn, const struct ma_state *mas);
__attribute__((cold)) void kmirror_trace_ma_read(const char *fn, const struct ma_state *mas);
__attribute__((cold)) void kmirror_trace_ma_write(const char *fn, const struct ma_state *mas, unsigned long piv,
                                                  const void *val);

#define kmirror_tracing() __builtin_expect(__atomic_load_n(&kmirror_trace_on, __ATOMIC_RELAXED), 0)

#else

#define kmirror_tracing() 0

static inline void kmirror_trace_ma_op(const char *fn, const struct ma_state *mas)
{
    (void)fn;
    (void)mas;
}

static inline void kmirror_trace_ma_read(const char *fn, const struct ma_state *mas)
{
    (void)fn;
    (void)mas;
}

static inline void kmirror_trace_ma_write(const char *fn, const struct ma_state *mas, unsigned long piv,
                                          const void *val)
{
    (void)fn;
    (void)mas;
    (void)piv;
    (void)val;
}

#endif

/* Whether trace_ma_read() would say anything: spares a caller without a cursor the making of one. */
static inline bool trace_ma_read_enabled(void)
{
    return kmirror_tracing();
}

/* @fn changes the shape of the tree (op), looks an entry up (read), or writes @val up to @piv (write). */
static inline void trace_ma_op(const char *fn, struct ma_state *mas)
{
    if (kmirror_tracing())
        kmirror_trace_ma_op(fn, mas);
}

static inline void trace_ma_read(const char *fn, struct ma_state *mas)
{
    if (kmirror_tracing())
        kmirror_trace_ma_read(fn, mas);
}

static inline void trace_ma_write(const char *fn, struct ma_state *mas, unsigned long piv, void *val)
{
    if (kmirror_tracing())
        kmirror_trace_ma_write(fn, mas, piv, val);
}

#ifdef __cplusplus
}
#endif

#endif /* _TRACE_EVENTS_MAPLE_TREE_H */
