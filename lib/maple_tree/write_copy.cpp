// SPDX-License-Identifier: GPL-2.0-only
//
// TreeCopy: see write_copy.h for the picture.
//
//   write_level
//     multi_src_setup    list the sources
//     dst_setup          how many nodes, where they part; pop them
//     cp_data_write      SlotStream reads, SlotSink writes
//
// Locking  the tree's write lock. Sources may be under the eyes of readers: they are only read.
//          Destinations are not visible: they are written plainly.
#include "lib/maple_tree/write_copy.h"

#include "lib/maple_tree/publish.h"
#include "lib/maple_tree/reserve.h"
#include "lib/maple_tree/walk.h"
#include "lib/maple_tree/write_leaf.h"

#include <linux/string.h>

namespace kmirror::maple {

namespace {

// Some slots of one node, next to each other.
struct SlotRun {
    maple_node *node;
    maple_type type;
    unsigned first;
    unsigned count;
    unsigned long max;          // last index of the node's last slot in use

    unsigned long last_of_run() const
    {
        const unsigned slot = first + count - 1;
        return slot < mt_pivots[type] ? ma_pivots(node, type)[slot] : max;
    }
};

// Reads all slots of the sources in order, and can go back one.
class SlotStream {
public:
    explicit SlotStream(const struct maple_copy &cp) : cp_(cp), slot_(cp.src[0].start) {}

    bool at_end() const { return source_ == cp_.s_count; }

    // The next slots that lie in one node, `most` at most.
    SlotRun next(unsigned most)
    {
        const auto &src = cp_.src[source_];
        const unsigned left = src.end - slot_ + 1u;
        const SlotRun run{src.node, src.mt, slot_, most < left ? most : left, src.max};
        slot_ += run.count;
        if (slot_ > src.end && ++source_ < cp_.s_count)
            slot_ = cp_.src[source_].start;
        return run;
    }

    void put_back_one()
    {
        VM_BUG_ON(at_end());
        if (slot_ == cp_.src[source_].start)
            slot_ = cp_.src[--source_].end + 1u;
        slot_--;
    }

private:
    const struct maple_copy &cp_;
    unsigned source_ = 0;
    unsigned slot_;
};

// Fills one fresh node, whose words are all zero.
class SlotSink {
public:
    SlotSink(ma_state *mas, maple_node *node, maple_type type)
        : mas_(mas), view_(node, type), gaps_(ma_gaps(node, type))
    {
    }

    unsigned size() const { return size_; }
    unsigned long max() const { return max_; }
    bool ends_in_null() const { return !view_.slots[size_ - 1]; }

    void append(const SlotRun &run)
    {
        VM_BUG_ON(run.count == 0 || size_ + run.count > mt_slots[view_.type]);
        memcpy(view_.slots + size_, ma_slots(run.node, run.type) + run.first, run.count * sizeof(void *));
        if (gaps_)
            memcpy(gaps_ + size_, ma_gaps(run.node, run.type) + run.first, run.count * sizeof(unsigned long));
        memcpy(view_.pivots + size_, ma_pivots(run.node, run.type) + run.first,
               (run.count - 1) * sizeof(unsigned long));
        if (run.type == maple_copy && !view_.is_leaf())                                          // C3
            mas_set_parent_slots(mas_, mt_mk_node(view_.node, view_.type), size_, run.count);
        size_ += run.count;
        max_ = run.last_of_run();
        if (size_ <= mt_pivots[view_.type])
            view_.pivots[size_ - 1] = max_;
    }

    // Take the last slot, a NULL, out again.
    void drop_null()
    {
        VM_BUG_ON(size_ < 2 || !ends_in_null());
        size_--;
        if (size_ < mt_pivots[view_.type])
            view_.pivots[size_] = 0;
        max_ = view_.pivots[size_ - 1];
    }

    // Nothing more comes: write the metadata, if the node has room for them.
    void finish()
    {
        if (view_.type == maple_arange_64 || size_ < mt_slots[view_.type])
            ma_set_meta(view_.node, view_.type, largest_gap_slot(), static_cast<unsigned char>(size_ - 1));
    }

private:
    // The first one, if several gaps are the largest.
    unsigned char largest_gap_slot() const
    {
        unsigned largest = 0;
        for (unsigned slot = 1; gaps_ && slot < size_; slot++) {
            if (gaps_[slot] > gaps_[largest])
                largest = slot;
        }
        return static_cast<unsigned char>(largest);
    }

    ma_state *mas_;
    const NodeView view_;
    unsigned long *gaps_;
    unsigned size_ = 0;
    unsigned long max_ = 0;
};

} // namespace

bool data_fits(maple_type type, unsigned sib_end, unsigned data)
{
    return sib_end + 1 + data < 2u * mt_slots[type];
}

// ------------------------------------------------------------------ sources

void TreeCopy::cp_leaf_init(const ma_wr_state &left, const ma_wr_state &right)
{
    const LeafPatch patch(cp()->slot, cp()->pivot, left, right);
    cp()->height = 1;
    cp()->min = left.r_min;
    cp()->end = static_cast<unsigned char>(patch.count() - 1);
    cp()->max = patch.max();
}

unsigned TreeCopy::cp_data_calc(const ma_wr_state &left, const ma_wr_state &right) const
{
    return left.mas->offset + (cp()->end + 1u) + (right.mas->end - right.offset_end);
}

void TreeCopy::add_source(maple_node *node, maple_type type, unsigned first, unsigned last, unsigned long max)
{
    auto &src = cp()->src[cp()->s_count++];
    src.node = node;
    src.mt = type;
    src.start = static_cast<unsigned char>(first);
    src.end = static_cast<unsigned char>(last);
    src.max = max;
    cp()->data = static_cast<unsigned char>(cp()->data + last - first + 1);                     // C1
}

void TreeCopy::add_neighbour(const ma_state &sib)
{
    add_source(mte_to_node(sib.node), mte_node_type(sib.node), 0, sib.end, sib.max);
}

void TreeCopy::multi_src_setup(const ma_wr_state &left, const ma_wr_state &right, const ma_state *sib)
{
    cp()->s_count = 0;
    cp()->data = 0;
    if (sib && sib->max < left.mas->min)
        add_neighbour(*sib);
    if (left.mas->offset != 0)
        add_source(left.node, left.type, 0, left.mas->offset - 1u, cp()->min - 1);
    add_source(&work_, maple_copy, 0, cp()->end, cp()->max);
    if (right.offset_end != right.mas->end)
        add_source(right.node, right.type, right.offset_end + 1u, right.mas->end, right.mas->max);
    if (sib && sib->min > right.mas->max)
        add_neighbour(*sib);
}

// ------------------------------------------------------------------ destinations

// The slot with this number in all of the data.
void *TreeCopy::slot_at(unsigned index) const
{
    unsigned source = 0;
    for (;; source++) {
        const unsigned count = cp()->src[source].end - cp()->src[source].start + 1u;
        if (index < count)
            break;
        index -= count;
    }
    const auto &src = cp()->src[source];
    return ma_slots(src.node, src.mt)[src.start + index];
}

// Set the number of nodes, and the last slot (counted from 0) of the first.
void TreeCopy::share_out(maple_type type)
{
    const unsigned room = mt_slots[type];
    const unsigned data = cp()->data;
    const unsigned half = (data - 1) / 2;
    const bool two = data < 2 * room || (data == 2 * room && (!ma_is_leaf(type) || slot_at(half)));

    cp()->d_count = data <= room ? 1 : two ? 2 : 3;
    cp()->split = static_cast<unsigned char>(data <= room ? data - 1 : two ? half : (data + 2) / 3);
}

void TreeCopy::dst_setup(maple_type type)
{
    share_out(type);
    for (unsigned i = 0; i < cp()->d_count; i++) {
        cp()->dst[i].mt = type;
        cp()->dst[i].node = mas_pop_node(mas_);
    }
}

void TreeCopy::cp_data_write()
{
    SlotStream stream(*cp());
    unsigned placed = 0;
    unsigned share = cp()->split + 1u;

    for (unsigned i = 0; i < cp()->d_count; i++) {
        const bool last = i + 1u == cp()->d_count;
        const unsigned size = last ? cp()->data - placed : share;
        auto &dst = cp()->dst[i];
        SlotSink sink(mas_, dst.node, dst.mt);

        while (sink.size() < size)
            sink.append(stream.next(size - sink.size()));
        share = cp()->split + 1u;
        if (!last && sink.ends_in_null()) {                                                     // C2
            sink.drop_null();
            stream.put_back_one();
            share++;
        }
        sink.finish();
        dst.max = sink.max();
        placed += sink.size();
    }
    VM_BUG_ON(placed != cp()->data || !stream.at_end());                                        // C1
}

void TreeCopy::write_level(const ma_wr_state &left, const ma_wr_state &right, const ma_state *sib)
{
    multi_src_setup(left, right, sib);
    dst_setup(left.type);
    cp_data_write();
}

// ------------------------------------------------------------------ one level up

void TreeCopy::cp_dst_to_slots(unsigned long min, unsigned long max)
{
    unsigned long slot_min = min;
    for (unsigned i = 0; i < cp()->d_count; i++) {
        const auto &dst = cp()->dst[i];
        // Not visible to readers yet, and neither is the work node.
        cp()->slot[i] = mt_mk_node(dst.node, dst.mt);
        cp()->pivot[i] = dst.max;
        if (ma_is_leaf(dst.mt) && mt_is_alloc(mas_->tree))
            cp()->gap[i] = ma_leaf_max_gap(dst.node, dst.mt, slot_min, dst.max);
        else if (const unsigned long *gaps = ma_gaps(dst.node, dst.mt))
            cp()->gap[i] = gaps[ma_meta_gap(dst.node)];
        slot_min = dst.max + 1;
    }
    VM_BUG_ON(cp()->dst[cp()->d_count - 1].max != max);
    cp()->end = static_cast<unsigned char>(cp()->d_count - 1);
    cp()->min = min;
    cp()->max = max;
}

bool TreeCopy::cp_is_new_root()
{
    if (cp()->min != 0 || cp()->max != ULONG_MAX)
        return false;

    if (cp()->d_count > 1) {
        const maple_type type = mt_is_alloc(mas_->tree) ? maple_arange_64 : maple_range_64;
        const unsigned count = cp()->d_count;
        maple_node *root = mas_pop_node(mas_);
        SlotSink sink(mas_, root, type);
        sink.append(SlotRun{&work_, maple_copy, 0, count, ULONG_MAX});
        sink.finish();
        cp()->slot[0] = mt_mk_node(root, type);
        cp()->height++;
    }
    // The whole tree is replaced, from the old root down.
    ma_set_parent(mte_to_node(static_cast<maple_enode *>(cp()->slot[0])), ParentWord::root_of(mas_->tree));
    mas_->node = mte_safe_root(mas_root_locked(mas_));
    mas_->min = 0;
    mas_->max = ULONG_MAX;
    mas_->depth = 0;
    return true;
}

bool TreeCopy::cp_converged(bool one_node_replaced)
{
    if (!one_node_replaced || cp()->d_count != 1)
        return false;
    ma_set_parent(cp()->dst[0].node, ma_parent(mas_mn(mas_)));
    return true;
}

} // namespace kmirror::maple
