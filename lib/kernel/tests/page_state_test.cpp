// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: a page can be found from any address in it, says what it is, and can be given back only once.

#include "lib/kernel/tests/pages.h"

#include <linux/string.h>

#include <gmock/gmock.h>

#include "tools/testing/harness.h"

using kmirror::testing::ExpectWarnings;

namespace {

TEST(PageState, AddressAndPageLeadToEachOther)
{
    struct page *const page = alloc_frozen_pages(GFP_KERNEL, 2);
    auto *const bytes = static_cast<char *>(page_address(page));
    EXPECT_TRUE(virt_addr_valid(bytes));
    EXPECT_EQ(virt_to_page(bytes), page);
    EXPECT_EQ(virt_to_page(bytes + PAGE_SIZE - 1), page);
    EXPECT_EQ(virt_to_page(bytes + PAGE_SIZE), page + 1);
    EXPECT_EQ(page_address(page + 3), bytes + 3 * PAGE_SIZE);
    EXPECT_EQ(pfn_to_page(page_to_pfn(page)), page);
    EXPECT_EQ(virt_to_head_page(bytes + PAGE_SIZE), page + 1) << "not compound: each page is its own head";
    free_frozen_pages(page, 2);
    int on_stack = 0;
    EXPECT_FALSE(virt_addr_valid(&on_stack));
    EXPECT_FALSE(virt_addr_valid(nullptr));
    EXPECT_FALSE(is_vmalloc_addr(bytes));
}

TEST(PageState, TailsOfACompoundBlockKnowTheirHead)
{
    struct page *const page = alloc_frozen_pages(GFP_KERNEL | __GFP_COMP, 3);
    EXPECT_TRUE(PageHead(page) && PageCompound(page) && !PageTail(page));
    EXPECT_EQ(compound_order(page), 3u);
    EXPECT_EQ(compound_nr(page), 8u);
    EXPECT_EQ(page_size(page), 8 * PAGE_SIZE);
    auto *const bytes = static_cast<char *>(page_address(page));
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(virt_to_head_page(bytes + i * PAGE_SIZE + 5), page);
        EXPECT_EQ(PageTail(page + i), i != 0);
        EXPECT_EQ(page_to_nid(page + i), page_to_nid(page));
    }
    free_frozen_pages(page, 3);
    EXPECT_FALSE(PageCompound(page) || PageTail(page + 7));
}

TEST(PageState, ZeroedPagesAreZero)
{
    for (int round = 0; round < 3; ++round) {
        struct page *const page = alloc_frozen_pages(GFP_KERNEL | __GFP_ZERO, 1);
        EXPECT_EQ(memchr_inv(page_address(page), 0, 2 * PAGE_SIZE), nullptr);
        memset(page_address(page), 0xa5, 2 * PAGE_SIZE);
        free_frozen_pages(page, 1);
    }
    const unsigned long address = get_zeroed_page(GFP_KERNEL);
    EXPECT_EQ(memchr_inv(reinterpret_cast<void *>(address), 0, PAGE_SIZE), nullptr);
    free_page(address);
    free_page(0);
}

TEST(PageState, TheLastReferenceFrees)
{
    struct page *const page = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);
    EXPECT_EQ(page_ref_count(page), 1);
    get_page(page + 1);
    EXPECT_EQ(page_ref_count(page), 2);
    put_page(page);
    EXPECT_EQ(page_ref_count(page), 1);
    put_page(page + 1);
    ExpectWarnings warnings(1);
    free_frozen_pages(page, 1);
}

TEST(PageState, TypesAreOneOfAKind)
{
    struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
    EXPECT_FALSE(PageSlab(page) || PageLargeKmalloc(page) || PageBuddy(page));
    __SetPageSlab(page);
    EXPECT_TRUE(PageSlab(page) && !PageLargeKmalloc(page));
    __ClearPageSlab(page);
    __SetPageLargeKmalloc(page);
    EXPECT_TRUE(PageLargeKmalloc(page) && !PageSlab(page));
    __ClearPageLargeKmalloc(page);
    free_frozen_pages(page, 0);
}

TEST(PageState, OrdersHoldTheirBytes)
{
    EXPECT_EQ(get_order(1), 0);
    EXPECT_EQ(get_order(PAGE_SIZE), 0);
    EXPECT_EQ(get_order(PAGE_SIZE + 1), 1);
    EXPECT_EQ(get_order(4 * PAGE_SIZE), 2);
    EXPECT_EQ(get_order(5 * PAGE_SIZE), 3);
}

KMIRROR_TEST_IN(PageState, AWrongFreeIsReportedAndChangesNothing, memory(2048), "KMIRROR_MACHINE=core:1 pu:1")
{
    struct page *const page = alloc_frozen_pages(GFP_KERNEL | __GFP_COMP, 2);
    const unsigned long free_before = node_pages(0).free;
    {
        ExpectWarnings warnings(4);
        free_frozen_pages(page, 1);       // another order
        free_frozen_pages(page + 1, 0);   // a tail
        __SetPageSlab(page);
        free_frozen_pages(page, 2);       // still a slab
        __ClearPageSlab(page);
        get_page(page);
        free_frozen_pages(page, 2);       // still referenced
        EXPECT_EQ(node_pages(0).free, free_before);
    }
    page->_refcount = 0;
    free_frozen_pages(page, 2);
    EXPECT_EQ(node_pages(0).free, free_before + 4);
    ExpectWarnings warnings(2);
    free_frozen_pages(page, 2);           // twice
    free_frozen_pages(page + 1, 0);       // never allocated
    EXPECT_EQ(node_pages(0).free, free_before + 4);
    expect_consistent(node_pages(0));
}

}  // namespace
