// SPDX-License-Identifier: GPL-2.0-only
//
// A picture of a maple tree at one moment: its nodes, slots, gaps and figures, free of the tree itself.
#pragma once

#include "tools/kmirror/tree_script.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

struct maple_tree;

namespace kmirror::command {

struct TreeSlot {
    unsigned long first = 0, last = 0;
    unsigned long gap = 0;    // inner nodes of a tree with gaps: the largest one below
    int child = -1;           // inner nodes: index into nodes
    std::string entry;        // leaves; empty for NULL
};

struct TreeNode {
    enum Type { Leaf, Range, Arange };

    const void* address = nullptr;
    Type type = Leaf;
    unsigned depth = 0;
    unsigned capacity = 0;    // slots the type has
    unsigned long first = 0, last = 0;
    std::vector<TreeSlot> slots;
    unsigned id = 0;          // for people, from 1; the same node has the same in before and after
    bool changed = false;     // new in this step; in a picture of before: gone after it
};

inline constexpr const char* kTreeTypes[] = {"leaf", "range", "arange"};

struct TreeShape {
    unsigned height = 0;
    std::vector<TreeNode> nodes;    // parents before children, left before right
    std::string lone;               // the entry of a tree that is one word; empty for none
    std::size_t entries = 0;

    struct Fill {
        std::size_t nodes = 0, used = 0, slots = 0;
    };
    std::array<Fill, 3> fill;       // by TreeNode::Type

    std::size_t bytes() const;             // of nodes
    double bytes_per_entry() const;        // 0 without entries
    double fill_share() const;             // slots in use; 0 without nodes
};

// The tree as it is. Context: nobody writes meanwhile.
TreeShape tree_shape_of(struct maple_tree* tree);

// Marks what is only in one of the two, and gives a node that is in both one id.
void mark_changes(TreeShape& before, TreeShape& after);

// [first, last] for people: hexadecimal, `max` for the last index of all.
std::string range_text(unsigned long first, unsigned long last);

// One step as it was done.
struct TreeResult {
    std::string text;          // the line
    unsigned line = 0;
    int error = 0;             // 0 or -errno, the tree being as it was
    const char* store = "";    // what kind of store it came to; empty when nothing was stored
    unsigned long nodes = 0;   // reserved for it
    unsigned long first = 0, last = 0;    // where it stored
};

}  // namespace kmirror::command
