// SPDX-License-Identifier: GPL-2.0-only
//
// Gaps: in an allocation tree each inner slot knows the longest run of NULL below it.
//
// Invariants
//   (G1) gap[i] of an inner node is the largest gap of its child i: measured if the child is a leaf, else
//        the child's gap[meta.gap]
//   (G2) meta.gap names a slot with the largest gap of its node
//
// Concurrency  gaps of a published node change in place, word by word, from the leaf's parent upwards. A
//              search without the lock may see a level that does not know yet; it then finds a gap that was
//              there a moment ago, or misses one that has just come. A search that goes on to store holds
//              the lock.
// Locking      the tree's write lock.
#include "lib/maple_tree/publish.h"

#include "lib/maple_tree/walk.h"

namespace kmirror::maple {

unsigned long ma_leaf_max_gap(maple_node *node, maple_type type, unsigned long min, unsigned long max)
{
    const NodeView view(node, type);
    const unsigned end = view.end(max);
    unsigned long longest = 0;

    // No branch on what a slot holds: which ones are NULL is not to be guessed.
    for (unsigned slot = 0; slot <= end; slot++) {
        const unsigned long last = slot == end ? max : ma_pivot(view.pivots, slot);
        const unsigned long gap = word_read(&view.slots[slot]) ? 0 : last - min + 1;
        min = last + 1;
        longest = gap > longest ? gap : longest;
    }
    return longest;
}

unsigned long mas_leaf_max_gap(const ma_state *mas)
{
    return ma_leaf_max_gap(mas_mn(mas), mte_node_type(mas->node), mas->min, mas->max);
}

unsigned long ma_max_gap(maple_node *node, maple_type type, unsigned char *offset)
{
    const unsigned long *gaps = ma_gaps(node, type);
    unsigned char at = ma_meta_end(node, type);
    unsigned long largest = 0;

    *offset = at;
    for (;; at--) {
        const unsigned long gap = word_read(&gaps[at]);
        if (gap > largest) {
            largest = gap;
            *offset = at;
        }
        if (at == 0)
            return largest;
    }
}

unsigned long mas_max_gap(const ma_state *mas)
{
    const maple_type type = mte_node_type(mas->node);
    if (ma_is_leaf(type))
        return mas_leaf_max_gap(mas);

    maple_node *node = mas_mn(mas);
    VM_BUG_ON(type != maple_arange_64);
    return word_read(&ma_gaps(node, type)[ma_meta_gap(node)]);
}

namespace {

// Write the gap of one slot. Returns whether the node's largest gap has changed with it, and which it is now.
bool set_gap(maple_node *node, maple_type type, unsigned offset, unsigned long *gap)
{
    unsigned long *gaps = ma_gaps(node, type);
    unsigned char largest_at = ma_meta_gap(node);
    const unsigned long largest = word_read(&gaps[largest_at]);

    word_write(&gaps[offset], *gap);
    if (*gap == largest)
        return false;
    if (*gap > largest) {
        ma_set_meta_gap(node, type, static_cast<unsigned char>(offset));
        return true;
    }
    if (offset != largest_at)
        return false;
    // The largest one shrank: another may be the largest now.
    *gap = ma_max_gap(node, type, &largest_at);
    ma_set_meta_gap(node, type, largest_at);
    return true;
}

} // namespace

void mas_parent_gap(ma_state *mas, unsigned offset, unsigned long gap)
{
    maple_node *node = mte_parent(mas->node);
    maple_type type = mas_parent_type(mas, mas->node);
    VM_BUG_ON(type != maple_arange_64);

    while (set_gap(node, type, offset, &gap) && !ma_is_root(node)) {
        const ParentWord parent = ma_parent(node);
        offset = parent.slot();
        node = parent.node();
    }
}

void mas_update_gap_known(ma_state *mas, unsigned long gap)
{
    const ParentWord parent = ma_parent(mas_mn(mas));
    const unsigned long *gaps = ma_gaps(parent.node(), mas_parent_type(mas, mas->node));
    if (word_read(&gaps[parent.slot()]) != gap)
        mas_parent_gap(mas, parent.slot(), gap);
}

void mas_update_gap(ma_state *mas)
{
    if (mt_is_alloc(mas->tree) && !mte_is_root(mas->node))
        mas_update_gap_known(mas, mas_max_gap(mas));
}

} // namespace kmirror::maple
