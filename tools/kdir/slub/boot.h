/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel tree's allocator gets started, and what its adapter needs of the other files here. */
#ifndef KDIR_SLUB_BOOT_H
#define KDIR_SLUB_BOOT_H

#include "tools/kdir/slub/shim/kernel.h"

/* Once a process: per-CPU data, parameters (KMIRROR_SLAB_*), then the allocator's own start-up. Any thread. */
void kdir_boot(void);

/* Everything given to kfree_rcu() so far is free when they return. */
struct slab_ops_cache;
void kdir_free_rcu_barrier(void);
void kdir_free_rcu_barrier_on(struct slab_ops_cache *cache);

#endif /* KDIR_SLUB_BOOT_H */
