/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a kernel's own maple tree must look like: node and tree are laid out as ours, because the checker
 * (kmirror_mt_check()) and some tests read them. For adapter.c alone, which has included the tree's
 * lib/maple_tree.c before; <kmirror/maple_ops_fill.h> has the handles.
 */
#ifndef KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_H
#define KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_H

#include <kmirror/maple_ops_fill.h>

#include <linux/slab.h>

_Static_assert(sizeof(struct maple_node) == 256, "CONFIG_64BIT has reached the tree's header");
_Static_assert(MAPLE_RANGE64_SLOTS == 16 && MAPLE_ARANGE64_SLOTS == 10, "slots of a node");
_Static_assert(offsetof(struct maple_node, mr64.slot) == 128, "slots of a leaf");
_Static_assert(offsetof(struct maple_node, ma64.slot) == 80, "slots of a node with gaps");
_Static_assert(offsetof(struct maple_node, ma64.gap) == 160, "gaps");
_Static_assert(offsetof(struct maple_node, mr64.meta) == 248, "metadata of a leaf");
_Static_assert(offsetof(struct maple_node, ma64.meta) == 240, "metadata of a node with gaps");
_Static_assert(maple_dense == 0 && maple_leaf_64 == 1 && maple_range_64 == 2 && maple_arange_64 == 3, "types");
_Static_assert(sizeof(struct maple_tree) == 56 && offsetof(struct maple_tree, ma_root) == 48, "tree");
_Static_assert(MT_FLAGS_HEIGHT_OFFSET == 2 && MT_FLAGS_HEIGHT_MASK == 0x7c, "height in the flags");
_Static_assert(MT_FLAGS_ALLOC_RANGE == 1 && MT_FLAGS_USE_RCU == 2, "flags");

#endif
