// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/slab_word.h: the two words that say which objects of a slab are free.
//
// Owns     the packing of the counter word, the pair that is swapped as one, and the
//          link that a free object holds. No other file of lib/slub masks, shifts or
//          reinterprets bits of these.
// Bounds   32767 objects a slab (15 bits).
// Locking  slab_word_swap() is one compare-and-swap of two words, no lock. Caches without
//          __CMPXCHG_DOUBLE use slab_word_swap_locked(), which takes the slab's own bit.
// Fails    a swap returns false when somebody else came first; the caller starts over.
#pragma once

#include <asm/processor.h>
#include <linux/compiler.h>
#include <linux/types.h>

namespace kmirror::slub {

// One word, as in the kernel's struct slab:
//
//   63 ........ 32 | 31     | 30 ..... 16 | 15 .... 0
//   0              | frozen |  objects    |  inuse          (a word of 32 bit ends at 31)
//
// inuse counts the objects that are not on the free list: handed out or in a sheaf.
class SlabCounters {
public:
    static constexpr unsigned int kObjectsMax = 32767;

    SlabCounters() = default;
    explicit constexpr SlabCounters(unsigned long raw) : raw_(raw) {}

    static constexpr SlabCounters of(unsigned int inuse, unsigned int objects)
    {
        return SlabCounters(inuse | (unsigned long)objects << kObjectsShift);
    }

    constexpr unsigned int inuse() const { return raw_ & kInuseMask; }
    constexpr unsigned int objects() const { return raw_ >> kObjectsShift & kObjectsMax; }
    constexpr bool frozen() const { return raw_ >> kFrozenShift & 1; }
    constexpr unsigned int free() const { return objects() - inuse(); }
    constexpr unsigned long raw() const { return raw_; }

    constexpr SlabCounters with_inuse(unsigned int inuse) const
    {
        return SlabCounters((raw_ & ~kInuseMask) | inuse);
    }

    constexpr SlabCounters with_frozen(bool frozen) const
    {
        return SlabCounters((raw_ & ~(1UL << kFrozenShift)) | (unsigned long)frozen << kFrozenShift);
    }

private:
    static constexpr unsigned long kInuseMask = 0xffff;
    static constexpr unsigned int kObjectsShift = 16;
    static constexpr unsigned int kFrozenShift = 31;

    unsigned long raw_;
};

static_assert(sizeof(SlabCounters) == sizeof(unsigned long));
static_assert(SlabCounters::of(3, SlabCounters::kObjectsMax).objects() == SlabCounters::kObjectsMax);
static_assert(SlabCounters::of(3, 9).free() == 6 && !SlabCounters::of(3, 9).frozen());
static_assert(SlabCounters::of(3, 9).with_inuse(9).free() == 0);
static_assert(SlabCounters::of(3, 9).with_frozen(true).frozen());
static_assert(SlabCounters::of(3, 9).with_frozen(true).free() == 6);
static_assert(!SlabCounters::of(3, 9).with_frozen(true).with_frozen(false).frozen());

// Where a slab keeps the pair; aligned, because the swap needs it.
struct alignas(2 * sizeof(void *)) SlabWord {
    void *freelist;
    unsigned long counters;
};

static_assert(sizeof(SlabWord) == 2 * sizeof(void *));

// A value of the pair.
struct FreelistCounters {
    void *freelist;
    SlabCounters counters;
};

// A pair that may be torn: the halves are read one after the other. Whoever acts on both
// does so through a swap, which fails when they never stood together.
// (W2) acquire: the links of the objects on the list are read after this. Pairs with (W1).
inline FreelistCounters slab_word_read(const SlabWord &word)
{
    return {__atomic_load_n(&word.freelist, __ATOMIC_ACQUIRE),
            SlabCounters(__atomic_load_n(&word.counters, __ATOMIC_RELAXED))};
}

inline SlabCounters slab_word_counters(const SlabWord &word)
{
    return SlabCounters(__atomic_load_n(&word.counters, __ATOMIC_RELAXED));
}

// For a slab nobody else can reach yet.
inline void slab_word_init(SlabWord &word, FreelistCounters value)
{
    __atomic_store_n(&word.freelist, value.freelist, __ATOMIC_RELAXED);
    __atomic_store_n(&word.counters, value.counters.raw(), __ATOMIC_RELAXED);
}

typedef kmirror_word_pair __attribute__((may_alias)) WordPair;
static_assert(sizeof(WordPair) == sizeof(SlabWord));

inline WordPair word_pair(FreelistCounters value)
{
    constexpr unsigned int kWordBits = sizeof(long) * 8;
    return (WordPair)value.counters.raw() << kWordBits | reinterpret_cast<unsigned long>(value.freelist);
}

// (W1) full barrier: the link written into each object of `fresh` is visible before the
//      object can be found. Pairs with (W2). Without it an allocation could follow a link
//      that is not there yet.
[[gnu::always_inline]] inline bool slab_word_swap(SlabWord &word, FreelistCounters old,
                                                  FreelistCounters fresh)
{
    return __sync_bool_compare_and_swap(reinterpret_cast<WordPair *>(&word), word_pair(old),
                                        word_pair(fresh));
}

// The same under a bit of the slab, for caches that may not use the wide instruction.
// Readers still look without the bit, so each half is stored whole; (W1) is the release.
inline bool slab_word_swap_locked(SlabWord &word, unsigned char &lock, FreelistCounters old,
                                  FreelistCounters fresh)
{
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        cpu_relax();
    const bool same = word.freelist == old.freelist && word.counters == old.counters.raw();
    if (same) {
        __atomic_store_n(&word.freelist, fresh.freelist, __ATOMIC_RELEASE);
        __atomic_store_n(&word.counters, fresh.counters.raw(), __ATOMIC_RELAXED);
    }
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return same;
}

// How a cache hides the links of its free objects. All zero: not at all.
struct LinkKey {
    unsigned long random;
    unsigned long address_mask;

    unsigned long cover(unsigned long place) const
    {
        const unsigned long swapped = sizeof(long) == 8 ? __builtin_bswap64(place) : __builtin_bswap32(place);
        return random ^ (swapped & address_mask);
    }
};

// The link of a free object: the next free one, stored `offset` bytes into it. A single word: validation looks
// at the links of objects that their CPU is about to give back.
inline void *link_read(const void *object, unsigned int offset, LinkKey key)
{
    const unsigned long place = reinterpret_cast<unsigned long>(object) + offset;
    const unsigned long word = __atomic_load_n(reinterpret_cast<unsigned long *>(place), __ATOMIC_RELAXED);
    return reinterpret_cast<void *>(word ^ key.cover(place));
}

inline void link_write(void *object, unsigned int offset, LinkKey key, const void *next)
{
    const unsigned long place = reinterpret_cast<unsigned long>(object) + offset;
    __atomic_store_n(reinterpret_cast<unsigned long *>(place),
                     reinterpret_cast<unsigned long>(next) ^ key.cover(place), __ATOMIC_RELAXED);
}

// Addresses inside a slab, in bytes.
inline void *byte_at(void *start, unsigned long bytes)
{
    return static_cast<char *>(start) + bytes;
}

inline unsigned long bytes_between(const void *start, const void *place)
{
    return static_cast<unsigned long>(static_cast<const char *>(place) -
                                      static_cast<const char *>(start));
}

inline bool is_aligned_to(const void *place, unsigned long align)
{
    return reinterpret_cast<unsigned long>(place) % align == 0;
}

} // namespace kmirror::slub
