// SPDX-License-Identifier: GPL-2.0-only
//
// Trees of one implementation, on which steps are done: the real side of a maple target.
//
// Owns     up to kMapleTrees trees with a cursor each; the destructor frees them.
// Bounds   none beyond the steps'.
// Locking  takes and drops the trees' locks within each step. Between two steps nobody else writes, so a
//          cursor keeps its place unless a step changes its tree without it.
// Fails    answers what the implementation answers.
#ifndef KMIRROR_FUZZ_MAPLE_TABLE_H
#define KMIRROR_FUZZ_MAPLE_TABLE_H

#include "fuzz/maple_step.h"

#include <array>

namespace kmirror::fuzz {

class MapleTable {
public:
    // A tree of kind `flags[i]` each (enum maple_ops_flags).
    MapleTable(const maple_ops *ops, const std::array<unsigned, kMapleTrees> &flags);
    ~MapleTable();
    MapleTable(const MapleTable &) = delete;
    MapleTable &operator=(const MapleTable &) = delete;

    Answer perform(const Step &step);

    maple_ops_tree *tree(unsigned i) const { return trees_[i].tree; }
    const maple_ops *ops() const { return ops_; }
    maple_ops_position position(unsigned i) const;
    // What the leaf that holds `index` covers; everything when there is no node.
    maple_ops_position leaf(unsigned i, unsigned long index) const;

private:
    struct Tree {
        maple_ops_tree *tree = nullptr;
        maple_ops_cursor cursor;
        unsigned long next = 0;  // of the cyclic allocations
        bool is_extern = false;
    };

    Answer simple(Tree &tree, const Step &step);
    Answer simple_extern(Tree &tree, const Step &step);
    Answer whole(Tree &tree, const Step &step);
    Answer run(Tree &tree, const Step &step);
    Answer cursor_place(Tree &tree, const Step &step);
    Answer cursor_read(Tree &tree, const Step &step);
    Answer cursor_search(Tree &tree, const Step &step);
    Answer cursor_write(Tree &tree, const Step &step);
    Answer bulk(Tree &tree, const Step &step);
    Answer dup(Tree &tree, Tree &copy, const Step &step);
    int store(Tree &tree, unsigned long first, unsigned long last, void *entry, unsigned gfp);
    void *erase(Tree &tree, unsigned long index);
    void forget_place(Tree &tree) { ops_->mas_reset(&tree.cursor); }

    const maple_ops *ops_;
    std::array<Tree, kMapleTrees> trees_;
};

} // namespace kmirror::fuzz

#endif
