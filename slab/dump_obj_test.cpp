// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: of any address kmem_dump_obj() and mem_dump_obj() say whose memory it is.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

namespace kmirror::slab_test {
namespace {

template <class Call>
std::string said(Call call)
{
    ::testing::internal::CaptureStderr();
    pr_err("it is:");
    call();
    return ::testing::internal::GetCapturedStderr();
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
