// SPDX-License-Identifier: GPL-2.0-only
//
// Duplication: a node is copied as it is, then its child pointers and its parent pointer are exchanged for
// those of the copy. Shape, pivots, gaps and metadata are the same afterwards; no entry is stored again.
//
//   mtree_dup                 locks the copy, then the source (nested)
//     __mt_dup                refuses a copy that is not empty or is of another kind
//       mt_dup_nodes          root node, publish
//         ma_dup_subtree      one node, then its children from one bulk allocation, then each child's subtree
//
// Undoing needs no second walk: who fails returns with nothing below its node, and the caller above takes
// back the subtrees it has finished and the children it has allocated.
//
// Owns, bounds, locking, failure: see dup.h.
#include "lib/maple_tree/dup.h"

#include "lib/maple_tree/destroy.h"
#include "lib/maple_tree/reserve.h"

#include <linux/rcupdate.h>
#include <linux/slab.h>

namespace kmirror::maple {

namespace {

maple_enode *ma_child(void *const *slots, unsigned offset)
{
    return static_cast<maple_enode *>(slots[offset]);
}

// Allocate `count` children into the slots of `copy`. The slots hold plain nodes afterwards.
bool dup_alloc_children(void **slots, unsigned count, gfp_t gfp)
{
    return kmem_cache_alloc_bulk(maple_node_cache_get(), gfp, count, slots);
}

// Copy the subtree of each child. On failure all children are freed, with what hangs on the ones before.
bool dup_fill_children(maple_node *copy, void **slots, void *const *from, unsigned count, gfp_t gfp)
{
    for (unsigned i = 0; i < count; i++) {
        const maple_enode *source = ma_child(from, i);
        auto *child = static_cast<maple_node *>(slots[i]);
        if (ma_dup_subtree(child, mte_to_node(source), mte_node_type(source), ParentWord::child_of(copy, i),
                           gfp))
            continue;
        for (unsigned done = 0; done < i; done++)
            ma_free_below(static_cast<maple_node *>(slots[done]), mte_node_type(ma_child(from, done)));
        mt_free_bulk(count, slots);
        return false;
    }
    return true;
}

} // namespace

bool ma_dup_subtree(maple_node *copy, const maple_node *source, maple_type type, ParentWord parent, gfp_t gfp)
{
    memcpy(copy, source, sizeof(*copy));
    ma_set_parent(copy, parent);
    if (ma_is_leaf(type))
        return true;

    void **slots = ma_slots(copy, type);
    void *const *from = ma_slots(const_cast<maple_node *>(source), type);
    const unsigned count = ma_child_count(copy, type);
    if (!dup_alloc_children(slots, count, gfp))
        return false;
    if (!dup_fill_children(copy, slots, from, count, gfp))
        return false;

    for (unsigned i = 0; i < count; i++)
        slots[i] = mt_mk_node(static_cast<maple_node *>(slots[i]), mte_node_type(ma_child(from, i)));
    return true;
}

namespace {

// A tree whose root is no node is copied by value. The height travels with the flags, before the root is
// visible.
int mt_dup_nodes(const maple_tree *mt, maple_tree *copy, gfp_t gfp)
{
    void *root = mt_root_locked(mt);
    if (xa_is_node(root)) {
        const maple_enode *source = mte_safe_root(root);
        maple_node *node = mt_alloc_one(gfp);
        if (!node)
            return -ENOMEM;
        if (!ma_dup_subtree(node, mte_to_node(source), mte_node_type(source), ParentWord::root_of(copy),
                            gfp)) {
            kfree(node);
            return -ENOMEM;
        }
        root = mte_mk_root(mt_mk_node(node, mte_node_type(source)));
    }
    word_write(&copy->ma_flags, mt->ma_flags);
    rcu_assign_pointer(copy->ma_root, root);     // (P1)
    return 0;
}

unsigned mt_attr(const maple_tree *mt) { return mt->ma_flags & ~unsigned{MT_FLAGS_HEIGHT_MASK}; }

} // namespace

} // namespace kmirror::maple

using namespace kmirror::maple;

int __mt_dup(struct maple_tree *mt, struct maple_tree *new_tree, gfp_t gfp)
{
    if (mt_attr(mt) != mt_attr(new_tree) || !mtree_empty(new_tree))
        return -EINVAL;
    return mt_dup_nodes(mt, new_tree, gfp);
}

int mtree_dup(struct maple_tree *mt, struct maple_tree *new_tree, gfp_t gfp)
{
    mtree_lock(new_tree);
    mtree_lock_nested(mt, SINGLE_DEPTH_NESTING);
    const int error = __mt_dup(mt, new_tree, gfp);
    mtree_unlock(mt);
    mtree_unlock(new_tree);
    return error;
}
