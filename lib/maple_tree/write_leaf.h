// SPDX-License-Identifier: GPL-2.0-only
//
// What a store puts into a leaf in place of the slots it meets.
//
//   before   ... | first slot met ..... last slot met | ...        slots offset .. offset_end
//   after    ... | rest of it | entry | rest of it    | ...        one to three slots
//
// Every writer that changes a leaf uses the same patch; they differ in where it goes: into the leaf itself
// (append), a copy of it (node store), or among the slots of several leaves (split, rebalance, span).
//
// Owns     nothing: it borrows two arrays of three.
#ifndef KMIRROR_LIB_MAPLE_TREE_WRITE_LEAF_H
#define KMIRROR_LIB_MAPLE_TREE_WRITE_LEAF_H

#include "lib/maple_tree/ma_state.h"

namespace kmirror::maple {

inline constexpr unsigned kPatchSlots = 3;

class LeafPatch {
public:
    // `left` stands on the first slot met, `right` on the last; for a store inside one leaf they are the
    // same.
    LeafPatch(void **slots, unsigned long *lasts, const ma_wr_state &left, const ma_wr_state &right)
        : slots_(slots), lasts_(lasts)
    {
        const unsigned long index = left.mas->index;
        const unsigned long last = left.mas->last;
        if (left.r_min < index)
            add(left.content, index - 1);
        entry_at_ = count_;
        add(left.entry, last);
        if (last < right.end_piv)
            add(right.slots[right.offset_end], right.end_piv);
    }

    unsigned count() const { return count_; }
    unsigned entry_at() const { return entry_at_; }
    // Last index of the whole patch.
    unsigned long max() const { return lasts_[count_ - 1]; }

private:
    void add(void *entry, unsigned long last)
    {
        slots_[count_] = entry;
        lasts_[count_] = last;
        count_++;
    }

    void **slots_;
    unsigned long *lasts_;
    unsigned count_ = 0;
    unsigned entry_at_ = 0;
};

} // namespace kmirror::maple

#endif
