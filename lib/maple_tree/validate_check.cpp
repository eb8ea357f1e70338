// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror_mt_check(): the numbered rules of validate.h, counted from the root down.
//
// Owns     a walk of its own that uses no cursor and no metadata to find its way: a node is entered only
//          after the pointer to it, its parent word and its depth were found right, so a damaged tree ends
//          the walk of a branch, not the process.
// Bounds   recursion is as deep as the height in ma_flags says, 31 at most.
// Locking  the write lock, or nobody else uses the tree.
// Fails    never: broken rules are the answer.
#include "lib/maple_tree/validate.h"

#include "lib/maple_tree/walk.h"

using namespace kmirror::maple;

namespace {

// A node to be checked, and what its parent says about it.
struct Subtree {
    maple_enode *enode;
    ParentWord parent;
    unsigned long min;
    unsigned long max;
    unsigned depth;
};

class Checker {
public:
    Checker(const maple_tree *mt, bool report) : mt_(mt), report_(report), height_(mt_height(mt)) {}
    unsigned long run();

private:
    void expect(bool holds, int rule, const maple_node *node, unsigned slot, const char *what);
    maple_type type_at(unsigned depth) const;
    bool is_sound_pointer(maple_enode *enode, unsigned depth) const;

    unsigned long check_subtree(const Subtree &tree);
    unsigned check_pivots(const Subtree &tree, const NodeView &here);
    void check_tail(const NodeView &here, unsigned end);
    unsigned long check_leaf(const Subtree &tree, const NodeView &here, unsigned end);
    unsigned long check_inner(const Subtree &tree, const NodeView &here, unsigned end);
    void check_gap_record(const NodeView &here, unsigned end, unsigned long longest);

    const maple_tree *mt_;
    bool report_;
    unsigned height_;
    unsigned long broken_ = 0;
    bool after_null_ = false;       // the range to the left, maybe in another leaf, is NULL
    bool any_entry_ = false;
};

void Checker::expect(bool holds, int rule, const maple_node *node, unsigned slot, const char *what)
{
    if (holds) [[likely]]
        return;
    ++broken_;
    if (report_)
        pr_err("maple tree %p breaks (T%d) at %p[%u]: %s\n", mt_, rule, node, slot, what);
}

maple_type Checker::type_at(unsigned depth) const
{
    if (depth == height_)
        return maple_leaf_64;
    return mt_is_alloc(mt_) ? maple_arange_64 : maple_range_64;
}

// An encoded pointer has no bits but those of a node of the kind that belongs there.
bool Checker::is_sound_pointer(maple_enode *enode, unsigned depth) const
{
    const maple_node *node = mte_to_node(enode);
    return node && enode == mt_mk_node(node, type_at(depth));
}

// Finds the data end from the pivots alone.
unsigned Checker::check_pivots(const Subtree &tree, const NodeView &here)
{
    unsigned long first = tree.min;

    for (unsigned slot = 0; slot < here.nr_pivots(); ++slot) {
        const unsigned long pivot = ma_pivot(here.pivots, slot);
        if (pivot == tree.max)
            return slot;
        expect(first <= pivot && pivot < tree.max, 5, here.node, slot, "pivot outside the rest of the range");
        if (pivot < first || pivot > tree.max)
            return slot;
        first = pivot + 1;
    }
    return here.nr_pivots();
}

void Checker::check_tail(const NodeView &here, unsigned end)
{
    // In the 16-slot kinds the last slot is the metadata's.
    const unsigned slots = here.type == maple_arange_64 ? MAPLE_ARANGE64_SLOTS : MAPLE_RANGE64_SLOTS - 1;

    for (unsigned slot = end + 1; slot < here.nr_pivots(); ++slot)
        expect(ma_pivot(here.pivots, slot) == 0, 7, here.node, slot, "pivot behind the data end");
    for (unsigned slot = end + 1; slot < slots; ++slot)
        expect(!word_read(&here.slots[slot]), 7, here.node, slot, "slot behind the data end");
}

// Returns the longest gap of the leaf.
unsigned long Checker::check_leaf(const Subtree &tree, const NodeView &here, unsigned end)
{
    unsigned long longest = 0;

    for (unsigned slot = 0; slot <= end; ++slot) {
        const bool null = !word_read(&here.slots[slot]);
        expect(!(null && after_null_), 10, here.node, slot, "two NULL ranges in a row");
        after_null_ = null;
        if (!null) {
            any_entry_ = true;
            continue;
        }
        const unsigned long gap = here.last(slot, tree.max) - here.first(slot, tree.min) + 1;
        if (gap > longest)
            longest = gap;
    }
    expect(!after_null_ || tree.max == ULONG_MAX, 11, here.node, end, "the leaf ends in NULL");
    return longest;
}

void Checker::check_gap_record(const NodeView &here, unsigned end, unsigned long longest)
{
    const unsigned named = ma_meta_gap(here.node);

    const bool right = named <= end && word_read(&here.node->ma64.gap[named]) == longest;
    expect(right, 12, here.node, named, "the metadata do not name the longest gap");
    for (unsigned slot = end + 1; slot < MAPLE_ARANGE64_SLOTS; ++slot)
        expect(word_read(&here.node->ma64.gap[slot]) == 0, 12, here.node, slot, "gap behind the data end");
}

// Returns the longest gap below the node.
unsigned long Checker::check_inner(const Subtree &tree, const NodeView &here, unsigned end)
{
    const bool gaps = here.type == maple_arange_64;
    unsigned long longest = 0;

    for (unsigned slot = 0; slot <= end; ++slot) {
        auto *child = static_cast<maple_enode *>(word_read(&here.slots[slot]));
        const bool sound = is_sound_pointer(child, tree.depth + 1);
        expect(sound, 9, here.node, slot, "no child of the right kind");
        if (!sound)
            continue;
        const unsigned long gap =
            check_subtree({child, ParentWord::child_of(here.node, slot), here.first(slot, tree.min),
                           here.last(slot, tree.max), tree.depth + 1});
        const bool recorded = !gaps || word_read(&here.node->ma64.gap[slot]) == gap;
        expect(recorded, 12, here.node, slot, "not the longest gap below");
        if (gap > longest)
            longest = gap;
    }
    if (gaps)
        check_gap_record(here, end, longest);
    return longest;
}

unsigned long Checker::check_subtree(const Subtree &tree)
{
    const NodeView here(tree.enode);
    const bool dead = here.is_dead();
    const bool attached = ma_parent(here.node).pnode() == tree.parent.pnode();

    expect(!dead, 4, here.node, 0, "dead node in the tree");
    expect(attached, 3, here.node, 0, "parent word does not tell who points here");
    if (dead || !attached)
        return 0;

    const unsigned end = check_pivots(tree, here);
    expect(here.end(tree.max) == end, 6, here.node, end, "the metadata tell another data end");
    const bool filled = ma_is_root(here.node) || end >= mt_min_slots[here.type];
    expect(filled, 8, here.node, end, "too few slots in use");
    check_tail(here, end);
    return here.is_leaf() ? check_leaf(tree, here, end) : check_inner(tree, here, end);
}

unsigned long Checker::run()
{
    void *root = word_read(&mt_->ma_root);

    if (!xa_is_node(root)) {
        expect(height_ == 0, 1, nullptr, 0, "a height but no node");
        return broken_;
    }
    maple_enode *enode = mte_safe_root(root);
    const bool sound = height_ != 0 && mte_mk_root(enode) == root && is_sound_pointer(enode, 1);
    // A leaf in the place of an inner node, or the reverse: the height is wrong, or the kind.
    expect(sound, mte_to_node(enode) && mte_is_leaf(enode) != (height_ == 1) ? 2 : 1, mte_to_node(enode), 0,
           "the root word, the height and the root's kind do not agree");
    if (sound) {
        check_subtree({enode, ParentWord::root_of(mt_), 0, ULONG_MAX, 1});
        expect(any_entry_, 13, mte_to_node(enode), 0, "nodes but no entry");
    }
    return broken_;
}

} // namespace

unsigned long kmirror_mt_check(const struct maple_tree *mt, bool report)
{
    return Checker(mt, report).run();
}
