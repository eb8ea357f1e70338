// SPDX-License-Identifier: GPL-2.0-only
//
// Spanning store: the range begins in one leaf and ends in another, or it is a NULL that reaches the end of
// a leaf.
//
// Two cursors go down, one to the first index (left), one to the index behind the last (right): a NULL at
// the end of the left part may have to be joined with one at the start of the right part, and a leaf may
// not end in NULL. What lies between the two on a level is covered and dropped. The remains of the left and
// the right node and what the store puts between them are written as one to three nodes; if that is too
// little for one, a neighbour outside takes part. Then both cursors go up one level, until they meet in one
// node or in the root.
//
// Owns     nothing beyond TreeCopy.
// Locking  the tree's write lock.
#include "lib/maple_tree/plan.h"
#include "lib/maple_tree/publish.h"
#include "lib/maple_tree/walk.h"
#include "lib/maple_tree/write.h"
#include "lib/maple_tree/write_copy.h"
#include "lib/maple_tree/write_patch.h"

#include <trace/events/maple_tree.h>

namespace kmirror::maple {

namespace {

// The two edges of the store on one level.
class Span {
public:
    explicit Span(ma_wr_state *left) : left_(left), right_mas_(*left->mas), right_(*left)
    {
        right_.mas = &right_mas_;
    }
    Span(const Span &) = delete;
    Span &operator=(const Span &) = delete;

    // Put both edges on their leaves. The left one is the caller's cursor, which stands on a common ancestor.
    void descend()
    {
        const ma_state *mas = left_->mas;
        // One behind the range; behind ULONG_MAX there is nothing, and no NULL to join.
        right_mas_.index = mas->last + (mas->last != ULONG_MAX);
        mas_wr_walk_index(&right_);
        right_mas_.index = mas->last;
        right_.end_piv = right_.r_max;
        mas_wr_walk_index(left_);
    }

    // A NULL takes the NULL ranges on both sides with it.
    void extend_null()
    {
        ma_state *mas = left_->mas;
        if (!left_->content)
            mas->index = left_->r_min;
        if (mas->index == left_->r_min && mas->offset != 0 &&
            !mas_slot_locked(mas, left_->slots, mas->offset - 1u)) {
            mas->offset--;
            left_->r_min = mas_safe_min(mas, left_->pivots, mas->offset);
            mas->index = left_->r_min;
        }
        if (!right_.content && mas->last < right_.r_max)
            mas->last = right_.r_max;
    }

    const ma_wr_state &left() const { return *left_; }
    const ma_wr_state &right() const { return right_; }
    bool covers_all() const { return left_->mas->min == 0 && right_mas_.max == ULONG_MAX; }
    bool in_one_node() const { return left_->mas->node == right_mas_.node; }

    // Would this level alone be too small for a node, although there are nodes outside?
    bool needs_sib(unsigned data) const { return data <= mt_min_slots[left_->type] && !covers_all(); }

    // The nearest node of this level outside the span, whatever its parent: the right one first.
    void spanning_sib(ma_state *sib) const
    {
        ma_state left = *left_->mas;
        ma_state right = right_mas_;
        for (unsigned levels = 1;; levels++) {
            mas_ascend(&left);
            mas_ascend(&right);
            if (right.offset < mas_data_end(&right)) {
                right.offset++;
                *sib = right;
                return first_below(sib, levels);
            }
            if (left.offset != 0) {
                left.offset--;
                *sib = left;
                return last_below(sib, levels);
            }
            BUG_ON(mte_is_root(left.node));
        }
    }

    // The neighbour was used up: it belongs to the span from now on.
    void take_in(const ma_state &sib)
    {
        copy_tree_location(sib, sib.max < left_->mas->min ? left_->mas : &right_mas_);
    }

    void ascend()
    {
        wr_mas_ascend(left_);
        wr_mas_ascend(&right_);
    }

private:
    static void first_below(ma_state *mas, unsigned levels)
    {
        for (; levels != 0; levels--) {
            mas_descend(mas);
            mas->offset = 0;
        }
        mas->end = mas_data_end(mas);
    }

    static void last_below(ma_state *mas, unsigned levels)
    {
        for (; levels != 0; levels--) {
            mas_descend(mas);
            mas->offset = mas_data_end(mas);
        }
        mas->end = mas->offset;
    }

    static void copy_tree_location(const ma_state &from, ma_state *to)
    {
        to->node = from.node;
        to->offset = from.offset;
        to->min = from.min;
        to->max = from.max;
        to->end = from.end;
        to->depth = from.depth;
    }

    static void wr_mas_ascend(ma_wr_state *wr_mas)
    {
        ma_state *mas = wr_mas->mas;
        mas_ascend(mas);
        wr_mas_setup(wr_mas, mas);
        mas->end = mas_data_end(mas);
        wr_mas->end_piv = wr_mas->r_max;
        wr_mas->offset_end = mas->offset;
    }

    ma_wr_state *left_;
    ma_state right_mas_;
    ma_wr_state right_;
};

// A level is written. Returns whether the next one has to be, too.
bool spanning_ascend(TreeCopy *copy, Span *span, const ma_state *sib)
{
    if (sib)
        span->take_in(*sib);
    copy->cp_dst_to_slots(span->left().mas->min, span->right().mas->max);
    if (copy->cp_is_new_root() || copy->cp_converged(span->in_one_node()))
        return false;
    copy->go_up();
    span->ascend();
    return true;
}

bool covers_every_index(const ma_state *mas)
{
    return mas->index == 0 && mas->last == ULONG_MAX;
}

void write_span(Span *span, ma_state *mas)
{
    TreeCopy copy(mas);
    ma_state sib;
    bool with_sib;

    copy.cp_leaf_init(span->left(), span->right());
    do {
        const unsigned data = copy.cp_data_calc(span->left(), span->right());
        if (span->in_one_node() && can_patch_parent(mas, copy.cp(), data, span->covers_all()))
            return mas_wr_patch_parent(mas, copy.cp(), mas->offset, span->right().offset_end);
        with_sib = span->needs_sib(data);
        if (with_sib)
            span->spanning_sib(&sib);
        copy.write_level(span->left(), span->right(), with_sib ? &sib : nullptr);
    } while (spanning_ascend(&copy, span, with_sib ? &sib : nullptr));

    mas_wmb_replace(mas, copy.cp());
}

} // namespace

void mas_wr_spanning_store(ma_wr_state *wr_mas)
{
    ma_state *mas = wr_mas->mas;
    trace_ma_op(__func__, mas);
    if (covers_every_index(mas)) [[unlikely]]
        return mas_new_root(mas, wr_mas->entry);

    Span span(wr_mas);
    span.descend();
    if (!wr_mas->entry)
        span.extend_null();
    // With the NULL ranges around it a NULL may cover every index after all.
    if (covers_every_index(mas)) [[unlikely]]
        return mas_new_root(mas, wr_mas->entry);
    write_span(&span, mas);
}

} // namespace kmirror::maple
