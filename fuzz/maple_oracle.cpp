// SPDX-License-Identifier: GPL-2.0-only
//
// What steps on whole maps and with a cursor's range must answer; see maple_oracle.h.
#include "fuzz/maple_oracle.h"

#include <algorithm>
#include <cerrno>
#include <climits>

namespace kmirror::fuzz {
namespace {

using model::Range;
using model::RangeMap;

bool is_write(MapleOp op)
{
    return op <= MapleOp::AllocCyclic || (op >= MapleOp::StoreRun && op <= MapleOp::ClearRun) ||
           op >= MapleOp::CursorStore;
}

// The lowest or highest gap, or the error of a search.
int search(const RangeMap &map, bool high, unsigned long min, unsigned long max, unsigned long size,
           unsigned long &first)
{
    if (min > max || size == 0 || max - min < size - 1)
        return -EINVAL;
    const auto found = high ? map.highest_gap(min, max, size) : map.lowest_gap(min, max, size);
    if (found)
        first = *found;
    return found ? 0 : -EBUSY;
}

void set_range(Answer &answer, unsigned long first, unsigned long last)
{
    answer.has_range = true;
    answer.first = first;
    answer.last = last;
}

} // namespace

MapleOracle::MapleOracle(const std::array<unsigned, kMapleTrees> &flags)
{
    for (unsigned i = 0; i < kMapleTrees; i++)
        trees_[i].flags = flags[i];
}

// ---- from an operation to a step

unsigned long MapleOracle::resolve(const Operand &operand, unsigned tree, const MapleTable &table) const
{
    unsigned long index = operand.number;
    switch (operand.near) {
    case Near::Number:
        return index;
    case Near::First:
        index = trees_[tree].map.at(index).first;
        break;
    case Near::Last:
        index = trees_[tree].map.at(index).last;
        break;
    case Near::Low:
        index = table.leaf(tree, index).min;
        break;
    case Near::High:
        index = table.leaf(tree, index).max;
    }
    return index + static_cast<unsigned long>(operand.distance);
}

Step MapleOracle::resolve(const Operation &operation, const MapleTable &table) const
{
    Step step;
    step.op = MapleOp(operation.kind);
    step.tree = operation.place;
    step.value = operation.value;
    step.first = step.last = resolve(operation.operand[0], step.tree, table);
    for (const Field &field : maple_grammar().operations[operation.kind].fields) {
        const Operand &second = operation.operand[1], &third = operation.operand[2];
        if (field.slot == Slot::Operand1 && field.limit == 0)
            step.last = resolve(second, step.tree, table);
        else if (field.slot == Slot::Operand1)
            step.stride = second.number;
        else if (field.slot == Slot::Operand2 && field.limit == 2)
            step.clears = third.number != 0;
        else if (field.slot == Slot::Operand2)
            step.size = third.number;
        else if (field.slot == Slot::Operand3 && field.limit == 2)
            step.gfp = operation.operand[3].number ? MAPLE_OPS_NOWAIT : MAPLE_OPS_KERNEL;
        else if (field.slot == Slot::Operand3)
            step.count = operation.operand[3].number;
    }
    step.other = step.op == MapleOp::Dup ? step.value : 0;
    step.clears |= step.op == MapleOp::Clear || step.op == MapleOp::ClearRun;
    // An external lock is not dropped to wait for memory: its holder has to allow waiting.
    if (trees_[step.tree].flags & MAPLE_OPS_LOCK_EXTERN)
        step.gfp = MAPLE_OPS_KERNEL;
    const maple_ops_position at = table.position(step.tree);
    if (step.op == MapleOp::CursorSet && step.first > step.last)
        std::swap(step.first, step.last);
    if (step.op == MapleOp::CursorMove) {
        const unsigned long end = std::min(at.last, trees_[step.tree].map.at(at.first).last);
        step.first = std::clamp(step.first, at.first, end);
        step.last = std::clamp(step.last, step.first, end);
    }
    if (step.op >= MapleOp::CursorStore && step.op <= MapleOp::CursorErase) {
        step.first = at.first;
        step.last = at.last;
    }
    resolve_run(step);
    step.skipped = !has_meaning(step) || (step.op == MapleOp::CursorMove && at.status != MAPLE_OPS_ACTIVE);
    return step;
}

// A run ends before its index would wrap.
void MapleOracle::resolve_run(Step &step) const
{
    const bool runs = step.op == MapleOp::CursorBulk ||
                      (step.op >= MapleOp::StoreRun && step.op <= MapleOp::ClearRun);
    if (!runs)
        return;
    step.size = std::max(step.size, 1ul);
    step.stride = std::max(step.stride, step.op == MapleOp::CursorBulk ? step.size : 1ul);
    const unsigned long room = ULONG_MAX - step.first;
    if (room < step.size - 1)
        step.count = 0;
    else
        step.count = std::min(step.count, (room - (step.size - 1)) / step.stride + 1);
}

// What an implementation may be asked for.
bool MapleOracle::has_meaning(const Step &step) const
{
    const Tree &tree = trees_[step.tree];
    const bool is_extern = tree.flags & MAPLE_OPS_LOCK_EXTERN, has_gaps = tree.flags & MAPLE_OPS_ALLOC;
    if (is_write(step.op) && tree.map.size() + step.count > kMostRanges)
        return false;
    switch (step.op) {
    case MapleOp::Insert:
    case MapleOp::InsertRange:
    case MapleOp::Alloc:
    case MapleOp::AllocHigh:
    case MapleOp::AllocCyclic:
        return !is_extern;
    case MapleOp::CursorGap:
    case MapleOp::CursorGapHigh:
    case MapleOp::CursorAllocCyclic:
        return has_gaps;
    case MapleOp::Dup:
        return step.tree != step.other && is_extern == bool(trees_[step.other].flags & MAPLE_OPS_LOCK_EXTERN);
    default:
        return steps_ + step.count <= kMostSteps;
    }
}

// ---- from a step to an answer

Answer MapleOracle::expect(const Step &step, const maple_ops_position &at)
{
    Tree &tree = trees_[step.tree];
    if (step.skipped)
        return {};
    steps_ += step.count;
    if (step.op <= MapleOp::AllocCyclic)
        return expect_simple(tree, step);
    if (step.op <= MapleOp::Empty)
        return expect_read(tree, step);
    if (step.op <= MapleOp::CacheShrink)
        return expect_whole(tree, step);
    if (step.op <= MapleOp::ClearRun || step.op == MapleOp::CursorBulk)
        return expect_run(tree, step);
    if (step.op <= MapleOp::CursorReset)
        return {};
    if (step.op <= MapleOp::CursorFindRangeRev)
        return expect_cursor(tree.map, step, at);
    if (step.op <= MapleOp::CursorGapHigh)
        return expect_search(tree, step);
    return expect_write(tree, step, at);
}

Answer MapleOracle::expect_simple(Tree &tree, const Step &step)
{
    RangeMap &map = tree.map;
    Answer answer;
    unsigned long first = 0;
    switch (step.op) {
    case MapleOp::Store:
    case MapleOp::StoreRange:
    case MapleOp::Clear:
        if (step.first > step.last)
            answer.error = -EINVAL;
        else
            map.store(step.first, step.last, step.entry());
        break;
    case MapleOp::Insert:
    case MapleOp::InsertRange:
        answer.error = step.first > step.last ? -EINVAL : map.insert(step.first, step.last, step.entry());
        break;
    case MapleOp::Erase:
        answer.entry = map.erase(step.first);
        break;
    case MapleOp::AllocCyclic:
        return expect_write(tree, step, {});
    default:
        if (!(tree.flags & MAPLE_OPS_ALLOC)) {
            answer.error = -EINVAL;
            break;
        }
        answer.error = search(map, step.op == MapleOp::AllocHigh, step.first, step.last, step.size, first);
        if (answer.error)
            break;
        set_range(answer, first, first + (step.size - 1));
        map.store(answer.first, answer.last, step.entry());
    }
    return answer;
}

Answer MapleOracle::expect_read(const Tree &tree, const Step &step) const
{
    const RangeMap &map = tree.map;
    std::optional<Range> found;
    Answer answer;
    switch (step.op) {
    case MapleOp::Load:
        answer.entry = map.load(step.first);
        return answer;
    case MapleOp::Find:
    case MapleOp::FindAfter:
        if (step.first <= step.last && (step.op == MapleOp::Find || step.first))
            found = map.find(step.first, step.last);
        answer.entry = found ? found->entry : nullptr;
        set_range(answer, found ? found->last + 1 : step.first, found ? found->last + 1 : step.first);
        return answer;
    case MapleOp::Next:
        found = step.first < step.last ? map.next(map.at(step.first).last, step.last) : std::nullopt;
        break;
    case MapleOp::Prev:
        found = step.first > step.last ? map.prev(step.first, step.last) : std::nullopt;
        break;
    case MapleOp::Each:
        for (unsigned long at = step.first; at <= step.last;) {
            found = map.find(at, step.last);
            if (!found)
                break;
            at = found->last + 1;
            visit(answer, at, at, found->entry);
            if (at == 0)
                break;
        }
        return answer;
    default:
        answer.count = map.empty();
        return answer;
    }
    answer.entry = found ? found->entry : nullptr;
    return answer;
}

Answer MapleOracle::expect_whole(Tree &tree, const Step &step)
{
    Answer answer;
    switch (step.op) {
    case MapleOp::Destroy:
        tree.map.clear();
        break;
    case MapleOp::Dup: {
        Tree &copy = trees_[step.other];
        if (copy.flags != tree.flags || copy.wrapped != tree.wrapped || !copy.map.empty())
            answer.error = -EINVAL;
        else
            copy.map = tree.map;
        break;
    }
    case MapleOp::SetRcu:
        tree.flags |= MAPLE_OPS_RCU;
        break;
    case MapleOp::ClearRcu:
        tree.flags &= ~unsigned(MAPLE_OPS_RCU);
        break;
    default:
        break;
    }
    return answer;
}

Answer MapleOracle::expect_run(Tree &tree, const Step &step)
{
    Answer answer;
    for (unsigned long i = 0; i < step.count; i++) {
        const unsigned long first = step.first_of_run(i);
        if (step.op == MapleOp::EraseRun) {
            visit(answer, first, first, tree.map.erase(first));
            continue;
        }
        tree.map.store(first, step.last_of_run(i), step.clears ? nullptr : step.entry_of_run(i));
        answer.count++;
    }
    return answer;
}

Answer MapleOracle::expect_search(const Tree &tree, const Step &step) const
{
    const RangeMap &map = tree.map;
    Answer answer;
    if (step.op == MapleOp::CursorGap || step.op == MapleOp::CursorGapHigh) {
        unsigned long first = 0;
        answer.error = search(map, step.op == MapleOp::CursorGapHigh, step.first, step.last, step.size, first);
        if (!answer.error)
            set_range(answer, first, first + (step.size - 1));
        return answer;
    }
    const bool up = step.op == MapleOp::CursorEach;
    if (up ? step.first > step.last : step.first < step.last)
        return answer;
    auto found = up ? map.find(step.first, step.last) : map.find_rev(step.first, step.last);
    for (; found; found = up ? map.next(found->last, step.last) : map.prev(found->first, step.last))
        visit(answer, found->first, found->last, found->entry);
    return answer;
}

Answer MapleOracle::expect_write(Tree &tree, const Step &step, const maple_ops_position &at)
{
    RangeMap &map = tree.map;
    Answer answer;
    switch (step.op) {
    case MapleOp::CursorStore:
        answer.entry = map.load(at.first);
        [[fallthrough]];
    case MapleOp::CursorStoreGfp:
    case MapleOp::CursorPrealloc:
        map.store(at.first, at.last, step.entry());
        return answer;
    case MapleOp::CursorPreallocDrop:
        return answer;
    case MapleOp::CursorErase:
        answer.entry = map.erase(at.first);
        return answer;
    default:
        break;
    }

    if (!(tree.flags & MAPLE_OPS_ALLOC)) {
        answer.error = -EINVAL;
        return answer;
    }
    const unsigned long from = std::max(tree.next, step.first);
    unsigned long first = 0;
    answer.error = search(map, false, from, step.last, 1, first);
    if (answer.error && from > step.first) {
        answer.error = search(map, false, step.first, step.last, 1, first);
        answer.error = answer.error ? answer.error : 1;
    }
    if (answer.error < 0)
        return answer;
    map.store(first, first, step.entry());
    tree.next = first + 1;
    set_range(answer, first, tree.next);
    if (tree.wrapped && answer.error == 0) {
        tree.wrapped = false;
        answer.error = 1;
    }
    tree.wrapped |= tree.next == 0;
    return answer;
}

} // namespace kmirror::fuzz
