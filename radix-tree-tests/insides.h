// SPDX-License-Identifier: GPL-2.0-only
//
// What the nodes of a tree look like, as figures: for tests that promise the kernel's algorithm and not only
// its answers. Reads the nodes themselves; every other test uses the table of operations.
//
// Owns     nothing: node addresses in here are good as long as the caller holds the tree's lock, and in RCU
//          mode until its read section ends.
// Locking  the caller holds the tree's lock.
// Fails    never; the tree has to be sound.
#ifndef KMIRROR_RADIX_TREE_TESTS_INSIDES_H
#define KMIRROR_RADIX_TREE_TESTS_INSIDES_H

#include "lib/maple_tree/walk.h"
#include "radix-tree-tests/tree.h"

#include <linux/slab.h>

#include <set>
#include <string>
#include <vector>

namespace kmirror::testing {

inline maple_tree *insides_of(maple_ops_tree *tree) { return reinterpret_cast<maple_tree *>(tree); }

// The nodes of a tree, level by level from the root, each level from left to right.
class Nodes {
public:
    struct Node {
        maple_enode *enode;
        unsigned long max;

        maple::NodeView view() const { return maple::NodeView(enode); }
        unsigned slots() const { return view().end(max) + 1u; }
    };
    using Level = std::vector<Node>;

    explicit Nodes(maple_ops_tree *tree)
    {
        const void *root = maple::mt_root_locked(insides_of(tree));
        if (!xa_is_node(root))
            return;
        levels_.push_back({{maple::mte_safe_root(root), ULONG_MAX}});
        while (!maple::mte_is_leaf(levels_.back()[0].enode))
            levels_.push_back(below(levels_.back()));
    }

    const std::vector<Level> &levels() const { return levels_; }

    std::set<maple_node *> addresses() const
    {
        std::set<maple_node *> all;
        for (const Level &level : levels_)
            for (const Node &node : level)
                all.insert(maple::mte_to_node(node.enode));
        return all;
    }

    // Slots in use, "3 / 8 8 9": the root, then the level below it. A run of equal nodes is "8x5".
    std::string fill() const
    {
        std::string text;
        for (const Level &level : levels_) {
            text += text.empty() ? "" : " /";
            for (size_t i = 0, run; i < level.size(); i += run) {
                for (run = 1; i + run < level.size() && level[i + run].slots() == level[i].slots(); run++) {
                }
                text += (text.empty() ? "" : " ") + std::to_string(level[i].slots());
                text += run > 1 ? "x" + std::to_string(run) : "";
            }
        }
        return text.empty() ? "-" : text;
    }

private:
    static Level below(const Level &level)
    {
        Level children;
        for (const Node &node : level) {
            const maple::NodeView view = node.view();
            for (unsigned slot = 0; slot < node.slots(); slot++)
                children.push_back({static_cast<maple_enode *>(view.slots[slot]), view.last(slot, node.max)});
        }
        return children;
    }

    std::vector<Level> levels_;
};

inline std::string fill_of(maple_ops_tree *tree)
{
    const Locked locked(tree);
    return Nodes(tree).fill();
}

// Nodes of `after` that are not in `before`.
inline unsigned long nodes_new(const std::set<maple_node *> &before, const std::set<maple_node *> &after)
{
    unsigned long count = 0;
    for (maple_node *node : after)
        count += !before.contains(node);
    return count;
}

inline const char *store_type_name(store_type type)
{
    static constexpr const char *kNames[] = {"invalid", "new-root", "store-root", "exact", "span",
                                             "split",   "rebalance", "append",    "node",  "slot"};
    return kNames[type];
}

} // namespace kmirror::testing

#endif
