/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table's entries for cursors (ma_state) of a kernel's tree. For adapter.c alone.
 *
 * Owns     nothing: cursors live in the caller's memory.
 * Locking  the caller holds the tree's lock, or is in a read section for the reading ones.
 * Fails    as the functions that the entries stand for.
 */
#ifndef KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_CURSOR_H
#define KMIRROR_TOOLS_KDIR_MAPLE_ADAPTER_CURSOR_H

#include "tools/kdir/maple/adapter.h"

typedef struct maple_ops_cursor cursor_t;
typedef unsigned long index_t;

/* ---- position ---------------------------------------------------------------------------------------------- */

static enum maple_ops_status ops_status(enum maple_status status)
{
    switch (status) {
    case ma_active: return MAPLE_OPS_ACTIVE;
    case ma_start: return MAPLE_OPS_START;
    case ma_root: return MAPLE_OPS_ROOT;
    case ma_none: return MAPLE_OPS_NONE;
    case ma_pause: return MAPLE_OPS_PAUSE;
    case ma_overflow: return MAPLE_OPS_OVERFLOW;
    case ma_underflow: return MAPLE_OPS_UNDERFLOW;
    default: return MAPLE_OPS_ERROR;
    }
}

static void ops_cursor_init(cursor_t *c, struct maple_ops_tree *tree, index_t index)
{
    mas_init(ops_mas(c), &tree->mt, index);
}

static void ops_cursor_range(cursor_t *c, struct maple_ops_tree *tree, index_t first, index_t last)
{
    mas_init(ops_mas(c), &tree->mt, first);
    ops_mas(c)->last = last;
}

static void ops_cursor_get(const cursor_t *c, struct maple_ops_position *out)
{
    struct ma_state *mas = ops_mas(c);
    const bool failed = mas_is_err(mas);

    *out = (struct maple_ops_position){
        .first = mas->index, .last = mas->last, .min = mas->min, .max = mas->max,
        .status = ops_status(mas->status), .error = failed ? xa_err(mas->node) : 0,
        .offset = mas->offset, .has_node = mas->node && !failed,
    };
}

static unsigned long ops_mas_reserved(const cursor_t *c)
{
#ifdef KDIR_HAS_MAPLE_ALLOC
    return mas_allocated(ops_mas(c));
#else
    const struct ma_state *mas = ops_mas(c);

    return (mas->alloc ? 1 : 0) + (mas->sheaf ? kmem_cache_sheaf_size(mas->sheaf) : 0);
#endif
}

static void ops_cursor_dump(const cursor_t *c)
{
#ifdef CONFIG_DEBUG_MAPLE_TREE
    mas_dump(ops_mas(c));
#else
    (void)c;
#endif
}

static void ops_mas_reset(cursor_t *c) { mas_reset(ops_mas(c)); }
static void ops_mas_pause(cursor_t *c) { mas_pause(ops_mas(c)); }
static void ops_mas_set(cursor_t *c, index_t index) { mas_set(ops_mas(c), index); }
static void ops_mas_set_range(cursor_t *c, index_t first, index_t last) { mas_set_range(ops_mas(c), first, last); }
static void ops_mas_move(cursor_t *c, index_t first, index_t last) { __mas_set_range(ops_mas(c), first, last); }

static void ops_fill_position(struct maple_ops *ops)
{
    ops->cursor_init = ops_cursor_init;
    ops->cursor_range = ops_cursor_range;
    ops->cursor_get = ops_cursor_get;
    ops->cursor_dump = ops_cursor_dump;
    ops->mas_reset = ops_mas_reset;
    ops->mas_pause = ops_mas_pause;
    ops->mas_set = ops_mas_set;
    ops->mas_set_range = ops_mas_set_range;
    ops->mas_move = ops_mas_move;
    ops->mas_reserved = ops_mas_reserved;
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

static void *ops_mas_walk(cursor_t *c) { return mas_walk(ops_mas(c)); }

/* A step, or a search, up to a limit. */
#define OPS_STEP(name) static void *ops_##name(cursor_t *c, index_t limit) { return name(ops_mas(c), limit); }
OPS_STEP(mas_next)
OPS_STEP(mas_next_range)
OPS_STEP(mas_prev)
OPS_STEP(mas_prev_range)
OPS_STEP(mas_find)
OPS_STEP(mas_find_range)
OPS_STEP(mas_find_rev)
OPS_STEP(mas_find_range_rev)

static int ops_mas_empty_area(cursor_t *c, index_t min, index_t max, index_t size)
{
    return mas_empty_area(ops_mas(c), min, max, size);
}

static int ops_mas_empty_area_rev(cursor_t *c, index_t min, index_t max, index_t size)
{
    return mas_empty_area_rev(ops_mas(c), min, max, size);
}

static void ops_fill_reading(struct maple_ops *ops)
{
    ops->mas_walk = ops_mas_walk;
    ops->mas_next = ops_mas_next;
    ops->mas_next_range = ops_mas_next_range;
    ops->mas_prev = ops_mas_prev;
    ops->mas_prev_range = ops_mas_prev_range;
    ops->mas_find = ops_mas_find;
    ops->mas_find_range = ops_mas_find_range;
    ops->mas_find_rev = ops_mas_find_rev;
    ops->mas_find_range_rev = ops_mas_find_range_rev;
    ops->mas_empty_area = ops_mas_empty_area;
    ops->mas_empty_area_rev = ops_mas_empty_area_rev;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

static void *ops_mas_store(cursor_t *c, void *entry) { return mas_store(ops_mas(c), entry); }
static void *ops_mas_erase(cursor_t *c) { return mas_erase(ops_mas(c)); }
static void ops_mas_store_prealloc(cursor_t *c, void *entry) { mas_store_prealloc(ops_mas(c), entry); }
static void ops_mas_destroy(cursor_t *c) { mas_destroy(ops_mas(c)); }
static bool ops_mas_nomem(cursor_t *c, unsigned int gfp) { return mas_nomem(ops_mas(c), ops_gfp(gfp)); }

static int ops_mas_store_gfp(cursor_t *c, void *entry, unsigned int gfp)
{
    return mas_store_gfp(ops_mas(c), entry, ops_gfp(gfp));
}

static int ops_mas_preallocate(cursor_t *c, void *entry, unsigned int gfp)
{
    return mas_preallocate(ops_mas(c), entry, ops_gfp(gfp));
}

static int ops_mas_alloc_cyclic(cursor_t *c, index_t *start, void *entry, index_t min, index_t max,
                                index_t *next, unsigned int gfp)
{
    return mas_alloc_cyclic(ops_mas(c), start, entry, min, max, next, ops_gfp(gfp));
}

#ifdef KDIR_HAS_EXPECTED_ENTRIES
static int ops_mas_expected_entries(cursor_t *c, unsigned long nr_entries)
{
    return mas_expected_entries(ops_mas(c), nr_entries);
}
#else
#define ops_mas_expected_entries NULL
#endif

#ifdef KDIR_HAS_NOMEM_NOFAIL
static bool ops_mas_nomem_nofail(cursor_t *c, index_t first, index_t last)
{
    return mas_nomem_nofail(ops_mas(c), first, last);
}
#else
#define ops_mas_nomem_nofail NULL
#endif

static void ops_fill_writing(struct maple_ops *ops)
{
    ops->mas_store = ops_mas_store;
    ops->mas_store_gfp = ops_mas_store_gfp;
    ops->mas_preallocate = ops_mas_preallocate;
    ops->mas_store_prealloc = ops_mas_store_prealloc;
    ops->mas_destroy = ops_mas_destroy;
    ops->mas_erase = ops_mas_erase;
    ops->mas_alloc_cyclic = ops_mas_alloc_cyclic;
    ops->mas_nomem = ops_mas_nomem;
    ops->mas_nomem_nofail = ops_mas_nomem_nofail;
    ops->mas_expected_entries = ops_mas_expected_entries;
}

#endif
