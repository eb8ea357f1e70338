// SPDX-License-Identifier: GPL-2.0-only
//
// How the known bugs of a kernel's tree are told; see known.h.
#include "tools/kdir/diff/known.h"

#include <kmirror/maple_ops_fill.h>

#include <cerrno>
#include <climits>

namespace kmirror::diff {
namespace {

using fuzz::Answer;
using fuzz::MapleOp;
using fuzz::Step;

bool is_among(MapleOp op, MapleOp first, MapleOp last) { return op >= first && op <= last; }

// Of an inner node without gaps; the last slot holds the metadata unless it holds a child.
constexpr unsigned kMetadataSlot = MAPLE_RANGE64_SLOTS - 1;

const maple_node *node_of(const void *enode)
{
    const auto word = reinterpret_cast<std::uintptr_t>(enode);
    return reinterpret_cast<const maple_node *>(word & ~std::uintptr_t{MAPLE_NODE_MASK});
}

bool is_leaf(const void *enode)
{
    const auto word = reinterpret_cast<std::uintptr_t>(enode);
    return (word >> MAPLE_NODE_TYPE_SHIFT & MAPLE_NODE_TYPE_MASK) == maple_leaf_64;
}

// Nodes are laid out as ours (tools/kdir/maple/adapter.h). What an inner node that lies in [first, last] meets when
// it is freed; [min, max] is what `enode` covers, and the tree has no gaps. U9 is met by the topmost node that is
// freed; any other is told as well.
std::optional<Bug> met_below(const void *enode, unsigned long min, unsigned long max, unsigned long first,
                             unsigned long last)
{
    if (is_leaf(enode) || min > last || max < first)
        return std::nullopt;
    const auto &range = node_of(enode)->mr64;
    const bool is_inside = min >= first && max <= last;
    for (unsigned i = 0;; i++) {
        const unsigned long pivot = i < kMetadataSlot ? range.pivot[i] : max;
        const bool is_end = pivot == max || (i && pivot == 0);
        if (const auto below = met_below(range.slot[i], min, is_end ? max : pivot, first, last))
            return below;
        if (is_end && is_inside && i >= kMetadataSlot - 1 && range.slot[kMetadataSlot])
            return i == kMetadataSlot ? Bug::U9 : Bug::U2;
        if (is_end)
            return std::nullopt;
        min = pivot + 1;
    }
}

std::optional<Bug> freeing_meets(const maple_ops *ops, maple_ops_tree *tree, unsigned long first, unsigned long last)
{
    const unsigned flags = tree->mt.ma_flags;
    if (!(flags & MT_FLAGS_USE_RCU) || flags & MT_FLAGS_ALLOC_RANGE || ops->height(tree) < 2)
        return std::nullopt;
    ops->lock(tree);
    const auto met = met_below(tree->mt.ma_root, 0, ULONG_MAX, first, last);
    ops->unlock(tree);
    return met;
}

bool is_run(MapleOp op) { return is_among(op, MapleOp::StoreRun, MapleOp::ClearRun) || op == MapleOp::CursorBulk; }

bool is_over_everything(const Step &step) { return step.first == 0 && step.last == ULONG_MAX; }

} // namespace

const BugText &text_of(Bug bug)
{
    static constexpr BugText texts[kBugs] = {
        {"U1", "a cursor that met a limit before it had a node follows NULL"},
        {"U2", "the end of an RCU tree without gaps takes metadata for a child"},
        {"U3", "an erased entry over every index leaves a node with one NULL"},
        {"U6", "an insert over every index overwrites a tree of one leaf"},
        {"U7", "a search from above up to the last index finds no gap that begins at 0"},
        {"U8", "a lower limit is forgotten where nothing but an entry at index 0 is"},
        {"U9", "the end of an RCU tree without gaps cuts the address of a sixteenth child"},
        {"U10", "a store that makes the only node leaves the cursor without its end"},
        {"D1", "NULL over every index, and an insert that is refused, take nodes that are not used"},
        {"D2", "in a tree without nodes a cursor ends in another state"},
        {"D3", "a search that finds nothing leaves its cursor elsewhere"},
        {"D4", "mas_store() over more than one leaf answers with what is elsewhere"}};
    return texts[unsigned(bug)];
}

std::optional<Bug> bug_of(std::string_view name)
{
    for (unsigned i = 0; i < kBugs; i++)
        if (name == text_of(Bug(i)).name)
            return Bug(i);
    return std::nullopt;
}

std::string all_bugs()
{
    std::string names;
    for (unsigned i = 0; i < kBugs; i++)
        names += std::string(i ? " " : "") + text_of(Bug(i)).name;
    return names;
}

// An active cursor has a node, and so have those that went beyond a limit by walking there.
bool meets_u1(const Step &step, const maple_ops_position &at)
{
    if (at.has_node)
        return false;
    const bool steps_on = is_among(step.op, MapleOp::CursorNext, MapleOp::CursorFindRangeRev);
    if (at.status == MAPLE_OPS_OVERFLOW || at.status == MAPLE_OPS_UNDERFLOW)
        return steps_on;
    return at.status == MAPLE_OPS_ACTIVE && (steps_on || step.op == MapleOp::CursorWalk ||
                                             is_among(step.op, MapleOp::CursorStore, MapleOp::CursorErase));
}

std::optional<Bug> meets_u2_or_u9(const Step &step, const model::RangeMap &map, const maple_ops *ops,
                                  maple_ops_tree *tree)
{
    if (step.op == MapleOp::Destroy || (is_run(step.op) && step.count))
        return end_meets_u2_or_u9(ops, tree);
    const bool writes = step.op <= MapleOp::Erase || is_among(step.op, MapleOp::CursorStore, MapleOp::CursorErase);
    if (!writes || step.first > step.last)
        return std::nullopt;
    // NULL takes its neighbours in.
    const unsigned long first = map.at(step.first ? step.first - 1 : 0).first;
    const unsigned long last = map.at(step.last < ULONG_MAX ? step.last + 1 : ULONG_MAX).last;
    return freeing_meets(ops, tree, first, last);
}

std::optional<Bug> end_meets_u2_or_u9(const maple_ops *ops, maple_ops_tree *tree)
{
    return freeing_meets(ops, tree, 0, ULONG_MAX);
}

bool is_u10(const Step &step, unsigned levels, const maple_ops *ops, maple_ops_tree *tree)
{
    const bool makes_the_only_node = levels == 0 || is_over_everything(step);
    return step.op >= MapleOp::CursorStore && makes_the_only_node && ops->height(tree) > 0;
}

bool is_u6(const Step &step, const Answer &expected, const Answer &found)
{
    return step.op == MapleOp::InsertRange && is_over_everything(step) && expected.error == -EEXIST &&
           found.error == 0;
}

// The window's length is counted from the begin of a slot, of a leaf or above, and wraps where that is 0: the gap lies
// in the root's first slot.
bool is_u7(const Step &step, const Answer &expected, const Answer &found, const maple_ops_tree *theirs)
{
    if ((step.op != MapleOp::AllocHigh && step.op != MapleOp::CursorGapHigh) || step.last != ULONG_MAX ||
        expected.error || found.error != -EBUSY)
        return false;
    const void *root = theirs->mt.ma_root;
    const maple_node *node = node_of(root);
    return expected.first <= (is_leaf(root) ? node->mr64.pivot[0] : node->ma64.pivot[0]);
}

bool is_u8(const Step &step, const model::RangeMap &map, const Answer &found)
{
    const bool backwards =
        step.op == MapleOp::Prev || step.op == MapleOp::CursorEachRev ||
        is_among(step.op, MapleOp::CursorPrev, MapleOp::CursorPrevRange) ||
        is_among(step.op, MapleOp::CursorFindRev, MapleOp::CursorFindRangeRev);
    const unsigned long limit = step.op == MapleOp::Prev || step.op == MapleOp::CursorEachRev ? step.last : step.first;
    return backwards && limit > 0 && map.size() == 1 && map.at(0).entry && map.at(0).last == 0 &&
           (found.entry == map.at(0).entry || found.count == 1);
}

// An erase of the last entry is a store of NULL over every index as well.
bool is_d1(const Step &step, const Answer &expected, const model::RangeMap &after)
{
    if (after.empty() || expected.error)
        return true;
    const bool only_planned = step.op == MapleOp::CursorPreallocDrop && step.clears;
    return only_planned && after.ranges().begin()->first >= step.first &&
           after.ranges().rbegin()->second.last <= step.last;
}

bool is_d3(const Step &step, const Answer &expected)
{
    return is_among(step.op, MapleOp::CursorNext, MapleOp::CursorGapHigh) && !expected.entry && !expected.has_range;
}

bool is_d2(const maple_ops_position &ours, const maple_ops_position &theirs)
{
    return !ours.has_node && !theirs.has_node && ours.error == theirs.error;
}

bool is_d4(const Step &step) { return step.op == MapleOp::CursorStore; }

bool is_u3(const model::RangeMap &map, const maple_ops *ops, maple_ops_tree *tree)
{
    if (!map.empty() || ops->height(tree) != 1)
        return false;
    maple_ops_cursor cursor;
    maple_ops_position at;
    ops->lock(tree);
    ops->cursor_init(&cursor, tree, 0);
    const void *entry = ops->mas_walk(&cursor);
    ops->cursor_get(&cursor, &at);
    ops->unlock(tree);
    return !entry && at.first == 0 && at.last == ULONG_MAX;
}

} // namespace kmirror::diff
