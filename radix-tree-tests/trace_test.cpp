// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: an open trace gets every ma_op, ma_read and ma_write with the kernel's words, as text or in
// Chrome's format; past the limit events are counted; without a trace there are none.
#include "radix-tree-tests/tree.h"

#include <kmirror/trace.h>

#include <linux/maple_tree.h>
#include <linux/xarray.h>

#include <cstdio>
#include <fstream>
#include <thread>
#include <vector>

#include <unistd.h>

namespace kmirror::testing {
namespace {

class MapleTrace : public MapleTest {
protected:
    void SetUp() override
    {
        if (KMIRROR_RELEASE)
            GTEST_SKIP() << "a release build has no trace points";
        MapleTest::SetUp();
    }
    void TearDown() override
    {
        for (const std::string &file : files_)
            std::remove(file.c_str());
        MapleTest::TearDown();
    }

    std::string file(const std::string &ending)
    {
        files_.push_back(::testing::TempDir() + "kmirror-trace-" + std::to_string(getpid()) + ending);
        return files_.back();
    }

    static std::vector<std::string> lines(const std::string &file)
    {
        std::vector<std::string> all;
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);)
            all.push_back(line);
        return all;
    }

    std::vector<std::string> files_;
};

std::string word(const void *pointer)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%p", pointer);
    return text;
}

TEST_F(MapleTrace, text_has_the_events_of_a_store_and_a_load)
{
    const std::string name = file(".txt");
    maple_tree tree = MTREE_INIT(tree, MT_FLAGS_USE_RCU);
    EXPECT_EQ(mtree_store(&tree, 5, xa_mk_value(1), GFP_KERNEL), 0);
    ASSERT_EQ(kmirror_trace_open(name.c_str()), 0);
    EXPECT_EQ(kmirror_trace_open(name.c_str()), -EBUSY);
    EXPECT_EQ(mtree_store_range(&tree, 10, 19, xa_mk_value(7), GFP_KERNEL), 0);
    EXPECT_EQ(mtree_load(&tree, 12), xa_mk_value(7));
    unsigned long from = 6;
    EXPECT_EQ(mt_find(&tree, &from, 100), xa_mk_value(7));
    EXPECT_EQ(mtree_erase(&tree, 12), xa_mk_value(7));
    ASSERT_EQ(kmirror_trace_close(), 0);
    EXPECT_EQ(kmirror_trace_close(), 0);
    mtree_store(&tree, 5, nullptr, GFP_KERNEL);
    mtree_destroy(&tree);

    const std::string all = "(0 " + std::to_string(ULONG_MAX) + ") range";
    const std::string stored = all + ":10-19 piv (0) val " + word(xa_mk_value(7));
    const std::vector<std::string> expected = {
        "TASK-TID", "ma_write: mtree_store_range\tNode (nil) " + stored,
        "ma_op: mas_wr_node_store\tNode: 0x", "ma_write: mas_wr_node_store\tNode 0x",
        "ma_read: mtree_load\tNode: (nil) " + all + ": 12-12",
        "ma_read: mt_find\tNode: (nil) " + all + ": 6-6",
        "ma_op: mtree_erase\tNode: (nil) " + all + ": 12-12"};
    const std::vector<std::string> found = lines(name);
    ASSERT_GT(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); i++)
        EXPECT_NE(found[i].find(expected[i]), std::string::npos) << found[i] << "\nwanted: " << expected[i];
    EXPECT_NE(found[3].find(stored), std::string::npos) << found[3];
    EXPECT_EQ(found.back(), "# " + std::to_string(found.size() - 2) + " events written, 0 dropped");
}

TEST_F(MapleTrace, a_name_ending_in_json_gets_chromes_format)
{
    const std::string name = file(".json");
    maple_tree tree = MTREE_INIT(tree, 0);
    ASSERT_EQ(kmirror_trace_open(name.c_str()), 0);
    EXPECT_EQ(mtree_store_range(&tree, 10, ULONG_MAX, xa_mk_value(7), GFP_KERNEL), 0);
    EXPECT_EQ(mtree_load(&tree, 12), xa_mk_value(7));
    ASSERT_EQ(kmirror_trace_close(), 0);
    mtree_destroy(&tree);

    const std::vector<std::string> found = lines(name);
    ASSERT_GE(found.size(), 4u);
    EXPECT_EQ(found[0], "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    EXPECT_EQ(found[1].find("{\"name\":\"mtree_store_range\",\"cat\":\"ma_write\",\"ph\":\"i\",\"s\":\"t\""),
              0u);
    const std::string stored = "\"index\":\"0xa\",\"last\":\"0x" + std::string(2 * sizeof(long), 'f') +
                               "\",\"piv\":\"0\",\"val\":\"0xf\"}},";
    EXPECT_NE(found[1].find(stored), std::string::npos) << found[1];
    EXPECT_EQ(found[found.size() - 2].back(), '}') << "no comma behind the last event";
    EXPECT_EQ(found.back(),
              "],\"otherData\":{\"written\":" + std::to_string(found.size() - 2) + ",\"dropped\":0}}");
}

KMIRROR_TEST_IN(MapleTraceConcurrent, later_events_are_counted, "KMIRROR_TRACE_MAX=10")
{
    if (KMIRROR_RELEASE)
        GTEST_SKIP() << "a release build has no trace points";
    const std::string name = ::testing::TempDir() + "kmirror-trace-" + std::to_string(getpid());
    maple_tree tree = MTREE_INIT(tree, 0);
    ASSERT_EQ(kmirror_trace_open(name.c_str()), 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (unsigned long index = 0; index < 100; index++)
                mtree_load(&tree, index);
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(kmirror_trace_close(), 0);
    std::ifstream in(name);
    std::string line, last;
    unsigned events = 0;
    for (; std::getline(in, line); last = line)
        events += line.find("ma_read: mtree_load") != std::string::npos;
    std::remove(name.c_str());
    EXPECT_EQ(events, 10u);
    EXPECT_EQ(last, "# 10 events written, 290 dropped");
}

TEST_F(MapleTrace, a_file_that_cannot_be_written_is_an_error)
{
    EXPECT_EQ(kmirror_trace_open("/nowhere/trace"), -ENOENT);
    EXPECT_EQ(kmirror_trace_open(::testing::TempDir().c_str()), -EISDIR);
    if (access("/dev/full", W_OK) == 0) {
        ASSERT_EQ(kmirror_trace_open("/dev/full"), 0);
        EXPECT_EQ(kmirror_trace_close(), -EIO);
    }
}

} // namespace
} // namespace kmirror::testing
