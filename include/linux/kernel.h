/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/kernel.h: the header everybody includes; it gathers the small ones. */
#ifndef KMIRROR_LINUX_KERNEL_H
#define KMIRROR_LINUX_KERNEL_H

#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <linux/bug.h>
#include <linux/printk.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* In a section the host still schedules; lib/kernel has nothing to check here. */
#define might_sleep() ((void)0)
#define might_sleep_if(condition) ((void)(condition))

#define KM_STRINGIFY(text) #text
#define __stringify(...) KM_STRINGIFY(__VA_ARGS__)

#define upper_32_bits(n) ((u32)((u64)(n) >> 32))
#define lower_32_bits(n) ((u32)(n))

#endif /* KMIRROR_LINUX_KERNEL_H */
#include_next <linux/kernel.h>
