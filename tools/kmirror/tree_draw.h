// SPDX-License-Identifier: GPL-2.0-only
//
// Drawings of a tree, or of a tree before and after one store: text, Graphviz's dot, SVG.
#pragma once

#include "tools/kmirror/tree_shape.h"

#include <string>

namespace kmirror::command {

// What is drawn. Without `before`, `after` alone.
struct TreePicture {
    std::string title;                   // the step that led to it; empty: no step
    const TreeShape* before = nullptr;
    const TreeShape* after = nullptr;
};

std::string tree_text(const TreePicture& picture);
std::string tree_dot(const TreePicture& picture);
std::string tree_svg(const TreePicture& picture);

// "#3 leaf 0x0-0x9f", and "5 of 16 slots" with the largest gap where the tree knows it.
std::string node_title(const TreeNode& node);
std::string node_fill(const TreeNode& node);
// "0x10-0x19: 0x7", "...: -" for nothing, and for an inner slot the gap below.
std::string slot_text(const TreeNode& node, const TreeSlot& slot);

}  // namespace kmirror::command
