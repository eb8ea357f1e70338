// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: wrong calls are answered as in the kernel (NULL, an error, or one warning) and leave the allocator
// whole.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>
#include <linux/hardirq.h>
#include <linux/slab.h>

namespace kmirror::slab_test {
namespace {

using kmirror::testing::ExpectWarnings;

int number_of_caches()
{
    int n = 0;
    kmirror_slab_for_each_cache([](kmem_cache *, void *count) { return ++*static_cast<int *>(count), 0; },
                                &n);
    return n;
}

TEST(SlabMisuse, impossible_arguments_give_no_cache)
{
    const int before = number_of_caches();
    const ExpectWarnings none(0);
    for (unsigned size : {0u, unsigned(KMALLOC_MAX_SIZE) + 1, 0xffffffffu}) {
        slab_ops_cache_args args = args_of(size);
        EXPECT_EQ(ops().create("slab_test_bad", &args), nullptr) << size;
    }
    for (unsigned align : {3u, 12u, 100u, 0x80000001u}) {
        slab_ops_cache_args args = args_of(64);
        args.align = align;
        EXPECT_EQ(ops().create("slab_test_bad", &args), nullptr) << "align " << align;
    }
    slab_ops_cache_args args = args_of(64);
    EXPECT_EQ(ops().create(nullptr, &args), nullptr);
    EXPECT_EQ(number_of_caches(), before);
}

TEST(SlabMisuse, flags_no_caller_may_set_are_refused)
{
    const int before = number_of_caches();
    const ExpectWarnings none(0);
    for (slab_flags_t flag : {SLAB_FAILSLAB, SLAB_NO_SHEAVES, slab_flags_t{1u << 31}}) {
        kmem_cache_args args{};
        EXPECT_EQ(kmem_cache_create("slab_test_bad", 64, &args, flag), nullptr) << std::hex << flag;
    }
    EXPECT_EQ(number_of_caches(), before);
}

TEST(SlabMisuse, a_user_region_outside_of_the_object_is_dropped_with_a_warning)
{
    slab_ops_cache_args args = args_of(64);
    args.useroffset = 60;
    args.usersize = 8;
    {
        const ExpectWarnings one(1);
        Cache cache(args);
        cache.free(cache.alloc());
    }
    args.useroffset = 16;
    args.usersize = 32;
    Cache good(args);
    good.free(good.alloc());
}

TEST(SlabMisuse, destroying_nothing_does_nothing) { ops().destroy(nullptr); }

TEST(SlabMisuse, destroying_a_cache_with_live_objects_warns_and_keeps_them)
{
    slab_ops_cache_args args = args_of(128);
    slab_ops_cache *cache = ops().create("slab_test_leaky", &args);
    auto *object = static_cast<unsigned char *>(ops().alloc(cache, SLAB_OPS_KERNEL));
    object[0] = 0x33;
    const int before = number_of_caches();
    {
        const ExpectWarnings of_slab_and_cache(2);
        ops().destroy(cache);
    }
    EXPECT_EQ(number_of_caches(), before - 1) << "it is off the list";
    EXPECT_EQ(object[0], 0x33);
    ops().kfree(object);
    EXPECT_EQ(ops().check(cache), 0);
}

// A process of its own: this warning comes once in a process.
KMIRROR_TEST_IN(SlabMisuse, freeing_to_the_wrong_cache_warns_and_frees_nothing, "KMIRROR_MACHINE=core:2 pu:1")
{
    if (KMIRROR_RELEASE)
        GTEST_SKIP() << "a release build does not look";
    Cache right(128), wrong(128);
    void *object = right.alloc();
    {
        const ExpectWarnings one(1);
        ops().free(wrong, object);
    }
    EXPECT_EQ(wrong.counts().used_objects, 0u);
    right.verify();
    wrong.verify();
    right.free(object);
}

KMIRROR_TEST_IN(SlabMisuse, freeing_what_never_was_an_object_warns, "KMIRROR_MACHINE=core:2 pu:1")
{
    if (KMIRROR_RELEASE)
        GTEST_SKIP() << "a release build does not look";
    static char not_ours[64];
    {
        const ExpectWarnings some(1);
        ops().kfree(not_ours);
    }
    Cache cache(64);
    {
        const ExpectWarnings some(1);
        ops().free(cache, not_ours);
    }
    cache.verify();
}

TEST(SlabMisuse, a_second_cache_of_a_name_and_a_blank_in_one_are_warned_of)
{
    if (KMIRROR_RELEASE)
        GTEST_SKIP() << "a release build does not look";
    const slab_ops_cache_args args = args_of(64);
    slab_ops_cache *first = ops().create("slab_test_twin", &args), *second;
    {
        const ExpectWarnings one(1);
        second = ops().create("slab_test_twin", &args);
    }
    EXPECT_NE(second, nullptr) << "a warning is all";
    EXPECT_NE(first, second);
    ops().destroy(first);
    {
        const ExpectWarnings one(1);
        ops().destroy(ops().create("slab_test_twin", &args));
    }
    ops().destroy(second);
    ops().destroy(ops().create("slab_test_twin", &args)); // the name is free again
    const ExpectWarnings one(1);
    ops().destroy(ops().create("slab test blank", &args));
}

TEST(SlabMisuse, no_cache_is_made_in_an_interrupt)
{
    const slab_ops_cache_args args = args_of(64);
    nmi_enter();
    EXPECT_EQ(ops().create("slab_test_irq", &args), nullptr);
    nmi_exit();
}

TEST(SlabMisuse, a_cache_of_the_largest_object_works)
{
    WITHOUT_DEBUGGING();
    Cache cache{unsigned(KMALLOC_MAX_SIZE)};
    void *object = cache.alloc();
    ASSERT_NE(object, nullptr);
    cache.free(object);
}

TEST(SlabMisuse, the_older_form_makes_the_same_cache)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args args = args_of(72, SLAB_OPS_HWCACHE_ALIGN);
    args.align = 128;
    slab_ops_cache *plain = ops().create_plain("slab_test_plain", &args);
    ASSERT_NE(plain, nullptr);
    slab_ops_geometry made;
    ops().geometry(plain, &made);
    EXPECT_EQ(made.align, 128u);
    EXPECT_EQ(made.size, 128u);
    EXPECT_STREQ(ops().cache_name(plain), "slab_test_plain");
    ops().destroy(plain);
}

TEST(SlabMisuse, panic_flag_ends_the_program_when_creation_fails)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    slab_ops_cache_args args = args_of(0, SLAB_OPS_PANIC);
    EXPECT_DEATH(ops().create("slab_test_panic", &args), "slab_test_panic");
}

} // namespace
} // namespace kmirror::slab_test
