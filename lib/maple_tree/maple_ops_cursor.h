// SPDX-License-Identifier: GPL-2.0-only
//
// The table's entries for cursors (ma_state). Included by maple_ops.cpp alone.
//
// Owns     nothing: cursors live in the caller's memory.
// Locking  the caller holds the tree's lock, or is in a read section for the reading ones.
// Fails    as the functions that the entries stand for, see <linux/maple_tree.h>.
#ifndef KMIRROR_LIB_MAPLE_TREE_MAPLE_OPS_CURSOR_H
#define KMIRROR_LIB_MAPLE_TREE_MAPLE_OPS_CURSOR_H

#include "lib/maple_tree/ma_state.h"

#include <kmirror/maple_ops_fill.h>
#include <linux/slab.h>

namespace kmirror::maple {

// By number, as the enumerations of two kernels need not agree.
constexpr maple_ops_status ops_status(maple_status status)
{
    switch (status) {
    case ma_active: return MAPLE_OPS_ACTIVE;
    case ma_start: return MAPLE_OPS_START;
    case ma_root: return MAPLE_OPS_ROOT;
    case ma_none: return MAPLE_OPS_NONE;
    case ma_pause: return MAPLE_OPS_PAUSE;
    case ma_overflow: return MAPLE_OPS_OVERFLOW;
    case ma_underflow: return MAPLE_OPS_UNDERFLOW;
    case ma_error: break;
    }
    return MAPLE_OPS_ERROR;
}

inline void ops_cursor_get(const maple_ops_cursor *cursor, maple_ops_position *out)
{
    const ma_state *mas = ops_mas(cursor);
    out->first = mas->index;
    out->last = mas->last;
    out->min = mas->min;
    out->max = mas->max;
    out->status = ops_status(mas->status);
    out->error = mas_is_err(mas) ? mas_err(mas) : 0;
    out->offset = mas->offset;
    out->has_node = mas->node && !mas_is_err(mas);
}

inline unsigned long ops_mas_reserved(const maple_ops_cursor *cursor)
{
    const ma_state *mas = ops_mas(cursor);
    return (mas->alloc ? 1 : 0) + (mas->sheaf ? kmem_cache_sheaf_size(mas->sheaf) : 0);
}

constexpr void ops_fill_position(maple_ops *ops)
{
    using C = maple_ops_cursor;
    using Index = unsigned long;
    ops->cursor_init = [](C *cursor, maple_ops_tree *tree, Index index) {
        mas_init(ops_mas(cursor), &tree->mt, index);
    };
    ops->cursor_range = [](C *cursor, maple_ops_tree *tree, Index first, Index last) {
        mas_init(ops_mas(cursor), &tree->mt, first);
        ops_mas(cursor)->last = last;
    };
    ops->cursor_get = ops_cursor_get;
    ops->cursor_dump = [](const C *cursor) { mas_dump(ops_mas(cursor)); };
    ops->mas_reset = [](C *cursor) { mas_reset(ops_mas(cursor)); };
    ops->mas_pause = [](C *cursor) { mas_pause(ops_mas(cursor)); };
    ops->mas_set = [](C *cursor, Index index) { mas_set(ops_mas(cursor), index); };
    ops->mas_set_range = [](C *cursor, Index first, Index last) {
        mas_set_range(ops_mas(cursor), first, last);
    };
    ops->mas_move = [](C *cursor, Index first, Index last) { __mas_set_range(ops_mas(cursor), first, last); };
}

constexpr void ops_fill_reading(maple_ops *ops)
{
    using C = maple_ops_cursor;
    using Index = unsigned long;
    ops->mas_walk = [](C *cursor) { return mas_walk(ops_mas(cursor)); };
    ops->mas_next = [](C *cursor, Index max) { return mas_next(ops_mas(cursor), max); };
    ops->mas_next_range = [](C *cursor, Index max) { return mas_next_range(ops_mas(cursor), max); };
    ops->mas_prev = [](C *cursor, Index min) { return mas_prev(ops_mas(cursor), min); };
    ops->mas_prev_range = [](C *cursor, Index min) { return mas_prev_range(ops_mas(cursor), min); };
    ops->mas_find = [](C *cursor, Index max) { return mas_find(ops_mas(cursor), max); };
    ops->mas_find_range = [](C *cursor, Index max) { return mas_find_range(ops_mas(cursor), max); };
    ops->mas_find_rev = [](C *cursor, Index min) { return mas_find_rev(ops_mas(cursor), min); };
    ops->mas_find_range_rev = [](C *cursor, Index min) { return mas_find_range_rev(ops_mas(cursor), min); };
    ops->mas_empty_area = [](C *cursor, Index min, Index max, Index size) {
        return mas_empty_area(ops_mas(cursor), min, max, size);
    };
    ops->mas_empty_area_rev = [](C *cursor, Index min, Index max, Index size) {
        return mas_empty_area_rev(ops_mas(cursor), min, max, size);
    };
}

constexpr void ops_fill_writing(maple_ops *ops)
{
    using C = maple_ops_cursor;
    using Index = unsigned long;
    ops->mas_store = [](C *cursor, void *entry) { return mas_store(ops_mas(cursor), entry); };
    ops->mas_store_gfp = [](C *cursor, void *entry, unsigned gfp) {
        return mas_store_gfp(ops_mas(cursor), entry, ops_gfp(gfp));
    };
    ops->mas_preallocate = [](C *cursor, void *entry, unsigned gfp) {
        return mas_preallocate(ops_mas(cursor), entry, ops_gfp(gfp));
    };
    ops->mas_store_prealloc = [](C *cursor, void *entry) { mas_store_prealloc(ops_mas(cursor), entry); };
    ops->mas_destroy = [](C *cursor) { mas_destroy(ops_mas(cursor)); };
    ops->mas_erase = [](C *cursor) { return mas_erase(ops_mas(cursor)); };
    ops->mas_alloc_cyclic = [](C *cursor, Index *start, void *entry, Index min, Index max, Index *next,
                               unsigned gfp) {
        return mas_alloc_cyclic(ops_mas(cursor), start, entry, min, max, next, ops_gfp(gfp));
    };
    ops->mas_nomem = [](C *cursor, unsigned gfp) { return mas_nomem(ops_mas(cursor), ops_gfp(gfp)); };
    ops->mas_nomem_nofail = [](C *cursor, Index first, Index last) {
        return mas_nomem_nofail(ops_mas(cursor), first, last);
    };
    ops->mas_expected_entries = [](C *cursor, unsigned long nr_entries) {
        return mas_expected_entries(ops_mas(cursor), nr_entries);
    };
    ops->mas_reserved = ops_mas_reserved;
}

} // namespace kmirror::maple

#endif
