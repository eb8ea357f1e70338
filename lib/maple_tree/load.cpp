// SPDX-License-Identifier: GPL-2.0-only
//
// The simple reading API: one index, or the first entry from an index on.
//
//   mtree_load             load_index: no cursor, nothing written; two loads per level wait for each other
//   mt_find, mt_find_after mas_state_walk, then mas_next_slot until an entry is found
//
// Owns     nothing.
// Locking  enters a read section. The entry that is returned is no longer protected by it.
// Fails    never: a node that dies under the walk sends it back to the root.
#include "lib/maple_tree/walk.h"
#include "lib/maple_tree/walk_scan.h"

#include <trace/events/maple_tree.h>

using namespace kmirror::maple;

namespace {

// From `enode` down to the entry at `index`. False: a node on the way was dead.
[[gnu::always_inline]] inline bool load_below(const maple_tree *mt, const maple_enode *enode,
                                              unsigned long index, void **entry)
{
    for (;;) {
        const NodeView here(enode);
        *entry = mt_slot(mt, here.slots, scan_offset(here, index));
        if (here.is_dead()) [[unlikely]]
            return false;
        if (here.is_leaf())
            return true;
        enode = static_cast<maple_enode *>(*entry);
        prefetch_node(enode);
    }
}

[[gnu::always_inline]] inline void *load_index(const maple_tree *mt, unsigned long index)
{
    for (;;) {
        void *entry = mt_root(mt);
        if (!xa_is_node(entry)) [[unlikely]]
            return index == 0 ? entry : nullptr;
        if (load_below(mt, mte_safe_root(entry), index, &entry)) [[likely]]
            return entry;
    }
}

void *hide_zero(void *entry) { return xa_is_zero(entry) ? nullptr : entry; }

// The first visible entry at or after mas->index, up to `max`; the cursor then stands on it.
void *find_first(ma_state *mas, unsigned long max)
{
    void *entry;

    do
        entry = hide_zero(mas_state_walk(mas));
    while (mas_is_start(mas));

    while (!entry && mas_is_active(mas) && mas->last < max)
        entry = hide_zero(mas_next_slot(mas, max, false));
    return entry;
}

// Not cold: for size the compiler would fill the cursor with a string instruction.
[[gnu::noinline]] void trace_load(const char *fn, maple_tree *mt, unsigned long index)
{
    MA_STATE(mas, mt, index, index);
    trace_ma_read(fn, &mas);
}

} // namespace

void *mtree_load(struct maple_tree *mt, unsigned long index)
{
    if (trace_ma_read_enabled()) [[unlikely]]
        trace_load(__func__, mt, index);
    rcu_read_lock();
    void *entry = load_index(mt, index);
    rcu_read_unlock();
    return hide_zero(entry);
}

void *mt_find(struct maple_tree *mt, unsigned long *index, unsigned long max)
{
    const unsigned long from = *index;
    if (from > max)
        return nullptr;

    MA_STATE(mas, mt, from, from);
    trace_ma_read(__func__, &mas);
    rcu_read_lock();
    void *entry = find_first(&mas, max);
    rcu_read_unlock();
    if (!entry)
        return nullptr;

    *index = mas.last + 1;
    // A loop over the tree ends because the index grows until it wraps to 0.
    if (KMIRROR_CHECKS && MT_WARN_ON(mt, *index != 0 && *index <= from))
        pr_err("index not increased! %lx <= %lx\n", *index, from);
    return entry;
}

void *mt_find_after(struct maple_tree *mt, unsigned long *index, unsigned long max)
{
    return *index == 0 ? nullptr : mt_find(mt, index, max);
}
