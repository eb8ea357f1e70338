/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/kfence.h>: there is no KFENCE here; no address is one of its objects. */
#ifndef _LINUX_KFENCE_H
#define _LINUX_KFENCE_H

#include <linux/kconfig.h>
#include <linux/types.h>

static inline bool is_kfence_address(const void *addr)
{
    (void)addr;
    return false;
}

#endif /* _LINUX_KFENCE_H */
