// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/stats.h: what happened to a cache, counted per CPU under the kernel's names.
//
// Owns     the list of statistics; the counters lie behind each CPU's sheaves.
// Bounds   one counter per item, CPU and cache; without KMIRROR_STATS none. A cache counts
//          what its generation knows. Without cpu slabs a sheaf is the fast path, and then
//          ALLOC_PCS and FREE_PCS are shown as alloc_fastpath and free_fastpath.
// Locking  two prices. stat() may be called anywhere and costs an atomic add, because
//          threads can share a CPU. stat_plain() is a plain add for who holds that CPU's
//          local lock. An item is counted at one price only, or counts would be lost.
// Fails    never.
#pragma once

#include <linux/percpu.h>
#include <kmirror/config.h>

namespace kmirror::slub {

// In the order of Linux 6.18, which has them all.
enum stat_item : unsigned int {
    ALLOC_PCS = 0,                // objects from a CPU's sheaf; plain
    ALLOC_FASTPATH = 1,           // objects from a CPU's slab
    ALLOC_SLOWPATH = 2,           // objects, or with cpu slabs calls, that found neither
    FREE_PCS = 3,                 // objects into a CPU's sheaf; plain
    FREE_RCU_SHEAF = 4,           // objects into an rcu_free sheaf; plain
    FREE_RCU_SHEAF_FAIL = 5,      // objects that had to go to call_rcu() instead
    FREE_FASTPATH = 6,            // objects into a CPU's slab
    FREE_SLOWPATH = 7,            // objects, or with cpu slabs calls, into another slab
    FREE_FROZEN = 8,              // such calls that met somebody's cpu slab
    FREE_ADD_PARTIAL = 9,         // slabs put on a node's list by a free or a drain
    FREE_REMOVE_PARTIAL = 10,     // slabs a free took off that list, empty
    ALLOC_FROM_PARTIAL = 11,      // cpu slabs taken from a node's list
    ALLOC_SLAB = 12,              // slabs from the page allocator
    ALLOC_REFILL = 13,            // times a cpu slab had objects that others freed into it
    ALLOC_NODE_MISMATCH = 14,     // a wished node kept an allocation off the sheaf or the cpu slab
    FREE_SLAB = 15,               // slabs back to the page allocator
    CPUSLAB_FLUSH = 16,           // cpu slabs given up to a flush or for another one
    DEACTIVATE_FULL = 17,         // of the cpu slabs given up, those without a free object,
    DEACTIVATE_EMPTY = 18,        // those without one in use, and chained ones found so,
    DEACTIVATE_TO_HEAD = 19,      // those listed at the head,
    DEACTIVATE_TO_TAIL = 20,      // and at the tail;
    DEACTIVATE_REMOTE_FREES = 21, // and those others had freed into
    DEACTIVATE_BYPASS = 22,       // cpu slabs used up and forgotten
    ORDER_FALLBACK = 23,          // slabs that had to be of the smallest order
    CMPXCHG_DOUBLE_CPU_FAIL = 24, // swaps of a CPU's free list that came second
    CMPXCHG_DOUBLE_FAIL = 25,     // swaps of a slab's words that came second
    CPU_PARTIAL_ALLOC = 26,       // cpu slabs taken from the CPU's chain
    CPU_PARTIAL_FREE = 27,        // slabs chained by a free
    CPU_PARTIAL_NODE = 28,        // slabs chained by an allocation, from the node's list
    CPU_PARTIAL_DRAIN = 29,       // times a free sent the whole chain to the node
    SHEAF_FLUSH = 30,             // objects flushed out of sheaves
    SHEAF_REFILL = 31,            // objects filled into sheaves
    SHEAF_ALLOC = 32,             // sheaves made; one-off ones too, without cpu slabs
    SHEAF_FREE = 33,              // sheaves freed; as above
    BARN_GET = 34,                // full sheaves out of the barn
    BARN_GET_FAIL = 35,           // times there was none
    BARN_PUT = 36,                // full sheaves into the barn
    BARN_PUT_FAIL = 37,           // times it had no room
    SHEAF_PREFILL_FAST = 38,      // prefills served by the spare sheaf
    SHEAF_PREFILL_SLOW = 39,      // prefills without a spare sheaf
    SHEAF_PREFILL_OVERSIZE = 40,  // prefills beyond the sheaf capacity
    SHEAF_RETURN_FAST = 41,       // returned sheaves that became the spare
    SHEAF_RETURN_SLOW = 42,       // returned sheaves that could not
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
    return item == ALLOC_PCS || item == FREE_PCS || item == FREE_RCU_SHEAF;
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
