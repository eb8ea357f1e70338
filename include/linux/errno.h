/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/errno.h: the host's error numbers, and those the kernel keeps to itself. */
#ifndef KMIRROR_LINUX_ERRNO_H
#define KMIRROR_LINUX_ERRNO_H

#include <linux/kconfig.h>

#define ERESTARTSYS 512
#define EPROBE_DEFER 517
#define ENOTSUPP 524

#endif /* KMIRROR_LINUX_ERRNO_H */
#include_next <linux/errno.h>
