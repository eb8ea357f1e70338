// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: of an object only the bytes that its cache was created to show may be copied to or from user
// space; anything else ends the program with the kernel's report.

#include "slab/slab_test.h"

#include <linux/slab.h>
#include <linux/ucopysize.h>
#include <linux/vmalloc.h>

#include <csignal>
#include <memory>

namespace kmirror::slab_test {
namespace {

// `body`, in a child, must end with `report`.
template <class Body>
void expect_abort(const std::string &report, Body body)
{
    EXPECT_EXIT(body(), ::testing::KilledBySignal(SIGABRT), report);
}

class SlabUsercopy : public ::testing::Test {
protected:
    SlabUsercopy()
    {
        GTEST_FLAG_SET(death_test_style, "fast");
        slab_ops_cache_args args = args_of(64);
        args.useroffset = 16;
        args.usersize = 24;
        cache_ = std::make_unique<Cache>(args);
        object_ = static_cast<char *>(cache_->alloc());
    }
    ~SlabUsercopy() override { cache_->free(object_); }

    std::unique_ptr<Cache> cache_;
    char *object_;
};

TEST_F(SlabUsercopy, any_part_of_the_region_passes)
{
    for (unsigned first = 16; first < 40; first++)
        for (unsigned bytes = 0; first + bytes <= 40; bytes++)
            __check_object_size(object_ + first, bytes, bytes % 2);
    __check_object_size(object_ + 40, 0, true);
}

TEST_F(SlabUsercopy, one_byte_more_on_either_side_is_the_end)
{
    expect_abort("exposure attempt detected from SLUB object 'slab_test_[0-9]+' .offset 15, size 2.",
                 [&] { __check_object_size(object_ + 15, 2, true); });
    expect_abort("overwrite attempt detected to SLUB object 'slab_test_[0-9]+' .offset 16, size 25.",
                 [&] { __check_object_size(object_ + 16, 25, false); });
    expect_abort("offset 40, size 1", [&] { __check_object_size(object_ + 40, 1, false); });
}

TEST_F(SlabUsercopy, of_other_caches_nothing_passes)
{
    Cache plain(64);
    void *object = plain.alloc();
    expect_abort("SLUB object 'slab_test_[0-9]+' .offset 0, size 8.",
                 [&] { __check_object_size(object, 8, true); });
    plain.free(object);
}

TEST(SlabUsercopyOf, kmalloc_memory_all_bytes_of_one_object_pass)
{
    auto *object = static_cast<char *>(kmalloc(100, GFP_KERNEL));
    __check_object_size(object, 128, true);
    expect_abort("SLUB object 'kmalloc-128' .offset 1, size 128.",
                 [&] { __check_object_size(object + 1, 128, true); });
    kfree(object);
}

TEST(SlabUsercopyOf, pages_and_areas_the_range_must_not_leave_them)
{
    auto *large = static_cast<char *>(kmalloc(5 * KMALLOC_MAX_CACHE_SIZE, GFP_KERNEL));
    const std::size_t room = ksize(large);
    __check_object_size(large, room, true);
    expect_abort("page alloc .offset 8, size", [&] { __check_object_size(large + 8, room, true); });
    kfree(large);
    auto *area = static_cast<char *>(vmalloc(5000));
    __check_object_size(area + 4000, 4192, false);
    expect_abort("vmalloc .offset 4000, size 4193", [&] { __check_object_size(area + 4000, 4193, false); });
    expect_abort("vmalloc 'no area'", [&] { __check_object_size(area + 3 * PAGE_SIZE, 1, false); });
    vfree(area);
}

TEST(SlabUsercopyOf, addresses_that_cannot_be_are_refused_and_strangers_pass)
{
    const char here[16] = "";
    __check_object_size(here, sizeof(here), true);
    expect_abort("null address", [] { __check_object_size(nullptr, 1, true); });
    expect_abort("null address", [] { __check_object_size(ZERO_SIZE_PTR, 1, true); });
    expect_abort("wrapped address",
                 [] { __check_object_size(reinterpret_cast<void *>(~0ul - 3), 5, true); });
}

TEST(SlabUsercopyOf, buckets_the_region_is_cut_to_the_size_of_each_class)
{
    static kmem_buckets *buckets = kmem_buckets_create("slab_test_user", 0, 16, 1000, nullptr);
    ASSERT_NE(buckets, nullptr);
    auto *small = static_cast<char *>(kmem_buckets_alloc(buckets, 8, GFP_KERNEL));
    auto *large = static_cast<char *>(kmem_buckets_alloc(buckets, 2000, GFP_KERNEL));
    EXPECT_STREQ(ops().cache_name(ops().cache_of(small)), "slab_test_user-8");
    EXPECT_STREQ(ops().cache_name(ops().cache_of(large)), "slab_test_user-2k");
    __check_object_size(large + 16, 1000, true);
    expect_abort("slab_test_user-2k", [&] { __check_object_size(large + 16, 1001, true); });
    expect_abort("slab_test_user-8", [&] { __check_object_size(small, 1, true); });
    void *pages = kmem_buckets_alloc(buckets, 3 * KMALLOC_MAX_CACHE_SIZE, GFP_KERNEL);
    EXPECT_EQ(ops().cache_of(pages), nullptr);
    void *either = kmem_buckets_valloc(buckets, 3 * KMALLOC_MAX_CACHE_SIZE, GFP_KERNEL);
    kvfree(either);
    kfree(pages);
    kfree(large);
    kfree(small);
}

} // namespace
} // namespace kmirror::slab_test
