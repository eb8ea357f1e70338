// SPDX-License-Identifier: GPL-2.0-only
//
// Printing a tree and a cursor in the kernel's form, so that output of both can be laid side by side.
//
//   maple_tree(ADDRESS) flags F, height H root WORD
//   first-last: node ADDRESS depth D type T parent WORD contents: slot pivot slot pivot ... slot
//     first-last: value V (0xV) [WORD]          one line for each range of a leaf, or each node below
//
// In an inner node of an allocation tree the gaps come first, then "| end gap|" from the metadata.
//
// Owns     nothing.
// Locking  the caller's lock or read section. Each word is read once, so a tree that changes meanwhile prints
//          as a mixture.
// Fails    never; a pivot beyond its node's maximum is pointed out.
#include "lib/maple_tree/walk.h"

using namespace kmirror::maple;

namespace {

// The numbers of one style.
struct Style {
    const char *single;     // a range of one index
    const char *range;
    const char *slot;       // a slot and its pivot
    const char *gap;
    const char *beyond;
};

// By enum mt_dump_format.
constexpr Style kStyles[] = {
    {"%.*s%lu: ", "%.*s%lu-%lu: ", "%p %lu ", "%lu ",
     "node %p last (%lu) > max (%lu) at pivot %d!\n"},
    {"%.*s%lx: ", "%.*s%lx-%lx: ", "%p %lX ", "%lx ",
     "node %p last (%lx) > max (%lx) at pivot %d!\n"},
};

static_assert(mt_dump_dec == 0 && mt_dump_hex == 1);

// What is printed: an encoded node or an entry, the indices it covers, and how deep it lies.
struct Item {
    void *word;
    unsigned long first;
    unsigned long last;
    unsigned depth;
};

void dump_range(const Item &item, const Style &style)
{
    static const char spaces[] = "                                ";
    const int indent = static_cast<int>(item.depth * 2);

    if (item.first == item.last)
        printk(style.single, indent, spaces, item.first);
    else
        printk(style.range, indent, spaces, item.first, item.last);
}

void dump_entry(const Item &item, const Style &style)
{
    dump_range(item, style);
    if (xa_is_value(item.word))
        pr_cont("value %ld (0x%lx) [%p]\n", static_cast<long>(xa_to_value(item.word)), xa_to_value(item.word),
                item.word);
    else if (xa_is_zero(item.word))
        pr_cont("zero (%ld)\n", static_cast<long>(xa_to_internal(item.word)));
    else if (mt_is_reserved(item.word))
        pr_cont("UNKNOWN ENTRY (%p)\n", item.word);
    else
        pr_cont("%p\n", item.word);
}

void dump_gaps(const NodeView &here, const Style &style)
{
    for (unsigned slot = 0; slot < MAPLE_ARANGE64_SLOTS; ++slot)
        printk(style.gap, word_read(&here.node->ma64.gap[slot]));
    pr_cont("| %02X %02X| ", ma_meta_end(here.node, here.type), ma_meta_gap(here.node));
}

void dump_contents(const NodeView &here, const Style &style)
{
    pr_cont(" contents: ");
    if (here.type == maple_arange_64)
        dump_gaps(here, style);
    for (unsigned slot = 0; slot < here.nr_pivots(); ++slot)
        printk(style.slot, word_read(&here.slots[slot]), ma_pivot(here.pivots, slot));
    pr_cont("%p\n", word_read(&here.slots[here.nr_pivots()]));
}

void dump_node(const maple_tree *mt, const Item &item, const Style &style);

// One slot: a range of a leaf, or the node below.
void dump_slot(const maple_tree *mt, const NodeView &here, const Item &item, const Style &style)
{
    if (here.is_leaf())
        dump_entry(item, style);
    else if (item.word)
        dump_node(mt, item, style);
}

// In a node that is not full the last slot holds no entry.
bool last_slot_is_unused(const NodeView &here, const Item &node)
{
    const bool covers_all = here.type != maple_arange_64 && node.last == ULONG_MAX;
    return !word_read(&here.slots[here.nr_pivots()]) && !covers_all;
}

void dump_slots(const maple_tree *mt, const Item &node, const NodeView &here, const Style &style)
{
    Item item = {nullptr, node.first, node.last, node.depth + 1};

    for (unsigned slot = 0; slot <= here.nr_pivots(); ++slot) {
        if (slot == here.nr_pivots() && last_slot_is_unused(here, node))
            break;
        item.last = here.last(slot, node.last);
        if (item.last == 0 && slot > 0)
            break;
        item.word = mt_slot(mt, here.slots, slot);
        dump_slot(mt, here, item, style);
        if (item.last == node.last)
            break;
        if (item.last > node.last)
            printk(style.beyond, here.node, item.last, node.last, static_cast<int>(slot));
        item.first = item.last + 1;
    }
}

void dump_node(const maple_tree *mt, const Item &item, const Style &style)
{
    const maple_enode *enode = static_cast<maple_enode *>(item.word);
    maple_node *node = mte_to_node(enode);
    const maple_type type = mte_node_type(enode);

    dump_range(item, style);
    pr_cont("node %p depth %d type %d parent %p", node, static_cast<int>(item.depth), static_cast<int>(type),
            node ? ma_parent(node).pnode() : nullptr);
    if (!node || (type != maple_leaf_64 && type != maple_range_64 && type != maple_arange_64)) {
        pr_cont(" UNKNOWN TYPE\n");
        return;
    }
    const NodeView here(node, type);
    dump_contents(here, style);
    dump_slots(mt, item, here, style);
}

const char *status_name(maple_status status)
{
    switch (status) {
    case ma_active: return "(ma_active)";
    case ma_none: return "(ma_none)";
    case ma_root: return "(ma_root)";
    case ma_start: return "(ma_start) ";
    case ma_pause: return "(ma_pause) ";
    case ma_overflow: return "(ma_overflow) ";
    case ma_underflow: return "(ma_underflow) ";
    case ma_error: return "(ma_error) ";
    }
    return "(unknown) ";
}

const char *store_type_name(store_type type)
{
    switch (type) {
    case wr_invalid: return "invalid store type";
    case wr_new_root: return "new_root";
    case wr_store_root: return "store_root";
    case wr_exact_fit: return "exact_fit";
    case wr_spanning_store: return "spanning_store";
    case wr_split_store: return "split_store";
    case wr_rebalance: return "rebalance";
    case wr_append: return "append";
    case wr_node_store: return "node_store";
    case wr_slot_store: return "slot_store";
    }
    return "unknown";
}

} // namespace

void mt_dump(const struct maple_tree *mt, enum mt_dump_format format)
{
    void *root = mt_root(mt);
    const Style &style = kStyles[format];

    pr_info("maple_tree(%p) flags %X, height %u root %p\n", mt, mt->ma_flags, mt_height(mt), root);
    if (xa_is_node(root))
        dump_node(mt, {root, 0, ULONG_MAX, 0}, style);
    else if (root)
        dump_entry({root, 0, 0, 0}, style);
    else
        pr_info("(empty)\n");
}

void mas_dump(const struct ma_state *mas)
{
    const ma_state &at = *mas;

    pr_err("MAS: tree=%p enode=%p %sStore Type: %s\n", at.tree, at.node, status_name(at.status),
           store_type_name(at.store_type));
    pr_err("[%u/%u] index=%lx last=%lx\n", at.offset, at.end, at.index, at.last);
    pr_err("     min=%lx max=%lx sheaf=%p, request %lu depth=%u, flags=%x\n", at.min, at.max, at.sheaf,
           at.node_request, at.depth, at.mas_flags);
    if (at.index > at.last)
        pr_err("Check index & last\n");
}

void mas_wr_dump(const struct ma_wr_state *wr_mas)
{
    const ma_wr_state &at = *wr_mas;

    pr_err("WR_MAS: node=%p r_min=%lx r_max=%lx\n", at.node, at.r_min, at.r_max);
    pr_err("        type=%u off_end=%u, node_end=%u, end_piv=%lx\n", at.type, at.offset_end, at.mas->end,
           at.end_piv);
}
