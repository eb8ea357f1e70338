// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: caches of like geometry share their slabs, as in the kernel, unless one of them has something of
// its own; a shared cache lives until its last name is destroyed.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>

namespace kmirror::slab_test {
namespace {

slab_ops_cache_args mergeable(unsigned size, unsigned flags = 0)
{
    slab_ops_cache_args args{};
    args.size = size;
    args.flags = flags;
    return args;
}

// 3000 bytes: no size class is near.
constexpr unsigned kSize = 3000;

TEST(SlabMerge, caches_of_one_geometry_are_one_cache)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args args = mergeable(kSize);
    slab_ops_cache *first = ops().create("slab_test_first", &args);
    slab_ops_cache *second = ops().create("slab_test_second", &args);
    EXPECT_EQ(first, second);
    void *object = ops().alloc(second, SLAB_OPS_KERNEL);
    ops().destroy(first);
    ops().free(second, object);
    object = ops().alloc(second, SLAB_OPS_ZERO);
    ops().free(second, object);
    ops().destroy(second);
}

TEST(SlabMerge, a_slightly_larger_alias_widens_what_is_zeroed)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args small = mergeable(kSize - 4), large = mergeable(kSize);
    slab_ops_cache *first = ops().create("slab_test_first", &small);
    slab_ops_cache *second = ops().create("slab_test_second", &large);
    ASSERT_EQ(first, second);
    slab_ops_geometry made;
    ops().geometry(first, &made);
    EXPECT_EQ(made.object_size, kSize);
    ops().destroy(first);
    ops().destroy(second);
}

TEST(SlabMerge, does_not_share_with_a_size_class)
{
    slab_ops_cache_args args = mergeable(512);
    slab_ops_cache *cache = ops().create("slab_test_512", &args);
    void *object = ops().kmalloc(512, SLAB_OPS_KERNEL);
    EXPECT_NE(ops().cache_of(object), cache)
        << "all of a kmalloc object may go to user space, of this one nothing";
    ops().kfree(object);
    ops().destroy(cache);
}

// Each of these has something that a shared slab could not give it.
TEST(SlabMerge, caches_with_something_of_their_own_stay_apart)
{
    slab_ops_cache_args base = mergeable(kSize);
    std::vector<slab_ops_cache_args> others(9, base);
    others[0].flags = SLAB_OPS_NO_MERGE;
    others[1].flags = SLAB_OPS_TYPESAFE_BY_RCU;
    others[2].flags = SLAB_OPS_RECLAIM_ACCOUNT;
    others[3].flags = SLAB_OPS_CACHE_ACCOUNT;
    others[4].ctor = [](void *) {};
    others[5].sheaf_capacity = 4;
    others[6].align = 4096;
    others[7].size = kSize + 8;
    others[8].size = kSize - 8;
    slab_ops_cache *first = ops().create("slab_test_base", &base);
    for (std::size_t i = 0; i < others.size(); i++) {
        const std::string name = "slab_test_other_" + std::to_string(i);
        slab_ops_cache *other = ops().create(name.c_str(), &others[i]);
        EXPECT_NE(first, other) << i;
        ops().destroy(other);
    }
    ops().destroy(first);
}

TEST(SlabMerge, a_cache_with_a_constructor_is_not_joined_either)
{
    slab_ops_cache_args special = mergeable(kSize), plain = mergeable(kSize);
    special.ctor = [](void *) {};
    slab_ops_cache *first = ops().create("slab_test_special", &special);
    slab_ops_cache *second = ops().create("slab_test_plain", &plain);
    EXPECT_NE(first, second);
    ops().destroy(second);
    ops().destroy(first);
}

// A cache may be joined by any number of names; each is one use.
TEST(SlabMerge, a_cache_goes_with_its_last_name)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args args = mergeable(kSize);
    slab_ops_cache *first = ops().create("slab_test_first", &args);
    for (const char *name : {"slab_test_b", "slab_test_c", "slab_test_b"})
        EXPECT_EQ(ops().create(name, &args), first);
    struct kmirror_slab_geometry made;
    kmirror_slab_geometry(as_kmem_cache(first), &made);
    EXPECT_EQ(made.aliases, 3);
    for (int left = 3; left > 0; left--) {
        void *object = ops().alloc(first, SLAB_OPS_KERNEL);
        EXPECT_NE(object, nullptr);
        ops().free(first, object);
        ops().destroy(first);
        kmirror_slab_geometry(as_kmem_cache(first), &made);
        EXPECT_EQ(made.aliases, left - 1);
    }
    ops().destroy(first);
}

std::vector<std::string> aliases_of(slab_ops_cache *cache)
{
    std::vector<std::string> names;
    kmirror_slab_for_each_alias(
        as_kmem_cache(cache),
        [](const char *name, void *arg) { static_cast<std::vector<std::string> *>(arg)->push_back(name); },
        &names);
    return names;
}

// As the links in sysfs: each name once, until the cache goes; a name is that of one cache at a time.
TEST(SlabMerge, names_are_remembered_and_move_with_their_last_user)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args args = mergeable(kSize), other = mergeable(kSize + 16);
    slab_ops_cache *first = ops().create("slab_test_first", &args);
    EXPECT_EQ(aliases_of(first), std::vector<std::string>{});
    for (const char *name : {"slab_test_b", "slab_test_c", "slab_test_b"})
        ops().create(name, &args);
    {
        // A further name may come again, a first one is warned of.
        const kmirror::testing::ExpectWarnings one(KMIRROR_RELEASE ? 0 : 1);
        ops().create("slab_test_first", &args);
    }
    EXPECT_EQ(aliases_of(first), (std::vector<std::string>{"slab_test_b", "slab_test_c"}));
    slab_ops_cache *second = ops().create("slab_test_second", &other);
    ASSERT_NE(first, second);
    ops().create("slab_test_b", &other);
    EXPECT_EQ(aliases_of(first), std::vector<std::string>{"slab_test_c"});
    EXPECT_EQ(aliases_of(second), std::vector<std::string>{"slab_test_b"});
    for (int i = 0; i < 2; i++)
        ops().destroy(second);
    for (int i = 0; i < 5; i++)
        ops().destroy(first);
}

// The object that is to be joined fits with less than a word to spare, and its alignment divides the size.
TEST(SlabMerge, needs_the_size_within_a_word_and_an_alignment_that_divides_it)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args base = mergeable(kSize); // 3000
    slab_ops_cache *first = ops().create("slab_test_first", &base);
    const auto joins = [&](unsigned size, unsigned align) {
        slab_ops_cache_args args = mergeable(size);
        args.align = align;
        slab_ops_cache *cache = ops().create("slab_test_other", &args);
        ops().destroy(cache);
        return cache == first;
    };
    EXPECT_TRUE(joins(2993, 0));
    EXPECT_TRUE(joins(2993, 8));
    EXPECT_FALSE(joins(2992, 0)) << "a word would be lost";
    EXPECT_FALSE(joins(3001, 0));
    EXPECT_FALSE(joins(2993, 16)) << "3000 is no multiple of 16";
    ops().destroy(first);
}

} // namespace
} // namespace kmirror::slab_test
