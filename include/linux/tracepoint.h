/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/tracepoint.h>: trace points are plain inline functions here, see <trace/events/>. */
#ifndef _LINUX_TRACEPOINT_H
#define _LINUX_TRACEPOINT_H

#include <linux/kconfig.h>

/* A string that stays valid after the trace point; literals do. */
#define tracepoint_string(text) (text)

#endif /* _LINUX_TRACEPOINT_H */
