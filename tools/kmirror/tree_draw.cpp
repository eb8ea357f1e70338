// SPDX-License-Identifier: GPL-2.0-only
//
// A tree as text, two columns of it for before and after, and as a dot file.

#include "tools/kmirror/tree_draw.h"

#include <fmt/format.h>

#include <algorithm>

namespace kmirror::command {
namespace {

using Lines = std::vector<std::string>;

void add_node(const TreeShape& shape, const TreeNode& node, const char* mark, Lines& lines) {
    const std::string indent(node.depth * 2, ' ');
    lines.push_back(indent + node_title(node) + ", " + node_fill(node) + (node.changed ? mark : ""));
    for (const TreeSlot& slot : node.slots) {
        if (slot.child < 0)
            lines.push_back(fmt::format("{}    {}", indent, slot_text(node, slot)));
        else
            add_node(shape, shape.nodes[slot.child], mark, lines);
    }
}

// `mark` follows the title of a node that is not on both sides.
Lines lines_of(const TreeShape& shape, const char* mark) {
    Lines lines;
    if (!shape.nodes.empty())
        add_node(shape, shape.nodes.front(), mark, lines);
    else
        lines.push_back(shape.lone.empty() ? "(empty)" : "no node, 0x0: " + shape.lone);
    return lines;
}

std::string columns(const Lines& left, const Lines& right) {
    std::size_t width = 0;
    for (const std::string& line : left) width = std::max(width, line.size());
    std::string text;
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
        const std::string here = i < left.size() ? left[i] : "", there = i < right.size() ? right[i] : "";
        text += there.empty() ? here + "\n" : fmt::format("{:{}} | {}\n", here, width, there);
    }
    return text;
}

// The label of a dot record: braces, bars and angles have a meaning there.
std::string escaped(const std::string& text) {
    std::string result;
    for (char c : text) {
        if (std::string_view("{}|<>\"\\ ").find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

std::string dot_node(const std::string& side, const TreeNode& node, const char* color) {
    std::string label = escaped(node_title(node)) + "\\n" + escaped(node_fill(node));
    for (std::size_t i = 0; i < node.slots.size(); ++i)
        label += fmt::format("|<s{}> {}", i, escaped(slot_text(node, node.slots[i])));
    return fmt::format("    {}{} [label=\"{{{}}}\"{}];\n", side, node.id, label,
                       node.changed ? fmt::format(", fillcolor=\"{}\"", color) : "");
}

// All nodes and edges of one side, as a cluster of its own.
std::string dot_side(const TreeShape& shape, const std::string& side, const std::string& label,
                     const char* color) {
    std::string text = fmt::format("  subgraph cluster_{} {{\n    label=\"{}\"; color=white;\n", side, label);
    for (const TreeNode& node : shape.nodes) text += dot_node(side, node, color);
    if (shape.nodes.empty())
        text += fmt::format("    {}0 [label=\"{}\"];\n", side,
                            shape.lone.empty() ? "empty" : "0x0: " + shape.lone);
    for (const TreeNode& node : shape.nodes)
        for (std::size_t i = 0; i < node.slots.size(); ++i)
            if (node.slots[i].child >= 0)
                text += fmt::format("    {}{}:s{} -> {}{};\n", side, node.id, i, side,
                                    shape.nodes[node.slots[i].child].id);
    return text + "  }\n";
}

}  // namespace

std::string node_title(const TreeNode& node) {
    return fmt::format("#{} {} {}", node.id, kTreeTypes[node.type], range_text(node.first, node.last));
}

std::string node_fill(const TreeNode& node) {
    std::string text = fmt::format("{} of {} slots", node.slots.size(), node.capacity);
    if (node.type != TreeNode::Arange) return text;
    unsigned long gap = 0;
    for (const TreeSlot& slot : node.slots) gap = std::max(gap, slot.gap);
    return text + fmt::format(", gap {:#x}", gap);
}

std::string slot_text(const TreeNode& node, const TreeSlot& slot) {
    const std::string range = range_text(slot.first, slot.last);
    if (node.type == TreeNode::Leaf) return range + ": " + (slot.entry.empty() ? "-" : slot.entry);
    return node.type == TreeNode::Arange ? fmt::format("{}: gap {:#x}", range, slot.gap) : range;
}

std::string tree_text(const TreePicture& picture) {
    if (picture.before == nullptr) return columns(lines_of(*picture.after, ""), {});
    Lines left = {"before", ""}, right = {"after", ""};
    for (std::string& line : lines_of(*picture.before, "  (goes)")) left.push_back(std::move(line));
    for (std::string& line : lines_of(*picture.after, "  (new)")) right.push_back(std::move(line));
    return columns(left, right);
}

std::string tree_dot(const TreePicture& picture) {
    std::string text = fmt::format(
        "digraph maple_tree {{\n  fontname=monospace; label=\"{}\"; labelloc=t;\n"
        "  node [shape=record, style=filled, fillcolor=white, fontname=monospace, fontsize=10];\n",
        picture.title);
    if (picture.before != nullptr) text += dot_side(*picture.before, "b", "before", "#f8d0d0");
    text += dot_side(*picture.after, "a", picture.before != nullptr ? "after" : "", "#d0f0d0");
    return text + "}\n";
}

}  // namespace kmirror::command
