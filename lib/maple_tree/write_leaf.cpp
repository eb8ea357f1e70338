// SPDX-License-Identifier: GPL-2.0-only
//
// Stores that stay inside one leaf.
//
//   writer        where               tree in RCU mode               pivots that move
//   append        the leaf itself     never                          the last, and new ones behind it
//   slot store    the leaf itself     one pivot at most              one or two
//   node store    a copy              always a copy, one node        any
//                 the leaf itself     (not in RCU mode)
//
// In a tree without RCU mode every reader holds the lock, so what is written in place needs no order. In
// RCU mode a slot store is visible step by step: first the entry, then the pivot, both single words. A
// reader in between finds every index in its old or in its new range.
//
// Owns     the copy, until mas_replace_node() has published it.
// Locking  the tree's write lock.
#include "lib/maple_tree/write_leaf.h"

#include "lib/maple_tree/plan.h"
#include "lib/maple_tree/publish.h"
#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/walk.h"
#include "lib/maple_tree/write.h"

#include <linux/string.h>

#include <trace/events/maple_tree.h>

namespace kmirror::maple {

namespace {

static_assert(mt_slots[maple_leaf_64] == mt_pivots[maple_leaf_64] + 1, "the last slot has no pivot");

// A leaf while its slots are put into their new places.
class LeafRewrite {
public:
    explicit LeafRewrite(ma_wr_state *wr_mas)
        : wr_mas_(wr_mas), old_(wr_mas->node, wr_mas->type), patch_(slots_, lasts_, *wr_mas, *wr_mas),
          start_(wr_mas->mas->offset), tail_(wr_mas->offset_end + 1u), old_end_(wr_mas->mas->end),
          new_end_(start_ + patch_.count() + old_end_ - wr_mas->offset_end - 1)
    {
        VM_BUG_ON(new_end_ != mas_wr_new_end(wr_mas) || new_end_ >= mt_slots[old_.type]);
    }

    void in_place()
    {
        copy_tail(old_);
        place(old_);
        clear_behind(old_);
    }

    // `node` is fresh: all its words are zero.
    void into(maple_node *node)
    {
        const NodeView fresh(node, old_.type);
        memcpy(fresh.slots, old_.slots, start_ * sizeof(void *));
        memcpy(fresh.pivots, old_.pivots, start_ * sizeof(unsigned long));
        copy_tail(fresh);
        place(fresh);
    }

    // Where the cursor belongs now.
    void stand_on_entry() const
    {
        ma_state *mas = wr_mas_->mas;
        mas->offset = static_cast<unsigned char>(start_ + patch_.entry_at());
        mas->end = static_cast<unsigned char>(new_end_);
    }

private:
    // Slots behind the run that is replaced. The pivot of the very last slot is the node's max: place()
    // writes it.
    void copy_tail(const NodeView &to)
    {
        if (tail_ > old_end_)
            return;
        const unsigned at = start_ + patch_.count();
        const unsigned count = old_end_ - tail_ + 1;
        memmove(to.slots + at, old_.slots + tail_, count * sizeof(void *));
        memmove(to.pivots + at, old_.pivots + tail_, (count - 1) * sizeof(unsigned long));
    }

    void place(const NodeView &to)
    {
        for (unsigned i = 0; i < patch_.count(); i++) {
            to.slots[start_ + i] = slots_[i];
            set_pivot(to, start_ + i, lasts_[i]);
        }
        set_pivot(to, new_end_, wr_mas_->mas->max);
        if (new_end_ < mt_pivots[to.type])
            ma_set_meta(to.node, to.type, 0, static_cast<unsigned char>(new_end_));
    }

    static void set_pivot(const NodeView &to, unsigned at, unsigned long last)
    {
        if (at < mt_pivots[to.type])
            to.pivots[at] = last;
    }

    // A reader tells the end of a node from what lies behind it, so nothing stale may stay there. The last
    // slot holds the metadata unless it held an entry before.
    void clear_behind(const NodeView &to)
    {
        const unsigned end = old_end_ < mt_pivots[to.type] ? old_end_ : mt_pivots[to.type] - 1u;
        for (unsigned i = new_end_ + 1; i <= end; i++) {
            to.slots[i] = nullptr;
            to.pivots[i] = 0;
        }
        if (old_end_ == mt_pivots[to.type] && new_end_ < old_end_) {
            to.slots[old_end_] = nullptr;
            ma_set_meta(to.node, to.type, 0, static_cast<unsigned char>(new_end_));
        }
    }

    ma_wr_state *wr_mas_;
    void *slots_[kPatchSlots];
    unsigned long lasts_[kPatchSlots];
    const NodeView old_;
    const LeafPatch patch_;
    const unsigned start_;
    const unsigned tail_;
    const unsigned old_end_;
    const unsigned new_end_;
};

} // namespace

void mas_wr_append(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    VM_BUG_ON(mt_in_rcu(mas->tree) || mas->offset != mas->end);

    LeafRewrite leaf(wr_mas);
    leaf.in_place();
    leaf.stand_on_entry();
    // What is split is the last slot: only a NULL before or after it can change the leaf's largest gap.
    if (!wr_mas->content || !wr_mas->entry)
        mas_update_gap(mas);
    trace_ma_write(__func__, mas, mas->end, wr_mas->entry);
}

void mas_wr_node_store(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    trace_ma_op(__func__, mas);

    LeafRewrite leaf(wr_mas);
    if (mt_in_rcu(mas->tree)) {
        maple_node *fresh = mas_pop_node(mas);
        maple_enode *const old_enode = mas->node;
        leaf.into(fresh);
        ma_set_parent(fresh, ma_parent(wr_mas->node));
        mas->node = mt_mk_node(fresh, wr_mas->type);
        mas_replace_node(mas, old_enode, mas_mt_height(mas));
    } else {
        leaf.in_place();
    }
    leaf.stand_on_entry();
    trace_ma_write(__func__, mas, 0, wr_mas->entry);
    mas_update_gap(mas);
}

void mas_wr_slot_store(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    const unsigned first = mas->offset;
    const bool keeps_start = wr_mas->r_min < mas->index;
    const bool keeps_end = mas->last < wr_mas->end_piv;
    const unsigned target = first + keeps_start;
    VM_BUG_ON(mt_in_rcu(mas->tree) && keeps_start && keeps_end);

    bool gap = !wr_mas->entry;
    for (unsigned i = first; i <= wr_mas->offset_end; i++)
        gap |= !mas_slot_locked(mas, wr_mas->slots, i);

    rcu_assign_pointer(wr_mas->slots[target], wr_mas->entry);            // (P1)
    if (keeps_start)
        word_write(&wr_mas->pivots[first], mas->index - 1);
    if (keeps_end)
        word_write(&wr_mas->pivots[target], mas->last);

    mas->offset = static_cast<unsigned char>(target);
    trace_ma_write(__func__, mas, 0, wr_mas->entry);
    if (gap)
        mas_update_gap(mas);
}

} // namespace kmirror::maple
