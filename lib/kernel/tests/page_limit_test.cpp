// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: memory ends where KMIRROR_MEM says, reserves are for whom they are meant, nodes are tried by
// distance.

#include "lib/kernel/tests/pages.h"

#include <linux/hardirq.h>
#include <linux/mempolicy.h>
#include <linux/nodemask.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <kmirror/topology.h>

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "tools/testing/harness.h"

using kmirror::testing::ExpectWarnings;
using ::testing::HasSubstr;

namespace {

KMIRROR_TEST_IN(PageLimits, OrdinaryRequestsEndAtTheReserve, memory(4096), "KMIRROR_MACHINE=core:2 pu:1")
{
    const kmirror_page_counts fresh = node_pages(0);
    EXPECT_GT(fresh.reserve, 0u);
    EXPECT_EQ(totalram_pages(), fresh.managed);
    const std::vector<struct page *> ordinary = take_all(0, GFP_KERNEL, 0);
    EXPECT_EQ(ordinary.size(), fresh.managed - fresh.reserve);
    EXPECT_EQ(nr_free_pages(), fresh.reserve);
    const std::vector<struct page *> high = take_all(0, GFP_ATOMIC, 0);
    EXPECT_EQ(high.size(), fresh.reserve - fresh.reserve / 2);
    const std::vector<struct page *> last = take_all(0, GFP_NOWAIT | __GFP_MEMALLOC, 0);
    EXPECT_EQ(last.size(), fresh.reserve / 2);
    EXPECT_EQ(nr_free_pages(), 0u);
    EXPECT_FALSE(page_is_pfmemalloc(ordinary.back()));
    EXPECT_FALSE(page_is_pfmemalloc(high.back()));
    EXPECT_TRUE(page_is_pfmemalloc(last.back()));
    give_all(ordinary, 0);
    give_all(high, 0);
    give_all(last, 0);
    EXPECT_EQ(node_pages(0).free, fresh.managed);
    struct page *const again = alloc_frozen_pages_node(0, GFP_KERNEL | __GFP_MEMALLOC, 0);
    EXPECT_FALSE(page_is_pfmemalloc(again)) << "only a request that needed the reserve is marked";
    free_frozen_pages(again, 0);
}

KMIRROR_TEST_IN(PageLimits, ATaskThatFreesMemoryMayUseTheReserve, memory(512), "KMIRROR_MACHINE=core:1 pu:1")
{
    const std::vector<struct page *> ordinary = take_all(0, GFP_KERNEL, 0);
    EXPECT_FALSE(gfp_pfmemalloc_allowed(GFP_KERNEL));
    const unsigned int flags = memalloc_noreclaim_save();
    EXPECT_TRUE(gfp_pfmemalloc_allowed(GFP_KERNEL));
    EXPECT_FALSE(gfp_pfmemalloc_allowed(GFP_KERNEL | __GFP_NOMEMALLOC));
    EXPECT_EQ(alloc_frozen_pages_node(0, GFP_KERNEL | __GFP_NOMEMALLOC | __GFP_NOWARN, 0), nullptr);
    struct page *const page = alloc_frozen_pages_node(0, GFP_KERNEL, 0);
    EXPECT_NE(page, nullptr);
    memalloc_noreclaim_restore(flags);
    EXPECT_FALSE(gfp_pfmemalloc_allowed(GFP_KERNEL));
    free_frozen_pages(page, 0);
    give_all(ordinary, 0);
}

KMIRROR_TEST_IN(PageLimits, AFullNodeFallsBackToItsNeighboursUnlessTold, memory(1024, 2048),
                "KMIRROR_MACHINE=pack:2 numa:1 core:1 pu:1")
{
    const std::vector<struct page *> local = take_all(0, GFP_KERNEL | __GFP_THISNODE, 0);
    EXPECT_EQ(local.size(), node_pages(0).managed - node_pages(0).reserve);
    for (const struct page *const page : local)
        ASSERT_EQ(page_to_nid(page), 0);
    struct page *const neighbour = alloc_frozen_pages_node(0, GFP_KERNEL, 0);
    ASSERT_NE(neighbour, nullptr);
    EXPECT_EQ(page_to_nid(neighbour), 1);
    free_frozen_pages(neighbour, 0);
    const std::vector<struct page *> rest = take_all(0, GFP_KERNEL, 0);
    EXPECT_EQ(rest.size(), node_pages(1).managed - node_pages(1).reserve);
    give_all(rest, 0);
    give_all(local, 0);
}

KMIRROR_TEST_IN(PageLimits, ANodeWithoutMemoryIsServedByTheNearest, memory(0, 2048),
                "KMIRROR_MACHINE=pack:2 numa:1 core:1 pu:1")
{
    page_alloc_init();
    EXPECT_FALSE(node_state(0, N_MEMORY));
    EXPECT_TRUE(node_state(1, N_MEMORY));
    EXPECT_EQ(alloc_frozen_pages_node(0, GFP_KERNEL | __GFP_THISNODE | __GFP_NOWARN, 0), nullptr);
    struct page *const page = alloc_frozen_pages_node(0, GFP_KERNEL, 0);
    ASSERT_NE(page, nullptr);
    EXPECT_EQ(page_to_nid(page), 1);
    free_frozen_pages(page, 0);
    EXPECT_EQ(node_pages(0).managed, 0u);
    kmirror_page_counts none;
    EXPECT_EQ(kmirror_node_pages(2, &none), -EINVAL);
    EXPECT_EQ(kmirror_node_pages(-1, &none), -EINVAL);
}

KMIRROR_TEST_IN(PageLimits, ACallersOwnNodeComesFirst, memory(16384),
                "KMIRROR_MACHINE=pack:4 numa:1 core:1 pu:1")
{
    for (int cpu = 0; cpu < 4; ++cpu) {
        ASSERT_EQ(kmirror_cpu_lease(cpu), cpu);
        struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
        EXPECT_EQ(page_to_nid(page), cpu_to_node(cpu));
        free_frozen_pages(page, 0);
    }
    EXPECT_EQ(totalram_pages(), 16384u);
    ExpectWarnings warnings(1);
    EXPECT_EQ(alloc_frozen_pages_node(4, GFP_KERNEL, 0), nullptr);
}

#define FOUR_NODES memory(1024, 1024) + ",2:4M,3:4M", "KMIRROR_MACHINE=pack:4 numa:1 core:1 pu:1"

// A policy of this thread on CPU 0, as long as it lives.
class Policy {
public:
    Policy(unsigned short mode, std::initializer_list<int> nodes)
    {
        kmirror_cpu_lease(0);
        policy_.mode = mode;
        policy_.il_prev = -1;
        for (const int node : nodes)
            node_set(node, policy_.nodes);
        kmirror_set_mempolicy(&policy_);
    }
    ~Policy() { kmirror_set_mempolicy(nullptr); }

private:
    struct mempolicy policy_{};
};

// The node of a page that is given back at once; -1: there is none.
int node_of_page(gfp_t gfp = GFP_KERNEL, int nid = NUMA_NO_NODE)
{
    struct page *const page = alloc_frozen_pages_node(nid, gfp | __GFP_NOWARN, 0);
    if (page == nullptr)
        return -1;
    const int node = page_to_nid(page);
    free_frozen_pages(page, 0);
    return node;
}

KMIRROR_TEST_IN(PagePolicy, IsFollowedByRequestsThatNameNoNode, FOUR_NODES)
{
    page_alloc_init();
    const Policy policy(MPOL_PREFERRED, {2});
    EXPECT_EQ(node_of_page(), 2);
    EXPECT_EQ(node_of_page(GFP_KERNEL, 1), 1) << "this one names its node";
    EXPECT_EQ(node_of_page(GFP_KERNEL | __GFP_THISNODE), 0) << "this one wants its own";
    nmi_enter();
    EXPECT_EQ(node_of_page(GFP_NOWAIT), 0) << "an interrupt is nobody's";
    nmi_exit();
    const std::vector<struct page *> all = take_all(NUMA_NO_NODE, GFP_NOWAIT, 0);
    std::set<int> nodes;
    for (const struct page *page : all)
        nodes.insert(page_to_nid(page));
    EXPECT_EQ(nodes, (std::set<int>{0, 1, 2, 3})) << "preferred, not alone allowed";
    give_all(all, 0);
}

KMIRROR_TEST_IN(PagePolicy, ThatBindsIsNotLeftWhenItsNodesAreEmpty, FOUR_NODES)
{
    page_alloc_init();
    const Policy policy(MPOL_BIND, {1, 3});
    const std::vector<struct page *> all = take_all(NUMA_NO_NODE, GFP_KERNEL, 0);
    std::set<int> nodes;
    for (const struct page *page : all)
        nodes.insert(page_to_nid(page));
    EXPECT_EQ(nodes, (std::set<int>{1, 3}));
    EXPECT_EQ(node_of_page(), -1);
    EXPECT_EQ(node_of_page(GFP_KERNEL, 0), 0);
    give_all(all, 0);
}

KMIRROR_TEST_IN(PagePolicy, TakesNodesInTurnOrItsOwnWhenNoneHasMemory, FOUR_NODES)
{
    page_alloc_init();
    {
        const Policy policy(MPOL_INTERLEAVE, {1, 2, 3});
        for (int turn = 0; turn < 7; ++turn)
            EXPECT_EQ(node_of_page(), 1 + turn % 3);
    }
    const Policy nowhere(MPOL_BIND, {5});
    EXPECT_EQ(node_of_page(), 0);
}

KMIRROR_TEST_IN(PageLimits, ASleepingRequestWaitsForCallbacksThatFree, memory(512),
                "KMIRROR_MACHINE=core:1 pu:1")
{
    struct Late {
        rcu_head head;
        struct page *page;
    };
    std::vector<struct page *> all = take_all(0, GFP_KERNEL, 0);
    Late late{{}, all.back()};
    all.pop_back();
    call_rcu(&late.head, [](rcu_head *head) { free_frozen_pages(reinterpret_cast<Late *>(head)->page, 0); });
    struct page *const page = alloc_frozen_pages_node(0, GFP_KERNEL, 0);
    EXPECT_NE(page, nullptr);
    free_frozen_pages(page, 0);
    give_all(all, 0);
    rcu_barrier();
}

KMIRROR_TEST_IN(PageLimits, NofailWaitsUntilThereIsMemory, memory(512), "KMIRROR_MACHINE=core:2 pu:1")
{
    const std::vector<struct page *> all = take_all(0, GFP_KERNEL | __GFP_MEMALLOC, 0);
    std::atomic<struct page *> got{nullptr};
    std::thread waiter([&] { got = alloc_frozen_pages_node(0, GFP_KERNEL | __GFP_NOFAIL, 0); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(got, nullptr);
    give_all(all, 0);
    waiter.join();
    ASSERT_NE(got, nullptr);
    free_frozen_pages(got, 0);
}

TEST(PageLimits, NofailForMoreThanThereIsEndsTheProcess)
{
    if (kmirror::testing::in_child()) {
        alloc_frozen_pages_node(0, GFP_KERNEL | __GFP_NOFAIL, MAX_PAGE_ORDER);
        return;
    }
    const auto child = kmirror::testing::rerun_this_test({"KMIRROR_MEM=1M", "KMIRROR_MACHINE=core:1 pu:1"});
    EXPECT_FALSE(child.exited);
    EXPECT_THAT(child.output, HasSubstr("__GFP_NOFAIL"));
}

TEST(PageLimits, AFailureIsReportedUnlessTheCallerSaysNot)
{
    if (kmirror::testing::in_child()) {
        const std::vector<struct page *> all = take_all(0, GFP_KERNEL, 0);
        std::fputs("quiet so far\n", stderr);
        EXPECT_EQ(alloc_frozen_pages_node(0, GFP_KERNEL, 0), nullptr);
        give_all(all, 0);
        return;
    }
    const auto child = kmirror::testing::rerun_this_test({"KMIRROR_MEM=1M", "KMIRROR_MACHINE=core:1 pu:1"});
    EXPECT_TRUE(child.passed()) << child.output;
    EXPECT_GT(child.output.find("page allocation failure: order:0"), child.output.find("quiet so far"));
    EXPECT_THAT(child.output, HasSubstr("page allocation failure: order:0"));
}

TEST(PageLimits, AnImpossibleSettingEndsTheProcessWithOneLine)
{
    if (kmirror::testing::in_child()) {
        page_alloc_init();
        return;
    }
    for (const char *const value : {"0", "1K", "12Q", "-5M", "9999T", "0:4M,0", "7:4M", "0:4M;1:4M",
                                    "0:0", ":", "0:"}) {
        const auto child = kmirror::testing::rerun_this_test({std::string("KMIRROR_MEM=") + value,
                                                              "KMIRROR_MACHINE=core:1 pu:1"});
        EXPECT_EQ(child.status, 2) << value << ": " << child.output;
        EXPECT_THAT(child.output, HasSubstr("KMIRROR_MEM"));
        EXPECT_THAT(child.output, HasSubstr(value));
        EXPECT_EQ(child.output.find('\n'), child.output.size() - 1) << "one line";
    }
}

}  // namespace
