// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/deferred.h: frees that could not be done where no lock may be waited for.
//
// Owns     objects and sheaves from the moment they are put aside until they are freed.
// Bounds   as many as there are; each is linked through itself.
// Locking  putting aside takes no lock. The work is done from the slow paths, with no lock
//          of the allocator held, and takes list_lock as any free does.
// Fails    never.
#pragma once

#include <linux/irq_work.h>

#include "lib/slub/sheaf.h"

namespace kmirror::slub {

// A closed object of `s`.
void defer_free(struct kmem_cache *s, void *object);

// An object that waits for its grace period by the head inside it.
void defer_kfree_rcu(struct kvfree_rcu_head *head);

// A full rcu_free sheaf.
void defer_rcu_sheaf(struct slab_sheaf *sheaf);

// Returns when everything put aside before is freed, or given to call_rcu(). May sleep.
void deferred_work_barrier();

// The slow paths' share. One read when nothing was put aside, as nearly always.
inline void run_deferred_work()
{
    if (irq_work_raised()) [[unlikely]]
        irq_work_run();
}

} // namespace kmirror::slub
