// SPDX-License-Identifier: GPL-2.0-only
//
// Reading and writing the words of a node.
//
// Geometry
//   type        slots  pivots  fewest slots  where the data end is known from
//   leaf_64       16     15          6       pivot[14] == 0: metadata in slot 15; else the pivots themselves
//   range_64      16     15          6       the same
//   arange_64     10      9          4       metadata, always
//   A node may not end below its "fewest slots" offset unless it is the root.
//
// Concurrency
//   A node that no reader can reach is written plainly. In a published node readers race with
//     - slots: published by rcu_assign_pointer() (P1), read with acquire (P2): all that was written before is seen;
//     - the pivots, gaps and metadata of in-place stores: single words, relaxed on both sides. A reader that meets
//       a mix of old and new pivots still ends on a slot that was valid at some moment of its walk;
//     - the parent word: readers climb by it (A2) to a parent that may be new (A1), and it bears the dead mark.
//       mte_set_node_dead() (D1) is followed by a write barrier; readers call ma_dead_node() (D2) after they have read
//       what they need, behind a read barrier. Without the pair a reader could trust words of a node that was already
//       recycled.
#ifndef KMIRROR_LIB_MAPLE_TREE_MAPLE_NODE_H
#define KMIRROR_LIB_MAPLE_TREE_MAPLE_NODE_H

#include "lib/maple_tree/maple_enode.h"

#include <asm/barrier.h>

namespace kmirror::maple {

inline constexpr unsigned char mt_slots[] = {MAPLE_NODE_SLOTS, MAPLE_RANGE64_SLOTS, MAPLE_RANGE64_SLOTS,
                                             MAPLE_ARANGE64_SLOTS, 3};
inline constexpr unsigned char mt_pivots[] = {0, MAPLE_RANGE64_SLOTS - 1, MAPLE_RANGE64_SLOTS - 1,
                                              MAPLE_ARANGE64_SLOTS - 1, 3};
inline constexpr unsigned char mt_min_slots[] = {MAPLE_NODE_SLOTS / 2, MAPLE_RANGE64_SLOTS / 2 - 2,
                                                 MAPLE_RANGE64_SLOTS / 2 - 2, MAPLE_ARANGE64_SLOTS / 2 - 1, 1};

inline unsigned char mt_slot_count(const maple_enode *enode) { return mt_slots[mte_node_type(enode)]; }
inline unsigned char mt_pivot_count(const maple_enode *enode) { return mt_pivots[mte_node_type(enode)]; }
inline unsigned char mt_min_slot_count(const maple_enode *enode) { return mt_min_slots[mte_node_type(enode)]; }

// ---- arrays of a node

inline unsigned long *ma_pivots(maple_node *node, maple_type type)
{
    switch (type) {
    case maple_leaf_64:
    case maple_range_64: return node->mr64.pivot;
    case maple_arange_64: return node->ma64.pivot;
    case maple_copy: return node->cp.pivot;
    case maple_dense: break;
    }
    return nullptr;
}

inline void **ma_slots(maple_node *node, maple_type type)
{
    switch (type) {
    case maple_leaf_64:
    case maple_range_64: return node->mr64.slot;
    case maple_arange_64: return node->ma64.slot;
    case maple_copy: return node->cp.slot;
    case maple_dense: return node->slot;
    }
    return nullptr;
}

// Only nodes of an allocation tree (and the work space of a store) have gaps.
inline unsigned long *ma_gaps(maple_node *node, maple_type type)
{
    if (type == maple_arange_64)
        return node->ma64.gap;
    return type == maple_copy ? node->cp.gap : nullptr;
}

inline maple_metadata *ma_meta(maple_node *node, maple_type type)
{
    return type == maple_arange_64 ? &node->ma64.meta : &node->mr64.meta;
}

// ---- single words: relaxed, because readers race with the in-place stores (see Concurrency)

template <class Word>
inline Word word_read(const Word *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

template <class Word>
inline void word_write(Word *word, Word value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

inline unsigned long ma_pivot(const unsigned long *pivots, unsigned offset) { return word_read(&pivots[offset]); }

inline void ma_set_meta(maple_node *node, maple_type type, unsigned char gap, unsigned char end)
{
    maple_metadata *meta = ma_meta(node, type);
    word_write(&meta->gap, gap);
    word_write(&meta->end, end);
}
inline unsigned char ma_meta_end(maple_node *node, maple_type type) { return word_read(&ma_meta(node, type)->end); }
inline unsigned char ma_meta_gap(maple_node *node) { return word_read(&node->ma64.meta.gap); }
inline void ma_set_meta_gap(maple_node *node, maple_type type, unsigned char gap)
{
    word_write(&ma_meta(node, type)->gap, gap);
}

// The last slot in use. `max` is the last index that the node covers.
[[gnu::always_inline]] inline unsigned char ma_data_end(maple_node *node, maple_type type,
                                                        const unsigned long *pivots, unsigned long max)
{
    if (!pivots)
        return 0;
    if (type == maple_arange_64)
        return ma_meta_end(node, type);

    const unsigned char last_pivot = mt_pivots[type] - 1;
    const unsigned long pivot = ma_pivot(pivots, last_pivot);
    if (pivot == 0) [[likely]]
        return ma_meta_end(node, type);
    return pivot == max ? last_pivot : mt_pivots[type];
}

// ---- parent word and dead mark

inline ParentWord ma_parent(const maple_node *node) { return ParentWord(word_read(&node->parent)); }
// (A1) A parent is complete before a child of the old tree tells of it. Pairs with (A2).
inline void ma_set_parent(maple_node *node, ParentWord parent)
{
    smp_store_release(&node->parent, parent.pnode());
}
// (A2) A reader's way up. Pairs with (A1): without it a reader could find pivots in the parent that are not written yet.
inline ParentWord ma_parent_climb(const maple_node *node)
{
    return ParentWord(__atomic_load_n(&node->parent, __ATOMIC_ACQUIRE));
}

inline bool ma_is_root(const maple_node *node) { return ma_parent(node).is_root(); }
inline bool mte_is_root(const maple_enode *enode) { return ma_is_root(mte_to_node(enode)); }
inline maple_node *mte_parent(const maple_enode *enode) { return ma_parent(mte_to_node(enode)).node(); }
inline unsigned mte_parent_slot(const maple_enode *enode) { return ma_parent(mte_to_node(enode)).slot(); }

// (D2) Pairs with (D1). True: forget what was read from the node and look up again.
inline bool ma_dead_node(const maple_node *node)
{
    smp_rmb();
    return ma_parent(node).node() == node;
}
inline bool mte_dead_node(const maple_enode *enode) { return ma_dead_node(mte_to_node(enode)); }

// (D1) Pairs with (D2). The node has left the tree; its other words stay readable until the grace period ends.
inline void mte_set_node_dead(maple_enode *enode)
{
    maple_node *node = mte_to_node(enode);
    ma_set_parent(node, ParentWord::dead(node));
    smp_wmb();
}

// ---- slots

// Readers ask while a writer changes the height bits of the same word.
inline bool mt_is_alloc(const maple_tree *mt) { return (word_read(&mt->ma_flags) & MT_FLAGS_ALLOC_RANGE) != 0; }
inline bool mt_write_locked(const maple_tree *mt)
{
    return mt_external_lock(mt) ? mt_write_lock_is_held(mt) : lockdep_is_held(&mt->ma_lock);
}

// (P2) A reader's load of a slot, and of the root. Pairs with (P1).
inline void *mt_slot(const maple_tree *, void **slots, unsigned offset)
{
    return __atomic_load_n(&slots[offset], __ATOMIC_ACQUIRE);
}
inline void *mt_root(const maple_tree *mt) { return __atomic_load_n(&mt->ma_root, __ATOMIC_ACQUIRE); }

// The writer's own view: the lock orders it.
inline void *mt_slot_locked(const maple_tree *mt, void **slots, unsigned offset)
{
    lockdep_assert(mt_write_locked(mt));
    return word_read(&slots[offset]);
}
inline void *mt_root_locked(const maple_tree *mt)
{
    lockdep_assert(mt_write_locked(mt));
    return word_read(&mt->ma_root);
}

} // namespace kmirror::maple

#endif
