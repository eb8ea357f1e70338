// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: whatever range is stored into whatever tree, the tree holds afterwards what the model holds, and
// obeys its own rules. Every way to store (append, slot, node, split, rebalance, span, new root) at every
// fill level of a leaf.
#include "radix-tree-tests/tree.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace kmirror::testing {
namespace {

// How the entry gets in: each of the three ways plans and allocates differently.
enum Way { kSimple, kCursor, kPrealloc };

using Case = std::tuple<unsigned, Way>;

class MapleStore : public ::testing::TestWithParam<Case> {
protected:
    unsigned kind() const { return std::get<0>(GetParam()); }
    void store(JudgedTree &tree, unsigned long first, unsigned long last, void *entry) const
    {
        switch (std::get<1>(GetParam())) {
        case kSimple: return tree.store(first, last, entry);
        case kCursor: return tree.mas_store(first, last, entry);
        case kPrealloc: return tree.prealloc_store(first, last, entry);
        }
    }
    // A copy of `base`, cheaper than building it again for each case.
    static void copy(const JudgedTree &base, JudgedTree &to)
    {
        ASSERT_EQ(ops()->dup(base, to, MAPLE_OPS_KERNEL), 0);
        to.model = base.model;
    }
    // Store each [first, last] of these bounds into a fresh copy of `base`, an entry and NULL.
    void store_everywhere(const JudgedTree &base, const std::vector<unsigned long> &bounds) const
    {
        for (const unsigned long first : bounds)
            for (const unsigned long last : bounds)
                for (void *entry : {value(4242), static_cast<void *>(nullptr)}) {
                    if (first > last)
                        continue;
                    JudgedTree tree(kind());
                    copy(base, tree);
                    store(tree, first, last, entry);
                    ASSERT_TRUE(tree.agrees()) << base.model.size() << " ranges, then " << first << ".."
                                               << last << (entry ? " = entry" : " = NULL");
                }
    }

private:
    Balance balance_;
};

std::string case_name(const ::testing::TestParamInfo<Case> &info)
{
    constexpr const char *ways[] = {"Simple", "Cursor", "Prealloc"};
    return kind_name(std::get<0>(info.param)) + ways[std::get<1>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Every, MapleStore,
                         ::testing::Combine(::testing::ValuesIn(kEveryKind),
                                            ::testing::Values(kSimple, kCursor, kPrealloc)),
                         case_name);

// Around the first, a middle and the last of `count` ranges: before, first, inside, last and behind each.
std::vector<unsigned long> bounds_of(unsigned long count, unsigned long step, unsigned long size)
{
    std::vector<unsigned long> bounds = {0, ULONG_MAX - 1, ULONG_MAX};
    for (const unsigned long i : {0ul, count / 2, count - 1})
        for (const unsigned long at :
             {i * step - 1, i * step, i * step + 1, i * step + size - 1, i * step + size})
            bounds.push_back(at);
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    return bounds;
}

TEST_P(MapleStore, into_a_tree_without_nodes)
{
    JudgedTree nothing(kind());
    store_everywhere(nothing, {0, 1, 2, 5, ULONG_MAX - 1, ULONG_MAX});
    JudgedTree root_entry(kind());
    root_entry.store(0, value(1));
    store_everywhere(root_entry, {0, 1, 2, 5, ULONG_MAX - 1, ULONG_MAX});
    JudgedTree everything(kind());
    everything.store(0, ULONG_MAX, value(1));
    store_everywhere(everything, {0, 1, 2, 5, ULONG_MAX - 1, ULONG_MAX});
}

// One leaf, then two and three: 5 and 6, 14 to 16 are the borders of its minimum and its room.
TEST_P(MapleStore, into_leaves_of_every_fill_level_with_gaps_between_the_ranges)
{
    for (const unsigned long count : {1ul, 2ul, 3ul, 6ul, 7ul, 8ul, 9ul, 12ul, 17ul}) {
        JudgedTree base(kind());
        fill(base, count, 10, 5);
        store_everywhere(base, bounds_of(count, 10, 5));
        if (HasFatalFailure())
            return;
    }
}

TEST_P(MapleStore, into_leaves_of_every_fill_level_without_a_gap)
{
    for (const unsigned long count : {2ul, 5ul, 6ul, 13ul, 14ul, 15ul, 16ul, 17ul, 24ul, 33ul}) {
        JudgedTree base(kind());
        fill(base, count, 10, 10);
        store_everywhere(base, bounds_of(count, 10, 10));
        if (HasFatalFailure())
            return;
    }
}

TEST_P(MapleStore, into_a_leaf_of_single_indices_over_every_pair_of_them)
{
    JudgedTree base(kind());
    fill(base, 11, 1, 1);
    std::vector<unsigned long> bounds;
    for (unsigned long index = 0; index < 13; index++)
        bounds.push_back(index);
    store_everywhere(base, bounds);
}

// Random ranges, short and long, over trees of three and four levels: spans between any two leaves.
TEST_P(MapleStore, across_the_leaves_of_a_high_tree)
{
    std::mt19937_64 random(seed());
    for (const unsigned long count : {300ul, 1500ul}) {
        JudgedTree base(kind());
        fill(base, count, 10, 7);
        for (int round = 0; round < (count == 300 ? 60 : 12); round++) {
            unsigned long first = random() % (count * 10), last = random() % (count * 10);
            if (first > last)
                std::swap(first, last);
            JudgedTree tree(kind());
            copy(base, tree);
            store(tree, first, last, round % 3 ? value(1) : nullptr);
            ASSERT_TRUE(tree.agrees()) << count << " ranges, then " << first << ".." << last;
        }
    }
}

TEST_P(MapleStore, in_ascending_descending_and_middle_out_order)
{
    constexpr unsigned long count = 400;
    JudgedTree up(kind()), down(kind()), out(kind());
    for (unsigned long i = 0; i < count; i++) {
        store(up, i * 4, i * 4 + 2, value(i));
        store(down, (count - i) * 4, (count - i) * 4 + 2, value(i));
        const unsigned long middle = count * 2 + (i % 2 ? i * 4 : -i * 4) + count * 4;
        store(out, middle, middle + 2, value(i));
        if (i % 16 == 15) {
            ASSERT_TRUE(up.agrees() && down.agrees() && out.agrees()) << i;
        }
    }
}

// The tree shrinks to nothing again, whichever end it is eaten from.
TEST_P(MapleStore, of_nothing_until_no_node_is_left)
{
    constexpr unsigned long count = 300;
    for (const int from : {0, 1, 2}) {
        JudgedTree tree(kind());
        fill(tree, count, 10, 10);
        for (unsigned long i = 0; i < count; i++) {
            const unsigned long at = from == 0 ? i : from == 1 ? count - 1 - i : i * 7 % count;
            store(tree, at * 10, at * 10 + 9, nullptr);
            if (i % 8 == 7) {
                ASSERT_TRUE(tree.agrees()) << i;
            }
        }
        EXPECT_TRUE(tree.agrees());
        EXPECT_TRUE(tree.empty());
        EXPECT_EQ(tree.node_count(), 0u);
    }
}

} // namespace
} // namespace kmirror::testing
