// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror slabinfo: reading a folder, its tables, and what the command line gives it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kmirror/slab_info.h>
#include <kmirror/slab_sysfs.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tools/kmirror/options.h"
#include "tools/kmirror/slabinfo.h"

namespace {

using namespace kmirror::command;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

// A folder like /sys/kernel/slab with two caches; goes with the test.
class SlabFolder : public testing::Test {
protected:
    SlabFolder() {
        char name[] = "/tmp/kmirror-slabinfo-XXXXXX";
        path_ = mkdtemp(name);
        write(":0000064", {{"object_size", "60\n"}, {"slab_size", "64\n"}, {"objs_per_slab", "64\n"},
                           {"order", "0\n"}, {"slabs", "4 N0=3 N1=1\n"}, {"partial", "2 N0=2\n"},
                           {"objects", "100 N0=80 N1=20\n"}, {"aliases", "1\n"}, {"ctor", "make_it+0x0/0x10\n"},
                           {"alloc_fastpath", "75 C0=70 C1=5\n"}, {"alloc_slowpath", "25 C0=25\n"},
                           {"free_fastpath", "10 C0=10\n"}, {"validate", ""}, {"hwcache_align", "1\n"}});
        fs::create_symlink(":0000064", path_ + "/zeta");
        fs::create_symlink(":0000064", path_ + "/alpha");
        write("own", {{"object_size", "5000\n"}, {"slab_size", "5000\n"}, {"objs_per_slab", "13\n"},
                      {"order", "0\n"}, {"slabs", "1\n"}, {"objects", "1\n"}});
    }
    ~SlabFolder() override { fs::remove_all(path_); }

    void write(const std::string& cache, const std::map<std::string, std::string>& files) {
        fs::create_directory(path_ + "/" + cache);
        for (const auto& [file, text] : files) std::ofstream(path_ + "/" + cache + "/" + file) << text;
    }
    std::vector<SlabFigures> read() {
        std::vector<SlabFigures> caches;
        std::string error;
        EXPECT_TRUE(read_slab_folder(path_, caches, error)) << error;
        return caches;
    }
    // What the command writes and returns.
    std::string run(SlabinfoOptions options, int expected = kDone) {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        options.sysfs = path_;
        EXPECT_EQ(slabinfo_main(options), expected);
        const std::string error = testing::internal::GetCapturedStderr();
        return testing::internal::GetCapturedStdout() + error;
    }

    std::string path_;
};

TEST_F(SlabFolder, IsReadWithNamesSharesAndWithoutWhatIsNoNumber) {
    const std::vector<SlabFigures> caches = read();
    ASSERT_EQ(caches.size(), 2u);
    EXPECT_EQ(caches[0].name, "alpha");
    EXPECT_EQ(caches[0].folder, ":0000064");
    EXPECT_EQ(caches[0].aliases, std::vector<std::string>{"zeta"});
    EXPECT_EQ(caches[0]["slabs"], 4u);
    EXPECT_EQ(caches[0].figure("slabs")->shares.at("N1"), 1u);
    EXPECT_EQ(caches[0].figure("validate"), nullptr);
    EXPECT_EQ(caches[0]["nonsense"], 0u);
    EXPECT_EQ(caches[0].ctor, "make_it+0x0/0x10");
    EXPECT_EQ(caches[0].bytes(), 4 * 4096u);
    EXPECT_EQ(caches[0].loss(), 4 * 4096u - 100 * 60);
    EXPECT_EQ(caches[1].name, "own");
    EXPECT_EQ(caches[1].slab_bytes(), 65536u) << "its pages must be larger";
}

TEST_F(SlabFolder, IsListedBySizeAndActivity) {
    SlabinfoOptions options;
    EXPECT_THAT(run(options), HasSubstr("alpha      100       60  16.4k"));
    options.activity = true;
    const std::string activity = run(options);
    EXPECT_THAT(activity, HasSubstr("alpha      100    100    10     75         100"));
    options.sort = "size";
    const std::string sorted = run(options);
    EXPECT_LT(sorted.find("own"), sorted.find("alpha"));
}

TEST_F(SlabFolder, IsReportedCacheByCache) {
    SlabinfoOptions options;
    options.report = true;
    options.caches = {"zeta"};
    const std::string report = run(options);
    EXPECT_THAT(report, HasSubstr("Slabcache: alpha  aliases: 1  order: 0  objects: 100"));
    EXPECT_THAT(report, HasSubstr("** aligned to cache lines"));
    EXPECT_THAT(report, HasSubstr("ctor : make_it+0x0/0x10"));
    EXPECT_THAT(report, HasSubstr("alloc_fastpath     75  C0=70 C1=5"));
    EXPECT_THAT(report, Not(HasSubstr("own")));
}

TEST_F(SlabFolder, ShowsWhoAllocatedAndFreed) {
    write("own", {{"alloc_traces", "      6 somebody+0x1/0x2 age=1 pid=3\n"}});
    SlabinfoOptions options;
    options.tracking = true;
    EXPECT_EQ(run(options), "\nalpha: objects by who allocated them\nNo data\n"
                            "\nalpha: objects by who freed them\nNo data\n"
                            "\nown: objects by who allocated them\n      6 somebody+0x1/0x2 age=1 pid=3\n"
                            "\nown: objects by who freed them\nNo data\n");
    options.caches = {"own"};
    EXPECT_THAT(run(options), Not(HasSubstr("alpha")));
    options.totals = true;
    EXPECT_THAT(run(options, kBadInput), HasSubstr("slabinfo cannot do all of that at once"));
}

TEST_F(SlabFolder, IsAddedUp) {
    SlabinfoOptions options;
    options.totals = true;
    const std::string totals = run(options);
    EXPECT_THAT(totals, HasSubstr("caches 2, further names 1, in use 2"));
    EXPECT_THAT(totals, HasSubstr("memory 81,920, used 11,000, lost 70,920: 13% used"));
    options.totals = false;
    options.aliases = true;
    EXPECT_EQ(run(options), ":0000064     <- alpha zeta\n");
}

TEST_F(SlabFolder, IsGivenAsJson) {
    SlabinfoOptions options;
    options.json = true;
    options.caches = {"alpha"};
    const std::string json = run(options);
    EXPECT_THAT(json, HasSubstr("\"schema\": \"kmirror-slabinfo\""));
    EXPECT_THAT(json, HasSubstr("\"N0\": 3"));
    EXPECT_THAT(json, Not(HasSubstr("\"own\"")));
}

TEST_F(SlabFolder, WithoutTheCacheThatWasAskedForIsRefused) {
    SlabinfoOptions options;
    options.caches = {"own", "nobody*"};
    EXPECT_EQ(run(options, kBadInput),
              "kmirror: CACHE nobody* is not possible; it takes a cache's name, or a pattern such as "
              "'kmalloc-*'\n");
}

TEST_F(SlabFolder, ThatIsNoneIsRefused) {
    std::vector<SlabFigures> caches;
    std::string error;
    EXPECT_FALSE(read_slab_folder(path_ + "/nowhere", caches, error));
    EXPECT_EQ(error, "No such file or directory");
    fs::create_directory(path_ + "/empty");
    error.clear();
    EXPECT_FALSE(read_slab_folder(path_ + "/empty", caches, error));
    EXPECT_EQ(error, "there is no cache in it");
}

// What is exported is what the functions say, through the reader.
TEST_F(SlabFolder, ExportedByThisProcessSaysWhatItsCachesAre) {
    kmem_cache* cache = kmem_cache_create("slabinfo_test", 600, 0, SLAB_NO_MERGE, nullptr);
    void* object = kmem_cache_alloc(cache, GFP_KERNEL);
    ASSERT_EQ(kmirror_slab_sysfs_export((path_ + "/live").c_str()), 0);
    std::vector<SlabFigures> caches;
    std::string error;
    ASSERT_TRUE(read_slab_folder(path_ + "/live", caches, error)) << error;
    struct kmirror_slab_counts counts;
    kmirror_slab_counts(cache, NUMA_NO_NODE, &counts);
    bool found = false;
    for (const SlabFigures& one : caches) {
        if (one.name != "slabinfo_test") continue;
        found = true;
        EXPECT_EQ(one["object_size"], 600u);
        EXPECT_EQ(one["slabs"], counts.slabs);
        // A CPU counts the slab that it allocates from as given out whole.
        EXPECT_EQ(one["objects"], counts.used_objects + counts.cpu_objects);
        EXPECT_EQ(one["total_objects"], counts.total_objects);
        for (unsigned item = 0; slab_stat_name(item) != nullptr; ++item)
            EXPECT_EQ(one[slab_stat_name(item)], slab_stat_sum(cache, item)) << slab_stat_name(item);
    }
    EXPECT_TRUE(found);
    kmem_cache_free(cache, object);
    kmem_cache_destroy(cache);
}

TEST(Slabinfo, OptionsArriveAsGiven) {
    std::vector<std::string> words = {"kmirror", "slabinfo", "a*",     "b",    "--sysfs", "/x", "-r",
                                      "--sort",  "loss",     "--json", "--seed", "9"};
    std::vector<char*> raw;
    for (std::string& word : words) raw.push_back(word.data());
    raw.push_back(nullptr);
    const CommandLine line = read_command_line(static_cast<int>(words.size()), raw.data());
    EXPECT_EQ(line.command, Command::Slabinfo);
    EXPECT_EQ(line.slabinfo.caches, (std::vector<std::string>{"a*", "b"}));
    EXPECT_EQ(line.slabinfo.sysfs, "/x");
    EXPECT_TRUE(line.slabinfo.report);
    EXPECT_TRUE(line.slabinfo.json);
    EXPECT_EQ(line.slabinfo.sort, "loss");
    EXPECT_EQ(line.slabinfo.seed, 9u);
}

TEST(Slabinfo, TrackingHasAShortForm) {
    char program[] = "kmirror", command[] = "slabinfo", option[] = "-t";
    char* words[] = {program, command, option, nullptr};
    EXPECT_TRUE(read_command_line(3, words).slabinfo.tracking);
}

TEST(Slabinfo, ShowsThisProcessAfterALoad) {
    testing::internal::CaptureStdout();
    SlabinfoOptions options;
    options.dump = "demo_node";
    EXPECT_EQ(slabinfo_main(options), kDone) << "every counter agrees with its list";
    EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("0 of them do not agree"));
    testing::internal::CaptureStdout();
    options.json = true;
    EXPECT_EQ(slabinfo_main(options), kDone);
    EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("\"schema\": \"kmirror-slab-dump\""));
    testing::internal::CaptureStdout();
    SlabinfoOptions list;
    list.caches = {"demo_*"};
    EXPECT_EQ(slabinfo_main(list), kDone);
    EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("demo_typesafe"));
}

}  // namespace
