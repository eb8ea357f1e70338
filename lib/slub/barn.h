// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/barn.h: the node's stock of whole sheaves.
//
// A CPU out of objects, or out of room for them, trades one whole sheaf here, so that
// list_lock is paid once per sheaf and not once per object.
//
// Owns     every sheaf on the two lists of a struct node_barn.
// Bounds   10 full and 10 empty ones. Both are soft: the counts are looked at before the
//          lock is taken, and a sheaf that lost a race is put back without asking.
// Locking  barn->lock covers both lists and both counts. Nothing allocates, frees or
//          takes another lock while holding it.
// Fails    never: "none here" and "no room" are answers, not errors.
#pragma once

#include "lib/slub/sheaf.h"

namespace kmirror::slub {

inline constexpr unsigned int MAX_FULL_SHEAVES = 10;  // unless a switch says otherwise
inline constexpr unsigned int MAX_EMPTY_SHEAVES = 10;

// What became of a full sheaf that was offered for an empty one.
enum class BarnTrade { done, full_limit, no_empty, busy };

void barn_init(struct node_barn *barn);

inline bool barn_has_room_for_full(const struct node_barn *barn)
{
    return READ_ONCE(barn->nr_full) < barn->max_full;
}

inline bool barn_has_room_for_empty(const struct node_barn *barn)
{
    return READ_ONCE(barn->nr_empty) < barn->max_empty;
}

// An empty sheaf, or NULL.
struct slab_sheaf *barn_get_empty_sheaf(struct node_barn *barn, Spin spin = Spin::wait);

// A full one, else an empty one, else NULL.
struct slab_sheaf *barn_get_full_or_empty_sheaf(struct node_barn *barn);

// Take without asking for the limits.
void barn_put_empty_sheaf(struct node_barn *barn, struct slab_sheaf *sheaf);
void barn_put_full_sheaf(struct node_barn *barn, struct slab_sheaf *sheaf);

// A full sheaf for `empty`, in one hold; NULL and `empty` stays the caller's.
struct slab_sheaf *barn_replace_empty_sheaf(struct node_barn *barn, struct slab_sheaf *empty,
                                            Spin spin);

// An empty sheaf for *sheaf, in one hold. Only with BarnTrade::done *sheaf is replaced.
// `busy`: with Spin::try_only, the lock was taken.
BarnTrade barn_replace_full_sheaf(struct node_barn *barn, struct slab_sheaf **sheaf, Spin spin);

// Empties the barn: sheaves flushed and freed, after the lock is dropped.
void barn_shrink(struct kmem_cache *s, struct node_barn *barn);

} // namespace kmirror::slub
