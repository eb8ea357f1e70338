/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assertions of the checking builds: VM_BUG_ON() stops the program, VM_WARN_ON() reports. A release build evaluates
 * neither, but both are compiled, so that they cannot rot. Context: any.
 */
#ifndef KMIRROR_LINUX_MMDEBUG_H
#define KMIRROR_LINUX_MMDEBUG_H

#include <linux/kconfig.h>
#include <linux/bug.h>

#if KMIRROR_RELEASE
#define KMIRROR_CHECKS 0
#else
#define KMIRROR_CHECKS 1
#endif

#define VM_BUG_ON(cond)         do { if (KMIRROR_CHECKS) BUG_ON(cond); } while (0)
#define VM_WARN_ON(cond)        do { if (KMIRROR_CHECKS) (void)WARN_ON(cond); } while (0)
#define VM_WARN_ON_ONCE(cond)   do { if (KMIRROR_CHECKS) (void)WARN_ON_ONCE(cond); } while (0)

#endif
