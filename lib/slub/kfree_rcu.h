// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/kfree_rcu.h: objects that are freed after a grace period, a sheaf at a time.
//
// Owns     an rcu_free sheaf from the moment it leaves its CPU until its callback ran.
// Bounds   one sheaf a CPU and cache being filled; any number waiting.
// Locking  the local lock while one is filled. It covers call_rcu() too, so that who has
//          had its turn on the CPU afterwards finds the sheaf either there or queued.
// Fails    an object that cannot wait in a sheaf waits by its own rcu_head.
#pragma once

#include "lib/slub/sheaf.h"

namespace kmirror::slub {

// Queues a sheaf that was taken from its CPU; afterwards its objects go to their slabs.
void rcu_sheaf_retire_to_slabs(struct slab_sheaf *sheaf);

// The same for a full one that was put aside; afterwards it goes to the barn if that has room.
void rcu_sheaf_retire(struct slab_sheaf *sheaf);

// The start of the object, large kmalloc or vmalloc area that holds `place`.
void *kvmalloc_obj_start_addr(void *place);

} // namespace kmirror::slub
