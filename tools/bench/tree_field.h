// SPDX-License-Identifier: GPL-2.0-only
//
// The maps that the rows of the tree's table work on, and one round of a row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/tree_loops.h"
#include "tools/bench/tree_rows.h"

namespace kmirror::bench {

struct TreeColumn {
    std::string name;
    tree_impl impl;
    unsigned flags = 0;         // TREE_RCU
    bool ours = false;
};

// This library's tree in both modes, the kernels' trees, the maps of C++.
std::vector<TreeColumn> tree_columns();

struct Round {
    double ns = 0;              // of one operation
    std::size_t operations = 0;
    std::uint64_t checksum = 0;
};

// What the rows of one size share: filled once for each column.
class TreeField {
public:
    explicit TreeField(const TreeColumn& column) : column_(column) {}
    TreeField(const TreeField&) = delete;
    TreeField& operator=(const TreeField&) = delete;
    TreeField(TreeField&&) = default;

    // Has this column such an operation?
    bool can(const TreeRow& row) const;
    Round round(const TreeRow& row, unsigned number);
    // Bytes of the nodes of the row's map; 0: unknown.
    std::size_t bytes(const TreeRow& row);

private:
    using Handle = std::unique_ptr<void, void (*)(void*)>;
    struct Filled {
        unsigned flags;
        std::size_t entries;
        Map map;
        Handle handle;
        std::vector<unsigned long> live;
    };

    Handle make(unsigned flags) const;
    Filled& filled(const TreeRow& row);
    void fill(Filled& into, const TreeRow& row) const;
    void call(void* map, tree_loop loop, tree_work& work) const;

    const TreeColumn& column_;
    std::vector<Filled> maps_;
};

}  // namespace kmirror::bench
