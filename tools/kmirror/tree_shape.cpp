// SPDX-License-Identifier: GPL-2.0-only
//
// Takes the picture: walks the nodes from the root, left to right. The only part of the command that reads
// nodes.

#include "tools/kmirror/tree_shape.h"

#include "lib/maple_tree/walk.h"

#include <fmt/format.h>

#include <map>

namespace kmirror::command {
namespace {

using namespace kmirror::maple;

TreeNode::Type type_of(const maple_enode* enode) {
    switch (mte_node_type(enode)) {
    case maple_arange_64: return TreeNode::Arange;
    case maple_range_64: return TreeNode::Range;
    default: return TreeNode::Leaf;
    }
}

std::string entry_text(void* entry) {
    if (entry == nullptr) return "";
    return xa_is_value(entry) ? fmt::format("{:#x}", xa_to_value(entry)) : fmt::format("{}", entry);
}

class Walk {
public:
    explicit Walk(TreeShape& shape) : shape_(shape) {}

    // Adds the node and all below it; returns its place in nodes.
    int add(const maple_enode* enode, unsigned depth, unsigned long first, unsigned long last) {
        const int at = static_cast<int>(shape_.nodes.size());
        const NodeView here(enode);
        TreeNode node;
        node.address = here.node;
        node.id = static_cast<unsigned>(at) + 1;
        node.type = type_of(enode);
        node.depth = depth;
        node.capacity = mt_slot_count(enode);
        node.first = first;
        node.last = last;
        shape_.nodes.push_back(node);
        const unsigned end = ma_data_end(here.node, here.type, here.pivots, last);
        for (unsigned slot = 0; slot <= end; ++slot) {
            const unsigned long until = slot == end ? last : here.last(slot, last);
            TreeSlot filled = this->slot(here, slot, depth, first, until);
            first = filled.last + 1;
            shape_.nodes[at].slots.push_back(std::move(filled));
        }
        count(shape_.nodes[at]);
        return at;
    }

private:
    TreeSlot slot(const NodeView& here, unsigned offset, unsigned depth, unsigned long first,
                  unsigned long last) {
        TreeSlot slot;
        slot.first = first;
        slot.last = last;
        void* word = here.slots[offset];
        if (const unsigned long* gaps = ma_gaps(here.node, here.type)) slot.gap = gaps[offset];
        if (here.is_leaf())
            slot.entry = entry_text(word);
        else
            slot.child = add(static_cast<maple_enode*>(word), depth + 1, first, last);
        return slot;
    }

    void count(const TreeNode& node) {
        TreeShape::Fill& fill = shape_.fill[node.type];
        ++fill.nodes;
        fill.used += node.slots.size();
        fill.slots += node.capacity;
        for (const TreeSlot& slot : node.slots) shape_.entries += !slot.entry.empty();
    }

    TreeShape& shape_;
};

std::string index_text(unsigned long index) {
    return index == ULONG_MAX ? "max" : fmt::format("{:#x}", index);
}

}  // namespace

std::size_t TreeShape::bytes() const { return nodes.size() * sizeof(maple_node); }

double TreeShape::bytes_per_entry() const {
    return entries == 0 ? 0 : static_cast<double>(bytes()) / static_cast<double>(entries);
}

double TreeShape::fill_share() const {
    std::size_t used = 0, slots = 0;
    for (const Fill& type : fill) used += type.used, slots += type.slots;
    return slots == 0 ? 0 : static_cast<double>(used) / static_cast<double>(slots);
}

TreeShape tree_shape_of(struct maple_tree* tree) {
    TreeShape shape;
    void* root = mt_root(tree);
    shape.height = mt_height(tree);
    if (xa_is_node(root)) {
        Walk(shape).add(mte_safe_root(root), 0, 0, ULONG_MAX);
    } else if (root != nullptr) {
        shape.lone = entry_text(root);
        shape.entries = 1;
    }
    return shape;
}

void mark_changes(TreeShape& before, TreeShape& after) {
    std::map<const void*, unsigned> ids;
    for (TreeNode& node : before.nodes) {
        ids[node.address] = node.id;
        node.changed = true;
    }
    unsigned next = static_cast<unsigned>(before.nodes.size());
    for (TreeNode& node : after.nodes) {
        const auto known = ids.find(node.address);
        node.changed = known == ids.end();
        node.id = node.changed ? ++next : known->second;
        if (!node.changed) before.nodes[node.id - 1].changed = false;
    }
}

std::string range_text(unsigned long first, unsigned long last) {
    return first == last ? index_text(first) : index_text(first) + "-" + index_text(last);
}

}  // namespace kmirror::command
