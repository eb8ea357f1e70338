// SPDX-License-Identifier: GPL-2.0-only
//
// The plan of a store: see plan.h for the steps.
//
// How many nodes. Let h be the height of the tree, v the lowest level (from the root, counted from 1) on
// the way down whose node has a free slot, s the lowest whose node can lose a slot and still not be too
// small; 0 where there is none.
//   split       2 * (h - v) + 1             two nodes on each level below v, and one more
//   rebalance   2 * (h - min(v, s)) + 1     ends at s, but what is taken from a neighbour may need v
//   span        3 * (h - min(v, s)) + 1     up to three nodes on each of these levels
// A walk that began below the root knows nothing of the levels it skipped: v and s are 0 there, which is
// safe.
//
// Locking  the tree's write lock; slots are read as their writer.
#include "lib/maple_tree/plan.h"

#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/walk.h"
#include "lib/maple_tree/walk_scan.h"

#include <trace/events/maple_tree.h>

namespace kmirror::maple {

// ------------------------------------------------------------------ walking down

void wr_mas_setup(ma_wr_state *wr_mas, ma_state *mas)
{
    const NodeView view(mas->node);
    wr_mas->node = view.node;
    wr_mas->type = view.type;
    wr_mas->pivots = view.pivots;
    wr_mas->slots = view.slots;
    wr_mas->r_min = view.first(mas->offset, mas->min);
    wr_mas->r_max = view.last(mas->offset, mas->max);
}

void mas_wr_walk_descend(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    const NodeView view(mas->node);
    const unsigned char end = view.end(mas->max);
    // A span looks for the index behind its end, which may lie behind this node: the last slot stands for it.
    const unsigned found = scan_offset(view, mas->index);
    const auto offset = static_cast<unsigned char>(found < end ? found : end);

    mas->end = end;
    mas->offset = offset;
    wr_mas->node = view.node;
    wr_mas->type = view.type;
    wr_mas->pivots = view.pivots;
    wr_mas->slots = view.slots;
    wr_mas->offset_end = offset;
    wr_mas->r_min = view.first(offset, mas->min);
    wr_mas->r_max = offset < end ? view.pivots[offset] : mas->max;
}

bool mas_is_span_wr(const ma_wr_state *wr_mas)
{
    const ma_state *mas = wr_mas->mas;
    const bool leaf = ma_is_leaf(wr_mas->type);

    if (mas->last < wr_mas->r_max)
        return false;
    const unsigned long limit = leaf ? mas->max : wr_mas->r_max;
    if (mas->last != limit)
        return mas->last > limit;
    // Up to the very end: only a NULL needs the next leaf as well, and there is none behind ULONG_MAX.
    return !wr_mas->entry && limit != ULONG_MAX;
}

namespace {

// Into the child that the last step found.
void mas_wr_walk_traverse(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    mas->min = wr_mas->r_min;
    mas->max = wr_mas->r_max;
    mas->node = static_cast<maple_enode *>(wr_mas->content);
    prefetch_node(mas->node);
    mas->offset = 0;
    mas->depth++;
}

// What the levels above may be spared, for mas_prealloc_calc(): `end` is the data end of a node of that height.
void note_heights(ma_wr_state *wr_mas, const NodeView &view, unsigned end, unsigned height)
{
    // A root that has lost one of three children still has two; with one left the tree would become lower.
    const unsigned enough = ma_is_root(view.node) ? 2 : mt_min_slots[view.type] + 1u;

    if (end + 1 < mt_slots[view.type])
        wr_mas->vacant_height = static_cast<unsigned char>(height);
    if (end > enough)
        wr_mas->sufficient_height = static_cast<unsigned char>(height);
}

// Does a store of `entry` up to `last` leave the slot of an inner node that ends at `slot_last`? Up to its very end:
// only a NULL needs the next leaf as well, and there is none behind ULONG_MAX.
[[gnu::always_inline]] inline bool leaves_slot(unsigned long last, unsigned long slot_last, const void *entry)
{
    return last > slot_last || (last == slot_last && !entry && last != ULONG_MAX);
}

// Through the inner nodes as far as the range stays together, with all that a level leaves to the next in
// registers: the views of these nodes are of no use to anybody.
void walk_inner_nodes(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    maple_enode *enode = mas->node;
    unsigned long min = mas->min;
    unsigned long max = mas->max;
    unsigned depth = mas->depth;

    while (!mte_is_leaf(enode)) {
        const NodeView view(enode);
        const unsigned end = view.end(max);
        const unsigned offset = scan_offset(view, mas->index);
        const unsigned long last = offset < end ? view.pivots[offset] : max;
        if (leaves_slot(mas->last, last, wr_mas->entry))
            break;
        min = view.first(offset, min);
        max = last;
        enode = static_cast<maple_enode *>(mas_slot_locked(mas, view.slots, offset));
        prefetch_node(enode);
        note_heights(wr_mas, view, end, ++depth);
        wr_mas->content = enode;
    }
    mas->node = enode;
    mas->min = min;
    mas->max = max;
    mas->depth = static_cast<unsigned char>(depth);
}

} // namespace

bool mas_wr_walk(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    walk_inner_nodes(wr_mas);
    mas_wr_walk_descend(wr_mas);
    if (!mas_is_span_wr(wr_mas)) {
        wr_mas->content = mas_slot_locked(mas, wr_mas->slots, mas->offset);
        return true;
    }
    trace_ma_write(__func__, mas, wr_mas->r_max, wr_mas->entry);
    return false;
}

void mas_wr_walk_index(ma_wr_state *wr_mas)
{
    mas_wr_walk_descend(wr_mas);
    wr_mas->content = mas_slot_locked(wr_mas->mas, wr_mas->slots, wr_mas->mas->offset);
    while (!ma_is_leaf(wr_mas->type)) {
        mas_wr_walk_traverse(wr_mas);
        mas_wr_walk_descend(wr_mas);
        wr_mas->content = mas_slot_locked(wr_mas->mas, wr_mas->slots, wr_mas->mas->offset);
    }
}

// ------------------------------------------------------------------ the range inside the leaf

void mas_wr_end_piv(ma_wr_state *wr_mas)
{
    const ma_state *mas = wr_mas->mas;
    unsigned char offset = wr_mas->offset_end;

    while (offset < mas->end && wr_mas->pivots[offset] < mas->last)
        offset++;
    wr_mas->offset_end = offset;
    wr_mas->end_piv = offset < mas->end ? wr_mas->pivots[offset] : mas->max;
}

unsigned char mas_wr_new_end(const ma_wr_state *wr_mas)
{
    const ma_state *mas = wr_mas->mas;
    const unsigned replaced = wr_mas->offset_end - mas->offset + 1u;
    const unsigned placed = 1u + (wr_mas->r_min < mas->index) + (mas->last < wr_mas->end_piv);
    return static_cast<unsigned char>(mas->end + placed - replaced);
}

namespace {

// A NULL that ends in a NULL range takes all of it; one that ends right before a NULL range takes that one.
void extend_null_right(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    const unsigned char next = static_cast<unsigned char>(wr_mas->offset_end + 1);

    if (!wr_mas->slots[wr_mas->offset_end]) {
        mas->last = wr_mas->end_piv;
        return;
    }
    if (mas->last != wr_mas->end_piv || next > mas->end || wr_mas->slots[next])
        return;
    wr_mas->offset_end = next;
    wr_mas->end_piv = next < mas->end ? wr_mas->pivots[next] : mas->max;
    mas->last = wr_mas->end_piv;
}

// The same on the other side. Content stays what the caller's index held.
void extend_null_left(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;

    if (!wr_mas->content) {
        mas->index = wr_mas->r_min;
        return;
    }
    if (mas->index != wr_mas->r_min || mas->offset == 0 || wr_mas->slots[mas->offset - 1])
        return;
    mas->offset--;
    wr_mas->r_max = wr_mas->r_min - 1;
    wr_mas->r_min = mas_safe_min(mas, wr_mas->pivots, mas->offset);
    mas->index = wr_mas->r_min;
}

void mas_wr_extend_null(ma_wr_state *wr_mas)
{
    extend_null_right(wr_mas);
    extend_null_left(wr_mas);
}

void check_plan([[maybe_unused]] const ma_wr_state *wr_mas)
{
    [[maybe_unused]] const ma_state *mas = wr_mas->mas;
    VM_BUG_ON(mas->index < wr_mas->r_min || mas->index > wr_mas->r_max);                        // W1
    VM_BUG_ON(wr_mas->offset_end < mas->offset || wr_mas->offset_end > mas->end);               // W2
    VM_BUG_ON(mas->last > wr_mas->end_piv);                                                     // W2
    VM_BUG_ON(!wr_mas->entry && mas->index == wr_mas->r_min && mas->offset != 0 &&
              !wr_mas->slots[mas->offset - 1]);                                                 // W3
    VM_BUG_ON(!wr_mas->entry && mas->last == wr_mas->end_piv && wr_mas->offset_end != mas->end &&
              !wr_mas->slots[wr_mas->offset_end + 1]);                                          // W3
}

bool covers_all(const ma_state *mas)
{
    return mas->index == 0 && mas->last == ULONG_MAX;
}

// Which writer, once the leaf and the run of slots are known. An append or a shift of more than one pivot
// would show readers without a lock a range that never was, so in RCU mode they are made on a copy.
store_type leaf_store_type(const ma_wr_state *wr_mas)
{
    const ma_state *mas = wr_mas->mas;
    const unsigned char new_end = mas_wr_new_end(wr_mas);
    const bool in_rcu = mt_in_rcu(mas->tree);
    const bool too_small = new_end < mt_min_slots[wr_mas->type];
    const bool one_pivot = wr_mas->offset_end - mas->offset == 1;

    if (new_end >= mt_slots[wr_mas->type])
        return wr_split_store;
    if (too_small && !mte_is_root(mas->node))
        return wr_rebalance;
    if (!in_rcu && mas->offset == mas->end)
        return wr_append;
    // A small root is never patched in place under readers, nor over more than one pivot.
    if (new_end == mas->end && (too_small ? !in_rcu && one_pivot : !in_rcu || one_pivot))
        return wr_slot_store;
    return wr_node_store;
}

} // namespace

// ------------------------------------------------------------------ the plan

namespace {

// May the walk go on from where the cursor stands? Not if the range leaves the node, and not if it is a
// NULL up to the end of a leaf: a spanning store has to start at a common ancestor.
bool starts_here(const ma_wr_state *wr_mas)
{
    const ma_state *mas = wr_mas->mas;
    if (mas->index < mas->min || mas->last > mas->max)
        return false;
    return wr_mas->entry || mas->last != mas->max || !mte_is_leaf(mas->node);
}

unsigned levels_rewritten(const ma_wr_state *wr_mas, unsigned spared)
{
    const unsigned height = mas_mt_height(wr_mas->mas);
    VM_BUG_ON(spared >= height);
    return height - spared;
}

unsigned nodes_needed(const ma_wr_state *wr_mas, const void *entry)
{
    const ma_state *mas = wr_mas->mas;
    const unsigned vacant = wr_mas->vacant_height;
    const unsigned both = wr_mas->sufficient_height < vacant ? wr_mas->sufficient_height : vacant;

    switch (mas->store_type) {
    case wr_exact_fit:
    case wr_append:
    case wr_slot_store: return 0;
    case wr_node_store: return mt_in_rcu(mas->tree) ? 1 : 0;
    case wr_split_store: return 2 * levels_rewritten(wr_mas, vacant) + 1;
    case wr_rebalance: return 2 * levels_rewritten(wr_mas, both) + 1;
    case wr_spanning_store: return 3 * levels_rewritten(wr_mas, both) + 1;
    case wr_new_root: return entry ? 1 : 0;
    // Only an untagged entry at index 0 alone fits into the root word.
    case wr_store_root: return mas->last != 0 || xa_is_internal(entry) ? 1 : 0;
    case wr_invalid: break;
    }
    (void)WARN_ON_ONCE(true);
    return 0;
}

} // namespace

void mas_wr_prealloc_setup(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    if (mas_is_active(mas) ? !starts_here(wr_mas) : !mas_is_start(mas))
        mas_reset(mas);
    // A second round plans anew: the tree may have changed while the lock was dropped.
    wr_mas->vacant_height = 0;
    wr_mas->sufficient_height = 0;
    wr_mas->content = mas_start(mas);
}

store_type mas_wr_store_type(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;

    if (!mas_is_active(mas)) [[unlikely]]
        return wr_store_root;
    if (!mas_wr_walk(wr_mas)) [[unlikely]]
        return wr_spanning_store;

    mas_wr_end_piv(wr_mas);
    if (!wr_mas->entry)
        mas_wr_extend_null(wr_mas);
    check_plan(wr_mas);

    const bool exact = wr_mas->r_min == mas->index && wr_mas->r_max == mas->last;
    // NULL everywhere is an empty tree, not a leaf with a NULL in it, even if it fits exactly.
    if (exact && (wr_mas->entry || !covers_all(mas)))
        return wr_exact_fit;
    if (covers_all(mas)) [[unlikely]]
        return wr_new_root;
    return leaf_store_type(wr_mas);
}

void mas_prealloc_calc(ma_wr_state *wr_mas, const void *entry)
{
    wr_mas->mas->node_request = nodes_needed(wr_mas, entry);
}

void mas_wr_plan(ma_wr_state *wr_mas)
{
    mas_wr_prealloc_setup(wr_mas);
    wr_mas->mas->store_type = mas_wr_store_type(wr_mas);
}

bool mas_wr_reserve(ma_wr_state *wr_mas, const AskedRange &asked, gfp_t gfp)
{
    ma_state *mas = wr_mas->mas;
    mas_prealloc_calc(wr_mas, wr_mas->entry);
    mas_alloc_nodes(mas, gfp);
    if (!mas_is_err(mas)) [[likely]]
        return true;
    asked.restore(mas);
    return false;
}

void mas_wr_preallocate(ma_wr_state *wr_mas, const void *entry)
{
    const AskedRange asked(wr_mas->mas);
    VM_BUG_ON(entry != wr_mas->entry);
    mas_wr_plan(wr_mas);
    (void)mas_wr_reserve(wr_mas, asked, GFP_NOWAIT);
}

} // namespace kmirror::maple
