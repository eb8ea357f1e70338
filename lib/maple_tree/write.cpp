// SPDX-License-Identifier: GPL-2.0-only
//
// From the plan to its writer.
//
// Locking  the tree's write lock.
// Fails    never: a store type that no plan produces is a bug.
#include "lib/maple_tree/write.h"

#include "lib/maple_tree/publish.h"

namespace kmirror::maple {

namespace {

// The same range gets another entry: one pointer, seen by readers before or after.
void store_exact_fit(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    const bool was_null = !wr_mas->content;
    rcu_assign_pointer(wr_mas->slots[mas->offset], wr_mas->entry);      // (P1)
    if (was_null != !wr_mas->entry)
        mas_update_gap(mas);
}

} // namespace

void mas_wr_store_entry(ma_wr_state *wr_mas)
{
    switch (wr_mas->mas->store_type) {
    case wr_exact_fit: store_exact_fit(wr_mas); return;
    case wr_append: mas_wr_append(wr_mas); return;
    case wr_slot_store: mas_wr_slot_store(wr_mas); return;
    case wr_node_store: mas_wr_node_store(wr_mas); return;
    case wr_split_store: mas_wr_split(wr_mas); return;
    case wr_rebalance: mas_wr_rebalance(wr_mas); return;
    case wr_spanning_store: mas_wr_spanning_store(wr_mas); return;
    case wr_new_root: mas_new_root(wr_mas->mas, wr_mas->entry); return;
    case wr_store_root: mas_store_root(wr_mas->mas, wr_mas->entry); return;
    case wr_invalid: break;
    }
    BUG();
}

} // namespace kmirror::maple
