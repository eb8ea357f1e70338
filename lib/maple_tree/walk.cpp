// SPDX-License-Identifier: GPL-2.0-only
//
// From the root to an index.
//
// Owns     nothing; see walk.h.
// Locking  the caller's lock or read section. A slot is read with acquire (P2), a pivot or the metadata as
//          one relaxed word, and the dead mark (D2) after everything that is taken from a node.
// Fails    never: a dead node on the way sends the walk back to the root.
#include "lib/maple_tree/walk.h"

#include "lib/maple_tree/walk_scan.h"

namespace kmirror::maple {

namespace {

// Status and fields of a cursor whose tree has no nodes. Returns what mas_start() answers.
void *start_without_nodes(ma_state *mas, void *root)
{
    mas->node = nullptr;
    mas->offset = MAPLE_NODE_SLOTS;
    mas->status = root ? ma_root : ma_none;
    return mas->index == 0 ? root : nullptr;
}

// What mas_walk() makes of a tree without nodes: one range below index 1 and one from there on, or nothing
// but NULL.
void *walk_without_nodes(ma_state *mas, void *entry)
{
    if (mas_is_ptr(mas) && mas->index == 0) {
        mas->last = 0;
        return entry;
    }
    mas->index = mas_is_ptr(mas) ? 1 : 0;
    mas->last = ULONG_MAX;
    mas->status = ma_none;
    return nullptr;
}

// The bodies of the walk, one inside the other in each function that walks.

[[gnu::always_inline]] inline void *start(ma_state *mas)
{
    if (!mas_is_start(mas)) [[unlikely]]
        return nullptr;

    mas->min = 0;
    mas->max = ULONG_MAX;
    mas->depth = 0;
    for (;;) {
        void *root = mas_root(mas);
        if (!xa_is_node(root)) [[unlikely]]
            return start_without_nodes(mas, root);
        if (mte_dead_node(mte_safe_root(root))) [[unlikely]]
            continue;
        mas->node = mte_safe_root(root);
        mas->offset = 0;
        mas->status = ma_active;
        return nullptr;
    }
}

[[gnu::always_inline]] inline void *range_walk(ma_state *mas)
{
    maple_enode *enode = mas->node;
    unsigned long min = mas->min;
    unsigned long max = mas->max;

    for (;;) {
        const NodeView here(enode);
        const SlotRange found = scan_range(here, mas->index, min, max);
        void *entry = mas_slot(mas, here.slots, found.offset);
        const unsigned char end = here.is_leaf() ? here.end(max) : 0;
        if (here.is_dead()) [[unlikely]] {
            mas_reset(mas);
            return nullptr;
        }
        if (here.is_leaf()) {
            mas->node = enode;
            mas->min = min;
            mas->max = max;
            mas->offset = static_cast<unsigned char>(found.offset);
            mas->end = end;
            mas->index = found.first;
            mas->last = found.last;
            return entry;
        }
        enode = static_cast<maple_enode *>(entry);
        prefetch_node(enode);
        min = found.first;
        max = found.last;
    }
}

[[gnu::always_inline]] inline void *state_walk(ma_state *mas)
{
    void *entry = start(mas);
    return mas_is_none(mas) || mas_is_ptr(mas) ? entry : range_walk(mas);
}

} // namespace

void *mas_start(ma_state *mas) { return start(mas); }

void *mtree_range_walk(ma_state *mas) { return range_walk(mas); }

void *mas_state_walk(ma_state *mas) { return state_walk(mas); }

void mas_rewalk(ma_state *mas, unsigned long index)
{
    do {
        mas_set(mas, index);
        state_walk(mas);
    } while (mas_is_start(mas));
    VM_BUG_ON(mas_is_active(mas) && (mas->last < index || mas->index > index));
}

bool mas_take_root(ma_state *mas, unsigned long min, void **entry)
{
    void *root = mas_root(mas);
    if (xa_is_node(root)) [[unlikely]] {
        mas->status = ma_start;
        return false;
    }
    if (min > 0) {
        mas->status = ma_underflow;
        return true;
    }
    mas->index = 0;
    mas->last = 0;
    mas->status = ma_root;
    *entry = root;
    return true;
}

} // namespace kmirror::maple

using namespace kmirror::maple;

void *mas_walk(struct ma_state *mas)
{
    void *entry;

    mas_make_walkable(mas);
    do
        entry = state_walk(mas);
    while (mas_is_start(mas));

    if (!mas_is_active(mas)) [[unlikely]]
        return walk_without_nodes(mas, entry);
    VM_BUG_ON(mas->index < mas->min || mas->last > mas->max || mas->offset > mas->end);
    return entry;
}
