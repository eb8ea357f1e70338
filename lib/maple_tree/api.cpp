// SPDX-License-Identifier: GPL-2.0-only
//
// The simple API's stores: each takes the tree's own lock, works through the advanced API, and lets go.
//
//   mtree_store(_range)          mas_store_gfp                                    mas_api.cpp
//   mtree_insert(_range)         mas_insert, again after mas_nomem
//   mtree_alloc_range, _rrange   a gap search, then mas_insert; both again after mas_nomem
//   mtree_alloc_cyclic           mas_alloc_cyclic
//   mtree_erase                  mas_erase
//
// Locking  ma_lock; not for trees with an external lock. Released while an allocation may sleep.
// Fails    with a negative errno, the tree being as it was.
#include "lib/maple_tree/mas_api.h"

#include <linux/sched/mm.h>

#include <trace/events/maple_tree.h>

using namespace kmirror::maple;

namespace {

// Lock, and unlock at the end of the scope.
class TreeLocked {
public:
    explicit TreeLocked(maple_tree *mt) : mt_(mt) { mtree_lock(mt_); }
    ~TreeLocked() { mtree_unlock(mt_); }
    TreeLocked(const TreeLocked &) = delete;
    TreeLocked &operator=(const TreeLocked &) = delete;

private:
    maple_tree *mt_;
};

bool storable(const void *entry)
{
    return !WARN_ON_ONCE(xa_is_advanced(entry));
}

// What the functions that look for a gap need: a tree that knows its gaps, and an entry that is one.
bool allocatable(const maple_tree *mt, const void *entry)
{
    return mt_is_alloc(mt) && !WARN_ON_ONCE(mt_is_reserved(entry));
}

// `search` puts the cursor on a gap, or returns an error.
template <class Search>
int alloc_where(maple_tree *mt, unsigned long *startp, void *entry, gfp_t gfp, Search search)
{
    if (!allocatable(mt, entry))
        return -EINVAL;

    MA_STATE(mas, mt, 0, 0);
    int err;
    {
        const TreeLocked lock(mt);
        do {
            err = search(&mas);
            if (err)
                break;
            mas_insert(&mas, entry);
        } while (mas_nomem(&mas, gfp));
    }
    if (!err && mas_is_err(&mas))
        err = mas_err(&mas);
    if (!err)
        *startp = mas.index;
    mas_destroy(&mas);
    return err;
}

} // namespace

int mtree_store_range(maple_tree *mt, unsigned long first, unsigned long last, void *entry, gfp_t gfp)
{
    MA_STATE(mas, mt, first, last);

    trace_ma_write(__func__, &mas, 0, entry);
    if (!storable(entry) || first > last)
        return -EINVAL;
    const TreeLocked lock(mt);
    return mas_store_gfp(&mas, entry, gfp);
}

int mtree_store(maple_tree *mt, unsigned long at, void *entry, gfp_t gfp)
{
    return mtree_store_range(mt, at, at, entry, gfp);
}

int mtree_insert_range(maple_tree *mt, unsigned long first, unsigned long last, void *entry, gfp_t gfp)
{
    if (!storable(entry) || first > last)
        return -EINVAL;

    MA_STATE(mas, mt, first, last);
    {
        const TreeLocked lock(mt);
        do {
            mas_insert(&mas, entry);
        } while (mas_nomem(&mas, gfp));
    }
    const int err = mas_is_err(&mas) ? mas_err(&mas) : 0;
    mas_destroy(&mas);
    return err;
}

int mtree_insert(maple_tree *mt, unsigned long at, void *entry, gfp_t gfp)
{
    return mtree_insert_range(mt, at, at, entry, gfp);
}

int mtree_alloc_range(maple_tree *mt, unsigned long *startp, void *entry, unsigned long size,
                      unsigned long min, unsigned long max, gfp_t gfp)
{
    const auto lowest = [=](ma_state *mas) { return mas_empty_area(mas, min, max, size); };
    return alloc_where(mt, startp, entry, gfp, lowest);
}

int mtree_alloc_rrange(maple_tree *mt, unsigned long *startp, void *entry, unsigned long size,
                       unsigned long min, unsigned long max, gfp_t gfp)
{
    const auto highest = [=](ma_state *mas) { return mas_empty_area_rev(mas, min, max, size); };
    return alloc_where(mt, startp, entry, gfp, highest);
}

int mtree_alloc_cyclic(maple_tree *mt, unsigned long *startp, void *entry, unsigned long lo,
                       unsigned long hi, unsigned long *next, gfp_t gfp)
{
    if (!allocatable(mt, entry))
        return -EINVAL;

    MA_STATE(mas, mt, 0, 0);
    const TreeLocked lock(mt);
    return mas_alloc_cyclic(&mas, startp, entry, lo, hi, next, gfp);
}

void *mtree_erase(maple_tree *mt, unsigned long index)
{
    MA_STATE(mas, mt, index, index);

    trace_ma_op(__func__, &mas);
    might_alloc(GFP_KERNEL);
    const TreeLocked lock(mt);
    return mas_erase(&mas);
}
