// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: kvmalloc() finds memory in single pages when there is no block of that size, and everything that
// takes kmalloc() memory by a kv name takes that too; what vmalloc() took of a node comes back.

#include "slab/slab_test.h"

#include <kmirror/fault.h>
#include <kmirror/pages.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <csetjmp>
#include <csignal>
#include <cstring>

namespace kmirror::slab_test {
namespace {

#define SMALL_MACHINE "KMIRROR_MACHINE=pack:1 core:2 pu:1", "KMIRROR_MEM=16M"
constexpr unsigned long kLarge = 1u << 20; // 256 pages in a row

unsigned long free_pages_now()
{
    kmirror_drain_pages();
    return nr_free_pages();
}

// No two neighbouring pages are free, but half of all are.
class Fragmented {
public:
    Fragmented()
    {
        while (page *one = alloc_frozen_pages(GFP_NOWAIT | __GFP_MEMALLOC, 0))
            pages_.push_back(one);
        for (std::size_t i = 0; i < pages_.size(); i += 2)
            free_frozen_pages(pages_[i], 0);
        kmirror_drain_pages();
    }
    ~Fragmented()
    {
        for (std::size_t i = 1; i < pages_.size(); i += 2)
            free_frozen_pages(pages_[i], 0);
    }

private:
    std::vector<page *> pages_;
};

KMIRROR_TEST_IN(SlabKvmalloc, is_kmalloc_while_there_is_a_block, SMALL_MACHINE)
{
    for (std::size_t bytes : {8ul, 4096ul, 8192ul, kLarge}) {
        void *object = kvmalloc(bytes, GFP_KERNEL);
        ASSERT_NE(object, nullptr);
        EXPECT_FALSE(is_vmalloc_addr(object)) << bytes;
        kvfree(object);
    }
    EXPECT_EQ(kvmalloc(0, GFP_KERNEL), ZERO_SIZE_PTR);
    kvfree(ZERO_SIZE_PTR);
    kvfree(nullptr);
}

KMIRROR_TEST_IN(SlabKvmalloc, takes_single_pages_when_there_is_no_block, SMALL_MACHINE)
{
    WITHOUT_DEBUGGING();
    kmem_cache_init();
    const Fragmented world;
    const unsigned long before = free_pages_now();
    EXPECT_EQ(kmalloc(kLarge, GFP_NOWAIT), nullptr);
    auto *object = static_cast<char *>(kvmalloc(kLarge, GFP_KERNEL));
    ASSERT_NE(object, nullptr);
    EXPECT_TRUE(is_vmalloc_addr(object));
    EXPECT_EQ(before - free_pages_now(), kLarge / PAGE_SIZE);
    for (std::size_t i = 0; i < kLarge; i += 512)
        ASSERT_EQ(object[i], 0);
    std::memset(object, 0x77, kLarge);
    kvfree(object);
    EXPECT_EQ(free_pages_now(), before);
    EXPECT_EQ(kvmalloc(4096, GFP_KERNEL | __GFP_NORETRY) != nullptr, true) << "up to a page it is kmalloc()";
}

KMIRROR_TEST_IN(SlabKvmalloc, that_fails_has_taken_nothing, SMALL_MACHINE)
{
    kmem_cache_init();
    const Fragmented world;
    const unsigned long before = free_pages_now();
    EXPECT_EQ(kvmalloc(12u << 20, GFP_NOWAIT), nullptr) << "more than there is";
    EXPECT_EQ(free_pages_now(), before);
    EXPECT_EQ(kvmalloc(1ul << 31, GFP_KERNEL | __GFP_NOWARN), nullptr);
    const kmirror::testing::ExpectWarnings one(1);
    EXPECT_EQ(kvmalloc(1ul << 31, GFP_KERNEL), nullptr) << "above INT_MAX";
}

KMIRROR_TEST_IN(SlabKvmalloc, kvrealloc_moves_from_blocks_to_pages_and_grows_there, SMALL_MACHINE)
{
    kmem_cache_init();
    auto *object = static_cast<unsigned char *>(kvmalloc(5000, GFP_KERNEL));
    for (int i = 0; i < 5000; i++)
        object[i] = static_cast<unsigned char>(i);
    const Fragmented world;
    for (std::size_t bytes : {kLarge / 2, kLarge / 2 + 100, kLarge, 6000ul}) {
        object = static_cast<unsigned char *>(kvrealloc(object, bytes, GFP_KERNEL | __GFP_ZERO));
        ASSERT_NE(object, nullptr);
        EXPECT_TRUE(is_vmalloc_addr(object)) << bytes;
        for (int i = 0; i < 5000; i++)
            ASSERT_EQ(object[i], static_cast<unsigned char>(i)) << bytes;
        for (std::size_t i = 8192; i < bytes; i++)
            ASSERT_EQ(object[i], 0) << i;
        std::memset(object + 5000, 0, 3192);
    }
    object[6000] = 0;
    EXPECT_EQ(kvrealloc(object, 12u << 20, GFP_NOWAIT), nullptr);
    EXPECT_EQ(object[4999], static_cast<unsigned char>(4999)) << "a failure leaves it as it was";
    kvfree_sensitive(object, 6000);
}

// What was cut off by a smaller size does not show again.
KMIRROR_TEST_IN(SlabKvmalloc, vrealloc_clears_what_it_gives_up, SMALL_MACHINE)
{
    auto *object = static_cast<char *>(vmalloc(8000));
    std::memset(object, 1, 8000);
    object = static_cast<char *>(vrealloc(object, 100, GFP_KERNEL));
    object = static_cast<char *>(vrealloc(object, 8000, GFP_KERNEL | __GFP_ZERO));
    EXPECT_EQ(object[99], 1);
    for (int i = 100; i < 8000; i++)
        ASSERT_EQ(object[i], 0) << i;
    EXPECT_EQ(vrealloc(object, 0, GFP_KERNEL), nullptr);
}

struct Waiting {
    char text[100];
    rcu_head rcu;
};

KMIRROR_TEST_IN(SlabKvmalloc, memory_of_both_kinds_can_wait_for_a_grace_period, SMALL_MACHINE)
{
    kmem_cache_init();
    const Fragmented world;
    const unsigned long before = free_pages_now();
    auto *large = static_cast<Waiting *>(kvmalloc(kLarge, GFP_KERNEL));
    auto *mightsleep = static_cast<Waiting *>(kvmalloc(kLarge, GFP_KERNEL));
    auto *small = static_cast<Waiting *>(kvmalloc(sizeof(Waiting), GFP_KERNEL));
    ASSERT_TRUE(is_vmalloc_addr(large) && is_vmalloc_addr(mightsleep));
    rcu_read_lock();
    kvfree_rcu(large, rcu);
    kvfree_rcu(small, rcu);
    large->text[0] = 'a';
    rcu_read_unlock();
    kvfree_rcu_mightsleep(mightsleep);
    kvfree_rcu_barrier();
    EXPECT_GE(free_pages_now() + 16, before);
}

KMIRROR_TEST_IN(SlabKvmalloc, failing_at_any_page_leaves_nothing_behind, SMALL_MACHINE)
{
    kmem_cache_init();
    const unsigned long before = free_pages_now();
    int failed = 0;
    for (unsigned nth = 1; nth <= 40; nth++) {
        kmirror_fail_nth(nth);
        void *object = vmalloc(32 * PAGE_SIZE);
        kmirror_fail_nth(0);
        failed += !object;
        vfree(object);
    }
    EXPECT_EQ(failed, 32);
    EXPECT_EQ(free_pages_now(), before);
}

sigjmp_buf caught;

void on_fault(int) { siglongjmp(caught, 1); }

bool touch_is_fault(volatile char *at)
{
    struct sigaction action = {}, before;
    action.sa_handler = on_fault;
    sigaction(SIGSEGV, &action, &before);
    bool fault = true;
    if (!sigsetjmp(caught, 1)) {
        *at = 1;
        fault = false;
    }
    sigaction(SIGSEGV, &before, nullptr);
    return fault;
}

KMIRROR_TEST_IN(SlabKvmalloc, a_touch_beside_an_area_or_after_its_end_is_a_fault, SMALL_MACHINE)
{
    auto *first = static_cast<char *>(vmalloc(4096)), *second = static_cast<char *>(vmalloc(4096));
    EXPECT_FALSE(touch_is_fault(first + 4095));
    EXPECT_TRUE(touch_is_fault(first + 4096));
    EXPECT_TRUE(touch_is_fault(first - 1));
    EXPECT_TRUE(touch_is_fault(second + 4096));
    vfree(first);
    EXPECT_TRUE(touch_is_fault(first));
    EXPECT_FALSE(touch_is_fault(second));
    vfree(second);
    const kmirror::testing::ExpectWarnings one(1);
    vfree(second);
}

KMIRROR_TEST_IN(SlabKvmalloc, pages_come_from_the_node_that_was_asked_for,
                "KMIRROR_MACHINE=pack:1 numa:2 core:1 pu:1", "KMIRROR_MEM=32M")
{
    kmirror_page_counts before, after;
    vfree(vmalloc_node(64 * PAGE_SIZE, 1));
    kmirror_drain_pages();
    kmirror_node_pages(1, &before);
    void *object = vmalloc_node(256 * PAGE_SIZE, 1);
    kmirror_drain_pages();
    kmirror_node_pages(1, &after);
    EXPECT_EQ(before.free - after.free, 256u);
    vfree(object);
}

} // namespace
} // namespace kmirror::slab_test
