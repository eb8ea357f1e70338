/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/kconfig.h for a kernel tree's maple tree without CONFIG_DEBUG_MAPLE_TREE: ours, but for that. */
#include_next <linux/kconfig.h>
#undef CONFIG_DEBUG_MAPLE_TREE
