// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: kmalloc() serves each size from the kernel's class for it, aligned as the kernel aligns it;
// krealloc() keeps what was there; sizes above two pages come straight from pages; 0 bytes and NULL are
// harmless everywhere.

#include "slab/slab_test.h"

#include <linux/slab.h>

#include <algorithm>
#include <cstring>

namespace kmirror::slab_test {
namespace {

constexpr std::size_t kLargestClass = 2 * rules::kPage;

// Bytes that ksize() owes for kmalloc(bytes).
std::size_t expected_size(std::size_t bytes)
{
    return bytes <= kLargestClass ? rules::kmalloc_class(unsigned(bytes))
                                  : std::size_t{rules::kPage} << rules::order_of(unsigned(bytes));
}

// A power of two is aligned to itself, 96 to 32 and 192 to 64, and pages to their order's start at least by
// page.
std::size_t expected_alignment(std::size_t bytes)
{
    const std::size_t whole = expected_size(bytes);
    return std::min<std::size_t>(whole & ~(whole - 1), rules::kPage);
}

std::vector<std::size_t> interesting_sizes()
{
    std::vector<std::size_t> sizes;
    for (std::size_t power = 8; power <= 4 * kLargestClass; power *= 2)
        for (std::size_t near : {power - 1, power, power + 1, power + power / 2})
            sizes.push_back(near);
    return sizes;
}

TEST(SlabKmalloc, has_the_size_and_alignment_of_the_class)
{
    for (std::size_t bytes : interesting_sizes()) {
        void *object = ops().kmalloc(bytes, SLAB_OPS_KERNEL);
        ASSERT_NE(object, nullptr) << bytes;
        EXPECT_EQ(ops().ksize(object), expected_size(bytes)) << bytes;
        EXPECT_EQ(ops().kmalloc_size_roundup(bytes), expected_size(bytes)) << bytes;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object) % expected_alignment(bytes), 0u) << bytes;
        std::memset(object, 0x11, bytes);
        ops().kfree(object);
    }
}

TEST(SlabKmalloc, takes_each_size_from_a_class_of_that_size_and_large_ones_from_none)
{
    for (std::size_t bytes : interesting_sizes()) {
        void *object = ops().kmalloc(bytes, SLAB_OPS_KERNEL);
        slab_ops_cache *cache = ops().cache_of(object);
        ASSERT_EQ(cache != nullptr, bytes <= kLargestClass) << bytes;
        if (cache) {
            slab_ops_geometry made;
            ops().geometry(cache, &made);
            EXPECT_EQ(made.object_size, expected_size(bytes));
        }
        ops().kfree(object);
    }
}

TEST(SlabKmalloc, gives_constant_sizes_the_same_class_as_computed_ones)
{
    void *constant = ::kmalloc(100, GFP_KERNEL);
    void *computed = ops().kmalloc(100, SLAB_OPS_KERNEL);
    EXPECT_EQ(ops().cache_of(constant), ops().cache_of(computed));
    void *large = ::kmalloc(3 * kLargestClass, GFP_KERNEL);
    EXPECT_EQ(ops().cache_of(large), nullptr);
    ops().kfree(large);
    ops().kfree(constant);
    ops().kfree(computed);
}

TEST(SlabKmalloc, separates_reclaimable_and_accounted_objects_from_normal_ones)
{
    void *normal = ::kmalloc(64, GFP_KERNEL);
    void *reclaimable = ::kmalloc(64, GFP_KERNEL | __GFP_RECLAIMABLE);
    void *accounted = ::kmalloc(64, GFP_KERNEL | __GFP_ACCOUNT);
    EXPECT_NE(ops().cache_of(normal), ops().cache_of(reclaimable));
    EXPECT_NE(ops().cache_of(normal), ops().cache_of(accounted));
    EXPECT_NE(ops().cache_of(accounted), ops().cache_of(reclaimable));
    for (void *object : {normal, reclaimable, accounted})
        ops().kfree(object);
}

TEST(SlabKmalloc, gives_a_harmless_pointer_for_0_bytes)
{
    void *nothing = ops().kmalloc(0, SLAB_OPS_KERNEL);
    EXPECT_EQ(nothing, ZERO_SIZE_PTR);
    EXPECT_EQ(ops().ksize(nothing), 0u);
    EXPECT_EQ(ops().ksize(nullptr), 0u);
    ops().kfree(nothing);
    ops().kfree(nullptr);
    EXPECT_EQ(ops().kmalloc_size_roundup(0), 0u);
}

TEST(SlabKmalloc, zeroes_classes_and_pages)
{
    for (std::size_t bytes : {std::size_t{48}, std::size_t{500}, kLargestClass, 3 * kLargestClass}) {
        for (int round = 0; round < 3; round++) {
            auto *object = static_cast<unsigned char *>(ops().kmalloc(bytes, SLAB_OPS_ZERO));
            EXPECT_TRUE(std::all_of(object, object + bytes, [](unsigned char byte) { return byte == 0; }))
                << bytes;
            std::memset(object, 0xff, bytes);
            ops().kfree(object);
        }
    }
}

TEST(SlabKmalloc, checks_arrays_for_overflow)
{
    // Not constants, so that the compiler does not refuse them itself.
    volatile std::size_t huge = SIZE_MAX / 4;
    EXPECT_EQ(kmalloc_array(huge, 8, GFP_KERNEL), nullptr);
    EXPECT_EQ(kcalloc(huge, 8, GFP_KERNEL), nullptr);
    void *array = kcalloc(3, 30, GFP_KERNEL);
    EXPECT_EQ(ops().ksize(array), 96u);
    ops().kfree(array);
}

// A process of its own: the warning comes once in a process.
KMIRROR_TEST_IN(SlabKmalloc, refuses_more_than_the_largest_block, "KMIRROR_MACHINE=core:2 pu:1")
{
    EXPECT_EQ(ops().kmalloc(KMALLOC_MAX_SIZE + 1, SLAB_OPS_NOWARN), nullptr);
    void *largest = ops().kmalloc(KMALLOC_MAX_SIZE, SLAB_OPS_KERNEL);
    ASSERT_NE(largest, nullptr);
    EXPECT_EQ(ops().ksize(largest), KMALLOC_MAX_SIZE);
    ops().kfree(largest);
    const kmirror::testing::ExpectWarnings one(1);
    EXPECT_EQ(ops().kmalloc(KMALLOC_MAX_SIZE + 1, SLAB_OPS_KERNEL), nullptr);
}

TEST(SlabKmalloc, frees_a_mixed_bulk_without_being_told_the_caches)
{
    std::vector<void *> objects;
    for (std::size_t bytes : interesting_sizes())
        objects.push_back(ops().kmalloc(bytes, SLAB_OPS_KERNEL));
    ops().free_bulk(nullptr, objects.size(), objects.data());
}

// ---- krealloc ---------------------------------------------------------------------------------------

void fill(void *object, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; i++)
        static_cast<unsigned char *>(object)[i] = static_cast<unsigned char>(i * 13 + 5);
}

bool filled(const void *object, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; i++)
        if (static_cast<const unsigned char *>(object)[i] != static_cast<unsigned char>(i * 13 + 5))
            return false;
    return true;
}

TEST(SlabKrealloc, keeps_the_content_up_to_the_smaller_size)
{
    KMIRROR_RANDOM(random);
    for (int round = 0; round < 200; round++) {
        const std::size_t from = pick(random, 1, 40000), to = pick(random, 1, 40000);
        void *object = ops().kmalloc(from, SLAB_OPS_KERNEL);
        fill(object, from);
        object = ops().krealloc(object, to, SLAB_OPS_KERNEL);
        ASSERT_NE(object, nullptr);
        EXPECT_TRUE(filled(object, std::min(from, to))) << from << " to " << to;
        fill(object, to);
        ops().kfree(object);
    }
}

TEST(SlabKrealloc, stays_in_place_while_the_class_is_large_enough)
{
    void *object = ops().kmalloc(65, SLAB_OPS_KERNEL);
    EXPECT_EQ(ops().krealloc(object, 96, SLAB_OPS_KERNEL), object);
    EXPECT_EQ(ops().krealloc(object, 10, SLAB_OPS_KERNEL), object);
    void *moved = ops().krealloc(object, 97, SLAB_OPS_KERNEL);
    EXPECT_NE(moved, object);
    ops().kfree(moved);
}

TEST(SlabKrealloc, allocates_for_null_and_frees_for_0_bytes)
{
    void *object = ops().krealloc(nullptr, 100, SLAB_OPS_KERNEL);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(ops().krealloc(object, 0, SLAB_OPS_KERNEL), ZERO_SIZE_PTR);
    object = ops().krealloc(ZERO_SIZE_PTR, 100, SLAB_OPS_KERNEL);
    ASSERT_NE(object, nullptr);
    ops().kfree(object);
}

TEST(SlabKrealloc, zeroes_what_grows_when_every_step_asks_for_it)
{
    auto *object = static_cast<unsigned char *>(ops().kmalloc(100, SLAB_OPS_ZERO));
    fill(object, 100);
    object = static_cast<unsigned char *>(ops().krealloc(object, 40, SLAB_OPS_ZERO));
    object = static_cast<unsigned char *>(ops().krealloc(object, 120, SLAB_OPS_ZERO));
    EXPECT_TRUE(filled(object, 40));
    EXPECT_TRUE(std::all_of(object + 40, object + 120, [](unsigned char byte) { return byte == 0; }));
    object = static_cast<unsigned char *>(ops().krealloc(object, 900, SLAB_OPS_ZERO));
    EXPECT_TRUE(filled(object, 40));
    EXPECT_TRUE(std::all_of(object + 40, object + 900, [](unsigned char byte) { return byte == 0; }));
    ops().kfree(object);
}

TEST(SlabKrealloc, clears_a_secret_before_it_goes)
{
    Pinned here;
    const std::size_t bytes = 200;
    auto *object = static_cast<unsigned char *>(ops().kmalloc(bytes, SLAB_OPS_KERNEL));
    std::memset(object, 0x42, bytes);
    kfree_sensitive(object);
    auto *again = static_cast<unsigned char *>(ops().kmalloc(bytes, SLAB_OPS_KERNEL));
    ASSERT_EQ(again, object) << "the sheaf gives back what was freed last";
    EXPECT_TRUE(std::none_of(again, again + bytes, [](unsigned char byte) { return byte == 0x42; }));
    ops().kfree(again);
}

} // namespace
} // namespace kmirror::slab_test
