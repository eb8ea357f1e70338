// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the address sanitizer sees into the allocator's memory: every wrong access below ends the process
// with its report. Each test runs the bug in a child and reads what the child said. And the right accesses
// stay silent.

#include "slab/slab_test.h"

#include <gmock/gmock.h>

#include <kmirror/config.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

namespace kmirror::slab_test {
namespace {

// The bug, in the child; its report, in the parent.
void expect_report(void (*bug)(), const char *report)
{
    if (!KMIRROR_ASAN)
        GTEST_SKIP() << "needs SAN=address";
    if (kmirror::testing::in_child())
        return bug();
    const kmirror::testing::ChildResult child = kmirror::testing::rerun_this_test({});
    EXPECT_FALSE(child.passed()) << "nobody noticed:\n" << child.output;
    EXPECT_THAT(child.output, ::testing::HasSubstr(report));
}

constexpr const char *kPoisoned = "AddressSanitizer: use-after-poison";

volatile char sink;
void read(const void *at) { sink = *static_cast<const volatile char *>(at); }
void write(void *at) { *static_cast<volatile char *>(at) = 1; }

slab_ops_cache *new_cache(unsigned size, unsigned flags = 0)
{
    slab_ops_cache_args args = args_of(size, flags);
    return ops().create("slab_test_victim", &args);
}

void *new_object(unsigned size, unsigned flags = 0)
{
    return ops().alloc(new_cache(size, flags), SLAB_OPS_KERNEL);
}

TEST(SlabSanitizer, sees_a_read_after_free)
{
    expect_report([] {
        void *object = new_object(100);
        ops().kfree(object);
        read(object);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_a_write_after_a_bulk_free)
{
    expect_report([] {
        slab_ops_cache *cache = new_cache(100);
        void *objects[50];
        if (!ops().alloc_bulk(cache, SLAB_OPS_KERNEL, 50, objects))
            return;
        void *victim = objects[25];
        ops().free_bulk(cache, 50, objects);
        write(static_cast<char *>(victim) + 99);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_a_read_after_the_grace_period)
{
    expect_report([] {
        void *object = new_object(100);
        ops().free_rcu(object, 0);
        read(static_cast<char *>(object) + 50); // still allowed
        ops().free_rcu_barrier();
        read(static_cast<char *>(object) + 50);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_a_read_of_an_object_that_waited_in_a_whole_rcu_sheaf)
{
    expect_report([] {
        slab_ops_cache *cache = new_cache(100);
        void *objects[150];
        for (void *&object : objects)
            object = ops().alloc(cache, SLAB_OPS_KERNEL);
        for (void *object : objects)
            ops().free_rcu(object, 0);
        rcu_barrier();
        read(static_cast<char *>(objects[7]) + 50);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_one_byte_too_far)
{
    expect_report([] {
        void *object = new_object(100); // 104 bytes apart
        write(static_cast<char *>(object) + 99);
        write(static_cast<char *>(object) + 100);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_one_byte_too_far_in_kmalloc_memory)
{
    expect_report([] {
        void *object = ops().kmalloc(70, SLAB_OPS_KERNEL); // a class of 96 bytes
        write(static_cast<char *>(object) + 69);
        read(static_cast<char *>(object) + 70);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_one_byte_too_far_in_a_large_allocation)
{
    expect_report([] {
        void *object = ops().kmalloc(20000, SLAB_OPS_KERNEL); // 32 KiB of pages
        write(static_cast<char *>(object) + 19999);
        write(static_cast<char *>(object) + 20000);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_an_object_that_nobody_allocated)
{
    expect_report([] {
        void *object = new_object(104);
        read(static_cast<char *>(object) + 104); // the next one of a fresh slab
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_the_use_of_a_freed_page)
{
    expect_report([] {
        page *one = alloc_frozen_pages(GFP_KERNEL, 0);
        void *at = page_address(one);
        write(at);
        free_frozen_pages(one, 0);
        write(at);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_the_use_of_a_slab_that_was_given_back)
{
    expect_report([] {
        slab_ops_cache *cache = new_cache(100, SLAB_OPS_TYPESAFE_BY_RCU);
        void *object = ops().alloc(cache, SLAB_OPS_KERNEL);
        ops().free(cache, object);
        read(object); // readers of a typesafe cache may look
        ops().shrink(cache);
        rcu_barrier();
        read(object);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_what_shrinking_krealloc_took_away)
{
    expect_report([] {
        void *object = ops().kmalloc(90, SLAB_OPS_KERNEL);
        object = ops().krealloc(object, 30, SLAB_OPS_KERNEL);
        read(static_cast<char *>(object) + 30);
    }, kPoisoned);
}

TEST(SlabSanitizer, sees_a_double_free)
{
    expect_report([] {
        void *object = new_object(100);
        ops().kfree(object);
        ops().kfree(object);
    }, "double");
}

TEST(SlabSanitizer, is_silent_about_right_use)
{
    Cache cache(100), typesafe(100, SLAB_OPS_TYPESAFE_BY_RCU);
    for (Cache *each : {&cache, &typesafe}) {
        std::vector<void *> objects = each->alloc_many(300);
        for (void *object : objects)
            for (int i = 0; i < 100; i++)
                write(static_cast<char *>(object) + i);
        each->free(objects);
    }
    void *grown = ops().kmalloc(65, SLAB_OPS_KERNEL);
    grown = ops().krealloc(grown, 96, SLAB_OPS_KERNEL);
    for (int i = 0; i < 96; i++)
        write(static_cast<char *>(grown) + i);
    ops().kfree(grown);
}

} // namespace
} // namespace kmirror::slab_test
