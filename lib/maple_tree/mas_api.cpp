// SPDX-License-Identifier: GPL-2.0-only
//
// The advanced API's stores. The caller holds the tree's write lock, brings the cursor, and picks the way
// to pay for nodes:
//
//   function             nodes from                             on failure
//   mas_store            GFP_NOWAIT, or a reservation           status ma_error
//   mas_store_gfp        GFP_NOWAIT, then the caller's flags    -ENOMEM
//   mas_preallocate  +   the caller's flags, ahead of time      -ENOMEM
//   mas_store_prealloc   the reservation only                   cannot fail
//   mas_erase            GFP_NOWAIT, then waits for memory      cannot fail
//
// Whatever fails leaves the tree as it was, and the cursor's index and last as the caller set them.
//
// A store, step by step                                         file              may drop the lock
//   mas_store_gfp                                               mas_api.cpp
//     mas_wr_preallocate     walk, plan, reserve                plan.cpp          no
//     mas_nomem              and again from the start           reserve.cpp       yes, nothing being changed
//     mas_wr_store_entry     write, publish                     write.cpp         no
//     mas_destroy            what was reserved too much         reserve.cpp       no
#include "lib/maple_tree/mas_api.h"

#include "lib/maple_tree/plan.h"
#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/walk.h"
#include "lib/maple_tree/write.h"

#include <linux/sched/mm.h>

#include <trace/events/maple_tree.h>

namespace kmirror::maple {

namespace {

// A range that ends before it begins: a bug of the caller, answered before the tree is looked at.
bool range_is_valid(ma_state *mas)
{
    if (mas->index <= mas->last) [[likely]]
        return true;
    (void)MAS_WARN_ON(mas, mas->index > mas->last);
    mas_set_err(mas, -EINVAL);
    return false;
}

// Is all of the planned range NULL? It is if it lies in one NULL range: two of them have an entry between
// them. Where no node is, setup has looked; a store that leaves nothing of a root meets whatever the root
// holds.
bool range_is_free(const ma_wr_state *wr_mas)
{
    const ma_state *mas = wr_mas->mas;
    switch (mas->store_type) {
    case wr_store_root: return true;
    case wr_new_root:
    case wr_spanning_store: return false;
    default: return !wr_mas->content && mas->last <= wr_mas->r_max;
    }
}

// mas_store() for a cursor with a reservation. mas_expected_entries() has only estimated, so there a store
// may ask for more; mas_preallocate() has counted.
bool reservation_suffices(ma_wr_state *wr_mas, const AskedRange &asked)
{
    return !(wr_mas->mas->mas_flags & MA_STATE_BULK) || mas_wr_reserve(wr_mas, asked, GFP_NOWAIT);
}

} // namespace

void *mas_insert(ma_state *mas, void *entry)
{
    MA_WR_STATE(wr_mas, mas, entry);
    const AskedRange asked(mas);

    mas_wr_prealloc_setup(&wr_mas);
    if (!wr_mas.content) {
        mas->store_type = mas_wr_store_type(&wr_mas);
        if (range_is_free(&wr_mas)) {
            if (mas_wr_reserve(&wr_mas, asked, GFP_NOWAIT))
                mas_wr_store_entry(&wr_mas);
            return nullptr;
        }
    }
    asked.restore(mas);
    mas_set_err(mas, -EEXIST);
    return wr_mas.content;
}

} // namespace kmirror::maple

using namespace kmirror::maple;

void *mas_store(ma_state *mas, void *entry)
{
    MA_WR_STATE(wr_mas, mas, entry);
    const bool reserved = (mas->mas_flags & MA_STATE_PREALLOC) != 0;
    const AskedRange asked(mas);

    trace_ma_write(__func__, mas, 0, entry);
    if (!range_is_valid(mas))
        return nullptr;
    mas_wr_plan(&wr_mas);
    if (!(reserved ? reservation_suffices(&wr_mas, asked) : mas_wr_reserve(&wr_mas, asked, GFP_NOWAIT)))
        return nullptr;
    mas_wr_store_entry(&wr_mas);
    if (!reserved)
        mas_destroy(mas);
    return wr_mas.content;
}

int mas_store_gfp(ma_state *mas, void *entry, gfp_t gfp)
{
    MA_WR_STATE(wr_mas, mas, entry);
    int err = 0;

    if (!range_is_valid(mas))
        return -EINVAL;
    do {
        mas_wr_preallocate(&wr_mas, entry);
    } while (mas_nomem(mas, gfp));

    if (mas_is_err(mas))
        err = mas_err(mas);
    else
        mas_wr_store_entry(&wr_mas);
    mas_destroy(mas);
    return err;
}

int mas_preallocate(ma_state *mas, void *entry, gfp_t gfp)
{
    MA_WR_STATE(wr_mas, mas, entry);
    const AskedRange asked(mas);

    if (!range_is_valid(mas))
        return -EINVAL;
    mas_wr_plan(&wr_mas);
    if (!mas_wr_reserve(&wr_mas, asked, gfp)) {
        const int err = mas_err(mas);
        mas_destroy(mas);
        mas_reset(mas);
        return err;
    }
    mas->mas_flags |= MA_STATE_PREALLOC;
    return 0;
}

void mas_store_prealloc(ma_state *mas, void *entry)
{
    MA_WR_STATE(wr_mas, mas, entry);
    const bool has_nodes = mas->store_type != wr_store_root;

    // The plan is mas_preallocate()'s, and the cursor still stands where that left it.
    if (has_nodes) {
        VM_BUG_ON(!mas_is_active(mas) || mte_dead_node(mas->node));
        mas_wr_walk_descend(&wr_mas);
    } else {
        mas_wr_prealloc_setup(&wr_mas);
    }
    if (has_nodes && mas->store_type != wr_spanning_store) {
        mas_wr_end_piv(&wr_mas);
        wr_mas.content = mas_slot_locked(mas, wr_mas.slots, mas->offset);
    }
    trace_ma_write(__func__, mas, 0, entry);
    mas_wr_store_entry(&wr_mas);
    VM_BUG_ON(mas_is_err(mas));
    mas_destroy(mas);
}

void *mas_erase(ma_state *mas)
{
    MA_WR_STATE(wr_mas, mas, nullptr);
    const unsigned long index = mas->index;
    void *entry;

    // Only the tree's own lock can be dropped to wait for memory.
    if (mt_external_lock(mas->tree))
        might_alloc(GFP_KERNEL);

    mas_make_walkable(mas);
    do {
        entry = mas_state_walk(mas);
        if (!entry)
            break;
        if (mas_is_ptr(mas))
            mas->last = mas->index;
        // From the root: a NULL that reaches the end of its leaf is a spanning store.
        mas_reset(mas);
        mas_wr_preallocate(&wr_mas, nullptr);
    } while (mas_nomem_nofail(mas, index, index));

    if (entry)
        mas_wr_store_entry(&wr_mas);
    mas_destroy(mas);
    return entry;
}

int mas_alloc_cyclic(ma_state *mas, unsigned long *startp, void *entry, unsigned long lo,
                     unsigned long hi, unsigned long *next, gfp_t gfp)
{
    unsigned *const flags = &mas->tree->ma_flags;
    int ret;

    do {
        // First from where the last call stopped, then once round.
        const unsigned long from = *next > lo ? *next : lo;
        ret = mas_empty_area(mas, from, hi, 1);
        if (ret < 0 && from > lo) {
            mas_reset(mas);
            ret = mas_empty_area(mas, lo, hi, 1);
            ret = ret < 0 ? ret : 1;
        }
        if (ret < 0)
            break;
        mas_insert(mas, entry);
    } while (mas_nomem(mas, gfp));

    if (ret >= 0 && mas_is_err(mas))
        ret = mas_err(mas);
    if (ret >= 0) {
        *startp = mas->index;
        *next = mas->index + 1;
        // The call after the one that took ULONG_MAX has gone round, too, although its search did not.
        if (*flags & MT_FLAGS_ALLOC_WRAPPED && ret == 0) {
            word_write(flags, *flags & ~unsigned{MT_FLAGS_ALLOC_WRAPPED});
            ret = 1;
        }
        if (*next == 0)
            word_write(flags, *flags | MT_FLAGS_ALLOC_WRAPPED);
    }
    mas_destroy(mas);
    return ret;
}
