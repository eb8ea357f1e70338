// SPDX-License-Identifier: GPL-2.0-only
//
// The simple reading API: one index, many indices, or the first entry from an index on.
//
//   mtree_load             load_index: no cursor, nothing written; two loads per level wait for each other
//   mtree_load_batch       load_group: eight walks side by side, whose misses overlap
//   mt_find, mt_find_after find_below: no cursor while the leaf of the index has the answer; else
//                          mas_state_walk, then mas_next_slot until an entry is found
//
// The first two exist once for each instruction set (node_search.h); load_paths points to the ones in use.
//
// Owns     load_paths: set before main(), then constant. KMIRROR_CPU chooses by name.
// Locking  enters a read section. The entry that is returned is no longer protected by it.
// Fails    never: a node that dies under the walk sends it back to the root.
#include "lib/kernel/setting.h"
#include "lib/maple_tree/node_search.h"
#include "lib/maple_tree/walk.h"

#include <trace/events/maple_tree.h>

using namespace kmirror::maple;

namespace {

[[gnu::always_inline]] inline void *hide_zero(void *entry) { return xa_is_zero(entry) ? nullptr : entry; }

constexpr unsigned kGroup = 8;      // walks side by side: 32 lines on their way, what a core can wait for

// ---- the instruction set

struct LoadPaths {
    void *(*load)(const maple_tree *mt, unsigned long index);
    void (*batch)(const maple_tree *mt, const unsigned long *indices, void **entries, size_t count);
};

namespace scalar {
#define LOAD_SEARCH scan_offset
#define LOAD_TARGET
#include "lib/maple_tree/load_walk.h"
} // namespace scalar

#if KMIRROR_VECTOR_SEARCH
namespace avx2 {
#define LOAD_SEARCH search_avx2
#define LOAD_TARGET KMIRROR_TARGET_AVX2
#include "lib/maple_tree/load_walk.h"
} // namespace avx2

namespace avx512 {
#define LOAD_SEARCH search_avx512
#define LOAD_TARGET KMIRROR_TARGET_AVX512
#include "lib/maple_tree/load_walk.h"
} // namespace avx512
#endif

constinit LoadPaths load_paths = {scalar::load, scalar::batch};

#if KMIRROR_VECTOR_SEARCH

// The last one of the list that the host has.
int best_of_host()
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return 2;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}

// What the host lacks cannot be chosen; loads before this take the scalar path.
[[gnu::constructor]] void choose_load_paths()
{
    static const char *const names[] = {"scalar", "avx2", "avx512"};
    // One load after the other waits for what the last one answered, or for nothing: AVX2's search takes as long as
    // the scalar one, side by side it takes fewer instructions.
    static constexpr LoadPaths paths[] = {
        {scalar::load, scalar::batch}, {scalar::load, avx2::batch}, {avx512::load, avx512::batch}};
    const int host = best_of_host();
    load_paths = paths[kmirror::kernel::setting_choice("KMIRROR_CPU", names, host + 1, host)];
}

#endif

// ---- the first entry from an index on

// The first visible entry at or after mas->index, up to `max`; the cursor then stands on it.
void *find_first(ma_state *mas, unsigned long max)
{
    void *entry;

    do
        entry = hide_zero(mas_state_walk(mas));
    while (mas_is_start(mas));

    while (!entry && mas_is_active(mas) && mas->last < max)
        entry = hide_zero(mas_next_slot(mas, max, false));
    return entry;
}

// The same as far as the leaf that holds `index` can tell; *last becomes the end of the entry's range. NULL: it is
// not in that leaf, or the walk met something out of the ordinary.
void *find_below(const maple_tree *mt, unsigned long index, unsigned long max, unsigned long *last)
{
    const void *root = mt_root(mt);
    if (!xa_is_node(root)) [[unlikely]]
        return nullptr;

    const maple_enode *enode = mte_safe_root(root);
    unsigned long node_max = ULONG_MAX;
    for (;;) {
        const NodeView here(enode);
        unsigned at = scan_offset(here, index);
        void *entry = mt_slot(mt, here.slots, at);
        unsigned long to = here.last(at, node_max);
        if (here.is_leaf()) {
            const unsigned end = here.end(node_max);
            while (!hide_zero(entry)) {
                if (at >= end || to >= max)
                    return nullptr;
                at++;
                to = at == end ? node_max : ma_pivot(here.pivots, at);
                entry = mt_slot(mt, here.slots, at);
            }
            *last = to;
            return here.is_dead() || to < index ? nullptr : entry;
        }
        if (here.is_dead()) [[unlikely]]
            return nullptr;
        enode = static_cast<maple_enode *>(entry);
        prefetch_node(enode);
        node_max = to;
    }
}

// Not cold: for size the compiler would fill the cursor with a string instruction.
[[gnu::noinline]] void trace_load(const char *fn, maple_tree *mt, unsigned long index)
{
    MA_STATE(mas, mt, index, index);
    trace_ma_read(fn, &mas);
}

// Not in the leaf of the index: with a cursor, which can step to the next one.
[[gnu::noinline]] void *find_with_cursor(maple_tree *mt, unsigned long index, unsigned long max, unsigned long *last)
{
    MA_STATE(mas, mt, index, index);
    void *entry = find_first(&mas, max);
    *last = mas.last;
    return entry;
}

} // namespace

void *mtree_load(struct maple_tree *mt, unsigned long index)
{
    if (trace_ma_read_enabled()) [[unlikely]]
        trace_load(__func__, mt, index);
    rcu_read_lock();
    void *entry = load_paths.load(mt, index);
    rcu_read_unlock();
    return hide_zero(entry);
}

void mtree_load_batch(struct maple_tree *mt, const unsigned long *indices, void **entries, size_t count)
{
    if (trace_ma_read_enabled()) [[unlikely]]
        for (size_t i = 0; i < count; i++)
            trace_load(__func__, mt, indices[i]);
    rcu_read_lock();
    load_paths.batch(mt, indices, entries, count);
    rcu_read_unlock();
}

void *mt_find(struct maple_tree *mt, unsigned long *index, unsigned long max)
{
    const unsigned long from = *index;
    if (from > max)
        return nullptr;

    if (trace_ma_read_enabled()) [[unlikely]]
        trace_load(__func__, mt, from);
    unsigned long last;
    rcu_read_lock();
    void *entry = find_below(mt, from, max, &last);
    if (!entry)
        entry = find_with_cursor(mt, from, max, &last);
    rcu_read_unlock();
    if (!entry)
        return nullptr;

    *index = last + 1;
    // A loop over the tree ends because the index grows until it wraps to 0.
    if (KMIRROR_CHECKS && MT_WARN_ON(mt, *index != 0 && *index <= from))
        pr_err("index not increased! %lx <= %lx\n", *index, from);
    return entry;
}

void *mt_find_after(struct maple_tree *mt, unsigned long *index, unsigned long max)
{
    return *index == 0 ? nullptr : mt_find(mt, index, max);
}
