// SPDX-License-Identifier: GPL-2.0-only
//
// The swap, and what has to be mended and retired behind it.
//
// A store that replaced a subtree leaves two generations of nodes hanging together. On each level there are
// up to three new nodes (Level::kMost) and up to three old ones; all other children of the new nodes are
// old subtrees that live on.
//
//   new:          mas->node                    old:          old_enode
//              .------+------.                            .------+------.
//              n      o      n                            d      o      d      n  new
//           .--+--.       .--+--.                      .--+--.       .--+--.   o  lives on, new parent
//           o     n       n     o                      o  d  c       c  d  o   d  replaced
//                                                                              c  covered by the store
//
// Who belongs to whom is read from the parent words: a new node was given its new parent when it was
// linked, a child that lives on is given it here, so what still names the old parent afterwards is dead.
//
// Locking  the tree's write lock.
#include "lib/maple_tree/publish.h"

#include "lib/maple_tree/destroy.h"
#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/walk.h"

#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <cstddef>

namespace kmirror::maple {

// ------------------------------------------------------------------ links

void mt_set_height(maple_tree *mt, unsigned height)
{
    const unsigned others = mt->ma_flags & ~unsigned{MT_FLAGS_HEIGHT_MASK};
    const unsigned flags = others | height << MT_FLAGS_HEIGHT_OFFSET;
    VM_BUG_ON(height > MAPLE_HEIGHT_MAX);
    // Readers look at the other bits.
    if (flags != mt->ma_flags)
        word_write(&mt->ma_flags, flags);
}

void mas_set_parent_slots(ma_state *mas, maple_enode *parent, unsigned first, unsigned count)
{
    const NodeView view(parent);
    VM_BUG_ON(view.is_leaf() || first + count > mt_slots[view.type]);
    for (unsigned slot = first; slot < first + count; slot++) {
        auto *child = static_cast<maple_enode *>(mas_slot_locked(mas, view.slots, slot));
        ma_set_parent(mte_to_node(child), ParentWord::child_of(view.node, slot));
    }
}

void mas_adopt_children(ma_state *mas, maple_enode *parent)
{
    mas_set_parent_slots(mas, parent, 0, NodeView(parent).end(mas->max) + 1u);
}

void mas_put_in_tree(ma_state *mas, maple_enode *old_enode, unsigned height)
{
    maple_node *node = mas_mn(mas);
    const ParentWord parent = ma_parent(node);

    if (parent.is_root()) {
        ma_set_parent(node, ParentWord::root_of(mas->tree));
        rcu_assign_pointer(mas->tree->ma_root, mte_mk_root(mas->node));             // (P1)
        mt_set_height(mas->tree, height);
    } else {
        void **slots = ma_slots(parent.node(), mas_parent_type(mas, mas->node));
        rcu_assign_pointer(slots[parent.slot()], mas->node);                         // (P1)
    }
    mte_set_node_dead(old_enode);                                               // (D1)
}

void mas_replace_node(ma_state *mas, maple_enode *old_enode, unsigned height)
{
    mas_put_in_tree(mas, old_enode, height);
    mas_free(mas, old_enode);
}

// ------------------------------------------------------------------ retiring

void ma_free_rcu(maple_node *node)
{
    VM_WARN_ON(ma_parent(node).node() != node);
    kfree_rcu(node, rcu);
}

void mas_free(ma_state *, maple_enode *used)
{
    ma_free_rcu(mte_to_node(used));
}

namespace {

// The link of a topiary list lies over the first word behind the parent. A reader may still take that word
// for a pivot, which does no harm because the node was marked dead before (D1); the word is written whole.
static_assert(offsetof(maple_topiary, next) == offsetof(maple_node, slot));

void mat_set_next(maple_enode *enode, maple_enode *next)
{
    word_write<void *>(&mte_to_node(enode)->slot[0], next);
}

maple_enode *mat_next(const maple_enode *enode)
{
    return static_cast<maple_enode *>(mte_to_node(enode)->slot[0]);
}

} // namespace

void mat_add(ma_topiary *mat, maple_enode *dead_enode)
{
    mte_set_node_dead(dead_enode);                                              // (D1)
    mat_set_next(dead_enode, nullptr);
    if (mat->tail)
        mat_set_next(mat->tail, dead_enode);
    else
        mat->head = dead_enode;
    mat->tail = dead_enode;
}

void mas_mat_destroy(ma_state *mas, ma_topiary *mat)
{
    while (maple_enode *enode = mat->head) {
        mat->head = mat_next(enode);
        mte_destroy_walk(enode, mas->tree);
    }
    mat->tail = nullptr;
}

// ------------------------------------------------------------------ a subtree for a subtree

namespace {

// A node, and what it covers.
struct Limb {
    maple_enode *enode;
    unsigned long min;
    unsigned long max;

    bool is_inside(unsigned long first, unsigned long last) const { return min >= first && max <= last; }
};

// The nodes of one level and one generation.
class Level {
public:
    static constexpr unsigned kMost = 3;

    void add(const Limb &limb)
    {
        BUG_ON(count_ == kMost);
        limbs_[count_++] = limb;
    }
    void clear() { count_ = 0; }
    bool is_empty() const { return count_ == 0; }
    bool has_children() const { return count_ != 0 && !mte_is_leaf(limbs_[0].enode); }
    const Limb *begin() const { return limbs_; }
    const Limb *end() const { return limbs_ + count_; }

private:
    Limb limbs_[kMost];
    unsigned count_ = 0;
};

// The level that a walk from the top has reached, and the one below it, which is being found.
class LevelWalk {
public:
    explicit LevelWalk(const Limb &top) { levels_[0].add(top); }

    const Level &here() const { return levels_[at_]; }
    Level &below() { return levels_[1 - at_]; }
    void descend()
    {
        VM_WARN_ON(below().is_empty());
        levels_[at_].clear();
        at_ = 1 - at_;
    }

private:
    Level levels_[2];
    unsigned at_ = 0;
};

// Calls `visit` for every child whose parent word names `limb`.
template <class Visit>
void for_each_own_child(ma_state *mas, const Limb &limb, Visit visit)
{
    const NodeView view(limb.enode);
    const unsigned end = view.end(limb.max);
    for (unsigned slot = 0; slot <= end; slot++) {
        auto *child = static_cast<maple_enode *>(mas_slot_locked(mas, view.slots, slot));
        if (mte_parent(child) == view.node)
            visit(Limb{child, view.first(slot, limb.min), view.last(slot, limb.max)});
    }
}

// Top down through the new nodes: every child gets the parent it now hangs on.
void adopt(ma_state *mas, const Limb &top)
{
    for (LevelWalk walk(top); walk.here().has_children(); walk.descend()) {
        for (const Limb &limb : walk.here()) {
            for_each_own_child(mas, limb, [&](const Limb &child) { walk.below().add(child); });
            mas_set_parent_slots(mas, limb.enode, 0, NodeView(limb.enode).end(limb.max) + 1u);
        }
    }
}

// Without RCU mode nobody can be inside, since every reader holds the lock: the node goes back at once, and the next
// store gets one that is still in the cache.
void retire(const ma_state *mas, const Level &level)
{
    const bool readers = mt_in_rcu(mas->tree);
    for (const Limb &limb : level) {
        mte_set_node_dead(limb.enode);                                          // (D1)
        if (readers)
            ma_free_rcu(mte_to_node(limb.enode));
        else
            mt_free_one(mte_to_node(limb.enode));
    }
}

// Top down through the old nodes, after adopt(): what still names its old parent was replaced, or lay inside
// the range that was stored.
void prune(ma_state *mas, const Limb &top)
{
    MA_TOPIARY(subtrees, mas->tree);
    LevelWalk walk(top);
    while (walk.here().has_children()) {
        for (const Limb &limb : walk.here()) {
            for_each_own_child(mas, limb, [&](const Limb &child) {
                if (child.is_inside(mas->index, mas->last))
                    mat_add(&subtrees, child.enode);
                else
                    walk.below().add(child);
            });
        }
        retire(mas, walk.here());
        walk.descend();
    }
    retire(mas, walk.here());
    mas_mat_destroy(mas, &subtrees);
}

} // namespace

void mas_topiary_replace(ma_state *mas, maple_enode *old_enode, unsigned height)
{
    mas_put_in_tree(mas, old_enode, height);
    adopt(mas, Limb{mas->node, mas->min, mas->max});
    prune(mas, Limb{old_enode, mas->min, mas->max});
}

void mas_wmb_replace(ma_state *mas, struct maple_copy *cp)
{
    maple_enode *const replaced = mas->node;
    auto *const top = static_cast<maple_enode *>(cp->slot[0]);
    const bool tell_parent = mt_is_alloc(mas->tree) && !mte_is_root(top);

    mas->node = top;
    mas_topiary_replace(mas, replaced, cp->height);
    if (tell_parent)
        mas_update_gap_known(mas, cp->gap[0]);
    // Down again, to stand on what was stored.
    mtree_range_walk(mas);
}

} // namespace kmirror::maple
