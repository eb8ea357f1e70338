// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a cache that stores users lists the places where its objects were allocated or freed, by how many,
// in the form of the kernel's alloc_traces.

#include "slab/debug_test.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kmirror::slab_test {
namespace {

// Each is a place of its own.
template <int number>
[[gnu::noinline]] void *debug_site(DebugCache &cache)
{
    void *object = kmem_cache_alloc(cache, GFP_KERNEL);
    asm volatile("" ::: "memory");
    return object;
}

using SiteFunction = void *(*)(DebugCache &);

template <int... numbers>
std::vector<SiteFunction> sites_of(std::integer_sequence<int, numbers...>)
{
    return {debug_site<numbers>...};
}

std::vector<std::string> lines_of(kmem_cache *s, bool freed, long *count)
{
    std::vector<std::string> lines;
    const auto keep = [](const char *line, void *arg) {
        static_cast<std::vector<std::string> *>(arg)->emplace_back(line);
    };
    *count = kmirror_slab_sites(s, freed, keep, &lines);
    return lines;
}

bool is_site(const std::string &line) { return line.rfind("        ", 0) != 0; }

TEST(SlabDebugSites, places_are_listed_by_their_number_of_objects)
{
    DebugCache cache(SLAB_STORE_USER);
    const std::vector<SiteFunction> sites = sites_of(std::make_integer_sequence<int, 30>());
    std::vector<void *> objects;
    for (size_t i = 0; i < sites.size(); i++)
        for (size_t n = 0; n < (i < 25 ? 1 : i - 22); n++)
            objects.push_back(sites[i](cache));
    long count;
    const std::vector<std::string> lines = lines_of(cache, false, &count);
    std::vector<unsigned long> counts;
    for (const std::string &line : lines)
        if (is_site(line))
            counts.push_back(std::stoul(line));
    EXPECT_EQ(count, 30);
    ASSERT_EQ(counts.size(), 30u);
    EXPECT_TRUE(std::is_sorted(counts.rbegin(), counts.rend()));
    EXPECT_EQ(counts[0], 7u);
    EXPECT_EQ(counts[4], 3u);
    EXPECT_EQ(counts[5], 1u);
    // Of equal ones that which comes first in the program.
    std::vector<SiteFunction> ones;
    for (const std::string &line : lines)
        if (is_site(line) && std::stoul(line) == 1)
            ones.push_back(sites.at(std::stoul(line.substr(line.find("debug_site<") + 11))));
    EXPECT_EQ(ones.size(), 25u);
    EXPECT_TRUE(std::is_sorted(ones.begin(), ones.end(), [](SiteFunction a, SiteFunction b) {
        return reinterpret_cast<std::uintptr_t>(a) < reinterpret_cast<std::uintptr_t>(b);
    }));
    // The first frame of a place is the place.
    EXPECT_NE(lines[1].find("debug_site<29>"), std::string::npos) << lines[1];
    EXPECT_NE(lines[0].find(" age="), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find(" pid="), std::string::npos) << lines[0];
    for (void *object : objects)
        cache.free(object);
    EXPECT_TRUE(lines_of(cache, false, &count).empty());
    EXPECT_EQ(count, 0);
}

TEST(SlabDebugSites, freed_objects_are_listed_by_who_freed_them)
{
    DebugCache cache(SLAB_STORE_USER);
    void *stays = cache.alloc();
    std::vector<void *> objects;
    for (int i = 0; i < 5; i++)
        objects.push_back(cache.alloc());
    for (void *object : objects)
        cache.free(object);
    long count;
    const std::vector<std::string> lines = lines_of(cache, true, &count);
    ASSERT_EQ(count, 1);
    EXPECT_EQ(std::stoul(lines[0]), 5u);
    cache.free(stays);
}

TEST(SlabDebugSites, what_was_not_asked_for_is_waste)
{
    DebugCache cache(SLAB_STORE_USER | SLAB_KMALLOC);
    void *objects[3];
    for (void *&object : objects)
        object = __kmalloc_cache(cache, GFP_KERNEL, 50);
    long count;
    const std::vector<std::string> lines = lines_of(cache, false, &count);
    ASSERT_EQ(count, 1);
    EXPECT_NE(lines[0].find(" waste=42/14 "), std::string::npos) << lines[0];
    for (void *object : objects)
        cache.free(object);
}

TEST(SlabDebugSites, a_cache_that_stores_no_users_has_no_list)
{
    DebugCache cache(SLAB_POISON);
    long count;
    EXPECT_TRUE(lines_of(cache, false, &count).empty());
    EXPECT_EQ(count, -EINVAL);
}

} // namespace
} // namespace kmirror::slab_test
