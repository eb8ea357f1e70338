// SPDX-License-Identifier: GPL-2.0-only
//
// Steps on an implementation of the maple tree; see maple_table.h.
#include "fuzz/maple_table.h"

#include <cerrno>
#include <climits>

namespace kmirror::fuzz {
namespace {

class Lock {
public:
    Lock(const maple_ops *ops, maple_ops_tree *tree) : ops_(ops), tree_(tree) { ops_->lock(tree_); }
    ~Lock() { ops_->unlock(tree_); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;

private:
    const maple_ops *ops_;
    maple_ops_tree *tree_;
};

int note_visit(void *arg, unsigned long first, unsigned long last, void *entry)
{
    visit(*static_cast<Answer *>(arg), first, last, entry);
    return 0;
}

Answer answer_of(int error)
{
    Answer answer;
    answer.error = error;
    return answer;
}

Answer answer_of(void *entry)
{
    Answer answer;
    answer.entry = entry;
    return answer;
}

Answer with_range(Answer answer, unsigned long first, unsigned long last)
{
    answer.has_range = true;
    answer.first = first;
    answer.last = last;
    return answer;
}

} // namespace

MapleTable::MapleTable(const maple_ops *ops, const std::array<unsigned, kMapleTrees> &flags) : ops_(ops)
{
    for (unsigned i = 0; i < kMapleTrees; i++) {
        trees_[i].tree = ops->tree_new(flags[i]);
        trees_[i].is_extern = (flags[i] & MAPLE_OPS_LOCK_EXTERN) != 0;
        ops->cursor_init(&trees_[i].cursor, trees_[i].tree, 0);
    }
}

MapleTable::~MapleTable()
{
    for (Tree &tree : trees_)
        ops_->tree_free(tree.tree);
}

maple_ops_position MapleTable::position(unsigned i) const
{
    maple_ops_position at;
    ops_->cursor_get(&trees_[i].cursor, &at);
    return at;
}

maple_ops_position MapleTable::leaf(unsigned i, unsigned long index) const
{
    maple_ops_cursor cursor;
    maple_ops_position at;
    const Lock lock(ops_, trees_[i].tree);
    ops_->cursor_init(&cursor, trees_[i].tree, index);
    ops_->mas_walk(&cursor);
    ops_->cursor_get(&cursor, &at);
    if (at.status != MAPLE_OPS_ACTIVE) {
        at.min = 0;
        at.max = ULONG_MAX;
    }
    return at;
}

// ---- by kind of operation

Answer MapleTable::perform(const Step &step)
{
    if (step.skipped)
        return {};
    Tree &tree = trees_[step.tree];
    if (step.op <= MapleOp::Empty)
        return tree.is_extern ? simple_extern(tree, step) : simple(tree, step);
    if (step.op <= MapleOp::CacheShrink)
        return whole(tree, step);
    if (step.op <= MapleOp::ClearRun)
        return run(tree, step);
    if (step.op == MapleOp::CursorBulk)
        return bulk(tree, step);

    const Lock lock(ops_, tree.tree);
    if (step.op <= MapleOp::CursorReset)
        return cursor_place(tree, step);
    if (step.op <= MapleOp::CursorFindRangeRev)
        return cursor_read(tree, step);
    if (step.op <= MapleOp::CursorGapHigh)
        return cursor_search(tree, step);
    return cursor_write(tree, step);
}

Answer MapleTable::simple(Tree &tree, const Step &step)
{
    const maple_ops &ops = *ops_;
    unsigned long at = step.first;
    int error = 0;
    if (step.op <= MapleOp::AllocCyclic)
        forget_place(tree);
    switch (step.op) {
    case MapleOp::Store:
        return answer_of(ops.store(tree.tree, step.first, step.entry(), step.gfp));
    case MapleOp::StoreRange:
    case MapleOp::Clear:
        return answer_of(ops.store_range(tree.tree, step.first, step.last, step.entry(), step.gfp));
    case MapleOp::Insert:
        return answer_of(ops.insert(tree.tree, step.first, step.entry(), step.gfp));
    case MapleOp::InsertRange:
        return answer_of(ops.insert_range(tree.tree, step.first, step.last, step.entry(), step.gfp));
    case MapleOp::Erase:
        return answer_of(ops.erase(tree.tree, step.first));
    case MapleOp::Alloc:
        error = ops.alloc_range(tree.tree, &at, step.entry(), step.size, step.first, step.last, step.gfp);
        return error ? answer_of(error) : with_range({}, at, at + (step.size - 1));
    case MapleOp::AllocHigh:
        error = ops.alloc_rrange(tree.tree, &at, step.entry(), step.size, step.first, step.last, step.gfp);
        return error ? answer_of(error) : with_range({}, at, at + (step.size - 1));
    case MapleOp::AllocCyclic:
        error = ops.alloc_cyclic(tree.tree, &at, step.entry(), step.first, step.last, &tree.next, step.gfp);
        return error < 0 ? answer_of(error) : with_range(answer_of(error), at, tree.next);
    default:
        return simple_extern(tree, step);
    }
}

// What needs no lock, or goes by an external one: the simple API's stores are not for such trees.
Answer MapleTable::simple_extern(Tree &tree, const Step &step)
{
    const maple_ops &ops = *ops_;
    unsigned long at = step.first;
    Answer answer;
    switch (step.op) {
    case MapleOp::Load:
        return answer_of(ops.load(tree.tree, step.first));
    case MapleOp::Find:
        answer = answer_of(ops.find(tree.tree, &at, step.last));
        return with_range(answer, at, at);
    case MapleOp::FindAfter:
        answer = answer_of(ops.find_after(tree.tree, &at, step.last));
        return with_range(answer, at, at);
    case MapleOp::Next:
        return answer_of(ops.next(tree.tree, step.first, step.last));
    case MapleOp::Prev:
        return answer_of(ops.prev(tree.tree, step.first, step.last));
    case MapleOp::Each:
        ops.each(tree.tree, step.first, step.last, note_visit, &answer);
        return answer;
    case MapleOp::Empty:
        answer.count = ops.empty(tree.tree);
        return answer;
    case MapleOp::Erase:
        forget_place(tree);
        return answer_of(erase(tree, step.first));
    default:
        forget_place(tree);
        return answer_of(step.first > step.last
                             ? -EINVAL
                             : store(tree, step.first, step.last, step.entry(), step.gfp));
    }
}

int MapleTable::store(Tree &tree, unsigned long first, unsigned long last, void *entry, unsigned gfp)
{
    if (!tree.is_extern)
        return ops_->store_range(tree.tree, first, last, entry, gfp);
    const Lock lock(ops_, tree.tree);
    maple_ops_cursor cursor;
    ops_->cursor_range(&cursor, tree.tree, first, last);
    return ops_->mas_store_gfp(&cursor, entry, gfp);
}

void *MapleTable::erase(Tree &tree, unsigned long index)
{
    if (!tree.is_extern)
        return ops_->erase(tree.tree, index);
    const Lock lock(ops_, tree.tree);
    maple_ops_cursor cursor;
    ops_->cursor_init(&cursor, tree.tree, index);
    return ops_->mas_erase(&cursor);
}

Answer MapleTable::dup(Tree &tree, Tree &copy, const Step &step)
{
    if (&tree == &copy)
        return {};
    forget_place(copy);
    if (!tree.is_extern && !copy.is_extern)
        return answer_of(ops_->dup(tree.tree, copy.tree, step.gfp));
    ops_->lock(copy.tree);
    ops_->lock_nested(tree.tree);
    const int error = ops_->dup_locked(tree.tree, copy.tree, step.gfp);
    ops_->unlock(tree.tree);
    ops_->unlock(copy.tree);
    return answer_of(error);
}

Answer MapleTable::whole(Tree &tree, const Step &step)
{
    switch (step.op) {
    case MapleOp::Destroy:
        forget_place(tree);
        ops_->destroy(tree.tree);
        break;
    case MapleOp::Dup:
        return dup(tree, trees_[step.other], step);
    case MapleOp::SetRcu:
    case MapleOp::ClearRcu: {
        const auto set = step.op == MapleOp::SetRcu ? ops_->set_in_rcu : ops_->clear_in_rcu;
        if (!tree.is_extern) {
            set(tree.tree);
            break;
        }
        const Lock lock(ops_, tree.tree);
        set(tree.tree);
        break;
    }
    default:
        ops_->cache_shrink();
    }
    return {};
}

Answer MapleTable::run(Tree &tree, const Step &step)
{
    Answer answer;
    forget_place(tree);
    for (unsigned long i = 0; i < step.count; i++) {
        const unsigned long first = step.first_of_run(i);
        if (step.op == MapleOp::EraseRun)
            visit(answer, first, first, erase(tree, first));
        else if (const int error = store(tree, first, step.last_of_run(i),
                                         step.clears ? nullptr : step.entry_of_run(i), step.gfp))
            answer.error = error;
        else
            answer.count++;
    }
    return answer;
}

// ---- the cursor; the lock is held

Answer MapleTable::cursor_place(Tree &tree, const Step &step)
{
    switch (step.op) {
    case MapleOp::CursorSet:
        ops_->mas_set_range(&tree.cursor, step.first, step.last);
        break;
    case MapleOp::CursorMove:
        ops_->mas_move(&tree.cursor, step.first, step.last);
        break;
    case MapleOp::CursorPause:
        ops_->mas_pause(&tree.cursor);
        break;
    default:
        ops_->mas_reset(&tree.cursor);
    }
    return {};
}

Answer MapleTable::cursor_read(Tree &tree, const Step &step)
{
    using Read = void *(*)(maple_ops_cursor *, unsigned long);
    const Read reads[] = {ops_->mas_next, ops_->mas_next_range, ops_->mas_prev, ops_->mas_prev_range,
                          ops_->mas_find, ops_->mas_find_range, ops_->mas_find_rev, ops_->mas_find_range_rev};
    const bool walks = step.op == MapleOp::CursorWalk;
    void *entry = walks ? ops_->mas_walk(&tree.cursor)
                        : reads[unsigned(step.op) - unsigned(MapleOp::CursorNext)](&tree.cursor, step.first);
    if (!entry && !walks)
        return {};
    maple_ops_position at;
    ops_->cursor_get(&tree.cursor, &at);
    return with_range(answer_of(entry), at.first, at.last);
}

Answer MapleTable::cursor_search(Tree &tree, const Step &step)
{
    maple_ops_cursor *cursor = &tree.cursor;
    Answer answer;
    if (step.op == MapleOp::CursorEach || step.op == MapleOp::CursorEachRev) {
        const auto each = step.op == MapleOp::CursorEach ? ops_->mas_each : ops_->mas_each_rev;
        ops_->mas_set(cursor, step.first);
        each(cursor, step.last, note_visit, &answer);
        return answer;
    }
    ops_->mas_set(cursor, step.first);
    const auto search = step.op == MapleOp::CursorGap ? ops_->mas_empty_area : ops_->mas_empty_area_rev;
    if (const int error = search(cursor, step.first, step.last, step.size)) {
        ops_->mas_set(cursor, step.first);
        return answer_of(error);
    }
    maple_ops_position at;
    ops_->cursor_get(cursor, &at);
    return with_range({}, at.first, at.last);
}

Answer MapleTable::cursor_write(Tree &tree, const Step &step)
{
    maple_ops_cursor *cursor = &tree.cursor;
    unsigned long at = 0;
    int error;
    switch (step.op) {
    case MapleOp::CursorStore:
        return answer_of(ops_->mas_store(cursor, step.entry()));
    case MapleOp::CursorStoreGfp:
        return answer_of(ops_->mas_store_gfp(cursor, step.entry(), step.gfp));
    case MapleOp::CursorPrealloc:
    case MapleOp::CursorPreallocDrop:
        error = ops_->mas_preallocate(cursor, step.entry(), step.gfp);
        if (!error && step.op == MapleOp::CursorPrealloc)
            ops_->mas_store_prealloc(cursor, step.entry());
        else
            ops_->mas_destroy(cursor);
        if (step.op == MapleOp::CursorPreallocDrop)
            ops_->mas_set_range(cursor, step.first, step.last);
        return answer_of(error);
    case MapleOp::CursorErase:
        return answer_of(ops_->mas_erase(cursor));
    default:
        ops_->mas_reset(cursor);
        error = ops_->mas_alloc_cyclic(cursor, &at, step.entry(), step.first, step.last, &tree.next, step.gfp);
        if (error >= 0)
            return with_range(answer_of(error), at, tree.next);
        ops_->mas_set(cursor, step.first);
        return answer_of(error);
    }
}

Answer MapleTable::bulk(Tree &tree, const Step &step)
{
    Answer answer;
    forget_place(tree);
    const Lock lock(ops_, tree.tree);
    maple_ops_cursor cursor;
    ops_->cursor_init(&cursor, tree.tree, step.first);
    answer.error = ops_->mas_expected_entries(&cursor, step.count);
    for (unsigned long i = 0; i < step.count && !answer.error; i++) {
        ops_->mas_set_range(&cursor, step.first_of_run(i), step.last_of_run(i));
        ops_->mas_store(&cursor, step.entry_of_run(i));
        answer.count++;
    }
    ops_->mas_destroy(&cursor);
    return answer;
}

} // namespace kmirror::fuzz
