// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror report: one page of all that its files hold, which needs nothing but itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tools/kmirror/commands.h"
#include "tools/kmirror/report_png.h"
#include "tools/kmirror/results.h"
#include "tools/kmirror/stress.h"

namespace {

using namespace kmirror::command;
using testing::HasSubstr;
using testing::Not;

class Report : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/kmirror-report-XXXXXX";
        folder_ = mkdtemp(name);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string contents(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(folder_ + "/" + name, std::ios::binary).rdbuf();
        return text.str();
    }
    // What kmirror stress --workload writes: two numbers of tasks, lock waits and memory.
    void write_run(const std::string& name, double rate) {
        Json json("kmirror-stress", 3);
        put_origin(json);
        json.set("/plan/seed", 7u);
        std::vector<Series> series;
        for (const char* tasks : {"1", "4"}) {
            const Axes axes = {{"workload", "mmap2"}, {"generation", "<double>"}, {"sheaves", "32"},
                               {"tasks", tasks},      {"mode", "process"},        {"machine", "m"}};
            series.push_back({axes, "total", {rate, rate * 1.01, rate * 1.02}});
            series.push_back({axes, "lock.&n->list_lock.wait%", {12.5}});
        }
        put_series(json, series);
        json.set("/runs/0/name", "mmap2, double");
        for (const unsigned second : {0u, 1u}) {
            const std::string at = "/runs/0/memory/" + std::to_string(second);
            json.set(at + "/seconds", second);
            json.set(at + "/unreclaimable_kib", 400u);
            json.set(at + "/objects", 100u);
            json.set(at + "/used", 50u);
        }
        std::string error;
        ASSERT_TRUE(json.write(folder_ + "/" + name, error)) << error;
    }
    int report(bool png = false) {
        testing::internal::CaptureStdout();
        const int status = report_main({folder_, png});
        testing::internal::GetCapturedStdout();
        return status;
    }

    std::string folder_;
};

TEST_F(Report, HasASectionForEachThingThatWasMeasured) {
    write_run("before.json", 1e6);
    write_run("after.json", 2e6);
    ASSERT_EQ(report(), kDone);
    const std::string page = contents("report.html");
    for (const char* section : {"Operations per second by number of tasks", "Share of the time spent waiting for locks",
                                "Memory over time", "Comparison", "Machine and options"})
        EXPECT_THAT(page, HasSubstr(std::string("<h2>") + section)) << section;
    EXPECT_THAT(page, HasSubstr("12.5"));
    EXPECT_THAT(page, HasSubstr("&amp;n-&gt;list_lock"));
    EXPECT_THAT(page, HasSubstr("-50.0%")) << "after.json comes first and is the base";
    EXPECT_THAT(page, HasSubstr("width=device-width"));
}

TEST_F(Report, NeedsNoNetworkAndNoOtherFile) {
    write_run("run.json", 1e6);
    ASSERT_EQ(report(), kDone);
    const std::string page = contents("report.html");
    for (const char* reference : {"http:", "https:", "//", "src=", "href=", "url(", "@import", "<script", "<link", "<img"})
        EXPECT_THAT(page, Not(HasSubstr(reference)));
    EXPECT_THAT(page, HasSubstr("<svg"));
    EXPECT_THAT(page, HasSubstr("&lt;double&gt;"));
    EXPECT_THAT(page, Not(HasSubstr("<double"))) << "names are no markup";
}

TEST_F(Report, ReadsTheMixedLoadOfStressToo) {
    kmirror::stress::Figures figures;
    figures.operations = 1000;
    figures.seconds = 1;
    const std::vector<Series> series = stress_series({{kAllocatorLoad, "double", 32, figures}});
    ASSERT_FALSE(series.empty());
    EXPECT_EQ(axis_of(series[0].axes, "workload"), kAllocatorLoad);
    Json json("kmirror-stress", 3);
    put_series(json, series);
    std::string error;
    ASSERT_TRUE(json.write(folder_ + "/plain.json", error)) << error;
    Results results;
    EXPECT_TRUE(read_results(folder_ + "/plain.json", results, error)) << error;
    EXPECT_EQ(results.series.size(), series.size());
}

TEST_F(Report, RefusesAFolderWithoutResults) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(report(), kBadInput);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("it takes a folder with result files of --json"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/report.html"));
}

TEST_F(Report, DrawsAPictureForEachWorkload) {
    if (!has_gnuplot()) GTEST_SKIP() << "no gnuplot";
    write_run("run.json", 1e6);
    ASSERT_EQ(report(true), kDone);
    EXPECT_THAT(contents("mmap2.png"), testing::StartsWith("\x89PNG"));
    EXPECT_FALSE(png_plot(folder_ + "/none/at.png", "t", {{"l", {{1, 2}}}}, "x", "y"));
}

TEST_F(Report, SaysWhereGnuplotComesFromWhenThereIsNone) {
    write_run("run.json", 1e6);
    const std::string path = std::getenv("PATH");
    setenv("PATH", folder_.c_str(), 1);
    testing::internal::CaptureStderr();
    EXPECT_EQ(report(true), kBadInput);
    setenv("PATH", path.c_str(), 1);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("gnuplot-nox"));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/report.html"));
}

}  // namespace
