/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/ktime.h>: the monotonic clock, in nanoseconds. Any context. */
#ifndef _LINUX_KTIME_H
#define _LINUX_KTIME_H

#include <linux/kconfig.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef s64 ktime_t;

u64 ktime_get_ns(void);

static inline ktime_t ktime_get(void)
{
    return (ktime_t)ktime_get_ns();
}

static inline s64 ktime_to_ns(ktime_t time)
{
    return time;
}

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_KTIME_H */
