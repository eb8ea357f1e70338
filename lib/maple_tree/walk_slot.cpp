// SPDX-License-Identifier: GPL-2.0-only
//
// One range to the left or right: the step below every iteration.
//
// Owns     nothing; see walk.h.
// Locking  the caller's lock or read section. Whatever was read from a node counts only if the node is alive
//          afterwards (D2).
// Fails    never. If a node died, the cursor looks up the index it started from and steps again; if the tree
//          has lost all its nodes by then, the answer is that of a tree without nodes.
#include "lib/maple_tree/walk.h"

namespace kmirror::maple {

namespace {

// Dead: what was read does not hold together any more.
enum class Step { Moved, Limit, Dead };

// The cursor's place in its node, before the step.
Step limit_reached(const NodeView &here) { return here.is_dead() ? Step::Dead : Step::Limit; }

// To the first slot of the next node.
Step enter_next_node(ma_state *mas, unsigned long max)
{
    if (mas_next_node(mas, max)) [[unlikely]]
        return Step::Dead;
    // The limit lies behind this node's end: a neighbour exists.
    if (WARN_ON_ONCE(mas_is_overflow(mas)))
        return Step::Limit;

    const NodeView here(mas->node);
    mas->index = mas->min;
    mas->last = mas->end == 0 ? mas->max : here.last(0, mas->max);
    return Step::Moved;
}

// To the last slot of the previous node.
Step enter_prev_node(ma_state *mas, unsigned long min)
{
    if (mas_prev_node(mas, min)) [[unlikely]]
        return Step::Dead;
    if (WARN_ON_ONCE(mas_is_underflow(mas)))
        return Step::Limit;

    const NodeView here(mas->node);
    mas->last = mas->max;
    mas->index = here.first(mas->offset, mas->min);
    return Step::Moved;
}

// The entry on which the cursor stands now, if its node is still alive. A range that ends before it begins
// tells of a store in place between the reads of its two pivots: no better than a dead node.
[[gnu::always_inline]] inline Step read_entry(const ma_state *mas, const NodeView &here, void **entry)
{
    *entry = mas_slot(mas, here.slots, mas->offset);
    return here.is_dead() || mas->last < mas->index ? Step::Dead : Step::Moved;
}

[[gnu::always_inline]] inline Step step_next(ma_state *mas, unsigned long max, void **entry)
{
    const NodeView here(mas->node);
    const bool inside = mas->offset < mas->end;

    if (mas->max >= max) {
        const unsigned long last = inside ? ma_pivot(here.pivots, mas->offset) : mas->max;
        if (last >= max)
            return limit_reached(here);
    }
    if (inside) [[likely]] {
        mas->index = ma_pivot(here.pivots, mas->offset) + 1;
        ++mas->offset;
        mas->last = mas->offset < mas->end ? ma_pivot(here.pivots, mas->offset) : mas->max;
        return read_entry(mas, here, entry);
    }
    if (mas->last >= max || here.is_dead())
        return limit_reached(here);
    const Step entered = enter_next_node(mas, max);
    return entered == Step::Moved ? read_entry(mas, NodeView(mas->node), entry) : entered;
}

[[gnu::always_inline]] inline Step step_prev(ma_state *mas, unsigned long min, void **entry)
{
    const NodeView here(mas->node);

    if (mas->min <= min && here.first(mas->offset, mas->min) <= min)
        return limit_reached(here);
    if (mas->offset != 0) [[likely]] {
        --mas->offset;
        mas->last = mas->index - 1;
        mas->index = here.first(mas->offset, mas->min);
        return read_entry(mas, here, entry);
    }
    if (mas->index <= min || here.is_dead())
        return limit_reached(here);
    const Step entered = enter_prev_node(mas, min);
    return entered == Step::Moved ? read_entry(mas, NodeView(mas->node), entry) : entered;
}

// Look the starting point up again. False: the tree has no nodes any more, and `entry` is what remains on
// that side of it.
bool resume_next(ma_state *mas, unsigned long from)
{
    mas_rewalk(mas, from);
    if (mas_is_active(mas)) [[likely]]
        return true;
    mas->index = mas_is_ptr(mas) ? 1 : 0;
    mas->last = ULONG_MAX;
    mas->status = ma_none;
    return false;
}

bool resume_prev(ma_state *mas, unsigned long from, unsigned long min, void **entry)
{
    for (*entry = nullptr;;) {
        mas_rewalk(mas, from);
        if (mas_is_active(mas)) [[likely]]
            return true;
        if (mas_is_none(mas)) {
            mas->last = ULONG_MAX;
            mas->index = 0;
            return false;
        }
        if (from == 0 || min > 0) {
            mas->status = ma_underflow;
            return false;
        }
        if (mas_take_root(mas, min, entry))
            return false;
    }
}

} // namespace

void *mas_next_slot(ma_state *mas, unsigned long max, bool empty)
{
    const unsigned long from = mas->last;
    void *entry = nullptr;

    VM_BUG_ON(!mas->node || mas->offset > mas->end);
    for (;;) {
        switch (step_next(mas, max, &entry)) {
        case Step::Moved:
            if (entry || empty) [[likely]]
                return entry;
            break;
        case Step::Limit:
            mas->status = ma_overflow;
            return nullptr;
        case Step::Dead:
            if (!resume_next(mas, from))
                return nullptr;
            break;
        }
    }
}

void *mas_prev_slot(ma_state *mas, unsigned long min, bool empty)
{
    const unsigned long from = mas->index;
    void *entry = nullptr;

    VM_BUG_ON(!mas->node);
    for (;;) {
        switch (step_prev(mas, min, &entry)) {
        case Step::Moved:
            if (entry || empty) [[likely]]
                return entry;
            break;
        case Step::Limit:
            mas->status = ma_underflow;
            return nullptr;
        case Step::Dead:
            if (!resume_prev(mas, from, min, &entry))
                return entry;
            break;
        }
    }
}

} // namespace kmirror::maple
