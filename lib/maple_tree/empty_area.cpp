// SPDX-License-Identifier: GPL-2.0-only
//
// Looking for a gap: the lowest or the highest run of `size` indices that hold NULL, inside [min, max].
//
// In a tree with MT_FLAGS_ALLOC_RANGE an inner node tells the longest gap below each slot, so that only
// subtrees that may hold the answer are entered. In other trees inner nodes tell nothing, and no child is
// entered: the search ends with the leaf under the cursor, or finds something only if the root is a leaf.
//
//   mas_empty_area      search_up      scan_up, then Path::skip_node        until found or -EBUSY
//   mas_empty_area_rev  search_down    scan_down, then Path::rewind_node
//
// A cursor that already stands in the tree continues from there: two slots are taken back, since the range
// before the last allocation may have become part of a gap.
//
// Owns     nothing; the cursor is the caller's. Between calls of the search, cursor->index and last hold the
//          window.
// Locking  the write lock (no dead-node checks).
// Fails    -EBUSY when there is no such gap; -EINVAL when the window is smaller than `size`, or `size` is 0.
#include "lib/maple_tree/walk.h"

#include "lib/maple_tree/walk_scan.h"

using namespace kmirror::maple;

namespace {

// Found: mas->offset is a leaf slot with the gap. Entered: down one level. Exhausted: nothing in this node.
// Busy: nothing at all.
enum class Scan { Found, Entered, Exhausted, Busy };

bool window_is_valid(unsigned long min, unsigned long max, unsigned long size)
{
    return min <= max && size != 0 && max - min >= size - 1;
}

// The answer in a tree without nodes: everything is free, but for index 0 if there is an entry.
int sparse_area(ma_state *mas, unsigned long min, unsigned long max, unsigned long size, bool lowest)
{
    if (!mas_is_none(mas) && min == 0) {
        min = 1;
        if (!window_is_valid(min, max, size))
            return -EBUSY;
    }
    mas->index = lowest ? min : max - size + 1;
    mas->last = lowest ? min + size - 1 : max;
    return 0;
}

// The nodes that a search has come down through, so that it can go up again without asking ancestors what a node
// covers: the lock is held, so all of them are as they were.
class Path {
public:
    // The cursor leaves its node through slot `offset`.
    void push(const ma_state *mas, unsigned offset)
    {
        steps_[height_++] = {mas->node, mas->min, mas->max, static_cast<unsigned char>(offset)};
    }
    // Back to the parent, on the slot that the search came through. False: it began here.
    bool up(ma_state *mas)
    {
        if (height_ == 0)
            return false;
        const Step &step = steps_[--height_];
        mas->node = step.node;
        mas->min = step.min;
        mas->max = step.max;
        mas->offset = step.offset;
        return true;
    }

    // To the next (previous) slot of the nearest ancestor that has one, as mas_skip_node() and mas_rewind_node().
    bool skip_node(ma_state *mas)
    {
        do {
            if (!up(mas))
                return mas_skip_node(mas);
        } while (mas->offset >= mas_data_end(mas));
        ++mas->offset;
        return true;
    }
    bool rewind_node(ma_state *mas)
    {
        do {
            if (!up(mas))
                return mas_rewind_node(mas);
        } while (mas->offset == 0);
        --mas->offset;
        return true;
    }

private:
    struct Step {
        maple_enode *node;
        unsigned long min;
        unsigned long max;
        unsigned char offset;
    };
    Step steps_[MAPLE_HEIGHT_MAX];
    unsigned height_ = 0;
};

void enter_child(ma_state *mas, Path &path, const NodeView &here, unsigned offset, unsigned long min,
                 unsigned long max)
{
    path.push(mas, offset);
    mas->node = static_cast<maple_enode *>(mas_slot(mas, here.slots, offset));
    mas->min = min;
    mas->max = max;
}

// A limit was met, or a pause: without a node the search begins at the root.
void restart_without_node(ma_state *mas)
{
    if (!mas->node && !mas_is_none(mas) && !mas_is_ptr(mas))
        mas->status = ma_start;
}

// ---- lowest first

// The part of the window that a NULL slot offers; 0 for an entry.
unsigned long gap_up(const ma_state *mas, const NodeView &here, unsigned offset, unsigned long first,
                     unsigned long last)
{
    if (mas_slot(mas, here.slots, offset))
        return 0;
    const unsigned long from = first > mas->index ? first : mas->index;
    const unsigned long to = last < mas->last ? last : mas->last;
    return to - from + 1;
}

// The slot that holds `index`: 0 if it lies before the node, one behind the end if it lies behind.
unsigned slot_of(const ma_state *mas, const NodeView &here, unsigned long index)
{
    if (index <= mas->min)
        return 0;
    return index > mas->max ? here.end(mas->max) + 1u : scan_offset(here, index);
}

// scan_up() in an inner node that knows its gaps, from slot `offset` on: one comparison a slot. Where the window ends
// is only asked of the slot that was found.
Scan scan_gaps_up(ma_state *mas, Path &path, const NodeView &here, unsigned offset, unsigned long size)
{
    const unsigned long *gaps = here.node->ma64.gap;
    const unsigned end = here.end(mas->max);

    while (offset <= end && word_read(&gaps[offset]) < size)
        ++offset;
    if (offset > end || here.first(offset, mas->min) > mas->last) {
        mas->offset = static_cast<unsigned char>(end + 1);
        return mas->last <= mas->max ? Scan::Busy : Scan::Exhausted;
    }
    enter_child(mas, path, here, offset, here.first(offset, mas->min), here.last(offset, mas->max));
    prefetch_node(mas->node);
    mas->offset = 0;
    return Scan::Entered;
}

// From mas->offset to the right end of the node.
Scan scan_up(ma_state *mas, Path &path, unsigned long size)
{
    const NodeView here(mas->node);
    const unsigned end = here.end(mas->max);
    if (mas->index > mas->max) {
        mas->offset = static_cast<unsigned char>(end + 1);
        return Scan::Exhausted;
    }
    const unsigned begin = slot_of(mas, here, mas->index);
    unsigned offset = begin > mas->offset ? begin : mas->offset;
    if (here.type == maple_arange_64)
        return scan_gaps_up(mas, path, here, offset, size);

    unsigned long first = here.first(offset, mas->min);

    for (; offset <= end; ++offset) {
        const unsigned long last = here.last(offset, mas->max);
        if (gap_up(mas, here, offset, first, last) >= size) {
            if (!here.is_leaf()) {
                enter_child(mas, path, here, offset, first, last);
                mas->offset = 0;
                return Scan::Entered;
            }
            mas->offset = static_cast<unsigned char>(offset);
            return Scan::Found;
        }
        if (mas->last <= last)
            return Scan::Busy;
        first = last + 1;
    }
    mas->offset = static_cast<unsigned char>(offset);
    return Scan::Exhausted;
}

bool search_up(ma_state *mas, unsigned long size)
{
    Path path;

    for (;;) {
        switch (scan_up(mas, path, size)) {
        case Scan::Found:
            return true;
        case Scan::Entered:
            break;
        case Scan::Exhausted:
            if (!path.skip_node(mas))
                return false;
            break;
        case Scan::Busy:
            mas_set_err(mas, -EBUSY);
            return false;
        }
    }
}

// Where the search begins. False: the cursor stands behind the last slot of the tree.
bool begin_up(ma_state *mas)
{
    restart_without_node(mas);
    if (mas_is_start(mas)) {
        mas_start(mas);
        return true;
    }
    if (mas->offset < 2)
        return mas_skip_node(mas);
    mas->offset -= 2;
    return true;
}

// ---- highest first

// A slot on the way down: what it covers and how long its gap is.
struct Slot {
    unsigned offset;
    unsigned long first;
    unsigned long last;
    unsigned long gap;
};

// The rightmost slot that begins inside the window, from mas->offset to the left.
Slot last_slot_in_window(const ma_state *mas, const NodeView &here)
{
    const unsigned holds = slot_of(mas, here, mas->last);
    Slot slot = {holds < mas->offset ? holds : mas->offset, 0, 0, 0};

    slot.first = here.first(slot.offset, mas->min);
    slot.last = here.last(slot.offset, mas->max);
    return slot;
}

// find_gap_down() in an inner node that knows its gaps: one comparison a slot, and the window is only asked of the
// slots that are found.
bool find_gap_down_by_gaps(const ma_state *mas, const NodeView &here, unsigned long size, Slot &slot)
{
    const unsigned long *gaps = here.node->ma64.gap;

    for (unsigned left = slot.offset + 1; left != 0 && mas->index <= slot.last;) {
        if (word_read(&gaps[--left]) < size)
            continue;
        slot = {left, here.first(left, mas->min), here.last(left, mas->max), 0};
        if (mas->index <= slot.last && mas->last - slot.first >= size - 1)
            return true;
    }
    // None. The search ends here, and not further left, if the window begins right of a slot of this node.
    const unsigned begin = slot_of(mas, here, mas->index);
    if (begin != 0)
        slot.last = here.last(begin - 1, mas->max);
    return begin != 0;
}

// From `slot` to the left, the first gap that is long enough. False: the node has none from there on.
bool find_gap_down(const ma_state *mas, const NodeView &here, unsigned long size, Slot &slot)
{
    if (here.type == maple_arange_64)
        return find_gap_down_by_gaps(mas, here, size, slot);

    while (mas->index <= slot.last) {
        slot.gap = mas_slot(mas, here.slots, slot.offset) ? 0 : slot.last - slot.first + 1;
        if (slot.gap >= size && mas->last - slot.first >= size - 1)
            return true;
        // Before a NULL slot of a leaf there is an entry.
        const unsigned step = slot.gap != 0 ? 2 : 1;
        if (slot.offset < step)
            return false;
        slot.offset -= step;
        slot.last = here.last(slot.offset, mas->max);
        slot.first = here.first(slot.offset, mas->min);
    }
    return true;
}

// From mas->offset to the left end of the node. In the found leaf slot the gap ends at *gap_max.
Scan scan_down(ma_state *mas, Path &path, unsigned long size, unsigned long *gap_max)
{
    // A cursor from an earlier call may stand right of this window.
    if (mas->last < mas->min)
        return Scan::Exhausted;

    const NodeView here(mas->node);
    Slot slot = last_slot_in_window(mas, here);
    if (!find_gap_down(mas, here, size, slot))
        return mte_is_root(mas->node) ? Scan::Busy : Scan::Exhausted;
    // What lies further left is below the window.
    if (mas->index > slot.last || size - 1 > slot.last - mas->index)
        return Scan::Busy;
    if (here.is_leaf()) {
        mas->offset = static_cast<unsigned char>(slot.offset);
        *gap_max = slot.last;
        return Scan::Found;
    }
    enter_child(mas, path, here, slot.offset, slot.first, slot.last);
    prefetch_node(mas->node);
    mas->offset = mas_data_end(mas);
    return Scan::Entered;
}

// `left`: the leaf from which begin_down() stepped up. The first step down does not lead into it again.
int search_down(ma_state *mas, unsigned long size, const maple_enode *left, unsigned long *gap_max)
{
    for (Path path;; left = nullptr) {
        switch (scan_down(mas, path, size, gap_max)) {
        case Scan::Found:
            return 0;
        case Scan::Entered:
            if (mas->node == left && !path.rewind_node(mas))
                return -EBUSY;
            break;
        case Scan::Exhausted:
            if (!path.rewind_node(mas))
                return -EBUSY;
            break;
        case Scan::Busy:
            mas_set_err(mas, -EBUSY);
            return -EBUSY;
        }
    }
}

// False: the cursor stands before the first slot of the tree.
bool begin_down(ma_state *mas)
{
    restart_without_node(mas);
    if (mas_is_start(mas))
        mas_start(mas);
    else if (mas->offset < 2 && !mas_rewind_node(mas))
        return false;

    if (!mas_is_none(mas) && !mas_is_ptr(mas))
        mas->offset = mas->offset >= 2 ? mas->offset - 2 : mas_data_end(mas);
    return true;
}

} // namespace

int mas_empty_area(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size)
{
    if (!window_is_valid(min, max, size))
        return -EINVAL;
    if (!begin_up(mas))
        return -EBUSY;
    if (mas_is_none(mas) || mas_is_ptr(mas))
        return sparse_area(mas, min, max, size, true);

    mas->index = min;
    mas->last = max;
    if (mas_is_err(mas) || !search_up(mas, size))
        return mas_err(mas);

    const NodeView here(mas->node);
    const unsigned long first = here.first(mas->offset, mas->min);
    if (mas->index < first)
        mas->index = first;
    mas->last = mas->index + size - 1;
    mas->end = here.end(mas->max);
    return 0;
}

int mas_empty_area_rev(struct ma_state *mas, unsigned long min, unsigned long max, unsigned long size)
{
    if (!window_is_valid(min, max, size))
        return -EINVAL;
    if (mas_is_err(mas))
        return mas_err(mas);
    const maple_enode *start = mas->node;
    if (!begin_down(mas))
        return -EBUSY;
    if (mas_is_none(mas) || mas_is_ptr(mas))
        return sparse_area(mas, min, max, size, false);

    unsigned long gap_max = max;
    mas->index = min;
    mas->last = max;
    if (int error = search_down(mas, size, start, &gap_max))
        return error;

    if (gap_max < mas->last)
        mas->last = gap_max;
    mas->index = mas->last - size + 1;
    mas->end = mas_data_end(mas);
    return 0;
}
