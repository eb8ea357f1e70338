// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/page_alloc_info.cpp: counting pages. Owns nothing; takes zone->lock for a consistent picture of
// one zone.

#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <kmirror/pages.h>

#include "lib/kernel/page_alloc.h"

using namespace kmirror::kernel;

extern "C" unsigned long totalram_pages(void)
{
    page_alloc_init();
    unsigned long pages = 0;
    for (const Zone &zone : zones)
        pages += __atomic_load_n(&zone.managed, __ATOMIC_RELAXED);
    return pages;
}

extern "C" unsigned long nr_free_pages(void)
{
    page_alloc_init();
    unsigned long pages = 0;
    for (const Zone &zone : zones)
        pages += zone_free(zone);
    return pages;
}

extern "C" int kmirror_node_pages(int nid, struct kmirror_page_counts *out)
{
    page_alloc_init();
    if (nid < 0 || nid >= static_cast<int>(nr_node_ids) || !node_online(nid))
        return -EINVAL;
    Zone &zone = zones[nid];
    *out = {};
    if (zone.managed != 0)
        out->percpu = percpu_pages_count(zone);
    const RawGuard guard(zone.lock);
    out->managed = zone.managed;
    out->free = zone.free;
    out->untouched = zone.end_pfn - zone.fresh_pfn;
    out->reserve = zone.reserve;
    for (unsigned int order = 0; order < NR_PAGE_ORDERS; ++order)
        out->blocks[order] = zone.area[order].blocks;
    return 0;
}

extern "C" void kmirror_drain_pages(void)
{
    page_alloc_init();
    for (Zone &zone : zones)
        if (zone.managed != 0)
            percpu_pages_drain(zone);
}
