// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: small blocks go through a short list of the CPU's own, which takes the zone lock once a batch,
// has a bound, and can be emptied.

#include "lib/kernel/tests/pages.h"

#include <linux/cpu.h>
#include <kmirror/lockstat.h>
#include <kmirror/topology.h>

#include <set>
#include <thread>

#include "tools/testing/harness.h"

namespace {

kmirror_page_counts as_it_is(int nid)
{
    kmirror_page_counts pages{};
    EXPECT_EQ(kmirror_node_pages(nid, &pages), 0);
    return pages;
}

KMIRROR_TEST_IN(PagePercpu, AListFillsByBatchesAndHasABound, memory(65536), "KMIRROR_MACHINE=core:1 pu:1")
{
    struct page *const first = alloc_frozen_pages(GFP_KERNEL, 0);
    const unsigned long batch = as_it_is(0).percpu + 1;
    if (PAGE_SHIFT == 12) {
        EXPECT_EQ(batch, 15u) << "a node of 256M moves 15 pages at a time";
    }
    std::vector<struct page *> pages{first};
    while (pages.size() < 500)
        pages.push_back(alloc_frozen_pages(GFP_KERNEL, 0));
    EXPECT_LT(as_it_is(0).percpu, batch);
    unsigned long most = 0;
    for (struct page *const page : pages) {
        free_frozen_pages(page, 0);
        most = std::max(most, as_it_is(0).percpu);
    }
    EXPECT_EQ(most, 6 * batch);
    kmirror_drain_pages();
    EXPECT_EQ(as_it_is(0).percpu, 0u);
    EXPECT_EQ(as_it_is(0).free, as_it_is(0).managed);
}

KMIRROR_TEST_IN(PagePercpu, TheNewestPageComesBackFirst, memory(16384), "KMIRROR_MACHINE=core:1 pu:1")
{
    struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
    free_frozen_pages(page, 0);
    struct page *const again = alloc_frozen_pages(GFP_KERNEL, 0);
    if (KMIRROR_ASAN)
        EXPECT_NE(again, page) << "a freed page stays poisoned for as long as possible";
    else
        EXPECT_EQ(again, page);
    free_frozen_pages(again, 0);
}

KMIRROR_TEST_IN(PagePercpu, EveryCpuHasItsOwnAndADrainEmptiesAll, memory(16384),
                "KMIRROR_MACHINE=core:4 pu:1")
{
    std::set<struct page *> seen;
    for (int cpu = 0; cpu < 4; ++cpu) {
        ASSERT_EQ(kmirror_cpu_lease(cpu), cpu);
        struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
        EXPECT_TRUE(seen.insert(page).second);
        free_frozen_pages(page, 0);
    }
    EXPECT_GE(as_it_is(0).percpu, 4u);
    kmirror_drain_pages();
    EXPECT_EQ(as_it_is(0).percpu, 0u);
}

KMIRROR_TEST_IN(PagePercpu, ACpuThatGoesOfflineGivesItsPagesBack, memory(16384),
                "KMIRROR_MACHINE=core:2 pu:1")
{
    ASSERT_EQ(kmirror_cpu_lease(1), 1);
    free_frozen_pages(alloc_frozen_pages(GFP_KERNEL, 0), 0);
    EXPECT_GT(as_it_is(0).percpu, 0u);
    ASSERT_EQ(kmirror_cpu_lease(0), 0);
    ASSERT_EQ(cpu_down(1), 0);
    EXPECT_EQ(as_it_is(0).percpu, 0u);
}

KMIRROR_TEST_IN(PagePercpu, ABatchCostsOneZoneLock, memory(65536), "KMIRROR_MACHINE=core:1 pu:1")
{
    free_frozen_pages(alloc_frozen_pages(GFP_KERNEL, 0), 0);
    const unsigned long batch = as_it_is(0).percpu;
    kmirror_drain_pages();
    kmirror_lockstat_enable(true);
    std::vector<struct page *> pages;
    for (unsigned long i = 0; i < 10 * batch; ++i)
        pages.push_back(alloc_frozen_pages(GFP_KERNEL, 0));
    kmirror_lockstat_enable(false);
    give_all(pages, 0);
    struct kmirror_lock_stat zone_lock{}, list_lock{};
    EXPECT_TRUE(kmirror_lockstat_get("&zone->lock", &zone_lock));
    EXPECT_TRUE(kmirror_lockstat_get("&pcp->lock", &list_lock));
    EXPECT_EQ(zone_lock.acquisitions, 10u);
    EXPECT_EQ(list_lock.acquisitions, 10 * batch);
}

}  // namespace
