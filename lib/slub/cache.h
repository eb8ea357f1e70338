// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/cache.h: the structures of a cache and the list of all caches.
//
// Owns     struct kmem_cache, its per-node and per-CPU parts, the cache mutex and list.
// Bounds   MAX_NUMNODES nodes; a cache is allocated with room for nr_node_ids only.
// Locking  in this order, each may be taken while holding those before it:
//            0.  the CPU set (cpus_read_lock)
//            1.  slab_mutex: the list of caches, creation, destruction, node masks
//            2a. cpu_sheaves->lock: one CPU's sheaves (local lock)
//            2b. barn->lock: the sheaves of one node
//            2c. n->list_lock: the partial slabs of one node
//            2d. cpu_slab->lock: one CPU's slab and chain of slabs (local lock)
//          2b, 2c and 2d are never held together, and nothing allocates under any of them.
// Fails    has no code that could.
//
// How a slab stands to the lists (see struct slab in slab.h):
//   on the partial list   on_partial,  some object free
//   off the list          !on_partial, some object free: somebody is emptying it
//   full                  !on_partial, no object free: the first free adds it, or chains
//                         it to a CPU in generations with cpu slabs; they also know
//   chained               !on_partial, some object free, in a CPU's chain
//   frozen                !on_partial, a CPU allocates from it
#pragma once

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/local_lock.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/numa.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/topology.h>
#include <kmirror/harness.h>

#include "lib/slub/generation.h"
#include "lib/slub/slab_word.h"
#include "lib/slub/stats.h"

struct slab_sheaf;
struct kmem_cache_cpu;

// The sheaves one CPU works with. All but `stats` are guarded by `lock`, a local lock:
// taken by who runs on that CPU.
struct slub_percpu_sheaves {
    local_trylock_t lock;
    struct slab_sheaf *main;     // (P1) never NULL while unlocked
    struct slab_sheaf *spare;    // any fill, or NULL: a returned sheaf may be partly full
    struct slab_sheaf *rcu_free; // (P2) below capacity while unlocked, or NULL
    kmirror::slub::kmem_cache_stats stats;
};

// A node's stock of whole sheaves. Counts are read without the lock as a hint.
struct node_barn {
    raw_spinlock_t lock;
    struct list_head sheaves_full;  // guarded by lock
    struct list_head sheaves_empty; // guarded by lock
    unsigned int nr_full;           // (B1) length of sheaves_full while unlocked
    unsigned int nr_empty;          // (B2) length of sheaves_empty while unlocked
    unsigned int max_full;          // sheaves it takes; constant
    unsigned int max_empty;
};

// A node's slabs. Full ones are counted, but on no list unless their users are stored.
struct kmem_cache_node {
    raw_spinlock_t list_lock;
    unsigned long nr_partial;    // (N1) length of partial while unlocked
    struct list_head partial;    // guarded by list_lock
    struct list_head full;       // of a cache that stores users, see debug.h; guarded by list_lock
    atomic_long_t nr_slabs;      // (N2) all slabs of the node, listed or not
    atomic_long_t total_objects; // (N3) objects in those
};

// A further name of a cache, see create.h. It stays until the cache goes, as its link in sysfs.
struct slab_alias {
    struct list_head list;
    char name[];
};

struct kmem_cache_per_node_ptrs {
    struct node_barn *barn;       // every online node of a cache with sheaves
    struct kmem_cache_node *node; // every node with memory
};

// A slab's order and its number of objects.
struct kmem_cache_order_objects {
    unsigned short order;
    unsigned short objects;
};

// Constant once created, unless a guard is named.
struct kmem_cache {
    // What the fast paths read.
    struct slub_percpu_sheaves __percpu *fast_sheaves; // cpu_sheaves, or those that nobody gets
    struct slub_percpu_sheaves __percpu *cpu_sheaves;
    slab_flags_t flags;
    unsigned int sheaf_capacity; // 0: no sheaves, cpu_sheaves->main is the bootstrap sheaf
    unsigned int object_size;    // an alias may raise it, under slab_mutex
    unsigned int offset;         // bytes from an object to its link
    unsigned int size;           // bytes from one object to the next
    unsigned int inuse;          // bytes up to which an object is its user's
    unsigned int red_left_pad;   // bytes of red zone in front of each object, see debug.h
    unsigned long min_partial;
    kmirror::slub::LinkKey link_key;

    // What its generation adds and decides.
    struct kmem_cache_cpu __percpu *cpu_slab; // NULL: no cpu slabs
    kmirror::slub::Generation generation;
    unsigned int cpu_partial;                 // objects a CPU's chain may hold; as slabs:
    unsigned int cpu_partial_slabs;

    // How slabs are made.
    struct kmem_cache_order_objects oo;  // as wanted
    struct kmem_cache_order_objects min; // when memory is short
    gfp_t allocflags;
    void (*ctor)(void *object);
    unsigned int *random_seq;            // offsets in the order of first use, or NULL
    unsigned int align;
    unsigned int remote_node_defrag_ratio; // of 1024

    bool init_on_alloc;                  // bytes are 0 when an object is handed out
    bool init_on_free;                   // and already when it is taken back

    // For the list of caches.
    int refcount;                        // names that share it; guarded by slab_mutex
    unsigned int useroffset;
    unsigned int usersize;
    const char *name;
    struct list_head list;               // guarded by slab_mutex
    struct list_head alias_names;        // of struct slab_alias; guarded by slab_mutex
    unsigned int oom_reports;

    struct kmem_cache_harness harness;   // lib/fault's, see <kmirror/harness.h>

    struct kmem_cache_per_node_ptrs per_node[MAX_NUMNODES];
};

namespace kmirror::slub {

// Flags no caller may set.
inline constexpr slab_flags_t __CMPXCHG_DOUBLE = __SLAB_FLAG_BIT(_SLAB_CMPXCHG_DOUBLE);

inline constexpr slab_flags_t SLAB_CORE_FLAGS =
    SLAB_HWCACHE_ALIGN | SLAB_CACHE_DMA | SLAB_CACHE_DMA32 | SLAB_PANIC | SLAB_TYPESAFE_BY_RCU |
    SLAB_NOLEAKTRACE | SLAB_RECLAIM_ACCOUNT | SLAB_ACCOUNT | SLAB_NO_USER_FLAGS | SLAB_KMALLOC |
    SLAB_NO_MERGE;

inline constexpr slab_flags_t SLAB_DEBUG_FLAGS =
    SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER | SLAB_TRACE;

// What a call inside the allocator asks of the layers below.
enum alloc_flag : unsigned int {
    SLAB_ALLOC_DEFAULT = 0,
    SLAB_ALLOC_NO_RECURSE = 1 << 0, // for a size class's own sheaf: may not make a sheaf
    SLAB_ALLOC_NO_HOOKS = 1 << 1,   // the allocator's own memory: not charged, not counted
    SLAB_ALLOC_NOLOCK = 1 << 2,     // locks are tried, never waited for; see nolock.cpp
};

// What to do about a lock that somebody else holds.
enum class Spin { wait, try_only };

inline Spin alloc_spin(unsigned int alloc_flags)
{
    return alloc_flags & SLAB_ALLOC_NOLOCK ? Spin::try_only : Spin::wait;
}

// False: try_only, and it was not to be had.
inline bool spin_lock_for(raw_spinlock_t *lock, Spin spin)
{
    if (spin == Spin::try_only)
        return raw_spin_trylock(lock);
    raw_spin_lock(lock);
    return true;
}

// How far start-up has come. Written under slab_mutex; UP is announced by boot.cpp.
enum slab_state_t : unsigned int {
    DOWN,    // nothing
    PARTIAL, // kmem_cache_node objects can be had
    UP,      // size classes can be had
    FULL     // and have their sheaves
};

extern slab_state_t slab_state;
extern struct mutex slab_mutex;
extern struct list_head slab_caches;     // guarded by slab_mutex, newest first
extern struct kmem_cache *kmem_cache;    // the cache of caches
extern struct kmem_cache *kmem_cache_node;
extern nodemask_t slab_nodes;            // nodes with kmem_cache_node; guarded by slab_mutex
extern nodemask_t slab_barn_nodes;       // nodes with barns; guarded by slab_mutex

inline bool cache_has_sheaves(const struct kmem_cache *s)
{
    return s->sheaf_capacity != 0;
}

inline bool is_kmalloc_cache(const struct kmem_cache *s)
{
    return s->flags & SLAB_KMALLOC;
}

// NULL for a node without memory.
inline struct kmem_cache_node *get_node(const struct kmem_cache *s, int node)
{
    return s->per_node[node].node;
}

// NULL for a cache without sheaves.
inline struct node_barn *get_barn_node(const struct kmem_cache *s, int node)
{
    return s->per_node[node].barn;
}

// The barn of the caller's CPU.
inline struct node_barn *get_barn(const struct kmem_cache *s)
{
    return get_barn_node(s, s->generation.mem_node_barn ? numa_mem_id() : numa_node_id());
}

// Slabs that get their first free object are chained to the CPU that freed it.
inline bool kmem_cache_has_cpu_partial(const struct kmem_cache *s)
{
    return s->cpu_slab != nullptr;
}

// Nothing stands between a CPU and the slabs but the CPU's slab.
inline bool only_cpu_slab(const struct kmem_cache *s)
{
    return s->cpu_slab && !cache_has_sheaves(s);
}

// Calls visit(node, kmem_cache_node) for each node that has one.
template <class Visit>
inline void for_each_cache_node(const struct kmem_cache *s, Visit visit)
{
    for (int node = 0; node < (int)nr_node_ids; node++)
        if (struct kmem_cache_node *n = get_node(s, node))
            visit(node, n);
}

// Calls visit(barn) for each node that has one.
template <class Visit>
inline void for_each_cache_barn(const struct kmem_cache *s, Visit visit)
{
    for (int node = 0; node < (int)nr_node_ids; node++)
        if (struct node_barn *barn = get_barn_node(s, node))
            visit(barn);
}

// May be called without the CPU's lock, hence atomic; see stats.h.
inline void stat_add(const struct kmem_cache *s, stat_item item, unsigned long count)
{
    if constexpr (KMIRROR_STATS)
        this_cpu_add(s->cpu_sheaves->stats.stat[item], count);
}

inline void stat(const struct kmem_cache *s, stat_item item)
{
    stat_add(s, item, 1);
}

} // namespace kmirror::slub
