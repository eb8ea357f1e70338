/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options with which a kernel tree's allocator is built. On are those whose work this library's allocator does too;
 * implement-slab turns some off that a tree of an older shape cannot have here, and lists all in the file `about`.
 */
#ifndef KDIR_SHIM_CONFIG_H
#define KDIR_SHIM_CONFIG_H

#include <linux/kconfig.h>

#define CONFIG_MMU 1
#define CONFIG_PRINTK 1
#define CONFIG_SLUB_DEBUG 1
#define CONFIG_SYSFS 1
#define CONFIG_KUNIT 1
#define CONFIG_HAVE_ALIGNED_STRUCT_PAGE 1
#define CONFIG_SLUB_CPU_PARTIAL 1
#define CONFIG_SLAB_MERGE_DEFAULT 1
#define CONFIG_HAVE_MEMORYLESS_NODES 1

#endif /* KDIR_SHIM_CONFIG_H */
