/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/radix-tree.h>: names the kernel's test headers mention. There is no radix
 * tree here.
 */
#ifndef _LINUX_RADIX_TREE_H
#define _LINUX_RADIX_TREE_H

#include <linux/kconfig.h>
#include <linux/gfp.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct radix_tree_root;
struct xarray;
typedef unsigned int xa_mark_t;

#endif /* _LINUX_RADIX_TREE_H */
