/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the harness knows of a node cache, for adapter.c: a kernel's lib/maple_tree.c declares some of
 * <kmirror/harness.h> with other types, so the two cannot meet in one file.
 *
 * Owns     nothing: budget, callback and counters belong to the cache.
 * Locking  none; counters are exact while nobody allocates.
 * Fails    never.
 */
#ifndef KMIRROR_TOOLS_KDIR_MAPLE_NODES_H
#define KMIRROR_TOOLS_KDIR_MAPLE_NODES_H

struct kmem_cache;

/* Objects of the cache that a user holds; handed out since kmirror_kdir_nodes_zero(), in mock mode. */
unsigned long kmirror_kdir_nodes_alive(struct kmem_cache *cache);
unsigned long kmirror_kdir_nodes_handed_out(struct kmem_cache *cache);
void kmirror_kdir_nodes_zero(struct kmem_cache *cache);

void kmirror_kdir_nodes_budget(struct kmem_cache *cache, unsigned int budget);
void kmirror_kdir_nodes_private(struct kmem_cache *cache, void *data);
void kmirror_kdir_nodes_callback(struct kmem_cache *cache, void (*callback)(void *));

#endif
