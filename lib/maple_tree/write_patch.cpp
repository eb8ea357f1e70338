// SPDX-License-Identifier: GPL-2.0-only
//
// See write_patch.h for the picture.
//
// Locking  the tree's write lock, and no reader without it: everything is written plainly, but the parent words, for
//          which there is one way.
#include "lib/maple_tree/write_patch.h"

#include "lib/maple_tree/publish.h"
#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/walk.h"

#include <linux/string.h>

namespace kmirror::maple {

namespace {

class ParentPatch {
public:
    ParentPatch(const ma_state *mas, const struct maple_copy *cp, unsigned first, unsigned last)
        : mas_(mas), cp_(cp), view_(mas->node), gaps_(ma_gaps(view_.node, view_.type)), first_(first), last_(last),
          placed_(cp->end + 1u), old_end_(view_.end(mas->max)), new_end_(old_end_ + placed_ - (last - first + 1))
    {
        VM_BUG_ON(view_.is_leaf() || last > old_end_ || new_end_ >= mt_slots[view_.type]);
    }

    // Mark them for cursors that still stand there.
    void retire_children() const
    {
        for (unsigned slot = first_; slot <= last_; slot++) {
            auto *leaf = static_cast<maple_enode *>(view_.slots[slot]);
            mte_set_node_dead(leaf);
            mt_free_one(mte_to_node(leaf));
        }
    }

    // Slots behind the replaced ones, and what of them nobody overwrites.
    void move_tail() const
    {
        const unsigned to = first_ + placed_;
        const unsigned count = old_end_ - last_;
        if (new_end_ == old_end_)
            return;
        if (count != 0) {
            memmove(view_.slots + to, view_.slots + last_ + 1, count * sizeof(void *));
            memmove(view_.pivots + to, view_.pivots + last_ + 1, (count - 1) * sizeof(unsigned long));
            if (gaps_)
                memmove(gaps_ + to, gaps_ + last_ + 1, count * sizeof(unsigned long));
        }
        for (unsigned slot = new_end_ + 1; slot <= old_end_; slot++) {
            view_.slots[slot] = nullptr;
            set_pivot(slot, 0);
            if (gaps_)
                gaps_[slot] = 0;
        }
        set_pivot(new_end_, mas_->max);
        for (unsigned slot = to; slot <= new_end_; slot++)
            adopt(slot);
    }

    void place() const
    {
        for (unsigned i = 0; i < placed_; i++) {
            view_.slots[first_ + i] = cp_->slot[i];
            set_pivot(first_ + i, cp_->pivot[i]);
            if (gaps_)
                gaps_[first_ + i] = cp_->gap[i];
            adopt(first_ + i);
        }
    }

    // The metadata, if the node has room for them. Returns the largest gap.
    unsigned long finish() const
    {
        unsigned largest = 0;
        for (unsigned slot = 1; gaps_ && slot <= new_end_; slot++)
            largest = gaps_[slot] > gaps_[largest] ? slot : largest;
        if (gaps_ || new_end_ < mt_pivots[view_.type])
            ma_set_meta(view_.node, view_.type, static_cast<unsigned char>(largest),
                        static_cast<unsigned char>(new_end_));
        return gaps_ ? gaps_[largest] : 0;
    }

private:
    void set_pivot(unsigned slot, unsigned long last) const
    {
        if (slot < view_.nr_pivots())
            view_.pivots[slot] = last;
    }
    void adopt(unsigned slot) const
    {
        ma_set_parent(mte_to_node(static_cast<maple_enode *>(view_.slots[slot])),
                      ParentWord::child_of(view_.node, slot));
    }

    const ma_state *mas_;
    const struct maple_copy *cp_;
    const NodeView view_;
    unsigned long *const gaps_;
    const unsigned first_;
    const unsigned last_;
    const unsigned placed_;
    const unsigned old_end_;
    const unsigned new_end_;
};

} // namespace

void mas_wr_patch_parent(ma_state *mas, const struct maple_copy *cp, unsigned first, unsigned last)
{
    const ParentPatch parent(mas, cp, first, last);
    parent.retire_children();
    parent.move_tail();
    parent.place();
    const unsigned long gap = parent.finish();
    if (mt_is_alloc(mas->tree) && !mte_is_root(mas->node))
        mas_update_gap_known(mas, gap);
    mtree_range_walk(mas);
}

} // namespace kmirror::maple
