// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: blocks are split as small as asked, aligned to their size, never overlap, and merge back
// completely.

#include "lib/kernel/tests/pages.h"

#include <linux/random.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tools/testing/harness.h"

namespace {

KMIRROR_TEST_IN(PageBuddy, SplitBlocksMergeBackToOne, memory(4096), "KMIRROR_MACHINE=core:1 pu:1")
{
    const kmirror_page_counts fresh = node_pages(0);
    EXPECT_EQ(fresh.managed, 4096u);
    EXPECT_EQ(fresh.untouched, fresh.managed);
    struct page *const page = alloc_frozen_pages_node(0, GFP_KERNEL, 0);
    const kmirror_page_counts split = node_pages(0);
    for (unsigned order = 0; order < MAX_PAGE_ORDER; ++order)
        EXPECT_EQ(split.blocks[order], 1u) << "order " << order;
    EXPECT_EQ(split.free, split.managed - 1);
    expect_consistent(split);
    free_frozen_pages(page, 0);
    const kmirror_page_counts merged = node_pages(0);
    for (unsigned order = 0; order < MAX_PAGE_ORDER; ++order)
        EXPECT_EQ(merged.blocks[order], 0u) << "order " << order;
    EXPECT_EQ(merged.blocks[MAX_PAGE_ORDER], 1u);
    EXPECT_EQ(merged.free, merged.managed);
}

KMIRROR_TEST_IN(PageBuddy, EveryOrderIsAlignedToItsSize, memory(8192), "KMIRROR_MACHINE=core:1 pu:1")
{
    for (unsigned order = 0; order <= MAX_PAGE_ORDER; ++order) {
        struct page *const page = alloc_frozen_pages_node(0, GFP_KERNEL, order);
        ASSERT_NE(page, nullptr) << "order " << order;
        EXPECT_EQ(reinterpret_cast<unsigned long>(page_address(page)) % (PAGE_SIZE << order), 0u);
        free_frozen_pages(page, order);
    }
    EXPECT_EQ(node_pages(0).free, node_pages(0).managed);
    kmirror::testing::ExpectWarnings warnings(1);
    EXPECT_EQ(alloc_frozen_pages_node(0, GFP_KERNEL, MAX_PAGE_ORDER + 1), nullptr);
}

KMIRROR_TEST_IN(PageBuddy, AnOddSizedNodeUsesItsLastPages, memory(1155), "KMIRROR_MACHINE=core:1 pu:1")
{
    const kmirror_page_counts before = node_pages(0);
    EXPECT_EQ(before.managed, 1155u);
    const std::vector<struct page *> all = take_all(0, GFP_KERNEL | __GFP_MEMALLOC, 0);
    EXPECT_EQ(all.size(), before.managed);
    give_all(all, 0);
    EXPECT_EQ(node_pages(0).free, before.managed);
    expect_consistent(node_pages(0));
}

KMIRROR_TEST_IN(PageBuddy, RandomBlocksNeverOverlapAndAllMerge, memory(6144), "KMIRROR_MACHINE=core:2 pu:1")
{
    kmirror_random_seed(kmirror::testing::seed());
    std::map<unsigned long, unsigned> live;   // first page -> order
    for (int step = 0; step < 20000; ++step) {
        if (get_random_u32_below(2) != 0) {
            const unsigned order = std::min(get_random_u32_below(7), get_random_u32_below(7));
            struct page *const page = alloc_frozen_pages_node(0, GFP_NOWAIT, order);
            if (page == nullptr)
                continue;
            const unsigned long pfn = page_to_pfn(page);
            const auto next = live.upper_bound(pfn);
            ASSERT_TRUE(next == live.end() || next->first >= pfn + (1UL << order));
            if (next != live.begin()) {
                const auto &[before, before_order] = *std::prev(next);
                ASSERT_LE(before + (1UL << before_order), pfn);
            }
            live[pfn] = order;
        } else if (!live.empty()) {
            auto victim = live.lower_bound(get_random_u32_below(6144));
            if (victim == live.end())
                victim = live.begin();
            free_frozen_pages(pfn_to_page(victim->first), victim->second);
            live.erase(victim);
        }
        if (step % 4000 == 0)
            expect_consistent(node_pages(0));
    }
    for (const auto &[pfn, order] : live)
        free_frozen_pages(pfn_to_page(pfn), order);
    const kmirror_page_counts end = node_pages(0);
    EXPECT_EQ(end.free, end.managed);
    EXPECT_EQ((end.blocks[MAX_PAGE_ORDER] << MAX_PAGE_ORDER) + end.untouched, end.managed);
}

KMIRROR_TEST_IN(PageBuddy, ManyThreadsLeaveEverythingWhole, memory(16384),
                "KMIRROR_MACHINE=pack:2 numa:1 core:2 pu:1")
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
        threads.emplace_back([t] {
            std::vector<std::pair<struct page *, unsigned>> mine;
            for (int i = 0; i < 3000; ++i) {
                const unsigned order = get_random_u32_below(6);
                struct page *const page = alloc_frozen_pages_node(t % 2, GFP_NOWAIT, order);
                if (page != nullptr) {
                    *static_cast<int *>(page_address(page)) = t;
                    mine.emplace_back(page, order);
                }
                while (mine.size() > 50) {
                    EXPECT_EQ(*static_cast<int *>(page_address(mine.front().first)), t);
                    free_frozen_pages(mine.front().first, mine.front().second);
                    mine.erase(mine.begin());
                }
            }
            for (const auto &[page, order] : mine)
                free_frozen_pages(page, order);
        });
    for (std::thread &thread : threads)
        thread.join();
    for (int nid = 0; nid < 2; ++nid) {
        const kmirror_page_counts end = node_pages(nid);
        EXPECT_EQ(end.free, end.managed);
        EXPECT_EQ((end.blocks[MAX_PAGE_ORDER] << MAX_PAGE_ORDER) + end.untouched, end.managed);
    }
}

}  // namespace
