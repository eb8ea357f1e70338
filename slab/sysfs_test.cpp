// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a cache's folder has the kernel's files with the kernel's text in them, an export of all caches is
// whole or not there, and /proc/slabinfo is version 2.1.

#include "slab/slab_test.h"

#include <gmock/gmock.h>

#include <kmirror/slab_info.h>
#include <kmirror/slab_sysfs.h>
#include <linux/errno.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kmirror::slab_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string attr(kmem_cache *s, const std::string &name)
{
    std::vector<char> buffer(KMIRROR_SLAB_ATTR_BYTES);
    for (unsigned index = 0; kmirror_slab_attr_name(index); index++)
        if (name == kmirror_slab_attr_name(index)) {
            const int length = kmirror_slab_attr_show(s, index, buffer.data(), buffer.size());
            return length < 0 ? "" : std::string(buffer.data(), std::size_t(length));
        }
    return "no such file";
}

std::string attr(Cache &cache, const std::string &name) { return attr(as_kmem_cache(cache), name); }

std::string folder_name(slab_ops_cache *cache)
{
    char name[64];
    return kmirror_slab_sysfs_name(as_kmem_cache(cache), name, sizeof(name));
}

class Folder {
public:
    Folder()
    {
        char name[] = "/tmp/kmirror-sysfs-XXXXXX";
        path_ = mkdtemp(name);
    }
    ~Folder() { fs::remove_all(path_); }
    std::string operator/(const std::string &name) const { return path_ + "/" + name; }
    const char *path() const { return path_.c_str(); }

private:
    std::string path_;
};

std::string contents(const std::string &file)
{
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

// The files of Linux 7.3 with SLUB_DEBUG, SLUB_STATS, NUMA, ZONE_DMA, FAILSLAB and HARDENED_USERCOPY.
TEST(SlabSysfs, has_the_kernels_files)
{
    std::vector<std::string> names;
    for (unsigned index = 0; kmirror_slab_attr_name(index); index++)
        names.push_back(kmirror_slab_attr_name(index));
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
    for (const char *name :
         {"slab_size", "object_size", "objs_per_slab", "order", "sheaf_capacity", "min_partial", "cpu_partial",
          "objects_partial", "partial", "cpu_slabs", "ctor", "aliases", "align", "hwcache_align",
          "reclaim_account", "destroy_by_rcu", "shrink", "slabs_cpu_partial", "total_objects", "objects",
          "slabs", "sanity_checks", "trace", "red_zone", "poison", "store_user", "validate", "cache_dma",
          "remote_node_defrag_ratio", "failslab", "usersize"})
        EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name;
    for (unsigned item = 0; slab_stat_name(item); item++)
        EXPECT_TRUE(std::binary_search(names.begin(), names.end(), slab_stat_name(item)));
}

TEST(SlabSysfs, says_what_a_cache_was_made_of)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args args = args_of(100, SLAB_OPS_HWCACHE_ALIGN | SLAB_OPS_RECLAIM_ACCOUNT);
    args.usersize = 16;
    Cache cache(args);
    EXPECT_EQ(attr(cache, "object_size"), "100\n");
    EXPECT_EQ(attr(cache, "slab_size"), "128\n");
    EXPECT_EQ(attr(cache, "align"), "64\n");
    EXPECT_EQ(attr(cache, "objs_per_slab"), std::to_string(cache.geometry().objects) + "\n");
    EXPECT_EQ(attr(cache, "sheaf_capacity"), std::to_string(cache.geometry().sheaf_capacity) + "\n");
    EXPECT_EQ(attr(cache, "hwcache_align"), "1\n");
    EXPECT_EQ(attr(cache, "reclaim_account"), "1\n");
    EXPECT_EQ(attr(cache, "destroy_by_rcu"), "0\n");
    EXPECT_EQ(attr(cache, "usersize"), "16\n");
    EXPECT_EQ(attr(cache, "aliases"), "0\n");
    EXPECT_EQ(attr(cache, "remote_node_defrag_ratio"), "100\n");
    EXPECT_EQ(attr(cache, "ctor"), "");
    EXPECT_EQ(attr(cache, "shrink"), "");
}

void construct_one(void *) {}

// Each letter of slab_debug= has its file, and that file nothing else.
TEST(SlabSysfs, says_how_a_cache_is_debugged)
{
    WITHOUT_DEBUGGING();
    const std::pair<slab_flags_t, const char *> flags[] = {{SLAB_CONSISTENCY_CHECKS, "sanity_checks"},
                                                           {SLAB_RED_ZONE, "red_zone"},
                                                           {SLAB_POISON, "poison"},
                                                           {SLAB_STORE_USER, "store_user"},
                                                           {SLAB_TRACE, "trace"}};
    for (const auto &[flag, file] : flags) {
        kmem_cache *s = kmem_cache_create("slab_test_debugged", 64, nullptr, flag | SLAB_NO_MERGE);
        for (const auto &[of_other, other] : flags)
            EXPECT_EQ(attr(s, other), of_other == flag ? "1\n" : "0\n") << file << ": " << other;
        kmem_cache_destroy(s);
    }
}

TEST(SlabSysfs, names_the_constructor)
{
    if (sizeof(long) != 8)
        GTEST_SKIP() << "builds of 32 bit name exported functions only";
    slab_ops_cache_args args = args_of(64);
    args.ctor = construct_one;
    Cache cache(args);
    EXPECT_THAT(attr(cache, "ctor"), HasSubstr("construct_one"));
}

KMIRROR_TEST_IN(SlabSysfs, counts_with_the_share_of_each_node, "KMIRROR_MACHINE=pack:1 numa:2 core:1 pu:1",
                "KMIRROR_SHEAF_CAPACITY=0")
{
    WITHOUT_CPU_SLABS();
    Pinned here(0);
    Cache cache(1024, SLAB_OPS_HWCACHE_ALIGN);
    const unsigned per_slab = cache.geometry().objects;
    std::vector<void *> objects;
    for (unsigned i = 0; i < 2 * per_slab + 1; i++)
        objects.push_back(cache.alloc_node(0));
    objects.push_back(cache.alloc_node(1));
    const std::string all = std::to_string(4 * per_slab) + " N0=" + std::to_string(3 * per_slab) +
                            " N1=" + std::to_string(per_slab) + "\n";
    EXPECT_EQ(attr(cache, "slabs"), "4 N0=3 N1=1\n");
    EXPECT_EQ(attr(cache, "partial"), "2 N0=1 N1=1\n");
    EXPECT_EQ(attr(cache, "objects_partial"), "2 N0=1 N1=1\n");
    EXPECT_EQ(attr(cache, "total_objects"), all);
    EXPECT_EQ(attr(cache, "objects"), std::to_string(2 * per_slab + 2) + " N0=" +
                                          std::to_string(2 * per_slab + 1) + " N1=1\n");
    cache.free(objects);
}

KMIRROR_TEST_IN(SlabSysfs, statistics_have_the_share_of_each_cpu_and_can_be_cleared,
                "KMIRROR_MACHINE=pack:1 core:2 pu:1")
{
    WITHOUT_DEBUGGING();
    if (!KMIRROR_STATS)
        GTEST_SKIP() << "no statistics in this build";
    Cache cache(64);
    {
        Pinned here(0);
        cache.free(cache.alloc_many(3));
    }
    EXPECT_EQ(attr(cache, "free_fastpath"), "3 C0=3\n");
    EXPECT_EQ(attr(cache, "barn_put"), generation_is("cpu-slab") ? "" : "0\n") << "not of each generation";
    EXPECT_EQ(kmirror_slab_attr_store(as_kmem_cache(cache), "free_fastpath", "1"), -EINVAL);
    EXPECT_EQ(kmirror_slab_attr_store(as_kmem_cache(cache), "free_fastpath", "0"), 0);
    EXPECT_EQ(attr(cache, "free_fastpath"), "0\n");
}

// Of a generation with cpu slabs: what CPUs hold, the limit of their chains, and more statistics.
KMIRROR_TEST_IN(SlabSysfs, shows_what_cpus_hold, "KMIRROR_MACHINE=pack:1 core:2 pu:1", "KMIRROR_SLAB=cpu-slab")
{
    WITHOUT_DEBUGGING();
    Pinned here(0);
    Cache cache(1024);
    const unsigned per_slab = cache.geometry().objects;
    std::vector<void *> objects = cache.alloc_many(3 * per_slab);
    for (unsigned i = 0; i < 3; i++) {
        cache.free(objects[i * per_slab]);
        objects[i * per_slab] = nullptr;
    }
    EXPECT_EQ(attr(cache, "cpu_slabs"), "3 N0=3\n") << "one to allocate from, two in the chain";
    EXPECT_EQ(attr(cache, "slabs_cpu_partial"),
              std::to_string(per_slab) + "(2) C0=" + std::to_string(per_slab) + "(2)\n");
    EXPECT_NE(attr(cache, "cpu_partial"), "0\n");
    EXPECT_EQ(attr(cache, "sheaf_capacity"), "0\n");
    if (KMIRROR_STATS) {
        EXPECT_EQ(attr(cache, "cpu_partial_free"), "2 C0=2\n");
    }
    EXPECT_EQ(attr(cache, "barn_get"), "") << "no such statistic in this generation";
    EXPECT_EQ(kmirror_slab_attr_store(as_kmem_cache(cache), "cpu_partial", "0"), 0);
    EXPECT_EQ(attr(cache, "cpu_slabs"), "0\n") << "given up";
    for (void *object : objects)
        if (object)
            cache.free(object);
}

TEST(SlabSysfs, takes_what_the_kernel_takes_and_refuses_the_rest)
{
    Cache cache(64);
    kmem_cache *s = as_kmem_cache(cache);
    EXPECT_EQ(kmirror_slab_attr_store(s, "min_partial", "7\n"), 0);
    EXPECT_EQ(attr(cache, "min_partial"), "7\n");
    for (const char *bad : {"", "x", "7x", "-1", "99999999999999999999"})
        EXPECT_EQ(kmirror_slab_attr_store(s, "min_partial", bad), -EINVAL) << bad;
    EXPECT_EQ(kmirror_slab_attr_store(s, "remote_node_defrag_ratio", "25"), 0);
    EXPECT_EQ(attr(cache, "remote_node_defrag_ratio"), "25\n");
    EXPECT_EQ(kmirror_slab_attr_store(s, "remote_node_defrag_ratio", "101"), -ERANGE);
    EXPECT_EQ(kmirror_slab_attr_store(s, "cpu_partial", "0"), 0);
    const bool no_cpu_slabs = generation_is("sheaves") || debugging();
    EXPECT_EQ(kmirror_slab_attr_store(s, "cpu_partial", "3"), no_cpu_slabs ? -EINVAL : 0);
    EXPECT_EQ(kmirror_slab_attr_store(s, "object_size", "3"), -EACCES);
    EXPECT_EQ(kmirror_slab_attr_store(s, "nonsense", "3"), -ENOENT);
    EXPECT_EQ(kmirror_slab_attr_store(s, "validate", "1"), debugging() ? 0 : -EINVAL) << "debug caches alone";
    EXPECT_EQ(kmirror_slab_attr_store(s, "failslab", "1"), 0);
    EXPECT_EQ(attr(cache, "failslab"), "1\n");
    kmirror_slab_attr_store(s, "failslab", "0");
    cache.free(cache.alloc_many(100));
    EXPECT_GT(cache.counts().slabs, 0u);
    EXPECT_EQ(kmirror_slab_attr_store(s, "shrink", "0"), -EINVAL);
    EXPECT_EQ(kmirror_slab_attr_store(s, "shrink", "1"), 0);
    EXPECT_EQ(cache.counts().slabs, 0u);
}

TEST(SlabSysfs, a_cache_that_may_be_shared_has_a_name_of_flags_and_size)
{
    WITHOUT_DEBUGGING();
    slab_ops_cache_args args{};
    args.size = 3333;
    slab_ops_cache *plain = ops().create("slab_test_plain", &args);
    args.flags = SLAB_OPS_RECLAIM_ACCOUNT | SLAB_OPS_CACHE_ACCOUNT;
    slab_ops_cache *flagged = ops().create("slab_test_flagged", &args);
    Cache alone(3333);
    EXPECT_EQ(folder_name(plain), ":0003336");
    EXPECT_EQ(folder_name(flagged), ":aA-0003336");
    EXPECT_EQ(folder_name(alone), ops().cache_name(alone));
    ops().destroy(flagged);
    ops().destroy(plain);
}

TEST(SlabSysfs, export_writes_every_cache_and_a_link_for_every_name)
{
    WITHOUT_DEBUGGING();
    const Folder folder;
    slab_ops_cache_args args{};
    args.size = 3333;
    slab_ops_cache *shared = ops().create("slab_test_one", &args);
    ops().create("slab_test_two", &args);
    Cache alone(72);
    const std::string own = ops().cache_name(alone);
    char text[KMIRROR_SLAB_ATTR_BYTES];
    ASSERT_EQ(kmirror_slab_sysfs_export(folder.path()), 0);
    for (unsigned index = 0; kmirror_slab_attr_name(index); index++)
        EXPECT_EQ(fs::is_regular_file(folder / (own + "/" + kmirror_slab_attr_name(index))),
                  kmirror_slab_attr_show(as_kmem_cache(alone), index, text, sizeof(text)) >= 0);
    EXPECT_EQ(contents(folder / (own + "/object_size")), "72\n");
    for (const char *name : {"slab_test_one", "slab_test_two"}) {
        EXPECT_EQ(fs::read_symlink(folder / name), ":0003336");
        EXPECT_EQ(contents(folder / (std::string(name) + "/aliases")), "1\n");
    }
    EXPECT_TRUE(fs::is_directory(folder / "kmalloc-64"));
    EXPECT_EQ(fs::status(folder / (own + "/objects")).permissions(), fs::perms::owner_read);
    ops().destroy(shared);
    ops().destroy(shared);
}

TEST(SlabSysfs, export_shows_who_allocated_and_freed_the_objects_of_a_cache_that_stores_it)
{
    const Folder folder;
    kmem_cache *s = kmem_cache_create("slab_test_stores", 64, nullptr, SLAB_STORE_USER | SLAB_NO_MERGE);
    ASSERT_EQ(kmirror_slab_sysfs_export(folder.path()), 0);
    EXPECT_EQ(contents(folder / "slab_test_stores/alloc_traces"), "No data\n");
    std::vector<void *> objects(7);
    for (void *&object : objects)
        object = kmem_cache_alloc(s, GFP_KERNEL);
    kmem_cache_free(s, objects.back());
    objects.pop_back();
    ASSERT_EQ(kmirror_slab_sysfs_export(folder.path()), 0);
    EXPECT_THAT(contents(folder / "slab_test_stores/alloc_traces"), MatchesRegex(" +6 .*age=.* pid=.*\n(        .*\n)*"));
    EXPECT_THAT(contents(folder / "slab_test_stores/free_traces"), MatchesRegex(" +1 .*age=.* pid=.*\n(        .*\n)*"));
    EXPECT_EQ(fs::status(folder / "slab_test_stores/free_traces").permissions(), fs::perms::owner_read);
    EXPECT_EQ(fs::exists(folder / "kmalloc-64/alloc_traces"), debugging() != nullptr);
    for (void *object : objects)
        kmem_cache_free(s, object);
    kmem_cache_destroy(s);
}

TEST(SlabSysfs, export_replaces_an_earlier_one_and_nothing_else)
{
    const Folder folder;
    const std::string place = folder / "slab";
    {
        Cache gone(72);
        ASSERT_EQ(kmirror_slab_sysfs_export(place.c_str()), 0);
        EXPECT_TRUE(fs::exists(place + "/" + ops().cache_name(gone)));
        gone.close();
        ASSERT_EQ(kmirror_slab_sysfs_export((place + "/").c_str()), 0);
    }
    for (const fs::directory_entry &entry : fs::directory_iterator(place))
        EXPECT_FALSE(entry.path().filename().string().starts_with("slab_test_"));
    fs::create_directory(folder / "other");
    std::ofstream(folder / "other/precious") << "text";
    EXPECT_EQ(kmirror_slab_sysfs_export((folder / "other").c_str()), -EEXIST);
    EXPECT_EQ(kmirror_slab_sysfs_export((folder / "other/precious").c_str()), -ENOTDIR);
    EXPECT_EQ(kmirror_slab_sysfs_export((folder / "nowhere/slab").c_str()), -ENOENT);
    EXPECT_EQ(kmirror_slab_sysfs_export(""), -ENOENT);
    EXPECT_EQ(contents(folder / "other/precious"), "text");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2) << "nothing half done is left";
}

TEST(SlabSysfs, proc_slabinfo_is_version_2_1)
{
    Cache cache(1000);
    const std::vector<void *> objects = cache.alloc_many(5);
    std::vector<std::string> lines;
    kmirror_slab_proc_slabinfo(
        [](const char *line, void *arg) { static_cast<std::vector<std::string> *>(arg)->push_back(line); },
        &lines);
    ASSERT_GT(lines.size(), 10u);
    EXPECT_EQ(lines[0], "slabinfo - version: 2.1\n");
    EXPECT_THAT(lines[1], MatchesRegex("# name            <active_objs> <num_objs> <objsize> .*<sharedavail>\n"));
    const slab_ops_geometry made = cache.geometry();
    const slab_ops_counts counts = cache.counts();
    char expected[256];
    std::snprintf(expected, sizeof(expected),
                  "%-17s %6lu %6lu %6u %4u %4d : tunables    0    0    0 : slabdata %6lu %6lu      0\n",
                  ops().cache_name(cache), counts.used_objects + counts.cpu_objects, counts.total_objects, made.size, made.objects,
                  1 << made.order, counts.slabs, counts.slabs);
    EXPECT_EQ(lines[2], expected) << "the newest cache comes first";
    cache.free(objects);
}

} // namespace
} // namespace kmirror::slab_test
