// SPDX-License-Identifier: GPL-2.0-only
//
// Destruction. One walk marks nodes dead, another one frees them, and a grace period lies between the two
// when readers are possible:
//
//   mtree_destroy                takes the lock
//     __mt_destroy               cuts the root off, resets the height
//       mte_destroy_walk         RCU mode?
//         mt_destroy_walk        no:  ma_free_below, kfree              nothing to wait for
//                                yes: ma_bury marks every node dead     (D1) of maple_node.h
//         call_rcu               one callback for the whole subtree
//           mt_free_walk         ma_free_below, kfree                   after the grace period
//
// Between marking and freeing, all that the subtree needs is still in its nodes: slots with the types of the
// children, the last pivot and the metadata. Only the root's type has no place of its own, so node->type
// keeps it.
//
// Owns, bounds, locking, failure: see destroy.h.
#include "lib/maple_tree/destroy.h"

#include "lib/maple_tree/reserve.h"

#include <linux/container_of.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

namespace kmirror::maple {

// (C1) An inner node is written once, in full, before it is published; its slots behind the last child stay
//      NULL, except that slot 15 of a range_64 node with 15 children or fewer holds the metadata.
// (C2) A range_64 node whose last pivot is zero ends where the metadata says. If it is not zero there are 15
//      children or 16, and only slot 15 tells: a child has an address above the tag bits, metadata ({end, no
//      gap}) has none.
unsigned ma_child_count(maple_node *node, maple_type type)
{
    VM_BUG_ON(ma_is_leaf(type));
    constexpr unsigned last_pivot = MAPLE_RANGE64_SLOTS - 2;
    if (type == maple_arange_64 || ma_pivot(node->mr64.pivot, last_pivot) == 0)
        return ma_meta_end(node, type) + 1u;

    const auto *last = static_cast<const maple_enode *>(word_read(&node->mr64.slot[MAPLE_RANGE64_SLOTS - 1]));
    return mte_to_node(last) ? MAPLE_RANGE64_SLOTS : MAPLE_RANGE64_SLOTS - 1;
}

namespace {

maple_enode *ma_child(void **slots, unsigned offset)
{
    return static_cast<maple_enode *>(word_read(&slots[offset]));
}

// Parents before children: a reader that comes from above finds out at the first node it looks at.
void ma_bury(maple_enode *enode)
{
    mte_set_node_dead(enode);
    if (mte_is_leaf(enode))
        return;

    maple_node *node = mte_to_node(enode);
    const maple_type type = mte_node_type(enode);
    void **slots = ma_slots(node, type);
    const unsigned count = ma_child_count(node, type);
    for (unsigned i = 0; i < count; i++) {
        VM_BUG_ON(mte_dead_node(ma_child(slots, i)));   // a dead child has another owner
        ma_bury(ma_child(slots, i));
    }
}

} // namespace

// Children before parents; all children of one node go back in one call, out of the slots they were found in.
void ma_free_below(maple_node *node, maple_type type)
{
    if (ma_is_leaf(type))
        return;

    void **slots = ma_slots(node, type);
    const unsigned count = ma_child_count(node, type);
    for (unsigned i = 0; i < count; i++) {
        const maple_enode *child = ma_child(slots, i);
        ma_free_below(mte_to_node(child), mte_node_type(child));
        slots[i] = mte_to_node(child);
    }
    mt_free_bulk(count, slots);
}

void mt_destroy_walk(maple_enode *enode, maple_tree *mt, bool free)
{
    lockdep_assert(mt_write_locked(mt));
    maple_node *node = mte_to_node(enode);
    if (free) {
        ma_free_below(node, mte_node_type(enode));
        kfree(node);
        return;
    }
    ma_bury(enode);
    // Behind the dead mark (D1): lies over a pivot that a reader may just be looking at.
    word_write(&node->type, mte_node_type(enode));
}

void mt_free_walk(rcu_head *head)
{
    maple_node *node = container_of(head, maple_node, rcu);
    ma_free_below(node, node->type);
    kfree(node);
}

void mte_destroy_walk(maple_enode *enode, maple_tree *mt)
{
    const bool readers = mt_in_rcu(mt);
    mt_destroy_walk(enode, mt, !readers);
    if (readers)
        call_rcu(&mte_to_node(enode)->rcu, mt_free_walk);
}

} // namespace kmirror::maple

using namespace kmirror::maple;

// The root goes first: a reader that comes now finds an empty tree.
void __mt_destroy(struct maple_tree *mt)
{
    const void *root = mt_root_locked(mt);
    rcu_assign_pointer(mt->ma_root, NULL);
    if (xa_is_node(root))
        mte_destroy_walk(mte_safe_root(root), mt);
    word_write(&mt->ma_flags,
               mt->ma_flags & ~unsigned{MT_FLAGS_HEIGHT_MASK}); // readers look at the other bits
}

void mtree_destroy(struct maple_tree *mt)
{
    mtree_lock(mt);
    __mt_destroy(mt);
    mtree_unlock(mt);
}
