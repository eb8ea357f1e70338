/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/bitops.h: bits in words and in arrays of unsigned long.
 *
 * set_bit(), clear_bit(), change_bit() and test_and_*_bit() are atomic; the first
 * three order nothing, the last are full barriers, *_lock acquire, *_unlock
 * release. The names with __ are plain. ffs() is libc's.
 */
#ifndef KMIRROR_LINUX_BITOPS_H
#define KMIRROR_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <strings.h>

/* __ffs() - Lowest set bit. @word is not 0. */
static __always_inline unsigned long __ffs(unsigned long word)
{
    return (unsigned long)__builtin_ctzl(word);
}

/* __fls() - Highest set bit. @word is not 0. */
static __always_inline unsigned long __fls(unsigned long word)
{
    return (unsigned long)(BITS_PER_LONG - 1 - __builtin_clzl(word));
}

/* ffz() - Lowest clear bit. @word is not all ones. */
static __always_inline unsigned long ffz(unsigned long word)
{
    return __ffs(~word);
}

/* fls() - Highest set bit counted from 1; 0 for 0. */
static __always_inline int fls(unsigned int word)
{
    return word ? 32 - __builtin_clz(word) : 0;
}

static __always_inline int fls64(u64 word)
{
    return word ? 64 - __builtin_clzll(word) : 0;
}

static __always_inline unsigned int fls_long(unsigned long word)
{
    return word ? (unsigned int)(BITS_PER_LONG - __builtin_clzl(word)) : 0;
}

static __always_inline unsigned int hweight8(unsigned int word)
{
    return (unsigned int)__builtin_popcount(word & 0xff);
}

static __always_inline unsigned int hweight16(unsigned int word)
{
    return (unsigned int)__builtin_popcount(word & 0xffff);
}

static __always_inline unsigned int hweight32(unsigned int word)
{
    return (unsigned int)__builtin_popcount(word);
}

static __always_inline unsigned long hweight64(u64 word)
{
    return (unsigned long)__builtin_popcountll(word);
}

static __always_inline unsigned long hweight_long(unsigned long word)
{
    return (unsigned long)__builtin_popcountl(word);
}

static __always_inline u32 rol32(u32 word, unsigned int by)
{
    return (word << (by & 31)) | (word >> (-by & 31));
}

static __always_inline u32 ror32(u32 word, unsigned int by)
{
    return rol32(word, -by);
}

static __always_inline u64 rol64(u64 word, unsigned int by)
{
    return (word << (by & 63)) | (word >> (-by & 63));
}

static __always_inline u64 ror64(u64 word, unsigned int by)
{
    return rol64(word, -by);
}

static __always_inline bool test_bit(unsigned long nr, const volatile unsigned long *words)
{
    return (__atomic_load_n(&words[BIT_WORD(nr)], __ATOMIC_RELAXED) & BIT_MASK(nr)) != 0;
}

static __always_inline bool test_bit_acquire(unsigned long nr, const volatile unsigned long *words)
{
    return (__atomic_load_n(&words[BIT_WORD(nr)], __ATOMIC_ACQUIRE) & BIT_MASK(nr)) != 0;
}

static __always_inline void set_bit(unsigned long nr, volatile unsigned long *words)
{
    __atomic_fetch_or(&words[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_RELAXED);
}

static __always_inline void clear_bit(unsigned long nr, volatile unsigned long *words)
{
    __atomic_fetch_and(&words[BIT_WORD(nr)], ~BIT_MASK(nr), __ATOMIC_RELAXED);
}

static __always_inline void change_bit(unsigned long nr, volatile unsigned long *words)
{
    __atomic_fetch_xor(&words[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_RELAXED);
}

static __always_inline bool test_and_set_bit(unsigned long nr, volatile unsigned long *words)
{
    return (__atomic_fetch_or(&words[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_SEQ_CST) &
            BIT_MASK(nr)) != 0;
}

static __always_inline bool test_and_clear_bit(unsigned long nr, volatile unsigned long *words)
{
    return (__atomic_fetch_and(&words[BIT_WORD(nr)], ~BIT_MASK(nr), __ATOMIC_SEQ_CST) &
            BIT_MASK(nr)) != 0;
}

static __always_inline bool test_and_set_bit_lock(unsigned long nr, volatile unsigned long *words)
{
    return (__atomic_fetch_or(&words[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_ACQUIRE) &
            BIT_MASK(nr)) != 0;
}

static __always_inline void clear_bit_unlock(unsigned long nr, volatile unsigned long *words)
{
    __atomic_fetch_and(&words[BIT_WORD(nr)], ~BIT_MASK(nr), __ATOMIC_RELEASE);
}

static __always_inline void __set_bit(unsigned long nr, volatile unsigned long *words)
{
    words[BIT_WORD(nr)] = words[BIT_WORD(nr)] | BIT_MASK(nr);
}

static __always_inline void __clear_bit(unsigned long nr, volatile unsigned long *words)
{
    words[BIT_WORD(nr)] = words[BIT_WORD(nr)] & ~BIT_MASK(nr);
}

static __always_inline bool __test_and_set_bit(unsigned long nr, volatile unsigned long *words)
{
    bool before = (words[BIT_WORD(nr)] & BIT_MASK(nr)) != 0;

    __set_bit(nr, words);
    return before;
}

static __always_inline bool __test_and_clear_bit(unsigned long nr, volatile unsigned long *words)
{
    bool before = (words[BIT_WORD(nr)] & BIT_MASK(nr)) != 0;

    __clear_bit(nr, words);
    return before;
}

/*
 * The position of the first bit at or after @from that is set in @words once each
 * word was xored with @flip; @bits if there is none below @bits.
 */
static inline unsigned long km_find_bit(const unsigned long *words, unsigned long bits,
                                        unsigned long from, unsigned long flip)
{
    unsigned long index, word;

    if (from >= bits)
        return bits;
    index = BIT_WORD(from);
    word = (READ_ONCE(words[index]) ^ flip) & (~0UL << (from % BITS_PER_LONG));
    while (!word) {
        index++;
        if (index * BITS_PER_LONG >= bits)
            return bits;
        word = READ_ONCE(words[index]) ^ flip;
    }
    from = index * BITS_PER_LONG + __ffs(word);
    return from < bits ? from : bits;
}

static inline unsigned long find_next_bit(const unsigned long *words, unsigned long bits,
                                          unsigned long from)
{
    return km_find_bit(words, bits, from, 0);
}

static inline unsigned long find_next_zero_bit(const unsigned long *words, unsigned long bits,
                                               unsigned long from)
{
    return km_find_bit(words, bits, from, ~0UL);
}

static inline unsigned long find_first_bit(const unsigned long *words, unsigned long bits)
{
    return km_find_bit(words, bits, 0, 0);
}

static inline unsigned long find_first_zero_bit(const unsigned long *words, unsigned long bits)
{
    return km_find_bit(words, bits, 0, ~0UL);
}

/* bitmap_weight() - Set bits among the first @bits. */
static inline unsigned int bitmap_weight(const unsigned long *words, unsigned int bits)
{
    unsigned long at;
    unsigned int weight = 0;

    for (at = find_first_bit(words, bits); at < bits; at = find_next_bit(words, bits, at + 1))
        weight++;
    return weight;
}

#define for_each_set_bit(bit, words, bits)                               \
    for ((bit) = find_first_bit((words), (bits)); (bit) < (bits);        \
         (bit) = find_next_bit((words), (bits), (bit) + 1))

#define for_each_clear_bit(bit, words, bits)                             \
    for ((bit) = find_first_zero_bit((words), (bits)); (bit) < (bits);   \
         (bit) = find_next_zero_bit((words), (bits), (bit) + 1))

#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

#endif /* KMIRROR_LINUX_BITOPS_H */
