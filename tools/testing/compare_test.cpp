// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror compare: series in files, settings side by side, lkp's table to the character, verdicts aloud.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tools/kmirror/compare_table.h"

namespace {

using namespace kmirror::command;

template <class Print>
std::string printed(Print print) {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* out = open_memstream(&text, &size);
    print(out);
    std::fclose(out);
    std::string result(text, size);
    std::free(text);
    return result;
}

Series series(const char* workload, const char* machine, const char* metric, std::vector<double> values) {
    return {{{"workload", workload}, {"machine", machine}}, metric, std::move(values)};
}

class File {
public:
    File() { close(mkstemp(name_)); }
    ~File() { unlink(name_); }
    const char* name() const { return name_; }

private:
    char name_[40] = "/tmp/kmirror-compare-XXXXXX";
};

TEST(Compare, ReadsWhatWasWritten) {
    File file;
    Json json("kmirror-test", 1);
    put_origin(json);
    put_series(json, {series("mmap2", "m", "per_process_ops", {1.5, 2})});
    std::string error;
    ASSERT_TRUE(json.write(file.name(), error)) << error;
    Results results;
    ASSERT_TRUE(read_results(file.name(), results, error)) << error;
    EXPECT_EQ(results.made_by, "kmirror-test");
    ASSERT_EQ(results.series.size(), 1u);
    EXPECT_EQ(axis_of(results.series[0].axes, "workload"), "mmap2");
    EXPECT_EQ(results.series[0].metric, "per_process_ops");
    EXPECT_EQ(results.series[0].values, (std::vector<double>{1.5, 2}));
}

TEST(Compare, RefusesWhatIsNoResult) {
    Results results;
    std::string error;
    EXPECT_FALSE(read_results("/nowhere/at/all.json", results, error));
    EXPECT_EQ(error, "No such file or directory");
    File file;
    for (const char* text : {"", "[1]", "{\"schema\": \"other\"}",
                             "{\"series_version\": 1, \"series\": [{\"metric\": \"x\", \"values\": []}]}",
                             "{\"series_version\": 1, \"series\": [{\"metric\": \"x\", \"values\": [\"1\"]}]}",
                             "{\"series_version\": 2, \"series\": []}"}) {
        std::ofstream(file.name()) << text;
        error.clear();
        EXPECT_FALSE(read_results(file.name(), results, error)) << text;
        EXPECT_NE(error, "") << text;
    }
}

TEST(Compare, GroupsBySettingAndLeavesFreeAxesOut) {
    const Results a{"a", "", {series("mmap2", "one", "ops", {1}), series("brk1", "one", "ops", {7})}};
    const Results b{"b", "", {series("mmap2", "two", "ops", {2}), series("mmap2", "three", "ops", {3})}};
    EXPECT_TRUE(align({a, b}, {}).empty());
    const std::vector<Group> groups = align({a, b}, {{"machine"}, "", {}});
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].axes, (Axes{{"workload", "mmap2"}}));
    EXPECT_EQ(groups[0].columns, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(groups[0].metrics[0].values, (std::vector<std::vector<double>>{{1}, {2, 3}}));
    const std::vector<Group> machines = align({b}, {{}, "machine", {{"workload", "mmap2"}}});
    ASSERT_EQ(machines.size(), 1u);
    EXPECT_EQ(machines[0].columns, (std::vector<std::string>{"two", "three"}));
    EXPECT_TRUE(align({b}, {{}, "machine", {{"workload", "brk1"}}}).empty());
}

TEST(Compare, PrintsLkpsTable) {
    const Group group{{{"test", "mmap2"}, {"tasks", "64"}},
                      "commit",
                      {"before-the-series-of-sheaves", "after"},
                      {{"run.fail", {{0, 0}, {1, 0}}},
                       {"64.processes", {{13467005}, {26223847}}},
                       {"ops", {{9, 11}, {12}}},
                       {"soft%", {{24.47}, {17.29}}},
                       {"total", {{3e8}, {6e8}}},
                       {"new", {{}, {5}}}}};
    const char* expected =
        "=========================================================================================\n"
        "test/tasks:\n"
        "  mmap2/64\n"
        "\n"
        "commit: \n"
        "  before-the-series-of-sheaves\n"
        "  after\n"
        "\n"
        "before-the-serie                       after \n"
        "---------------- --------------------------- \n"
        "       fail:runs  %reproduction    fail:runs\n"
        "           |             |             |    \n"
        "           :2           50%           1:2     run.fail\n"
        "         %stddev     %change         %stddev\n"
        "             \\          |                \\  \n"
        "  13467005           +94.7%   26223847        64.processes\n"
        "     10.00 ± 10%     +20.0%      12.00        ops\n"
        "     24.47            -7.2       17.29        soft%\n"
        "     3e+08          +100.0%      6e+08        total\n"
        "      0.00         +5e+102%       5.00        new\n"
        "\n";
    EXPECT_EQ(printed([&](std::FILE* out) { print_lkp(group, out); }), expected);
}

TEST(Compare, SaysAloudWhatIsNoChange) {
    const Group group{{{"test", "mmap2"}},
                      "commit",
                      {"a", "b"},
                      {{"same", {{10, 11, 12}, {11, 10, 12}}}, {"more", {{10, 11, 12}, {20, 21, 22}}},
                       {"few", {{1}, {2}}}, {"none", {{0, 0, 0}, {0, 0, 0}}}}};
    const std::string text = printed([&](std::FILE* out) { print_intervals(group, out); });
    EXPECT_NE(text.find("no significant change\n"), std::string::npos) << text;
    EXPECT_NE(text.find("* significant\n"), std::string::npos) << text;
    EXPECT_NE(text.find("too few runs to say\n"), std::string::npos) << text;
    EXPECT_NE(text.find("no change: both are 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("+90.91%"), std::string::npos) << text;
}

}  // namespace
