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

std::string reason_for(const TreeRow& row) {
    switch (row.loop) {
        case TREE_LOAD_RANDOM:
        case TREE_LOAD_CHAIN:
            return row.entries > 1000
                       ? "tried: prefetch of the child's four lines, a search without branches, no cursor; bound by "
                         "misses of the last one or two levels, which both sides have; next: a CPU with AVX-512, huge "
                         "pages for slabs"
                       : "tried: a search without branches, by fences or AVX2, no cursor; half of what is left is "
                         "entering and leaving the read section, two calls; next: both inlined, AVX-512";
        case TREE_LOAD_BATCH:
            return "tried: eight walks side by side, AVX2; bound by instructions below and by the lines a core can wait "
                   "for above; next: AVX-512 (two comparisons a node), the upper levels shared by sorted indices";
        case TREE_EACH:
            return "tried: no call inside a leaf, the next leaf prefetched, its limits read from two pivots; bound by "
                   "the branch on NULL and one cursor update an entry, then by misses of the leaves; next: a loop that "
                   "visits without a cursor";
        case TREE_FIND:
            return "tried: no cursor while the leaf has the answer, only the upper limit kept on the way; bound by the "
                   "read section and one wrong guess (NULL or not); next: a mask of the leaf's NULL slots";
        case TREE_INSERT:
        case TREE_CHURN:
            return "tried: replaced nodes reused at once, the parent patched in place, the walk in registers; 7.3's "
                   "shape shares slots with a neighbour in most splits: two leaves written for one slot; next: the two "
                   "leaves rewritten where they are, erase with one walk instead of two";
        case TREE_SPAN:
        case TREE_COVER:
            return "tried: the parent of the covered leaves patched in place, replaced nodes reused at once; bound by "
                   "two walks down and one leaf written; next: the edge leaves rewritten where they are";
        case TREE_GAP_UP:
        case TREE_GAP_DOWN:
            return "tried: a mask of all gaps without a branch (more instructions, slower), one comparison a slot, the "
                   "way up kept; as many instructions as 7.3's; bound by wrong guesses, one a level, and by the lines "
                   "of pivots and gaps; next: a vector maximum of the gaps";
        case TREE_ALLOC_UP:
        case TREE_ALLOC_DOWN:
            return "tried: as for gaps and churn; an erase walks down twice, a search and its store do; next: the "
                   "store begins where the search ended, with the heights it has seen";
        case TREE_VMA:
            return "tried: as for gaps and stores; nine operations, four of them loads; next: the stores begin where "
                   "the search or the last store ended";
        default: return {};
    }
}

}  // namespace kmirror::bench
