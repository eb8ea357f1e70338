// SPDX-License-Identifier: GPL-2.0-only
//
// The list of rows, see tree_rows.h. Rows of one size stand together, so that their maps are filled once.

#include "tools/bench/tree_rows.h"

namespace kmirror::bench {

const std::vector<TreeRow>& tree_rows() {
    static const std::vector<TreeRow> rows = {
        {"load, random", 1000, TREE_LOAD_RANDOM, Map::shared, 200000, 0.55},
        {"load, chain", 1000, TREE_LOAD_CHAIN, Map::shared, 200000, 0.75},
        {"iterate", 1000, TREE_EACH, Map::shared, 200, 0.30},
        {"find next", 1000, TREE_FIND, Map::shared, 100000, 0.60},
        {"load, random", 100000, TREE_LOAD_RANDOM, Map::shared, 100000, 0.50},
        {"load, chain", 100000, TREE_LOAD_CHAIN, Map::shared, 100000, 0.75},
        {"load, batches of 64", 100000, TREE_LOAD_BATCH, Map::shared, 100000, 0.10, 0, 0, false, TREE_LOAD_RANDOM},
        {"iterate", 100000, TREE_EACH, Map::shared, 2, 0.30},
        {"find next", 100000, TREE_FIND, Map::shared, 50000, 0.60},
        {"churn (erase, insert)", 100000, TREE_CHURN, Map::shared, 10000, 0.50},
        {"mixed, 90 % loads", 100000, TREE_MIXED, Map::shared, 10000, 0.60},
        {"store over 2-8, restore", 100000, TREE_COVER, Map::shared, 2000, 0.65},
        {"store over 1-128 indices", 100000, TREE_SPAN, Map::copy, 10000, 0.65},
        {"duplicate", 100000, TREE_DUP, Map::target, 0, 0.50},
        {"destroy", 100000, TREE_DESTROY, Map::copy, 0, 1.00},
        {"insert, in order", 100000, TREE_INSERT, Map::empty, 0, 0.40, 0, 0, true},
        {"insert, random", 100000, TREE_INSERT, Map::empty, 0, 0.50},
        {"lowest gap, small", 100000, TREE_GAP_UP, Map::gaps, 20000, 0.60, 1, 15},
        {"highest gap, small", 100000, TREE_GAP_DOWN, Map::gaps, 20000, 0.60, 1, 15},
        {"lowest gap, large", 100000, TREE_GAP_UP, Map::gaps, 20000, 0.70, 31, 34},
        {"highest gap, large", 100000, TREE_GAP_DOWN, Map::gaps, 20000, 0.70, 31, 34},
        {"free, alloc lowest", 100000, TREE_ALLOC_UP, Map::live, 10000, 0.60},
        {"free, alloc highest", 100000, TREE_ALLOC_DOWN, Map::live, 10000, 0.60},
        {"VMA step", 100, TREE_VMA, Map::process, 5000, 0.60},
        {"VMA step", 1000, TREE_VMA, Map::process, 5000, 0.60},
        {"VMA step", 10000, TREE_VMA, Map::process, 5000, 0.60},
        {"load, random", 1000000, TREE_LOAD_RANDOM, Map::shared, 50000, 0.60},
        {"load, chain", 1000000, TREE_LOAD_CHAIN, Map::shared, 50000, 1.00},
        {"load, batches of 64", 1000000, TREE_LOAD_BATCH, Map::shared, 50000, 0.10, 0, 0, false, TREE_LOAD_RANDOM},
    };
    return rows;
}

std::string reason_for(const TreeRow&) { return {}; }

}  // namespace kmirror::bench
