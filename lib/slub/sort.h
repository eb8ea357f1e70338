// SPDX-License-Identifier: GPL-2.0-only
//
// lib/slub/sort.h: sorting in place, without memory of its own.
//
// Owns     nothing.
// Bounds   n log n comparisons.
// Locking  none.
// Fails    never; of items that are equal any may come first.
#pragma once

namespace kmirror::slub {

// Moves items[root] down until no child in items[0, count) belongs behind it.
template <class Item, class Before>
inline void sift_down(Item *items, unsigned long root, unsigned long count, Before before)
{
    for (unsigned long child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && before(items[child], items[child + 1]))
            child++;
        if (!before(items[root], items[child]))
            return;
        const Item parent = items[root];
        items[root] = items[child];
        items[child] = parent;
        root = child;
    }
}

// before(a, b): must a come first?
template <class Item, class Before>
inline void sort_items(Item *items, unsigned long count, Before before)
{
    for (unsigned long root = count / 2; root-- > 0;)
        sift_down(items, root, count, before);
    for (unsigned long end = count; end-- > 1;) {
        const Item largest = items[0];
        items[0] = items[end];
        items[end] = largest;
        sift_down(items, 0, end, before);
    }
}

} // namespace kmirror::slub
