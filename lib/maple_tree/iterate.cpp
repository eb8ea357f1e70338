// SPDX-License-Identifier: GPL-2.0-only
//
// mas_next(), mas_prev() and their kin: one step from where the cursor stands. Also pausing, and the RCU mode
// of a tree.
//
// A step has two parts. The setup brings the cursor onto a range, whatever its status was; often that already
// answers the call. If not, the cursor is active and mas_next_slot() or mas_prev_slot() makes the step.
//
//   status         next                                  prev
//   active         step                                  step
//   start, pause   look up, step                         look up, step
//   none           look up, step                         look up, step
//   overflow       stand there again, step               look up: the range itself, unless it is NULL
//   underflow      look up: the range itself, unless ... stand there again, step
//   root           nothing above                         the entry at 0
//   error          NULL
//
// In a tree with nothing but an entry at index 0, next() from none at index 0 stops there once, without the
// entry. "Stand there again" needs a node: a limit that was met before any node was loaded left none (U1).
//
// Owns     nothing; the cursor is the caller's.
// Locking  the caller's lock or read section; the mt_ forms enter one. mt_set_in_rcu() takes the tree's lock.
// Fails    never.
#include "lib/maple_tree/walk.h"

using namespace kmirror::maple;

namespace {

// The answer to a call is in *entry, or a step has to find it.
enum class Setup { Answered, Step };

// Onto the range that an exhausted cursor last stood on.
void stand_again(ma_state *mas)
{
    mas_may_activate(mas);
    if (mas_is_start(mas))
        mas_walk(mas);
}

// The cursor was beyond the other end: the range under it has not been handed out in this direction.
void *look_again(ma_state *mas)
{
    mas_may_activate(mas);
    return mas_walk(mas);
}

// A walk for mas_next() ended in the single entry at index 0: nothing follows it.
void next_after_root(ma_state *mas, bool was_none)
{
    if (was_none && mas->index == 0) {
        mas->last = 0;
        return;
    }
    mas->index = 1;
    mas->last = ULONG_MAX;
    mas->status = ma_none;
}

[[gnu::noinline]] Setup next_setup_slow(ma_state *mas, void **entry)
{
    const bool was_none = mas_is_none(mas);

    switch (mas->status) {
    case ma_none:
    case ma_pause:
        mas->status = ma_start;
        [[fallthrough]];
    case ma_start:
        mas_walk(mas);
        break;
    case ma_overflow:
        stand_again(mas);
        break;
    case ma_underflow:
        *entry = look_again(mas);
        if (*entry)
            return Setup::Answered;
        break;
    case ma_error:
        return Setup::Answered;
    case ma_active:
    case ma_root:
        break;
    }

    if (mas_is_active(mas)) [[likely]]
        return Setup::Step;
    if (mas_is_ptr(mas))
        next_after_root(mas, was_none);
    return Setup::Answered;
}

[[gnu::always_inline]] inline Setup next_setup(ma_state *mas, unsigned long max, void **entry)
{
    if (mas->last >= max) [[unlikely]] {
        mas->status = ma_overflow;
        return Setup::Answered;
    }
    return mas_is_active(mas) ? Setup::Step : next_setup_slow(mas, entry);
}

// After a walk for mas_prev() in a tree without nodes: what lies before is the entry at index 0, if the walk
// did not end there (the tree is empty). False: it has nodes now, walk again.
bool prev_from_root(ma_state *mas, unsigned long min, void **entry)
{
    return mas->index == 0 || mas_take_root(mas, min, entry);
}

[[gnu::noinline]] Setup prev_setup_slow(ma_state *mas, unsigned long min, void **entry)
{
    switch (mas->status) {
    case ma_none:
    case ma_pause:
        mas->status = ma_start;
        break;
    case ma_underflow:
        mas_may_activate(mas);
        break;
    case ma_overflow:
        *entry = look_again(mas);
        if (*entry)
            return Setup::Answered;
        break;
    case ma_error:
        return Setup::Answered;
    case ma_active:
    case ma_start:
    case ma_root:
        break;
    }

    for (;;) {
        if (mas_is_start(mas))
            mas_walk(mas);
        if (mas_is_active(mas)) [[likely]]
            return Setup::Step;
        if (prev_from_root(mas, min, entry))
            return Setup::Answered;
    }
}

[[gnu::always_inline]] inline Setup prev_setup(ma_state *mas, unsigned long min, void **entry)
{
    if (mas->index <= min) [[unlikely]] {
        mas->status = ma_underflow;
        return Setup::Answered;
    }
    return mas_is_active(mas) ? Setup::Step : prev_setup_slow(mas, min, entry);
}

[[gnu::always_inline]] inline void *next_range(ma_state *mas, unsigned long max, bool empty)
{
    void *entry = nullptr;
    return next_setup(mas, max, &entry) == Setup::Answered ? entry : mas_next_slot(mas, max, empty);
}

[[gnu::always_inline]] inline void *prev_range(ma_state *mas, unsigned long min, bool empty)
{
    void *entry = nullptr;
    return prev_setup(mas, min, &entry) == Setup::Answered ? entry : mas_prev_slot(mas, min, empty);
}

// Writers and readers look at ma_flags without a lock: one word, changed under the tree's lock.
void change_rcu_mode(maple_tree *mt, unsigned int clear, unsigned int set)
{
    const bool external = mt_external_lock(mt);

    if (external)
        WARN_ON(!mt_lock_is_held(mt));
    else
        mtree_lock(mt);
    word_write(&mt->ma_flags, (mt->ma_flags & ~clear) | set);
    if (!external)
        mtree_unlock(mt);
}

} // namespace

void *mas_next(struct ma_state *mas, unsigned long max) { return next_range(mas, max, false); }

void *mas_next_range(struct ma_state *mas, unsigned long max) { return next_range(mas, max, true); }

void *mas_prev(struct ma_state *mas, unsigned long min) { return prev_range(mas, min, false); }

void *mas_prev_range(struct ma_state *mas, unsigned long min) { return prev_range(mas, min, true); }

void *mt_next(struct maple_tree *mt, unsigned long index, unsigned long max)
{
    MA_STATE(mas, mt, index, index);

    rcu_read_lock();
    void *entry = mas_next(&mas, max);
    rcu_read_unlock();
    return entry;
}

void *mt_prev(struct maple_tree *mt, unsigned long index, unsigned long min)
{
    MA_STATE(mas, mt, index, index);

    rcu_read_lock();
    void *entry = mas_prev(&mas, min);
    rcu_read_unlock();
    return entry;
}

void mas_pause(struct ma_state *mas)
{
    mas->status = ma_pause;
    mas->node = nullptr;
}

void mt_set_in_rcu(struct maple_tree *mt)
{
    if (!mt_in_rcu(mt))
        change_rcu_mode(mt, 0, MT_FLAGS_USE_RCU);
}

void mt_clear_in_rcu(struct maple_tree *mt)
{
    if (mt_in_rcu(mt))
        change_rcu_mode(mt, MT_FLAGS_USE_RCU, 0);
}
