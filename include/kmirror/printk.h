/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/printk.h>: what a test asks about messages and warnings.
 */
#ifndef _KMIRROR_PRINTK_H
#define _KMIRROR_PRINTK_H

#include <linux/kconfig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* WARN reports of all threads since the process began. Any context. */
unsigned long kmirror_warn_count(void);

/*
 * Shows messages of a level below @level from now on (0: none, 8: all) and returns
 * the limit that held before. Values outside 0..8 change nothing.
 */
int kmirror_set_loglevel(int level);

#ifdef __cplusplus
}
#endif

#endif /* _KMIRROR_PRINTK_H */
