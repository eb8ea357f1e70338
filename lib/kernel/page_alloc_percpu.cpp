// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/page_alloc_percpu.cpp: a few small blocks at hand for each CPU, so that zone->lock is paid once
// a batch.
//
// Each CPU has a list for each zone and each order up to PAGE_ALLOC_COSTLY_ORDER. An empty one is refilled
// with a batch; when the CPU holds more than zone.percpu_max pages of a zone, a batch of the oldest goes
// back. Pages in lists count neither as free nor as handed out.
//
// Owns     the lists; mapped at start-up for the possible CPUs and the nodes with memory.
// Locking  pcp->lock, taken before zone->lock. Mostly uncontended; another CPU takes it to drain the lists.
// Fails    percpu_pages_take() returns null when the zone has no block left.

#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/smp.h>

#include "lib/kernel/page_alloc.h"

#include <algorithm>
#include <sys/mman.h>

namespace kmirror::kernel {
namespace {

struct alignas(64) PercpuPages {
    raw_spinlock_t lock;
    unsigned int count;               // pages, written under lock
    list_head lists[kPercpuOrders];   // newest first; under lock
};

PercpuPages *percpu_lists[MAX_NUMNODES];

PercpuPages &lists_of(const Zone &zone, unsigned int cpu)
{
    return percpu_lists[zone.nid][cpu];
}

void add_count(PercpuPages &pcp, int pages)
{
    __atomic_store_n(&pcp.count, pcp.count + static_cast<unsigned int>(pages), __ATOMIC_RELAXED);
}

unsigned int count_of(const PercpuPages &pcp)
{
    return __atomic_load_n(&pcp.count, __ATOMIC_RELAXED);
}

void percpu_init(PercpuPages *pcp)
{
    raw_spin_lock_init(&pcp->lock);
    for (list_head &list : pcp->lists)
        INIT_LIST_HEAD(&list);
}

void refill(Zone &zone, PercpuPages &pcp, unsigned int order)
{
    const unsigned int blocks = std::max(1U, zone.batch >> order);
    const RawGuard guard(zone.lock);
    for (unsigned int i = 0; i < blocks; ++i) {
        struct page *const page = buddy_take(zone, order);
        if (page == nullptr)
            break;
        list_add_tail(&page->lru, &pcp.lists[order]);
        add_count(pcp, 1 << order);
    }
}

// Gives blocks back, of the smallest order first and the oldest of each order first, until `pages` pages have
// left. Context: both locks held.
void give_oldest(Zone &zone, PercpuPages &pcp, unsigned int pages)
{
    unsigned int given = 0;
    for (unsigned int order = 0; order < kPercpuOrders; ++order) {
        while (given < pages && !list_empty(&pcp.lists[order])) {
            struct page *const page = page_of(pcp.lists[order].prev);
            list_del(&page->lru);
            VM_BUG_ON(pcp.count < 1U << order);
            add_count(pcp, -(1 << order));
            given += 1U << order;
            buddy_give(zone, page, order);
        }
    }
}

void drain_cpu(Zone &zone, unsigned int cpu)
{
    PercpuPages &pcp = lists_of(zone, cpu);
    if (count_of(pcp) == 0)
        return;
    const RawGuard guard(pcp.lock);
    const RawGuard zone_guard(zone.lock);
    give_oldest(zone, pcp, pcp.count);
}

int page_alloc_cpu_dead(unsigned int cpu)
{
    for (Zone &zone : zones)
        if (zone.managed != 0)
            drain_cpu(zone, cpu);
    return 0;
}

}  // namespace

void percpu_pages_init()
{
    const unsigned long bytes = nr_cpu_ids * sizeof(PercpuPages);
    for (const Zone &zone : zones) {
        if (zone.managed == 0)
            continue;
        void *const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED)
            panic("no memory for the per-CPU page lists");
        percpu_lists[zone.nid] = static_cast<PercpuPages *>(start);
        for (unsigned int cpu = 0; cpu < nr_cpu_ids; ++cpu)
            percpu_init(&percpu_lists[zone.nid][cpu]);
    }
    cpuhp_setup_state_nocalls(CPUHP_PAGE_ALLOC, "mm/page_alloc:dead", nullptr, page_alloc_cpu_dead);
}

struct page *percpu_pages_take(Zone &zone, unsigned int order)
{
    PercpuPages &pcp = lists_of(zone, static_cast<unsigned int>(raw_smp_processor_id()));
    const RawGuard guard(pcp.lock);
    if (list_empty(&pcp.lists[order]))
        refill(zone, pcp, order);
    if (list_empty(&pcp.lists[order]))
        return nullptr;
    struct page *const page = page_of(pcp.lists[order].next);
    list_del(&page->lru);
    VM_BUG_ON(page_to_nid(page) != zone.nid || pcp.count < 1U << order);
    add_count(pcp, -(1 << order));
    return page;
}

void percpu_pages_give(Zone &zone, struct page *page, unsigned int order)
{
    PercpuPages &pcp = lists_of(zone, static_cast<unsigned int>(raw_smp_processor_id()));
    const RawGuard guard(pcp.lock);
    // Newest first, while they are warm; oldest first under the address sanitizer, to keep them poisoned for
    // longer.
    if constexpr (KMIRROR_ASAN)
        list_add_tail(&page->lru, &pcp.lists[order]);
    else
        list_add(&page->lru, &pcp.lists[order]);
    add_count(pcp, 1 << order);
    if (pcp.count <= zone.percpu_max)
        return;
    const RawGuard zone_guard(zone.lock);
    give_oldest(zone, pcp, zone.batch);
}

void percpu_pages_drain(Zone &zone)
{
    buddy_give_put_aside(zone);
    for (unsigned int cpu = 0; cpu < nr_cpu_ids; ++cpu)
        drain_cpu(zone, cpu);
}

unsigned long percpu_pages_count(const Zone &zone)
{
    unsigned long pages = 0;
    for (unsigned int cpu = 0; cpu < nr_cpu_ids; ++cpu)
        pages += count_of(lists_of(zone, cpu));
    return pages;
}

}  // namespace kmirror::kernel
