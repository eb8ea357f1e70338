// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/page_alloc.cpp: the page allocator's public face: which node, which reserve, what state a page
// leaves in.
//
// A request tries the nodes nearest first, or as its thread's memory policy says when it names none. A node
// serves it only if that leaves its reserve whole: all of it for an ordinary request, half for __GFP_HIGH,
// nothing for the callers gfp_pfmemalloc_allowed() lets in. When no node can, the per-CPU lists are emptied, then, for a caller that may sleep, RCU callbacks are given
// a moment to free memory.
//
// Owns     page->flags, compound_head and _refcount while a block changes hands; PG_live says that it is out.
// Locking  none of its own; see page_alloc.h. Start-up runs once under `init_once`.
// Fails    null, reported unless __GFP_NOWARN. Freeing what is not live, or with another order, is reported
//          and has no other effect.

#include <linux/fault-inject.h>
#include <linux/kasan.h>
#include <linux/kernel.h>
#include <linux/mempolicy.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <kmirror/pages.h>
#include <kmirror/topology.h>

#include "lib/kernel/page_alloc.h"
#include "lib/kernel/rcu.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <span>
#include <thread>

namespace kmirror::kernel {
namespace {

constexpr unsigned kReclaimMs = 20;
constexpr unsigned kNever = ~0U;
constexpr u64 kReportEveryNs = 1000000000;

std::once_flag init_once;
std::atomic<bool> initialised;
std::atomic<u64> last_report_ns;

struct Request {
    std::span<const int> nodes;   // nearest first
    gfp_t gfp;
    unsigned int order;
    const nodemask_t *bound = nullptr;   // of these only, or null
    bool from_reserve = false;    // served below all marks
};

enum class Reserve { Keep, Half, None };

// ---- who may serve the request

// The nodes to try for a node that was named. Empty: the node that alone is allowed has no memory.
std::span<const int> nodes_of(int nid, gfp_t gfp)
{
    if (WARN_ON_ONCE(nid < 0 || nid >= static_cast<int>(nr_node_ids) || !node_online(nid)))
        return {};
    int count = 0;
    const int *const list = kmirror_node_fallback(nid, &count);
    const std::span<const int> all(list, static_cast<size_t>(count));
    if (!(gfp & __GFP_THISNODE))
        return all;
    return all.empty() || all[0] != nid ? all.first(0) : all.first(1);
}

// Who names no node, nor wants its own alone, follows its thread's policy.
void choose_nodes(Request &request, int nid)
{
    if (nid == NUMA_NO_NODE)
        nid = request.gfp & __GFP_THISNODE ? numa_node_id() : mempolicy_page_node(&request.bound);
    request.nodes = nodes_of(nid, request.gfp);
}

bool may_serve(const Request &request, int nid)
{
    return request.bound == nullptr || node_isset(nid, *request.bound);
}

unsigned long pages_kept(const Zone &zone, Reserve reserve)
{
    if (reserve == Reserve::None)
        return 0;
    return reserve == Reserve::Half ? zone.reserve / 2 : zone.reserve;
}

struct page *take_block(Zone &zone, unsigned int order, Reserve reserve)
{
    if (zone_free(zone) < pages_kept(zone, reserve) + (1UL << order))
        return nullptr;
    if (order < kPercpuOrders)
        return percpu_pages_take(zone, order);
    const RawGuard guard(zone.lock);
    return buddy_take(zone, order);
}

struct page *try_nodes(const Request &request, Reserve reserve)
{
    for (const int nid : request.nodes) {
        if (!may_serve(request, nid))
            continue;
        if (struct page *const page = take_block(zones[nid], request.order, reserve))
            return page;
    }
    return nullptr;
}

// ---- when nobody can at once

void report_failure(const Request &request)
{
    if (request.gfp & __GFP_NOWARN)
        return;
    const u64 now = ktime_get_ns();
    u64 last = last_report_ns.load(std::memory_order_relaxed);
    if ((last != 0 && now - last < kReportEveryNs) || !last_report_ns.compare_exchange_strong(last, now))
        return;
    pr_warn("page allocation failure: order:%u, mode:%#x, nodes:%zu, first:%d\n", request.order, request.gfp,
            request.nodes.size(), request.nodes.empty() ? NUMA_NO_NODE : request.nodes[0]);
}

unsigned int rounds_allowed(gfp_t gfp)
{
    if (!gfpflags_allow_blocking(gfp))
        return 0;
    return gfp & __GFP_NOFAIL ? kNever : gfp & __GFP_RETRY_MAYFAIL ? 3 : 1;
}

// __GFP_NOFAIL waits for others to free memory; there must be enough of it in the first place.
void check_nofail(const Request &request)
{
    for (const int nid : request.nodes)
        if (may_serve(request, nid) && zones[nid].managed >= 1UL << request.order)
            return;
    panic("__GFP_NOFAIL for order %u, but no allowed node has that much memory", request.order);
}

void wait_for_memory(unsigned int round)
{
    flush_callbacks(kReclaimMs);
    if (round != 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct page *try_harder(Request &request)
{
    for (const int nid : request.nodes)
        percpu_pages_drain(zones[nid]);
    const bool deeper = request.gfp & (__GFP_HIGH | __GFP_NOFAIL);
    if (struct page *const page = try_nodes(request, deeper ? Reserve::Half : Reserve::Keep))
        return page;
    if (!gfp_pfmemalloc_allowed(request.gfp))
        return nullptr;
    request.from_reserve = true;
    return try_nodes(request, Reserve::None);
}

[[gnu::noinline]] struct page *alloc_slow(Request &request)
{
    if (request.gfp & __GFP_NOFAIL) {
        WARN_ON_ONCE(!gfpflags_allow_blocking(request.gfp));
        check_nofail(request);
    }
    const unsigned int rounds = rounds_allowed(request.gfp);
    for (unsigned int round = 0;; ++round) {
        if (struct page *const page = try_harder(request))
            return page;
        if (round == rounds)
            break;
        wait_for_memory(round);
    }
    report_failure(request);
    return nullptr;
}

// ---- a block changes hands

void link_tails(struct page *head, unsigned int order, unsigned long value)
{
    for (unsigned long i = 1; i < 1UL << order; ++i)
        __atomic_store_n(&head[i].compound_head, value, __ATOMIC_RELAXED);
}

void hand_out(struct page *page, const Request &request)
{
    const unsigned int order = request.order;
    const bool compound = (request.gfp & __GFP_COMP) && order != 0;
    block_reset(page, page_to_nid(page), order);
    if (compound)
        link_tails(page, order, reinterpret_cast<unsigned long>(page) | 1);
    const unsigned long flags = page->flags | 1UL << PG_live | (compound ? 1UL << PG_head : 0) |
                                (request.from_reserve ? 1UL << PG_pfmemalloc : 0);
    __atomic_store_n(&page->flags, flags, __ATOMIC_RELAXED);
    __atomic_store_n(&page->_refcount, 0, __ATOMIC_RELAXED);
    kasan_unpoison(page_address(page), PAGE_SIZE << order);
    if (request.gfp & __GFP_ZERO)
        memset(page_address(page), 0, PAGE_SIZE << order);
}

void bad_page(const struct page *page, const char *reason)
{
    WARN(true, "bad page %p, pfn %lu, node %d, flags %#lx, type %#x, count %d: %s\n",
         static_cast<const void *>(page), page_to_pfn(page), page_to_nid(page), page->flags, page->page_type,
         page->_refcount, reason);
}

// What stands against freeing a live block like this, or null.
const char *why_not_free(const struct page *page, unsigned int order)
{
    if (block_order(page) != order)
        return "freed with another order than allocated";
    if (page->page_type != UINT_MAX)
        return "freed with its type still set";
    return page_ref_count(page) != 0 ? "freed while referenced" : nullptr;
}

// Ends a block's time as live. False, and reported, if it is not one that can be freed like this.
bool take_back(struct page *page, unsigned int order)
{
    constexpr unsigned long live = 1UL << PG_live;
    const char *reason = nullptr;
    if (PageTail(page)) {
        reason = "freed by a page that is not the first of its block";
    } else if (!(__atomic_fetch_and(&page->flags, ~live, __ATOMIC_RELAXED) & live)) {
        reason = "freed twice, or never allocated";
    } else {
        reason = why_not_free(page, order);
        if (reason != nullptr)
            __atomic_fetch_or(&page->flags, live, __ATOMIC_RELAXED);
    }
    if (reason != nullptr)
        bad_page(page, reason);
    return reason == nullptr;
}

// ---- where locks are only tried

struct page *try_zone(Zone &zone, unsigned int order)
{
    if (zone_free(zone) < pages_kept(zone, Reserve::Keep) + (1UL << order) || !raw_spin_trylock(&zone.lock))
        return nullptr;
    struct page *const page = buddy_take(zone, order);
    raw_spin_unlock(&zone.lock);
    return page;
}

// Ends a block's time as live, with its tails; false as take_back().
bool end_block(struct page *page, unsigned int order)
{
    if (!take_back(page, order))
        return false;
    if (page->flags & 1UL << PG_head)
        link_tails(page, order, 0);
    block_reset(page, page_zone(page).nid, order);
    kasan_poison(page_address(page), PAGE_SIZE << order, KASAN_PAGE_FREE);
    return true;
}

void ensure_init()
{
    if (!initialised.load(std::memory_order_acquire)) [[unlikely]]
        page_alloc_init();
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;
using kmirror::current_task;

extern "C" void page_alloc_init(void)
{
    std::call_once(init_once, [] {
        arena_init();
        percpu_pages_init();
        initialised.store(true, std::memory_order_release);
    });
}

extern "C" bool gfp_pfmemalloc_allowed(gfp_t gfp_mask)
{
    if (gfp_mask & __GFP_NOMEMALLOC)
        return false;
    return (gfp_mask & __GFP_MEMALLOC) || (current_task()->flags & PF_MEMALLOC);
}

extern "C" struct page *(alloc_frozen_pages_node)(int nid, gfp_t gfp, unsigned int order)
{
    if (order > MAX_PAGE_ORDER) {
        WARN_ON_ONCE(!(gfp & __GFP_NOWARN));
        return nullptr;
    }
    ensure_init();
    might_alloc(gfp);
    if (should_fail_alloc_page(gfp, order))
        return nullptr;
    Request request{{}, gfp, order};
    choose_nodes(request, nid);
    struct page *page = try_nodes(request, gfp & __GFP_HIGH ? Reserve::Half : Reserve::Keep);
    if (page == nullptr) [[unlikely]]
        page = alloc_slow(request);
    if (page != nullptr)
        hand_out(page, request);
    return page;
}

extern "C" void (free_frozen_pages)(struct page *page, unsigned int order)
{
    if (!end_block(page, order))
        return;
    Zone &zone = page_zone(page);
    buddy_give_put_aside(zone);
    if (order < kPercpuOrders)
        return percpu_pages_give(zone, page, order);
    const RawGuard guard(zone.lock);
    buddy_give(zone, page, order);
}

extern "C" struct page *(alloc_frozen_pages_nolock)(gfp_t gfp, int nid, unsigned int order)
{
    if (order > MAX_PAGE_ORDER || !initialised.load(std::memory_order_acquire))
        return nullptr;
    // No policy where nothing may be waited for.
    Request request{nodes_of(nid == NUMA_NO_NODE ? numa_node_id() : nid, gfp), gfp | __GFP_COMP, order};
    for (const int candidate : request.nodes) {
        if (struct page *const page = try_zone(zones[candidate], order)) {
            hand_out(page, request);
            return page;
        }
    }
    return nullptr;
}

extern "C" void (free_frozen_pages_nolock)(struct page *page, unsigned int order)
{
    if (!end_block(page, order))
        return;
    Zone &zone = page_zone(page);
    if (!raw_spin_trylock(&zone.lock)) {
        llist_add(reinterpret_cast<llist_node *>(&page->lru), &zone.put_aside);
        return;
    }
    buddy_give(zone, page, order);
    raw_spin_unlock(&zone.lock);
}

extern "C" struct page *alloc_pages_node(int nid, gfp_t gfp, unsigned int order)
{
    struct page *const page = alloc_frozen_pages_node(nid, gfp, order);
    if (page != nullptr)
        __atomic_store_n(&page->_refcount, 1, __ATOMIC_RELAXED);
    return page;
}

extern "C" void __free_pages(struct page *page, unsigned int order)
{
    if (__atomic_sub_fetch(&page->_refcount, 1, __ATOMIC_ACQ_REL) == 0)
        free_frozen_pages(page, order);
}

extern "C" void put_page(struct page *page)
{
    struct page *const head = compound_head(page);
    __free_pages(head, block_order(head));
}

extern "C" unsigned long __get_free_pages(gfp_t gfp, unsigned int order)
{
    const struct page *const page = alloc_pages_node(NUMA_NO_NODE, gfp, order);
    return page == nullptr ? 0 : reinterpret_cast<unsigned long>(page_address(page));
}

extern "C" unsigned long get_zeroed_page(gfp_t gfp)
{
    return __get_free_pages(gfp | __GFP_ZERO, 0);
}

extern "C" void free_pages(unsigned long address, unsigned int order)
{
    if (address != 0)
        __free_pages(virt_to_page(reinterpret_cast<const void *>(address)), order);
}

extern "C" unsigned int memalloc_noreclaim_save(void)
{
    const unsigned int before = current_task()->flags & PF_MEMALLOC;
    current_task()->flags |= PF_MEMALLOC;
    return before;
}

extern "C" void memalloc_noreclaim_restore(unsigned int flags)
{
    current_task()->flags = (current_task()->flags & ~static_cast<unsigned int>(PF_MEMALLOC)) | flags;
}
