/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/panic.h>: has something happened after which nothing is certain? Such a process is
 * tainted, and reports say so. Any context.
 */
#ifndef _LINUX_PANIC_H
#define _LINUX_PANIC_H

#include <linux/bug.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAINT_BAD_PAGE          5 /* B: the allocator found its memory damaged */
#define TAINT_WARN              9 /* W: a warning was printed */
#define TAINT_FLAGS_COUNT       20

enum lockdep_ok {
    LOCKDEP_STILL_OK,
    LOCKDEP_NOW_UNRELIABLE,
};

/* add_taint() - from now on the process counts as tainted by @flag. */
void add_taint(unsigned int flag, enum lockdep_ok ok);

/* test_taint() - is it? */
int test_taint(unsigned int flag);

/* print_tainted() - "Not tainted", or "Tainted:" and a letter for each reason. Valid until the next call. */
const char *print_tainted(void);

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_PANIC_H */
