// SPDX-License-Identifier: GPL-2.0-only
//
// Split and rebalance: one leaf has become too full or too small.
//
//                full (split)                                 too small (rebalance)
//   alone        two nodes instead of one                     -
//   neighbour    if both together leave a slot free, the      the one on the right, else on the left: shared
//                left one first: shared out over the two      out again, or both in one node
//
// Either way a number of slots in the parent becomes another number, and if that makes the parent full or
// too small it is the parent's turn. The two differ only in when they ask which neighbour.
//
// Owns     nothing beyond TreeCopy.
// Locking  the tree's write lock.
#include "lib/maple_tree/plan.h"
#include "lib/maple_tree/publish.h"
#include "lib/maple_tree/walk.h"
#include "lib/maple_tree/walk_scan.h"
#include "lib/maple_tree/write.h"
#include "lib/maple_tree/write_copy.h"
#include "lib/maple_tree/write_patch.h"

#include <trace/events/maple_tree.h>

namespace kmirror::maple {

namespace {

// Of one level: the node that changes is the child of `parent` in slot parent.offset.
struct Rung {
    ma_wr_state *wr_mas;
    ma_state parent;
    ma_state sib;

    bool is_root() const { return mte_is_root(wr_mas->mas->node); }

    // Make `sib` the child in slot `offset` of the parent.
    void look_at(unsigned offset)
    {
        sib = parent;
        sib.offset = static_cast<unsigned char>(offset);
        mas_descend(&sib);
        sib.end = mas_data_end(&sib);
    }
    bool sib_fits(unsigned data) const { return data_fits(wr_mas->type, sib.end, data); }
    bool has_left() const { return parent.offset != 0; }
    bool has_right() const { return parent.offset < parent.end; }
};

// Is there a neighbour that can take some of `data` slots? It is then in rung->sib.
bool push_data_sib(Rung *rung, unsigned data)
{
    if (rung->is_root())
        return false;
    if (rung->has_left()) {
        rung->look_at(rung->parent.offset - 1u);
        if (rung->sib_fits(data))
            return true;
    }
    if (!rung->has_right())
        return false;
    rung->look_at(rung->parent.offset + 1u);
    return rung->sib_fits(data);
}

// The neighbour that a node which is too small takes slots from, or joins.
void rebalance_sib(Rung *rung)
{
    rung->look_at(rung->has_right() ? rung->parent.offset + 1u : rung->parent.offset - 1u);
}

// Does a neighbour take part when this level will hold `data` slots?
bool split_takes_sib(Rung *rung, unsigned data)
{
    return data > mt_slots[rung->wr_mas->type] && push_data_sib(rung, data);
}

bool rebalance_takes_sib(Rung *rung, unsigned data)
{
    if (data > mt_slots[rung->wr_mas->type])
        return push_data_sib(rung, data);
    if (data > mt_min_slots[rung->wr_mas->type] || rung->is_root())
        return false;
    rebalance_sib(rung);
    return true;
}

// The write goes on in the parent, at the slots of the nodes that were replaced.
void stand_on_parent(Rung *rung)
{
    ma_state *mas = rung->wr_mas->mas;
    const ma_state &parent = rung->parent;
    mas->node = parent.node;
    mas->offset = parent.offset;
    mas->min = parent.min;
    mas->max = parent.max;
    mas->end = parent.end;
    mas->depth = parent.depth;
    wr_mas_setup(rung->wr_mas, mas);
}

// A level is written. Returns whether the next one has to be, too.
bool ascend(TreeCopy *copy, Rung *rung, bool with_sib)
{
    ma_state *mas = rung->wr_mas->mas;
    unsigned long min = mas->min;
    unsigned long max = mas->max;
    unsigned char first = rung->parent.offset;
    unsigned char last = rung->parent.offset;

    if (with_sib && rung->sib.max < min) {
        min = rung->sib.min;
        first--;
    } else if (with_sib) {
        max = rung->sib.max;
        last++;
    }

    copy->cp_dst_to_slots(min, max);
    if (copy->cp_is_new_root() || copy->cp_converged(!with_sib))
        return false;

    copy->go_up();
    rung->parent.offset = first;
    rung->wr_mas->offset_end = last;
    stand_on_parent(rung);
    return true;
}

template <class TakesSib>
void write_levels(ma_wr_state *wr_mas, TakesSib takes_sib)
{
    ma_state *mas = wr_mas->mas;
    TreeCopy copy(mas);
    Rung rung{wr_mas, *mas, *mas};
    bool with_sib;

    if (!rung.is_root() && mt_in_rcu(mas->tree))
        prefetch_children(mte_parent(mas->node), mas_parent_type(mas, mas->node));
    copy.cp_leaf_init(*wr_mas, *wr_mas);
    do {
        const unsigned data = copy.cp_data_calc(*wr_mas, *wr_mas);
        if (can_patch_parent(mas, copy.cp(), data, rung.is_root()))
            return mas_wr_patch_parent(mas, copy.cp(), mas->offset, wr_mas->offset_end);
        if (!mte_is_root(rung.parent.node)) {
            mas_ascend(&rung.parent);
            rung.parent.end = mas_data_end(&rung.parent);
        }
        with_sib = takes_sib(&rung, data);
        copy.write_level(*wr_mas, *wr_mas, with_sib ? &rung.sib : nullptr);
    } while (ascend(&copy, &rung, with_sib));

    mas_wmb_replace(mas, copy.cp());
}

} // namespace

void mas_wr_split(ma_wr_state *wr_mas)
{
    trace_ma_write(__func__, wr_mas->mas, 0, wr_mas->entry);
    write_levels(wr_mas, split_takes_sib);
}

void mas_wr_rebalance(ma_wr_state *wr_mas)
{
    trace_ma_op(__func__, wr_mas->mas);
    write_levels(wr_mas, rebalance_takes_sib);
}

} // namespace kmirror::maple
