// SPDX-License-Identifier: GPL-2.0-only
//
// Stores into a tree that has no node yet, and stores that leave nothing of what was there.
//
//   the tree holds               root word                       height
//   nothing                      NULL                            0
//   one untagged entry at 0      that entry                      0
//   one range, or index 0 only   a leaf                          1
//     with an entry tagged '10'
//
// Owns     the fresh leaf until the root word points to it.
// Locking  the tree's write lock. Readers see the old or the new root word (P1).
#include "lib/maple_tree/destroy.h"
#include "lib/maple_tree/publish.h"
#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/walk.h"
#include "lib/maple_tree/write.h"

namespace kmirror::maple {

namespace {

// A leaf that will be the root, filled from the left.
class RootLeaf {
public:
    explicit RootLeaf(ma_state *mas) : mas_(mas), view_(mas_pop_node(mas), maple_leaf_64)
    {
        ma_set_parent(view_.node, ParentWord::root_of(mas->tree));
    }

    // The next range, up to and with `last`. Returns its slot.
    unsigned add(void *entry, unsigned long last)
    {
        view_.slots[count_] = entry;
        view_.pivots[count_] = last;
        return count_++;
    }

    // The cursor stands on slot `offset` of the new root; readers find it from now on.
    void publish(unsigned offset)
    {
        const auto end = static_cast<unsigned char>(count_ - 1);
        VM_BUG_ON(view_.pivots[end] != ULONG_MAX);
        ma_set_meta(view_.node, view_.type, 0, end);
        mas_->node = mt_mk_node(view_.node, view_.type);
        mas_->status = ma_active;
        mas_->min = 0;
        mas_->max = ULONG_MAX;
        mas_->depth = 0;
        mas_->offset = static_cast<unsigned char>(offset);
        mas_->end = end;
        mt_set_height(mas_->tree, 1);
        rcu_assign_pointer(mas_->tree->ma_root, mte_mk_root(mas_->node));        // (P1)
    }

private:
    ma_state *mas_;
    const NodeView view_;
    unsigned count_ = 0;
};

// The root word becomes a leaf with up to four ranges: the old entry at 0, NULL, the new range, NULL.
void mas_root_expand(ma_state *mas, void *entry)
{
    void *const at_zero = mas_root_locked(mas);
    RootLeaf leaf(mas);

    if (mas->index != 0) {
        const bool gap_between = !at_zero || mas->index > 1;
        if (at_zero)
            leaf.add(at_zero, 0);
        if (gap_between)
            leaf.add(nullptr, mas->index - 1);
    }
    const unsigned offset = leaf.add(entry, mas->last);
    if (mas->last != ULONG_MAX)
        leaf.add(nullptr, ULONG_MAX);
    leaf.publish(offset);
}

} // namespace

void mas_store_root(ma_state *mas, void *entry)
{
    if (!entry) {
        if (mas->index == 0)
            rcu_assign_pointer(mas->tree->ma_root, nullptr);
    } else if (mas->last != 0 || xa_is_internal(entry)) {
        mas_root_expand(mas, entry);
    } else {
        rcu_assign_pointer(mas->tree->ma_root, entry);                           // (P1)
        mas->status = ma_start;
    }
}

void mas_new_root(ma_state *mas, void *entry)
{
    void *const old_root = mas_root_locked(mas);
    VM_BUG_ON(mas->index != 0 || mas->last != ULONG_MAX);

    if (entry) {
        RootLeaf leaf(mas);
        leaf.publish(leaf.add(entry, ULONG_MAX));
    } else {
        mt_set_height(mas->tree, 0);
        rcu_assign_pointer(mas->tree->ma_root, nullptr);
        mas_reset(mas);
    }
    if (xa_is_node(old_root))
        mte_destroy_walk(mte_safe_root(old_root), mas->tree);
}

} // namespace kmirror::maple
