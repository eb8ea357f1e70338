// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/stats.h: what happened to a cache, counted per CPU under the kernel's names.
//
// Owns     the list of statistics; the counters lie behind each CPU's sheaves.
// Bounds   one counter per item, CPU and cache; without KMIRROR_STATS none.
// Locking  two prices. stat() may be called anywhere and costs an atomic add, because
//          threads can share a CPU. stat_pcs() is a plain add for who holds that CPU's
//          local lock. An item is counted at one price only, or counts would be lost.
// Fails    never.
#pragma once

#include <linux/percpu.h>
#include <kmirror/config.h>

namespace kmirror::slub {

enum stat_item : unsigned int {
    ALLOC_FASTPATH = 0,          // objects from a CPU's sheaf; plain
    ALLOC_SLOWPATH = 1,          // objects from a partial or new slab
    FREE_RCU_SHEAF = 2,          // objects into an rcu_free sheaf; plain
    FREE_RCU_SHEAF_FAIL = 3,     // objects that had to go to call_rcu() instead
    FREE_FASTPATH = 4,           // objects into a CPU's sheaf; plain
    FREE_SLOWPATH = 5,           // objects into their slab
    FREE_ADD_PARTIAL = 6,        // a free put its slab on the partial list
    FREE_REMOVE_PARTIAL = 7,     // a free took its slab off that list, empty
    ALLOC_SLAB = 8,              // slabs from the page allocator
    ALLOC_NODE_MISMATCH = 9,     // a wished node kept an allocation off the sheaf
    FREE_SLAB = 10,              // slabs back to the page allocator
    ORDER_FALLBACK = 11,         // slabs that had to be of the smallest order
    CMPXCHG_DOUBLE_FAIL = 12,    // swaps of a slab's words that came second
    SHEAF_FLUSH = 13,            // objects flushed out of sheaves
    SHEAF_REFILL = 14,           // objects filled into sheaves
    SHEAF_ALLOC = 15,            // sheaves made, one-off ones too
    SHEAF_FREE = 16,             // sheaves freed, one-off ones too
    BARN_GET = 17,               // full sheaves out of the barn
    BARN_GET_FAIL = 18,          // times there was none
    BARN_PUT = 19,               // full sheaves into the barn
    BARN_PUT_FAIL = 20,          // times it had no room
    SHEAF_PREFILL_FAST = 21,     // prefills served by the spare sheaf
    SHEAF_PREFILL_SLOW = 22,     // prefills without a spare sheaf
    SHEAF_PREFILL_OVERSIZE = 23, // prefills beyond the sheaf capacity
    SHEAF_RETURN_FAST = 24,      // returned sheaves that became the spare
    SHEAF_RETURN_SLOW = 25,      // returned sheaves that could not
    NR_SLUB_STAT_ITEMS
};

// Without statistics one unused slot stays, so that the layout needs no second form.
inline constexpr unsigned int kStatSlots = KMIRROR_STATS ? (unsigned int)NR_SLUB_STAT_ITEMS : 1;

struct kmem_cache_stats {
    unsigned long stat[kStatSlots];
};

// Items counted with the CPU's local lock held.
constexpr bool stat_is_plain(stat_item item)
{
    return item == ALLOC_FASTPATH || item == FREE_FASTPATH || item == FREE_RCU_SHEAF;
}

// Another thread may read the sum at any time, so the store is whole, but not a
// read-modify-write: nobody else writes.
template <stat_item item>
[[gnu::always_inline]] inline void stat_plain(kmem_cache_stats &stats, unsigned long count = 1)
{
    static_assert(stat_is_plain(item));
    if constexpr (KMIRROR_STATS) {
        unsigned long &counter = stats.stat[item];
        WRITE_ONCE(counter, READ_ONCE(counter) + count);
    }
}

} // namespace kmirror::slub
