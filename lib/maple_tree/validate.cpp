// SPDX-License-Identifier: GPL-2.0-only
//
// mt_validate(): the kernel's own checks of a tree, with its messages and its counts of checks run and
// passed.
//
// Every node is visited, the leaves first and then level by level upwards, from left to right on each. A
// check that always runs is counted once per run; one that looks for damage in a loop is counted when it
// finds some.
//
// Owns     the two counters of checks.
// Locking  the write lock.
// Fails    by printing: what is wrong, the tree and a stack. It goes on afterwards, and trusts the pointers
//          it finds: kmirror_mt_check() is for trees that may be damaged.
#include "lib/maple_tree/validate.h"

#include "lib/maple_tree/walk.h"

using namespace kmirror::maple;

atomic_t maple_tree_tests_run;
atomic_t maple_tree_tests_passed;

namespace {

void *slot_of(const ma_state *mas, const NodeView &here, unsigned offset)
{
    return mas_slot(mas, here.slots, offset);
}

maple_enode *child_of(const ma_state *mas, const NodeView &here, unsigned offset)
{
    return static_cast<maple_enode *>(slot_of(mas, here, offset));
}

// ---- gaps

// The longest gap that the slots of a node tell, and the offset at which the node ends.
struct Longest {
    unsigned long gap;
    unsigned offset;
};

// What slot `offset` contributes: a leaf's NULL ranges, an inner node's record.
unsigned long validate_slot_gap(const ma_state *mas, const NodeView &here, unsigned offset,
                                unsigned long room)
{
    void *entry = slot_of(mas, here, offset);
    if (here.is_leaf())
        return entry ? 0 : room;

    const unsigned long gap = here.node->ma64.gap[offset];
    MT_BUG_ON(mas->tree, !entry);
    if (gap > room) {
        pr_err("%p[%u] %lu >= %lu (the room there)\n", here.node, offset, gap, room);
        MT_BUG_ON(mas->tree, gap > room);
    }
    return gap;
}

Longest validate_slot_gaps(const ma_state *mas, const NodeView &here)
{
    Longest longest = {0, 0};
    unsigned long first = mas->min;

    for (; longest.offset < mt_slots[here.type]; ++longest.offset) {
        const unsigned long last = here.last(longest.offset, mas->max);
        const unsigned long gap = validate_slot_gap(mas, here, longest.offset, last - first + 1);
        if (gap > longest.gap)
            longest.gap = gap;
        if (last >= mas->max)
            break;
        first = last + 1;
    }
    return longest;
}

// An inner node names the slot of its longest gap, and has none behind its end.
void validate_gap_record(const ma_state *mas, const NodeView &here, const Longest &longest)
{
    const unsigned long *gaps = ma_gaps(here.node, here.type);
    const unsigned named = ma_meta_gap(here.node);

    MT_BUG_ON(mas->tree, !gaps);
    if (named > longest.offset) {
        pr_err("gap offset %p[%u] is invalid\n", here.node, named);
        MT_BUG_ON(mas->tree, 1);
        return;
    }
    if (gaps[named] != longest.gap) {
        pr_err("gap %p[%u] is not the largest gap %lu\n", here.node, named, longest.gap);
        MT_BUG_ON(mas->tree, 1);
    }
    for (unsigned offset = longest.offset + 1; offset < mt_slots[here.type]; ++offset) {
        if (gaps[offset] != 0) {
            pr_err("gap %p[%u] beyond node limit != 0\n", here.node, offset);
            MT_BUG_ON(mas->tree, 1);
        }
    }
}

void mas_validate_gaps(ma_state *mas)
{
    const NodeView here(mas->node);
    const Longest longest = validate_slot_gaps(mas, here);

    if (here.type == maple_arange_64)
        validate_gap_record(mas, here, longest);
    if (mte_is_root(mas->node))
        return;

    maple_node *parent = mte_parent(mas->node);
    const unsigned slot = mte_parent_slot(mas->node);
    MT_BUG_ON(mas->tree, longest.gap > mas->max);
    if (parent->ma64.gap[slot] != longest.gap) {
        pr_err("gap %p[%u] != %lu\n", parent, slot, longest.gap);
        mt_dump(mas->tree, mt_dump_hex);
        MT_BUG_ON(mas->tree, 1);
    }
}

// ---- parents and children

// The parent points to the node from exactly one slot: the one the node tells.
void mas_validate_parent_slot(ma_state *mas)
{
    if (mte_is_root(mas->node))
        return;

    const NodeView parent(mte_parent(mas->node), mas_parent_type(mas, mas->node));
    const unsigned told = mte_parent_slot(mas->node);
    MT_BUG_ON(mas->tree, mas_mn(mas) == parent.node);

    for (unsigned slot = 0; slot < mt_slots[parent.type]; ++slot) {
        const bool points_here = child_of(mas, parent, slot) == mas->node;
        if (slot == told) {
            if (!points_here)
                pr_err("parent %p[%u] does not have %p\n", parent.node, slot, mas_mn(mas));
            MT_BUG_ON(mas->tree, !points_here);
        } else if (points_here) {
            pr_err("Invalid child %p at parent %p[%u] p_slot %u\n", mas_mn(mas), parent.node, slot, told);
            MT_BUG_ON(mas->tree, points_here);
        }
    }
}

void validate_child(const ma_state *mas, const NodeView &here, unsigned slot)
{
    maple_enode *child = child_of(mas, here, slot);

    if (!child) {
        pr_err("Non-leaf node lacks child at %p[%u]\n", here.node, slot);
        MT_BUG_ON(mas->tree, 1);
        return;
    }
    if (mte_parent_slot(child) != slot) {
        pr_err("Slot error at %p[%u]: child %p has pslot %u\n", here.node, slot, mte_to_node(child),
               mte_parent_slot(child));
        MT_BUG_ON(mas->tree, 1);
    }
    if (mte_parent(child) != here.node) {
        pr_err("child %p has parent %p not %p\n", mte_to_node(child), mte_parent(child), here.node);
        MT_BUG_ON(mas->tree, 1);
    }
}

void mas_validate_child_slot(ma_state *mas)
{
    const NodeView here(mas->node);
    if (here.is_leaf())
        return;

    for (unsigned slot = 0; slot < mt_slots[here.type]; ++slot) {
        validate_child(mas, here, slot);
        if (here.last(slot, mas->max) == mas->max)
            break;
    }
}

// ---- pivots, data end

void validate_pivot(ma_state *mas, unsigned slot, unsigned long pivot, unsigned long before)
{
    if (pivot == 0 && slot != 0) {
        pr_err("Missing node limit pivot at %p[%u]", mas_mn(mas), slot);
        MAS_WARN_ON(mas, 1);
    }
    if (before > pivot) {
        pr_err("%p[%u] piv %lu < prev_piv %lu\n", mas_mn(mas), slot, pivot, before);
        MAS_WARN_ON(mas, pivot < before);
    }
    if (pivot < mas->min) {
        pr_err("%p[%u] %lu < %lu\n", mas_mn(mas), slot, pivot, mas->min);
        MAS_WARN_ON(mas, pivot < mas->min);
    }
    if (pivot > mas->max) {
        pr_err("%p[%u] %lu > %lu\n", mas_mn(mas), slot, pivot, mas->max);
        MAS_WARN_ON(mas, pivot > mas->max);
    }
}

// Behind the data end nothing is left over, but for the metadata in the last slot.
void validate_tail(ma_state *mas, const NodeView &here, unsigned slot)
{
    void *entry = slot_of(mas, here, slot);
    if (entry && slot != mt_slots[here.type] - 1u) {
        pr_err("%p[%u] should not have entry %p\n", here.node, slot, entry);
        MT_BUG_ON(mas->tree, entry != nullptr);
    }
    if (slot < here.nr_pivots() && here.pivots[slot] != 0) {
        pr_err("%p[%u] should not have piv %lu\n", here.node, slot, here.pivots[slot]);
        MAS_WARN_ON(mas, slot < here.nr_pivots() - 1);
    }
}

// The pivots ascend inside the node's range up to its maximum, and there the data end.
void mas_validate_limits(ma_state *mas)
{
    const NodeView here(mas->node);
    unsigned long before = 0;
    unsigned slot = 0;

    for (; slot < mt_slots[here.type]; ++slot) {
        const unsigned long pivot = here.last(slot, mas->max);
        validate_pivot(mas, slot, pivot, before);
        if (pivot == mas->max)
            break;
        before = pivot;
    }
    if (mas_data_end(mas) != slot) {
        pr_err("node%p: data_end %u != the last slot offset %u\n", here.node, mas_data_end(mas), slot);
        MT_BUG_ON(mas->tree, 1);
    }
    while (++slot < mt_slots[here.type])
        validate_tail(mas, here, slot);
}

// ---- visiting

// The leftmost node of the level `depth` steps below the root.
void stand_leftmost(ma_state *mas, unsigned depth)
{
    mas_reset(mas);
    mas_start(mas);
    while (depth-- != 0)
        mas_descend(mas);
}

unsigned levels_below_root(ma_state *mas)
{
    unsigned depth = 0;

    for (stand_leftmost(mas, 0); !mte_is_leaf(mas->node); ++depth)
        mas_descend(mas);
    return depth;
}

void validate_node(ma_state *mas)
{
    MAS_WARN_ON(mas, mte_dead_node(mas->node));
    const unsigned end = mas_data_end(mas);
    if (MAS_WARN_ON(mas, end < mt_min_slot_count(mas->node) && !mte_is_root(mas->node)))
        pr_err("Invalid size %u of %p\n", end, mas_mn(mas));

    mas_validate_parent_slot(mas);
    mas_validate_limits(mas);
    mas_validate_child_slot(mas);
    if (mt_is_alloc(mas->tree))
        mas_validate_gaps(mas);
}

// From the leftmost leaf to the right: no NULL beside another one. The cursor stands on that leaf.
void mt_validate_nulls(ma_state *mas)
{
    bool after_null = false;

    do {
        const NodeView leaf(mas->node);
        const unsigned end = mas_data_end(mas);
        for (unsigned slot = 0; slot <= end; ++slot) {
            const bool null = !slot_of(mas, leaf, slot);
            if (after_null && null)
                pr_err("Sequential nulls end at %p[%u]\n", leaf.node, slot);
            MT_BUG_ON(mas->tree, after_null && null);
            after_null = null;
        }
        mas_next_node(mas, ULONG_MAX);
    } while (!mas_is_overflow(mas));
}

} // namespace

void mt_validate(struct maple_tree *mt)
{
    MA_STATE(mas, mt, 0, 0);

    mas_start(&mas);
    if (!mas_is_active(&mas))
        return;

    const unsigned leaves = levels_below_root(&mas);
    for (unsigned depth = leaves + 1; depth-- != 0;) {
        stand_leftmost(&mas, depth);
        while (!mas_is_overflow(&mas)) {
            validate_node(&mas);
            mas_next_node(&mas, ULONG_MAX);
        }
    }
    stand_leftmost(&mas, leaves);
    mt_validate_nulls(&mas);
}
