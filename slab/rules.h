// SPDX-License-Identifier: GPL-2.0-only
//
// The sizing rules of Linux 7.3's SLUB, worked out a second time and apart from lib/slub, so that a test
// can say what a cache of some size on some machine has to look like.
//
// Owns     nothing: pure functions of the arguments and of the page size.
// Bounds   caches without debugging; sizes from 1 byte to 2^22.
// Fails    never.
#pragma once

#include <linux/gfp.h>
#include <linux/mm_types.h>

#include <kmirror/slab_ops.h>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace kmirror::rules {

inline constexpr unsigned kWord = sizeof(void *);
inline constexpr unsigned kLine = 64;              // bytes of a cache line
inline constexpr unsigned kPage = PAGE_SIZE;
inline constexpr unsigned kMaxOrder = 3;           // above it a slab is only as large as one object needs
inline constexpr unsigned kMaxObjects = 32767;     // the 15 bits of a slab's object count
inline constexpr unsigned kBarnFullMax = 10;       // full sheaves a barn takes
inline constexpr unsigned kBarnEmptyMax = 10;      // empty sheaves kept after a grace period
inline constexpr unsigned kSheafHeader = 3 * kWord + 8;   // bytes before a sheaf's first object
inline constexpr unsigned kFlushBatch = 32;        // objects per hold when a main sheaf is flushed

constexpr unsigned round_up(unsigned bytes, unsigned to) { return (bytes + to - 1) / to * to; }

// Smallest order whose pages hold `bytes`.
constexpr unsigned order_of(unsigned bytes)
{
    const unsigned pages = (bytes + kPage - 1) / kPage;
    return std::bit_width(pages - 1);
}

constexpr unsigned objects_in(unsigned order, unsigned size) { return (kPage << order) / size; }

// ---- one object -------------------------------------------------------------------------------------

constexpr unsigned alignment(unsigned flags, unsigned wish, unsigned object_size)
{
    unsigned align = std::max(wish, 8u);
    if (flags & SLAB_OPS_HWCACHE_ALIGN) {
        unsigned line = kLine;
        while (object_size <= line / 2)
            line /= 2;
        align = std::max(align, line);
    }
    return round_up(align, kWord);
}

struct Layout {
    unsigned align, inuse, offset, size;
};

// Where a free object keeps its link, and how far apart objects are.
constexpr Layout layout(const slab_ops_cache_args &args)
{
    Layout made{};
    made.align = alignment(args.flags, args.align, args.size);
    made.inuse = round_up(args.size, kWord);
    made.size = made.inuse;
    const bool content_survives = (args.flags & SLAB_OPS_TYPESAFE_BY_RCU) || args.ctor;
    if (content_survives && !args.use_freeptr_offset) {
        made.offset = made.size;
        made.size += kWord;
    } else if (content_survives) {
        made.offset = args.freeptr_offset;
    } else {
        made.offset = args.size / 2 / kWord * kWord;
    }
    made.size = round_up(made.size, made.align);
    return made;
}

// ---- one slab ---------------------------------------------------------------------------------------

// Smallest order from `from` on that wastes at most 1/fraction of a slab; kMaxOrder + 1: none.
constexpr unsigned order_wasting(unsigned size, unsigned from, unsigned fraction)
{
    for (unsigned order = from; order <= kMaxOrder; order++) {
        const unsigned bytes = kPage << order;
        if (bytes % size <= bytes / fraction)
            return order;
    }
    return kMaxOrder + 1;
}

constexpr unsigned slab_order(unsigned size, unsigned nr_cpus)
{
    const unsigned most = std::max(objects_in(kMaxOrder, size), 1u);
    const unsigned wanted = std::min(4 * (unsigned(std::bit_width(nr_cpus)) + 1), most);
    const unsigned from = order_of(wanted * size);
    if (objects_in(from, size) > kMaxObjects)
        return order_of(size * kMaxObjects) - 1;
    for (unsigned fraction : {16u, 8u, 4u, 2u})
        if (const unsigned order = order_wasting(size, from, fraction); order <= kMaxOrder)
            return order;
    return order_of(size);
}

constexpr unsigned long min_partial(unsigned size)
{
    return std::clamp<unsigned long>((std::bit_width(size) - 1) / 2, 5, 10);
}

// ---- sheaves and size classes -----------------------------------------------------------------------

// Usable bytes of kmalloc(bytes), for bytes up to two pages.
constexpr unsigned kmalloc_class(unsigned bytes)
{
    if (bytes > 64 && bytes <= 96)
        return 96;
    if (bytes > 128 && bytes <= 192)
        return 192;
    return std::max(8u, std::bit_ceil(bytes));
}

constexpr unsigned sheaf_capacity(unsigned size, unsigned asked = 0)
{
    const unsigned base = size >= kPage ? 4 : size >= 1024 ? 12 : size >= 256 ? 26 : 60;
    const unsigned bytes = kmalloc_class(kSheafHeader + base * kWord);
    return std::max((bytes - kSheafHeader) / kWord, asked);
}

static_assert(kWord != 8 ||
              (sheaf_capacity(4096) == 4 && sheaf_capacity(1024) == 12 && sheaf_capacity(256) == 28 &&
               sheaf_capacity(64) == 60 && sheaf_capacity(256, 32) == 32 && sheaf_capacity(64, 32) == 60));
static_assert(kPage != 4096 ||
              (slab_order(256, 2) == 0 && slab_order(256, 8) == 1 && slab_order(256, 128) == 2));

} // namespace kmirror::rules
