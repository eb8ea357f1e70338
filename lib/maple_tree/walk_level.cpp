// SPDX-License-Identifier: GPL-2.0-only
//
// One level up or down, and sideways to the neighbouring node.
//
// Owns     nothing; see walk.h.
// Locking  mas_ascend(), mas_next_node() and mas_prev_node() work for readers: they climb over parent words,
//          which a writer changes, and end early when a node on the way bears the dead mark (D2). The others
//          need the write lock.
// Fails    never; see walk.h for the answer to a dead node.
#include "lib/maple_tree/walk.h"

#include "lib/maple_tree/walk_scan.h"

namespace kmirror::maple {

namespace {

// The kind of a node's parent is the tree's: all inner nodes of a tree are alike.
maple_type inner_type(const ma_state *mas)
{
    return mt_is_alloc(mas->tree) ? maple_arange_64 : maple_range_64;
}

// What a node covers, found from the ancestors that bound it.
struct Limits {
    unsigned long min;
    unsigned long max;
    bool has_min;
    bool has_max;
};

// Take the missing limits from the nearest ancestors of `node` that have them. False: one of these nodes is
// dead.
bool limits_from_above(const ma_state *mas, const maple_node *node, Limits &limits)
{
    const maple_type type = inner_type(mas);

    while (!limits.has_min || !limits.has_max) {
        const ParentWord up = ma_parent_climb(node);
        if (up.is_root())
            return true;
        if (up.node() == node) [[unlikely]]
            return false;

        const NodeView above(up.node(), type);
        if (!limits.has_min && up.slot() != 0) {
            limits.has_min = true;
            limits.min = above.first(up.slot(), 0);
        }
        if (!limits.has_max && up.slot() < above.nr_pivots()) {
            limits.has_max = true;
            limits.max = above.last(up.slot(), ULONG_MAX);
        }
        if (above.is_dead()) [[unlikely]]
            return false;
        node = above.node;
    }
    return true;
}

// The place of a cursor on one level, to go back to.
struct Place {
    maple_enode *node;
    unsigned long min;
    unsigned long max;
    unsigned char offset;

    explicit Place(const ma_state *mas)
        : node(mas->node), min(mas->min), max(mas->max), offset(mas->offset)
    {
    }
    void restore(ma_state *mas) const
    {
        mas->node = node;
        mas->min = min;
        mas->max = max;
        mas->offset = offset;
    }
};

enum class Climb { Arrived, Border, Dead };

// Up to the first ancestor that has a slot behind (Forward) or before the one we came from. `levels`: how far
// that was.
template <bool Forward>
Climb climb(ma_state *mas, unsigned &levels)
{
    for (levels = 1;; ++levels) {
        if (mte_is_root(mas->node))
            return mte_dead_node(mas->node) ? Climb::Dead : Climb::Border;
        if (mas_ascend(mas))
            return Climb::Dead;
        if constexpr (!Forward) {
            if (mas->offset != 0)
                return Climb::Arrived;
        } else {
            const NodeView here(mas->node);
            const unsigned end = here.end(mas->max);
            if (here.is_dead())
                return Climb::Dead;
            if (mas->offset != end)
                return Climb::Arrived;
        }
    }
}

// No neighbour: a reader may only believe it if the node is still in the tree.
int border(ma_state *mas, const Place &start, maple_status status)
{
    start.restore(mas);
    if (mte_dead_node(mas->node)) [[unlikely]]
        return 1;
    mas->status = status;
    return 0;
}

// Stand on the child at `slot` of the cursor's node, then `levels - 1` times on its first child.
bool descend_left(ma_state *mas, unsigned slot, unsigned levels)
{
    maple_enode *enode = mas->node;
    unsigned long max = mas->max;

    for (; levels != 0; --levels, slot = 0) {
        const NodeView here(enode);
        enode = static_cast<maple_enode *>(mas_slot(mas, here.slots, slot));
        max = here.last(slot, max);
        if (here.is_dead()) [[unlikely]]
            return false;
    }
    const NodeView child(enode);
    mas->node = enode;
    mas->max = max;
    mas->offset = 0;
    mas->end = child.end(max);
    return !child.is_dead();
}

// Stand on the child at `slot`, which ends at `max`, then `levels - 1` times on its last child.
bool descend_right(ma_state *mas, unsigned slot, unsigned levels, unsigned long max)
{
    maple_enode *enode = mas->node;
    unsigned long min = mas->min;

    for (;; --levels) {
        const NodeView here(enode);
        if (levels == 0) {
            mas->node = enode;
            mas->min = min;
            mas->max = max;
            mas->end = here.end(max);
            mas->offset = mas->end;
            return !here.is_dead();
        }
        enode = static_cast<maple_enode *>(mas_slot(mas, here.slots, slot));
        min = here.first(slot, min);
        if (here.is_dead()) [[unlikely]]
            return false;
        const NodeView child(enode);
        slot = child.end(max);
    }
}

} // namespace

unsigned char mas_data_end(const ma_state *mas)
{
    const NodeView here(mas->node);
    if (here.type != maple_arange_64 && here.is_dead()) [[unlikely]]
        return 0;
    return here.end(mas->max);
}

void mas_descend(ma_state *mas)
{
    const NodeView here(mas->node);
    VM_BUG_ON(here.is_leaf());

    mas->min = here.first(mas->offset, mas->min);
    mas->max = here.last(mas->offset, mas->max);
    mas->node = static_cast<maple_enode *>(mas_slot(mas, here.slots, mas->offset));
}

int mas_ascend(ma_state *mas)
{
    const maple_node *child = mas_mn(mas);
    const ParentWord up = ma_parent_climb(child);
    if (up.is_root()) {
        mas->offset = 0;
        return 0;
    }
    if (up.node() == child) [[unlikely]]
        return 1;

    mas->node = mt_mk_node(up.node(), inner_type(mas));
    mas->offset = static_cast<unsigned char>(up.slot());

    // The first child starts where its parent does, and what ends at ULONG_MAX ends there on every level.
    Limits limits = {0, ULONG_MAX, mas->offset == 0, mas->max == ULONG_MAX};
    if (limits.has_min)
        limits.min = mas->min;
    if (!limits_from_above(mas, up.node(), limits)) [[unlikely]]
        return 1;
    mas->min = limits.min;
    mas->max = limits.max;
    return 0;
}

bool mas_prev_sibling(ma_state *mas)
{
    if (mte_parent_slot(mas->node) == 0)
        return false;
    mas_ascend(mas);
    --mas->offset;
    mas_descend(mas);
    return true;
}

bool mas_next_sibling(ma_state *mas)
{
    if (mte_is_root(mas->node))
        return false;

    const Place start(mas);
    mas_ascend(mas);
    if (mas->offset >= mas_data_end(mas)) {
        start.restore(mas);
        return false;
    }
    ++mas->offset;
    mas_descend(mas);
    return true;
}

// To the next child of the same parent, whose limits two pivots tell: nine of ten leaves have such a neighbour, and
// nothing above the parent is read. False, and the cursor is as it was: look further up.
static bool enter_sibling(ma_state *mas)
{
    const ParentWord up = ma_parent_climb(mas_mn(mas));
    const unsigned slot = up.slot() + 1;
    if (up.is_root() || up.node() == mas_mn(mas)) [[unlikely]]
        return false;

    const NodeView above(up.node(), inner_type(mas));
    if (slot >= above.nr_pivots())
        return false;
    const unsigned long before = ma_pivot(above.pivots, slot - 1);
    const unsigned long last = ma_pivot(above.pivots, slot);
    auto *enode = static_cast<maple_enode *>(mas_slot(mas, above.slots, slot));
    // An unused pivot is 0.
    if (above.is_dead() || before != mas->max || last <= before)
        return false;

    const NodeView child(enode);
    const unsigned char end = child.end(last);
    if (child.is_dead()) [[unlikely]]
        return false;
    mas->node = enode;
    mas->min = before + 1;
    mas->max = last;
    mas->offset = 0;
    mas->end = end;
    // The neighbour behind this one will be wanted next.
    if (slot + 1 < above.nr_pivots())
        prefetch_node(static_cast<maple_enode *>(mas_slot(mas, above.slots, slot + 1)));
    return true;
}

int mas_next_node(ma_state *mas, unsigned long max)
{
    if (mas->max < max && enter_sibling(mas))
        return 0;
    const Place start(mas);
    unsigned levels = 0;
    const Climb result = mas->max >= max ? Climb::Border : climb<true>(mas, levels);
    if (result == Climb::Border)
        return border(mas, start, ma_overflow);
    if (result == Climb::Dead || !descend_left(mas, mas->offset + 1, levels)) [[unlikely]]
        return 1;
    mas->min = start.max + 1;
    VM_BUG_ON(mas->min > mas->max);
    return 0;
}

int mas_prev_node(ma_state *mas, unsigned long min)
{
    const Place start(mas);
    unsigned levels = 0;
    const Climb result = mas->min <= min ? Climb::Border : climb<false>(mas, levels);
    if (result == Climb::Border)
        return border(mas, start, ma_underflow);
    if (result == Climb::Dead || !descend_right(mas, mas->offset - 1, levels, start.min - 1)) [[unlikely]]
        return 1;
    VM_BUG_ON(mas->min > mas->max);
    return 0;
}

bool mas_skip_node(ma_state *mas)
{
    if (mas_is_err(mas))
        return false;

    do {
        if (!mte_is_root(mas->node)) {
            mas_ascend(mas);
        } else if (mas->offset >= mas_data_end(mas)) {
            mas_set_err(mas, -EBUSY);
            return false;
        }
    } while (mas->offset >= mas_data_end(mas));
    ++mas->offset;
    return true;
}

bool mas_rewind_node(ma_state *mas)
{
    do {
        if (!mte_is_root(mas->node))
            mas_ascend(mas);
        else if (mas->offset == 0)
            return false;
    } while (mas->offset == 0);
    --mas->offset;
    return true;
}

} // namespace kmirror::maple
