/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/jiffies.h>: a coarse clock, in ticks of which HZ make a second. Any context. */
#ifndef _LINUX_JIFFIES_H
#define _LINUX_JIFFIES_H

#include <linux/ktime.h>

#define HZ 1000

#define jiffies ((unsigned long)(ktime_get_ns() / (1000000000ull / HZ)))

#endif /* _LINUX_JIFFIES_H */
