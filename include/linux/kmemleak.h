/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/kmemleak.h>: leaks are found by counting the objects of a cache when it is
 * destroyed, not by scanning memory, so there is nothing to tell the scanner.
 */
#ifndef _LINUX_KMEMLEAK_H
#define _LINUX_KMEMLEAK_H

#include <linux/kconfig.h>

static inline void kmemleak_ignore(const void *ptr)
{
    (void)ptr;
}

static inline void kmemleak_not_leak(const void *ptr)
{
    (void)ptr;
}

#endif /* _LINUX_KMEMLEAK_H */
