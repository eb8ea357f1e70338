// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/barn.cpp: trades of whole sheaves between CPUs of a node.
//
// Owns     the lists and counts of struct node_barn, see barn.h for bounds and locking.
// Fails    never.
#include "lib/slub/barn.h"
#include "lib/slub/tuning.h"

namespace kmirror::slub {

namespace {

// The two lists differ in nothing but their place.
struct BarnList {
    struct list_head *sheaves;
    unsigned int *count;

    void init() const
    {
        INIT_LIST_HEAD(sheaves);
        *count = 0;
    }

    void push(struct slab_sheaf *sheaf) const
    {
        list_add(&sheaf->barn_list, sheaves);
        WRITE_ONCE(*count, *count + 1);
    }

    struct slab_sheaf *pop() const
    {
        if (!*count)
            return nullptr;
        auto *sheaf = list_first_entry(sheaves, struct slab_sheaf, barn_list);
        list_del(&sheaf->barn_list);
        WRITE_ONCE(*count, *count - 1);
        return sheaf;
    }

    void move_all_to(struct list_head *destination) const
    {
        list_splice_init(sheaves, destination);
        WRITE_ONCE(*count, 0u);
    }
};

BarnList full_sheaves(struct node_barn *barn)
{
    return {&barn->sheaves_full, &barn->nr_full};
}

BarnList empty_sheaves(struct node_barn *barn)
{
    return {&barn->sheaves_empty, &barn->nr_empty};
}

class BarnHold {
public:
    explicit BarnHold(struct node_barn *barn, Spin spin = Spin::wait)
        : barn_(barn), held_(spin_lock_for(&barn->lock, spin))
    {
    }
    ~BarnHold()
    {
        if (held_)
            raw_spin_unlock(&barn_->lock);
    }
    BarnHold(const BarnHold &) = delete;
    BarnHold &operator=(const BarnHold &) = delete;

    // False with Spin::try_only, when somebody else has the lock.
    bool held() const { return held_; }

private:
    struct node_barn *barn_;
    bool held_;
};

} // namespace

void barn_init(struct node_barn *barn)
{
    full_sheaves(barn).init();
    empty_sheaves(barn).init();
    raw_spin_lock_init(&barn->lock);
    barn->max_full = (unsigned int)tuned_or(KMIRROR_SLAB_BARN_FULL, MAX_FULL_SHEAVES);
    barn->max_empty = (unsigned int)tuned_or(KMIRROR_SLAB_BARN_EMPTY, MAX_EMPTY_SHEAVES);
}

struct slab_sheaf *barn_get_empty_sheaf(struct node_barn *barn, Spin spin)
{
    if (!READ_ONCE(barn->nr_empty))
        return nullptr;
    BarnHold hold(barn, spin);
    return hold.held() ? empty_sheaves(barn).pop() : nullptr;
}

struct slab_sheaf *barn_get_full_or_empty_sheaf(struct node_barn *barn)
{
    if (!READ_ONCE(barn->nr_full) && !READ_ONCE(barn->nr_empty))
        return nullptr;
    BarnHold hold(barn);
    if (struct slab_sheaf *full = full_sheaves(barn).pop())
        return full;
    return empty_sheaves(barn).pop();
}

void barn_put_empty_sheaf(struct node_barn *barn, struct slab_sheaf *sheaf)
{
    BarnHold hold(barn);
    empty_sheaves(barn).push(sheaf);
}

void barn_put_full_sheaf(struct node_barn *barn, struct slab_sheaf *sheaf)
{
    BarnHold hold(barn);
    full_sheaves(barn).push(sheaf);
}

struct slab_sheaf *barn_replace_empty_sheaf(struct node_barn *barn, struct slab_sheaf *empty, Spin spin)
{
    if (!READ_ONCE(barn->nr_full))
        return nullptr;
    BarnHold hold(barn, spin);
    struct slab_sheaf *full = hold.held() ? full_sheaves(barn).pop() : nullptr;
    // The number of sheaves stays the same, so no limit applies to the empty one.
    if (full) [[likely]]
        empty_sheaves(barn).push(empty);
    return full;
}

BarnTrade barn_replace_full_sheaf(struct node_barn *barn, struct slab_sheaf **sheaf, Spin spin)
{
    if (!barn_has_room_for_full(barn))
        return BarnTrade::full_limit;
    if (!READ_ONCE(barn->nr_empty))
        return BarnTrade::no_empty;
    BarnHold hold(barn, spin);
    if (!hold.held())
        return BarnTrade::busy;
    struct slab_sheaf *empty = empty_sheaves(barn).pop();
    if (!empty) [[unlikely]]
        return BarnTrade::no_empty;
    full_sheaves(barn).push(*sheaf);
    *sheaf = empty;
    return BarnTrade::done;
}

void barn_shrink(struct kmem_cache *s, struct node_barn *barn)
{
    struct list_head sheaves;
    INIT_LIST_HEAD(&sheaves);
    {
        BarnHold hold(barn);
        empty_sheaves(barn).move_all_to(&sheaves);
        full_sheaves(barn).move_all_to(&sheaves);
    }
    struct slab_sheaf *sheaf, *next;
    list_for_each_entry_safe (sheaf, next, &sheaves, barn_list)
        sheaf_dispose(s, sheaf);
}

} // namespace kmirror::slub
