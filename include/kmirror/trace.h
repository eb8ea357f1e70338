/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/trace.h>: where the trace points (trace_ma_op, trace_ma_read, trace_ma_write) go.
 *
 * KMIRROR_TRACE=FILE opens a trace when the process starts. A name that ends in .json gets Chrome's trace
 * format (chrome://tracing, Perfetto), any other name one line an event in the manner of the kernel's trace
 * file:
 *
 *     TASK-TID [CPU] SECONDS.MICROSECONDS: ma_write: FUNCTION<tab>Node NODE (MIN MAX) range:FIRST-LAST
 *         piv (P) val V       (all on one line)
 *
 * The first KMIRROR_TRACE_MAX events are kept (default 1000000), the others counted; the end of the file says
 * how many. Times count from the opening of the trace.
 */
#ifndef _KMIRROR_TRACE_H
#define _KMIRROR_TRACE_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kmirror_trace_open() - Send the events to @file from now on; one trace at a time.
 *
 * Context: any thread; writes to the file system.
 * Return: 0; -EBUSY while a trace is open; -EOPNOTSUPP in a release build; or what opening @file failed with,
 * as -errno. An existing file is replaced.
 */
int kmirror_trace_open(const char *file);

/**
 * kmirror_trace_close() - End the trace and the file. Also happens when the process exits. Without a trace:
 * nothing.
 *
 * Return: 0, or -EIO when something could not be written.
 */
int kmirror_trace_close(void);

#ifdef __cplusplus
}
#endif

#endif /* _KMIRROR_TRACE_H */
