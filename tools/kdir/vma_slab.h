/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two halves of the vma adapter agree on: vma_slab.c is compiled with the headers of a kernel tree,
 * vma_cache.c with ours, and each of them checks these numbers.
 *
 * Fails    to compile when a structure that both sides touch is laid out differently.
 */
#ifndef KMIRROR_TOOLS_KDIR_VMA_SLAB_H
#define KMIRROR_TOOLS_KDIR_VMA_SLAB_H

#include <linux/maple_tree.h>
#include <stddef.h>

_Static_assert(sizeof(struct maple_tree) == 56, "tree");
_Static_assert(offsetof(struct maple_tree, ma_flags) == 40, "tree: flags");
_Static_assert(offsetof(struct maple_tree, ma_root) == 48, "tree: root");
_Static_assert(sizeof(struct ma_state) == 88, "cursor");
_Static_assert(offsetof(struct ma_state, node) == 24, "cursor: node");
_Static_assert(offsetof(struct ma_state, alloc) == 56, "cursor: reserved node");
_Static_assert(offsetof(struct ma_state, status) == 72, "cursor: status");
_Static_assert(offsetof(struct ma_state, store_type) == 80, "cursor: store type");
_Static_assert(sizeof(atomic_t) == 4, "counters of checks");

struct kmem_cache;

/* A cache with these properties; freeptr_offset -1: the caller does not choose it. Panics without memory. */
struct kmem_cache *kmirror_vma_cache(const char *name, unsigned int size, unsigned int align,
                                     unsigned int capacity, int freeptr_offset, int by_rcu, void (*ctor)(void *));

#endif
