// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/cpu_slab.h: a CPU's own slab and its chain of slabs, below the sheaves if the
// cache has them. Only caches of the generations before `sheaves` have this layer.
//
//   allocation                                        lock
//     __slab_alloc_node  pop the CPU's free list      none: one swap of {freelist, tid}
//     __slab_alloc       what others freed into it    local
//                        next slab of the chain       local
//                        slabs of a node's list       list_lock, several at once
//                        a new slab, whole            none
//   free
//     cpu_slab_free      push on the CPU's free list  none: one swap of {freelist, tid}
//       __slab_free      into the slab                free.cpp
//         put_cpu_partial  was full: onto the chain   local; list_lock when that overflows
//
// Owns     the slab a CPU allocates from: frozen, on no list, all its objects counted in
//          use. And the chained slabs: not frozen, on no list, some object free.
// Bounds   one slab, and a chain of s->cpu_partial_slabs slabs (an allocation may pass that
//          by one batch).
// Locking  {freelist, tid} changes by a 16-byte swap only, which needs no lock; `slab` and
//          `partial` belong to the local lock. Unlike in a kernel, another thread on the CPU
//          may do a fast operation while the lock is held. So whoever changes `slab` first
//          takes all of it away (cpu_slab_take), and puts it back or not.
//          The local lock is never held while list_lock is taken, nor the other way round.
// Fails    NULL without memory; a free cannot.
#pragma once

#include "lib/slub/slab.h"

namespace kmirror::slub {

typedef kmirror_word_pair __attribute__((may_alias)) CpuWordPair;

// What a CPU's swap replaces: its free objects, and a number that is never the same twice.
struct alignas(2 * sizeof(void *)) CpuFreelist {
    void *freelist;
    unsigned long tid;
};

static_assert(sizeof(CpuFreelist) == sizeof(CpuWordPair));

// (B1) acquire, pairs with (B2): who sees the transaction number of a cpu slab that was
//      taken sees `slab` NULL, and the links of the objects on the list are read after it.
inline CpuFreelist cpu_freelist_read(const CpuFreelist &word)
{
    const unsigned long tid = __atomic_load_n(&word.tid, __ATOMIC_ACQUIRE);
    return {__atomic_load_n(&word.freelist, __ATOMIC_ACQUIRE), tid};
}

inline CpuWordPair cpu_word_pair(CpuFreelist value)
{
    constexpr unsigned int kWordBits = sizeof(long) * 8;
    return (CpuWordPair)value.tid << kWordBits | reinterpret_cast<unsigned long>(value.freelist);
}

// (B2) full barrier: the links of the new list are written, and a change of `slab` that
//      came before is visible, when the new pair is.
[[gnu::always_inline]] inline bool cpu_freelist_swap(CpuFreelist &word, CpuFreelist old, CpuFreelist fresh)
{
    return __sync_bool_compare_and_swap(reinterpret_cast<CpuWordPair *>(&word), cpu_word_pair(old),
                                        cpu_word_pair(fresh));
}

} // namespace kmirror::slub

// (C1) slab == NULL while unlocked  =>  no object on the free list
// (C2) slab is frozen, on no list, and counts every object of the free list in use
// (C3) a chained slab is not frozen, on no list, has a free object, and its `slabs` is the
//      length of the chain from it on
struct kmem_cache_cpu {
    kmirror::slub::CpuFreelist word;
    struct slab *slab;    // guarded by lock
    struct slab *partial; // the chain; guarded by lock
    local_trylock_t lock;
};

namespace kmirror::slub {

// Fills cpu_partial and cpu_partial_slabs, by the kernel's rule for the object size.
void set_cpu_partial(struct kmem_cache *s);

// At most so many objects (half of them free) stay in a CPU's chain from now on.
void slub_set_cpu_partial(struct kmem_cache *s, unsigned int objects);

// The per-CPU part of a cache with cpu slabs. 0 or -ENOMEM.
int alloc_kmem_cache_cpus(struct kmem_cache *s);

// One object. `node` is a wish; with __GFP_THISNODE an order. With Spin::try_only of what the
// CPU has, whatever its node, and NULL if that is nothing or its lock is taken.
void *__slab_alloc_node(struct kmem_cache *s, gfp_t gfp, int node, Spin spin);

// All `size` objects, or none and false.
bool cpu_slab_alloc_bulk(struct kmem_cache *s, gfp_t gfp, size_t size, void **p);

// `count` closed objects, linked from `head` to `tail`, all of `slab`, onto the CPU's free
// list. False: that is not the CPU's slab. Takes no lock.
bool cpu_slab_push(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                   unsigned int count);

// The same, into the slab if need be.
void cpu_slab_free(struct kmem_cache *s, struct slab *slab, void *head, void *tail,
                   unsigned int count);

enum class Drain { never, if_full };

// Chains a slab that is on no list and not frozen to the caller's CPU. With Drain::if_full
// a chain at its limit goes to the node lists first.
void put_cpu_partial(struct kmem_cache *s, struct slab *slab, Drain drain);

// Gives up the slab and the chain of the CPU it runs on; of a CPU that is gone, with nobody
// on it.
void flush_cpu_slab(struct kmem_cache *s);
void __flush_cpu_slab(struct kmem_cache *s, unsigned int cpu);

// Does the CPU hold anything? A hint.
bool has_cpu_slab(const struct kmem_cache *s, unsigned int cpu);

} // namespace kmirror::slub
