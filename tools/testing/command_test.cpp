// SPDX-License-Identifier: GPL-2.0-only
//
// The pieces that the command's output is made of: tables, numbers, JSON files, the command line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/kmirror/contention.h"
#include "tools/kmirror/json.h"
#include "tools/kmirror/options.h"
#include "tools/kmirror/table.h"

namespace {

using namespace kmirror::command;
namespace stress = kmirror::stress;

std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

// A folder that goes with the test.
class Folder {
public:
    Folder() {
        char name[] = "/tmp/kmirror-command-XXXXXX";
        path_ = mkdtemp(name);
    }
    ~Folder() {
        for (const char* file : {"/a.json", "/a.json.new"}) unlink((path_ + file).c_str());
        rmdir(path_.c_str());
    }
    std::string file() const { return path_ + "/a.json"; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

CommandLine read(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "kmirror");
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    return read_command_line(static_cast<int>(arguments.size()), raw.data());
}

TEST(Command, NumbersAsText) {
    EXPECT_EQ(count(0), "0");
    EXPECT_EQ(count(999), "999");
    EXPECT_EQ(count(1000), "1,000");
    EXPECT_EQ(count(18446744073709551615ull), "18,446,744,073,709,551,615");
    EXPECT_EQ(short_number(0), "0");
    EXPECT_EQ(short_number(999), "999");
    EXPECT_EQ(short_number(999.7), "1.00k");
    EXPECT_EQ(short_number(5123456), "5.12M");
    EXPECT_EQ(short_number(51234567), "51.2M");
    EXPECT_EQ(percent(0.0312), "3.12%");
}

TEST(Command, TableColumnsAreAsWideAsTheirWidestCell) {
    Table table({"name", "n"});
    table.row({"a", "1,000"});
    table.row({"longer"});
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* out = open_memstream(&text, &size);
    table.print(out);
    std::fclose(out);
    EXPECT_STREQ(text,
                 "name        n\n"
                 "-------------\n"
                 "a       1,000\n"
                 "longer\n");
    free(text);
}

TEST(Command, JsonNamesItsSchemaFirst) {
    Json json("some-schema", 3);
    json.set("/runs/0/ops", 5u);
    json.set("/runs/1/ops", -7);
    json.set("/on", true);
    json.set("/rate", 0.5);
    json.set("/who", "me");
    EXPECT_EQ(
        json.text(),
        "{\n  \"schema\": \"some-schema\",\n  \"version\": 3,\n  \"runs\": [\n    {\n      \"ops\": 5\n    "
        "},\n"
        "    {\n      \"ops\": -7\n    }\n  ],\n  \"on\": true,\n  \"rate\": 0.5,\n  \"who\": \"me\"\n}\n");
}

TEST(Command, JsonReplacesAFileInOneStep) {
    const Folder folder;
    std::ofstream(folder.file()) << "old";
    std::string error;
    ASSERT_TRUE(can_write(folder.file(), error)) << error;
    EXPECT_EQ(contents(folder.file()), "old");
    EXPECT_TRUE(Json("s", 1).write(folder.file(), error)) << error;
    EXPECT_EQ(contents(folder.file()), "{\n  \"schema\": \"s\",\n  \"version\": 1\n}\n");
    EXPECT_NE(access((folder.file() + ".new").c_str(), F_OK), 0);
}

TEST(Command, JsonThatCannotBeWrittenSaysWhy) {
    const Folder folder;
    std::string error;
    EXPECT_FALSE(can_write(folder.path() + "/none/a.json", error));
    EXPECT_EQ(error, "No such file or directory");
    EXPECT_FALSE(can_write(folder.path(), error));
    EXPECT_FALSE(Json("s", 1).write(folder.path() + "/none/a.json", error));
}

TEST(Command, OptionsArriveAsGiven) {
    const CommandLine line =
        read({"stress", "--seconds", "2.5", "--cpus", "4", "--threads", "9", "--seed", "11", "--json",
              "x.json", "--quiet", "--machine", "core:4", "--memory", "64M"});
    EXPECT_EQ(line.command, Command::Stress);
    EXPECT_EQ(line.status, kDone);
    EXPECT_EQ(line.stress.seconds, 2.5);
    EXPECT_EQ(line.stress.cpus, 4u);
    EXPECT_EQ(line.stress.threads, 9u);
    EXPECT_EQ(line.stress.seed, 11u);
    EXPECT_EQ(line.stress.json, "x.json");
    EXPECT_TRUE(line.stress.quiet);
    EXPECT_EQ(line.machine, "core:4");
    EXPECT_EQ(line.memory, "64M");
}

TEST(Command, HelpIsNoMistake) {
    testing::internal::CaptureStdout();
    const CommandLine line = read({"stress", "--help"});
    EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr("--seconds N"));
    EXPECT_EQ(line.command, Command::None);
    EXPECT_EQ(line.status, kDone);
}

TEST(Command, MistakesNameOptionValueAndLimits) {
    testing::internal::CaptureStderr();
    const CommandLine line = read({"stress", "--cpus", "2000"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "kmirror: --cpus 2000 is not possible; --cpus takes a whole number from 1 to 1024\n");
    EXPECT_EQ(line.command, Command::None);
    EXPECT_EQ(line.status, kBadInput);
}

// A run in which everything is as slab/contention.md says.
std::vector<ContentionRow> contention_in_order() {
    const stress::LoadKind& mmap2 = *stress::load_by_name("mmap2");
    const stress::LoadKind& storm = *stress::load_by_name("list_lock_storm");
    const auto row = [](const stress::LoadKind& load, const char* generation, int capacity, double list, double barn) {
        return ContentionRow{&load, generation, capacity, 0, list, barn, 0, 0, 0, 0, 0};
    };
    return {row(mmap2, "cpu-slab", 0, 47, 0),          row(mmap2, "cpu-slab+sheaves", 4, 45, 999),
            row(mmap2, "cpu-slab+sheaves", 32, 46, 125), row(mmap2, "cpu-slab+sheaves", 128, 31, 31),
            row(mmap2, "double", 32, 46, 131),         row(mmap2, "sheaves", 0, 3072, 0),
            row(mmap2, "sheaves", 4, 996, 23),         row(mmap2, "sheaves", 32, 163, 10),
            row(mmap2, "sheaves", 128, 32, 10),        row(storm, "cpu-slab", 0, 63, 0),
            row(storm, "double", 32, 74, 61),          row(storm, "sheaves", 0, 1174, 0),
            row(storm, "sheaves", 4, 576, 10),         row(storm, "sheaves", 32, 263, 10),
            row(storm, "sheaves", 128, 130, 10)};
}

// Every row that must be more than another one: its count made too small is found.
TEST(Command, ContentionHoldsEachCountAgainstTheDesign) {
    const std::vector<ContentionRow> rows = contention_in_order();
    EXPECT_THAT(judge_order(rows), testing::IsEmpty());
    EXPECT_THAT(judge_order({}), testing::IsEmpty());
    for (const std::size_t i : {0, 5, 6, 7, 11, 12, 13}) {
        std::vector<ContentionRow> wrong = rows;
        wrong[i].list_lock_per_1000 = 0.5;
        EXPECT_THAT(judge_order(wrong), testing::Not(testing::IsEmpty())) << "list_lock of row " << i;
    }
    for (const std::size_t i : {1, 2, 4, 10}) {
        std::vector<ContentionRow> wrong = rows;
        wrong[i].barn_lock_per_1000 = 0.5;
        EXPECT_THAT(judge_order(wrong), testing::Not(testing::IsEmpty())) << "barn lock of row " << i;
    }
}

TEST(Command, ContentionSaysWhichCountsAreInTheWrongOrder) {
    std::vector<ContentionRow> rows = contention_in_order();
    for (ContentionRow& row : rows)
        if (row.load->name == std::string("mmap2") && row.generation == "sheaves" && row.capacity == 32)
            row.list_lock_per_1000 = 600;
    EXPECT_THAT(judge_order(rows),
                testing::ElementsAre("mmap2: sheaves (4) takes list_lock 996.00 times for 1000 operations, sheaves "
                                     "(32) 600.00: at least 2.0 times as often is expected"));
}

}  // namespace
