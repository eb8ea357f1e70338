// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/tests/pages.h: what the page allocator's tests share.
#pragma once

#include <linux/gfp.h>
#include <linux/mm.h>
#include <kmirror/pages.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

// KMIRROR_MEM for so many pages, whatever their size, in all or node by node.
inline std::string memory(unsigned long pages)
{
    return "KMIRROR_MEM=" + std::to_string(pages * PAGE_SIZE / 1024) + "K";
}

inline std::string memory(unsigned long pages_of_0, unsigned long pages_of_1)
{
    const auto size = [](unsigned long pages) { return std::to_string(pages * PAGE_SIZE / 1024) + "K"; };
    return "KMIRROR_MEM=0:" + size(pages_of_0) + ",1:" + size(pages_of_1);
}

// The figures of a node, with the per-CPU lists emptied first.
inline kmirror_page_counts node_pages(int nid)
{
    kmirror_page_counts pages{};
    kmirror_drain_pages();
    EXPECT_EQ(kmirror_node_pages(nid, &pages), 0);
    return pages;
}

// (Z1) of page_alloc.h, from outside: what is free is in blocks or untouched.
inline void expect_consistent(const struct kmirror_page_counts &pages)
{
    unsigned long sum = pages.untouched;
    for (unsigned order = 0; order < NR_PAGE_ORDERS; ++order)
        sum += pages.blocks[order] << order;
    EXPECT_EQ(sum, pages.free);
}

// Blocks of one order until there are no more.
inline std::vector<struct page *> take_all(int nid, gfp_t gfp, unsigned order)
{
    std::vector<struct page *> taken;
    while (struct page *const page = alloc_frozen_pages_node(nid, gfp | __GFP_NOWARN, order))
        taken.push_back(page);
    return taken;
}

inline void give_all(const std::vector<struct page *> &pages, unsigned order)
{
    for (struct page *const page : pages)
        free_frozen_pages(page, order);
}
