/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/delay.h: waiting for a time. In a simulator the time is virtual. */
#ifndef KMIRROR_LINUX_DELAY_H
#define KMIRROR_LINUX_DELAY_H

#include <linux/compiler.h>

KM_C_BEGIN
/* ndelay(), udelay(), mdelay() - Spin at least that long. */
void ndelay(unsigned long ns);
void udelay(unsigned long us);
void mdelay(unsigned long ms);

/* msleep() and usleep_range() - Sleep at least that long (the lower bound). */
void msleep(unsigned int ms);
void usleep_range(unsigned long min_us, unsigned long max_us);
KM_C_END

#define fsleep(us) usleep_range((us), 2 * (us))
#define ssleep(seconds) msleep(1000 * (seconds))

#endif /* KMIRROR_LINUX_DELAY_H */
