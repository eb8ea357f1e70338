// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: the sanitizers see into the arena and across grace periods. Each wrong access below ends a
// child with the sanitizer's report, and the same access done right, in the same program, ends it with
// nothing.

#include "lib/kernel/tests/pages.h"

#include <linux/kasan.h>
#include <linux/rcupdate.h>

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tools/testing/harness.h"

using kmirror::testing::in_child;
using ::testing::HasSubstr;

namespace {

// Runs `wrong` in a child and expects the report of the sanitizer that is `on`.
void expect_report(bool on, const char *report, const std::function<void()> &wrong)
{
    if (!on)
        GTEST_SKIP() << "not built with this sanitizer";
    if (in_child())
        return wrong();
    const auto child = kmirror::testing::rerun_this_test({});
    EXPECT_FALSE(child.passed()) << child.output;
    EXPECT_THAT(child.output, HasSubstr(report));
}

void expect_asan_report(const std::function<void()> &wrong)
{
    expect_report(KMIRROR_ASAN, "use-after-poison", wrong);
}

void expect_race(const std::function<void()> &wrong)
{
    expect_report(KMIRROR_TSAN, "data race", wrong);
}

volatile int *ints_of(struct page *page)
{
    return static_cast<volatile int *>(page_address(page));
}

// ---- pages

TEST(SanitizerPages, ReadOfAFreedPageIsReported)
{
    expect_asan_report([] {
        struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
        ints_of(page)[0] = 1;
        free_frozen_pages(page, 0);
        (void)ints_of(page)[0];
    });
}

TEST(SanitizerPages, WriteToTheLastByteOfAFreedBlockIsReported)
{
    expect_asan_report([] {
        struct page *const page = alloc_frozen_pages(GFP_KERNEL, 5);
        free_frozen_pages(page, 5);
        static_cast<volatile char *>(page_address(page))[(PAGE_SIZE << 5) - 1] = 1;
    });
}

TEST(SanitizerPages, ReadBeyondABlockIsReported)
{
    expect_asan_report([] {
        kmirror_drain_pages();
        struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
        (void)static_cast<volatile char *>(page_address(page))[PAGE_SIZE];
    });
}

TEST(SanitizerPages, PagesThatWereNeverHandedOutArePoisoned)
{
    struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
    EXPECT_TRUE(kasan_byte_accessible(page_address(page)));
    free_frozen_pages(page, 0);
    EXPECT_EQ(kasan_byte_accessible(page_address(page)), !KMIRROR_ASAN);
}

TEST(SanitizerPages, LiveAndReusedPagesAreNotReported)
{
    for (int round = 0; round < 50; ++round) {
        struct page *const page = alloc_frozen_pages(GFP_KERNEL, 1);
        for (unsigned long i = 0; i < 2 * PAGE_SIZE / sizeof(int); ++i)
            ints_of(page)[i] = round;
        std::thread([page] { free_frozen_pages(page, 1); }).join();
    }
}

TEST(SanitizerPages, APageThatGoesFromThreadToThreadIsNoRace)
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 500; ++i) {
                struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
                ints_of(page)[i % 1000] = i;
                free_frozen_pages(page, 0);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

// ---- read-copy update

struct Object {
    rcu_head head;
    struct page *page;   // the object is at its start
    int value;
};

Object *new_object(int value)
{
    struct page *const page = alloc_frozen_pages(GFP_KERNEL, 0);
    auto *const object = static_cast<Object *>(page_address(page));
    *object = {{}, page, value};
    return object;
}

void reclaim(rcu_head *head)
{
    auto *const object = reinterpret_cast<Object *>(head);
    object->value = -1;
    free_frozen_pages(object->page, 0);
}

TEST(SanitizerRcu, AReadAfterTheGracePeriodIsReported)
{
    expect_asan_report([] {
        Object *const object = new_object(5);
        rcu_read_lock();
        const volatile int *const value = &object->value;
        (void)*value;
        rcu_read_unlock();
        call_rcu(&object->head, reclaim);
        rcu_barrier();
        (void)*value;
    });
}

TEST(SanitizerRcu, AReadDuringTheGracePeriodIsAllowed)
{
    Object *const object = new_object(6);
    rcu_read_lock();
    call_rcu(&object->head, reclaim);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(object->value, 6);
    rcu_read_unlock();
    rcu_barrier();
}

// Readers, a writer that replaces the object, callbacks that overwrite and free it: all as it should be.
TEST(SanitizerRcu, ReplacingUnderReadersIsNoRace)
{
    Object *shared = new_object(0);
    std::atomic<bool> stop{false};
    std::vector<std::thread> readers;
    for (int t = 0; t < 3; ++t)
        readers.emplace_back([&] {
            while (!stop) {
                rcu_read_lock();
                EXPECT_GE(rcu_dereference(shared)->value, 0);
                rcu_read_unlock();
            }
        });
    for (int i = 1; i < 1000; ++i) {
        Object *const before = rcu_replace_pointer(shared, new_object(i), true);
        if (i % 8 != 0) {
            call_rcu(&before->head, reclaim);
        } else {
            synchronize_rcu();
            reclaim(&before->head);
        }
    }
    stop = true;
    for (std::thread &reader : readers)
        reader.join();
    call_rcu(&shared->head, reclaim);
    rcu_barrier();
}

TEST(SanitizerRcu, WhatCallbacksWroteIsSeenBehindABarrier)
{
    struct Counter {
        rcu_head head;
        int *sum;
    };
    int sum = 0;
    std::vector<Counter> counters(50);
    for (Counter &counter : counters) {
        counter.sum = &sum;
        call_rcu(&counter.head, [](rcu_head *head) { ++*reinterpret_cast<Counter *>(head)->sum; });
    }
    rcu_barrier();
    EXPECT_EQ(sum, 50);
}

// A thread that reads what `object` points to after it has left the section, while the callback overwrites
// it.
TEST(SanitizerRcu, AReaderThatReadsBehindItsSectionIsARace)
{
    expect_race([] {
        static Object object{{}, nullptr, 1};
        std::atomic<bool> left{false}, over{false};
        std::thread reader([&] {
            rcu_read_lock();
            rcu_read_unlock();
            left = true;
            while (!over.load(std::memory_order_relaxed))
                std::this_thread::yield();
            (void)*static_cast<volatile int *>(&object.value);
        });
        while (!left.load(std::memory_order_relaxed))
            std::this_thread::yield();
        call_rcu(&object.head, [](rcu_head *head) { reinterpret_cast<Object *>(head)->value = 2; });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        over.store(true, std::memory_order_relaxed);
        reader.join();
        rcu_barrier();
    });
}

TEST(SanitizerRcu, AWriterThatChangesThePublishedObjectIsARace)
{
    expect_race([] {
        Object *const object = new_object(1);
        std::atomic<bool> stop{false};
        std::thread reader([&] {
            while (!stop) {
                rcu_read_lock();
                (void)*static_cast<volatile int *>(&object->value);
                rcu_read_unlock();
            }
        });
        for (int i = 0; i < 1000; ++i) {
            *static_cast<volatile int *>(&object->value) = i;
            std::this_thread::yield();
        }
        stop = true;
        reader.join();
    });
}

TEST(SanitizerRcu, ACallbackThatSharesWithoutABarrierIsARace)
{
    expect_race([] {
        struct Flag {
            rcu_head head;
            volatile int value;
        };
        static Flag flag;
        call_rcu(&flag.head, [](rcu_head *head) { reinterpret_cast<Flag *>(head)->value = 1; });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        (void)flag.value;
        rcu_barrier();
    });
}

}  // namespace
