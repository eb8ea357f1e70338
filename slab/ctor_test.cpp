// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a constructor runs once on each object of a new slab and never again while the slab lives; the
// link of a free object stays where it was asked to be, so what a constructor or an RCU reader relies on
// survives a free.

#include "slab/slab_test.h"

#include <cstring>
#include <set>

namespace kmirror::slab_test {
namespace {

struct Object {
    unsigned long magic;
    unsigned long link_room;
    unsigned long uses;
};

constexpr unsigned long kMagic = 0x6b6d6972;
std::multiset<void *> constructed;

void construct(void *object)
{
    constructed.insert(object);
    new (object) Object{kMagic, 0, 0};
}

class SlabConstructor : public ::testing::Test {
protected:
    SlabConstructor() { constructed.clear(); }

    static slab_ops_cache_args args()
    {
        slab_ops_cache_args made = args_of(sizeof(Object));
        made.ctor = construct;
        return made;
    }
};

TEST_F(SlabConstructor, runs_once_on_each_object_of_a_new_slab)
{
    Cache cache(args());
    std::vector<void *> objects = cache.alloc_many(500);
    const slab_ops_counts counts = cache.counts();
    EXPECT_EQ(constructed.size(), counts.total_objects);
    for (void *object : objects)
        EXPECT_EQ(constructed.count(object), 1u);
    cache.free(objects);
}

TEST_F(SlabConstructor, is_not_run_again_when_an_object_is_reused)
{
    Pinned here;
    Cache cache(args());
    ops().set_min_partial(cache, 100); // with debugging there are no sheaves to keep them
    std::vector<void *> objects = cache.alloc_many(200);
    for (void *object : objects)
        static_cast<Object *>(object)->uses = 1;
    const std::size_t before = constructed.size();
    cache.free(objects);
    std::vector<void *> again = cache.alloc_many(200);
    EXPECT_EQ(constructed.size(), before);
    const std::set<void *> first(objects.begin(), objects.end());
    for (void *object : again) {
        EXPECT_EQ(static_cast<Object *>(object)->magic, kMagic);
        if (first.count(object)) {
            EXPECT_EQ(static_cast<Object *>(object)->uses, 1u);
        }
    }
    cache.free(again);
}

TEST_F(SlabConstructor, runs_again_for_a_slab_that_was_given_back)
{
    Cache cache(args());
    cache.free(cache.alloc_many(50));
    ASSERT_EQ(cache.shrink(), 0);
    const std::size_t before = constructed.size();
    void *object = cache.alloc();
    EXPECT_GT(constructed.size(), before);
    EXPECT_EQ(static_cast<Object *>(object)->magic, kMagic);
    cache.free(object);
}

// Every path that takes objects apart and puts them back must leave all but the link word.
void expect_kept_but_the_link(slab_ops_cache_args args, unsigned link)
{
    args.use_freeptr_offset = true;
    args.freeptr_offset = link;
    Cache cache(args);
    ASSERT_EQ(cache.geometry().freeptr_offset, link);
    std::vector<void *> objects = cache.alloc_many(300);
    for (void *object : objects)
        std::memset(object, 0x77, args.size);
    cache.free(objects);
    cache.verify();
    EXPECT_GE(ops().validate(cache), 0);
    std::vector<void *> again = cache.alloc_many(300);
    const std::set<void *> first(objects.begin(), objects.end());
    for (void *object : again)
        for (unsigned i = 0; i < args.size && first.count(object); i++)
            if (i / 8 != link / 8) {
                ASSERT_EQ(static_cast<unsigned char *>(object)[i], 0x77)
                    << "byte " << i << ", link at " << link;
            }
    cache.free(again);
}

TEST(SlabFreePointer, overwrites_only_its_own_word)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args args = args_of(40, SLAB_OPS_TYPESAFE_BY_RCU);
    for (unsigned link : {0u, 8u, 32u})
        expect_kept_but_the_link(args, link);
    args.flags &= ~unsigned(SLAB_OPS_TYPESAFE_BY_RCU);
    args.ctor = [](void *) {};
    for (unsigned link : {0u, 16u, 32u})
        expect_kept_but_the_link(args, link);
}

TEST(SlabFreePointer, is_outside_of_a_typesafe_object_that_did_not_place_it)
{
    slab_ops_cache_args args = args_of(40, SLAB_OPS_TYPESAFE_BY_RCU);
    Cache cache(args);
    EXPECT_GE(cache.geometry().freeptr_offset, 40u);
    ops().set_min_partial(cache, 100); // no slab may go with its objects
    std::vector<void *> objects = cache.alloc_many(200);
    for (void *object : objects)
        std::memset(object, 0x77, 40);
    cache.free(objects);
    EXPECT_GE(ops().validate(cache), 0);
    for (void *object : objects)
        for (unsigned i = 0; i < 40; i++)
            ASSERT_EQ(static_cast<unsigned char *>(object)[i], 0x77);
}

TEST(SlabFreePointer, is_refused_outside_of_the_object_or_off_a_word)
{
    const kmirror::testing::ExpectWarnings none(0);
    for (unsigned link : {40u, 48u, unsigned(sizeof(void *)) / 2, 1u}) {
        slab_ops_cache_args args = args_of(40, SLAB_OPS_TYPESAFE_BY_RCU);
        args.use_freeptr_offset = true;
        args.freeptr_offset = link;
        EXPECT_EQ(ops().create("slab_test_bad_link", &args), nullptr) << link;
    }
    slab_ops_cache_args plain = args_of(40);
    plain.use_freeptr_offset = true;
    EXPECT_EQ(ops().create("slab_test_bad_link", &plain), nullptr)
        << "needs a constructor or TYPESAFE_BY_RCU";
}

} // namespace
} // namespace kmirror::slab_test
