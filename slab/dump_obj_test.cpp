// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: of any address kmem_dump_obj() and mem_dump_obj() say whose memory it is.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

namespace kmirror::slab_test {
namespace {

template <class Call>
std::string said(Call call)
{
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout(); // frames are information, no error
    pr_err("it is:");
    call();
    const std::string frames = ::testing::internal::GetCapturedStdout();
    return ::testing::internal::GetCapturedStderr() + frames;
}

std::string dump(void *object)
{
    return said([&] { mem_dump_obj(object); });
}

std::string text_of(const void *address)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%p", address);
    return text;
}

TEST(SlabDumpObj, names_cache_start_offset_and_size)
{
    WITHOUT_DEBUGGING();
    Cache cache(72);
    std::vector<void *> objects = cache.alloc_many(20);
    const std::string name = ops().cache_name(cache);
    for (void *object : objects) {
        EXPECT_EQ(said([&] { EXPECT_TRUE(kmem_dump_obj(static_cast<char *>(object) + 5)); }),
                  "it is: slab " + name + " start " + text_of(object) + " pointer offset 5 size 72\n");
        struct kmem_obj_info info = {};
        EXPECT_TRUE(kmem_valid_obj(object));
        kmem_obj_info(&info, static_cast<char *>(object) + 71);
        EXPECT_EQ(info.kp_objp, object);
        EXPECT_EQ(info.kp_slab_cache, as_kmem_cache(cache));
    }
    cache.free(objects);
}

[[gnu::noinline]] void *allocated_here(kmem_cache *s)
{
    void *object = kmem_cache_alloc(s, GFP_KERNEL);
    asm volatile("" ::: "memory");
    return object;
}

[[gnu::noinline]] void freed_here(kmem_cache *s, void *object)
{
    kmem_cache_free(s, object);
    asm volatile("" ::: "memory");
}

// The red zone in front of an object is no part of its bytes, and its tracks say who had it.
TEST(SlabDumpObj, of_a_debugged_cache_names_its_red_zone_and_who_allocated_and_freed_it)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    kmem_cache *s = kmem_cache_create("slab_dump_obj", 72, nullptr, SLAB_RED_ZONE | SLAB_STORE_USER | SLAB_NO_MERGE);
    struct kmirror_slab_geometry made;
    kmirror_slab_geometry(s, &made);
    ASSERT_GT(made.red_left_pad, 0u);
    std::vector<void *> objects;
    for (int i = 0; i < 20; i++)
        objects.push_back(allocated_here(s));
    for (void *object : objects) {
        const std::string text = said([&] { EXPECT_TRUE(kmem_dump_obj(static_cast<char *>(object) + 5)); });
        const std::string head = "it is: slab slab_dump_obj start " +
                                 text_of(static_cast<char *>(object) - made.red_left_pad) + " data offset " +
                                 std::to_string(made.red_left_pad) +
                                 " pointer offset 5 size 72 allocated at ";
        EXPECT_EQ(text.substr(0, head.size()), head);
        EXPECT_NE(text.find("allocated_here"), std::string::npos) << text;
        EXPECT_EQ(text.find("Free path:"), std::string::npos) << text;
    }
    void *first = objects[0];
    freed_here(s, first);
    const std::string text = said([&] { kmem_dump_obj(first); });
    EXPECT_NE(text.find(" Free path:\n"), std::string::npos) << text;
    EXPECT_GT(text.find("freed_here"), text.find(" Free path:")) << text;
    for (std::size_t i = 1; i < objects.size(); i++)
        kmem_cache_free(s, objects[i]);
    kmem_cache_destroy(s);
}

// What no object covers counts as the nearest one's: the first red zone of a slab, and its end.
TEST(SlabDumpObj, of_a_slabs_edges_names_the_first_and_the_last_object)
{
    kmem_cache *s = kmem_cache_create("slab_dump_obj", 200, nullptr, SLAB_RED_ZONE | SLAB_STORE_USER | SLAB_NO_MERGE);
    void *object = kmem_cache_alloc(s, GFP_KERNEL);
    struct kmirror_slab_geometry made;
    kmirror_slab_geometry(s, &made);
    char *slab = static_cast<char *>(page_address(virt_to_head_page(object)));
    struct kmem_obj_info info = {};
    kmem_obj_info(&info, slab + 1);
    EXPECT_EQ(info.kp_objp, slab);
    EXPECT_EQ(info.kp_data_offset, 1u);
    ASSERT_GT(made.red_left_pad, 0u);
    kmem_obj_info(&info, slab + made.size + 1);
    EXPECT_EQ(info.kp_objp, slab) << "a red zone counts to the object before it";
    kmem_obj_info(&info, slab + (PAGE_SIZE << made.order) - 1);
    EXPECT_EQ(info.kp_objp, slab + (made.objects - 1) * made.size);
    EXPECT_EQ(info.kp_data_offset, made.red_left_pad);
    kmem_cache_free(s, object);
    kmem_cache_destroy(s);
}

TEST(SlabDumpObj, names_the_kind_of_everything_else)
{
    int here;
    EXPECT_FALSE(kmem_dump_obj(&here));
    EXPECT_FALSE(kmem_valid_obj(nullptr));
    EXPECT_EQ(dump(nullptr), "it is: NULL pointer\n");
    EXPECT_EQ(dump(ZERO_SIZE_PTR), "it is: zero-size pointer\n");
    EXPECT_EQ(dump(&here), "it is: non-paged memory\n");
    void *large = kmalloc(5 * KMALLOC_MAX_CACHE_SIZE, GFP_KERNEL);
    EXPECT_EQ(dump(large), "it is: non-slab/vmalloc memory\n");
    kfree(large);
    char *area = static_cast<char *>(vmalloc(5000));
    EXPECT_EQ(dump(area + 4500), "it is: 2-page vmalloc region starting at " + text_of(area) + "\n");
    EXPECT_EQ(dump(area + 3 * PAGE_SIZE), "it is: vmalloc memory\n");
    vfree(area);
}

} // namespace
} // namespace kmirror::slab_test
