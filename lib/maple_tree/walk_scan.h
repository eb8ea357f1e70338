// SPDX-License-Identifier: GPL-2.0-only
//
// Which slot of a node holds an index: the inner loop of every walk.
//
// A scan from left to right ends in a branch that the processor guesses wrong once per level. Here three
// fences among the pivots choose a group of four slots and three more comparisons the slot in it, without a
// branch:
//
//   16 slots   p3   p7   p11        groups 0-3, 4-7, 8-11, 12-15
//   10 slots   p3   p6              groups 0-3, 4-6, 6-9 (p6 is compared again)
//
// Nodes of other sizes (32 bit) are scanned from left to right.
//
// Pivots behind the data end are 0 and count as right of every index.
//
// Owns     nothing.
// Locking  may race with in-place stores. Each pivot is one relaxed word. Pivots ascend at every moment and
//          change one at a time: whatever mixture of old and new ones is read, the slot found covered the
//          index at some moment of the scan. In a dead node the words may be anything; then the slot is still
//          one of the node's, and the caller, who looks for the dead mark afterwards, throws it away.
#ifndef KMIRROR_LIB_MAPLE_TREE_WALK_SCAN_H
#define KMIRROR_LIB_MAPLE_TREE_WALK_SCAN_H

#include "lib/maple_tree/walk.h"

namespace kmirror::maple {

// A slot and the indices it covers.
struct SlotRange {
    unsigned long first;
    unsigned long last;
    unsigned offset;
};

// 1 if slot `offset`, which is not slot 0, ends before `index`, else 0. Less 1 on both sides an unused pivot
// becomes ULONG_MAX.
[[gnu::always_inline]] inline unsigned ends_before(const unsigned long *pivots, unsigned offset,
                                                   unsigned long index)
{
    return ma_pivot(pivots, offset) - 1 < index - 1;
}

// How many of the three slots from `base` on end before `index`, which does not lie left of them.
[[gnu::always_inline]] inline unsigned scan_group(const unsigned long *pivots, unsigned base,
                                                  unsigned long index)
{
    // The first of them is in use, and its pivot may be a 0 that is meant: slot 0 of a node that begins at 0.
    return unsigned{ma_pivot(pivots, base) < index} + ends_before(pivots, base + 1, index) +
           ends_before(pivots, base + 2, index);
}

inline constexpr bool kHasFences = MAPLE_RANGE64_SLOTS == 16 && MAPLE_ARANGE64_SLOTS == 10;

inline unsigned scan_without_fences(const NodeView &here, unsigned long index)
{
    unsigned offset = ma_pivot(here.pivots, 0) < index;
    while (offset != 0 && offset < here.nr_pivots() && ends_before(here.pivots, offset, index))
        offset++;
    return offset;
}

// The slot that covers `index`, in a node that covers it. For an index behind the node's maximum: some number
// that is not below the data end.
[[gnu::always_inline]] inline unsigned scan_offset(const NodeView &here, unsigned long index)
{
    const unsigned long *pivots = here.pivots;
    if (index == 0) [[unlikely]]
        return 0;
    if constexpr (!kHasFences)
        return scan_without_fences(here, index);

    unsigned base = 4 * ends_before(pivots, 3, index);
    if (here.type == maple_arange_64)
        base += 2 * ends_before(pivots, 6, index);
    else
        base += 4 * (ends_before(pivots, 7, index) + ends_before(pivots, 11, index));
    return base + scan_group(pivots, base, index);
}

// One pivot after the other, each read once: what is answered covers `index` whatever is stored meanwhile.
[[gnu::noinline]] inline SlotRange scan_slowly(const NodeView &here, unsigned long index, unsigned long min,
                                               unsigned long max)
{
    SlotRange found = {min, max, 0};

    for (const unsigned end = here.end(max); found.offset < end; ++found.offset) {
        const unsigned long pivot = ma_pivot(here.pivots, found.offset);
        if (pivot >= index) {
            found.last = pivot;
            break;
        }
        found.first = pivot + 1;
    }
    return found;
}

// The same as scan_offset() with the range, in a node that covers [min, max].
[[gnu::always_inline]] inline SlotRange scan_range(const NodeView &here, unsigned long index,
                                                   unsigned long min, unsigned long max)
{
    const unsigned offset = scan_offset(here, index);
    const SlotRange found = {here.first(offset, min), here.last(offset, max), offset};

    // A pivot has moved since it was compared, or the node is dead.
    if (found.first > index || found.last < index) [[unlikely]]
        return scan_slowly(here, index, min, max);
    return found;
}

// The four lines of a node arrive together, instead of the slot line after the pivot lines. NULL is possible: an
// address is counted on, not a pointer.
[[gnu::always_inline]] inline void prefetch_node(const maple_enode *enode)
{
    const auto node = reinterpret_cast<std::uintptr_t>(mte_to_node(enode));
    for (unsigned at = 0; at < sizeof(maple_node); at += 64)
        __builtin_prefetch(reinterpret_cast<const void *>(node + at));
}

// The first line of each child of `parent`, where the parent word is. A store that replaces `parent` writes them all.
inline void prefetch_children(const maple_node *parent, maple_type type)
{
    const NodeView view(const_cast<maple_node *>(parent), type);
    for (unsigned slot = 0; slot < mt_slots[type]; slot++)
        __builtin_prefetch(mte_to_node(static_cast<const maple_enode *>(word_read(&view.slots[slot]))), 1);
}

} // namespace kmirror::maple

#endif
