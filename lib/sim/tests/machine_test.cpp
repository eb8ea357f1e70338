// SPDX-License-Identifier: GPL-2.0-only
//
// Machine files: what is refused, and that those of the project are complete.
#include "lib/sim/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace kmirror::sim {
namespace {

// Every cost, each 10 ns or 1, with a source.
std::string complete_file()
{
    std::string text = "topology = pu:2 | a test\n";
    for (const CostName &cost : cost_names())
        text += std::string("cost.") + cost.name + " = " + (cost.factor ? "1" : "10 ns") + " | a test\n";
    return text;
}

std::string error_of(const std::string &text)
{
    Machine machine;
    std::string error;
    return machine_parse(text, machine, error) ? "" : error;
}

std::string with(std::string text, const std::string &from, const std::string &to)
{
    return text.replace(text.find(from), from.size(), to);
}

TEST(SimMachine, ReadsTimesFactorsAndSpeeds)
{
    Machine machine;
    std::string error;
    ASSERT_TRUE(machine_parse(with(complete_file(), "cost.l3 = 10 ns", "cost.l3 = 2.5 us") +
                                  "speed.0-3 = 2.5 | a test\n",
                              machine, error))
        << error;
    EXPECT_EQ(machine.costs.l3, 2500 * kNs);
    EXPECT_EQ(machine.costs.l2, 10 * kNs);
    EXPECT_EQ(machine.costs.handoff, kOne);
    EXPECT_EQ(machine.speed_of(3), 2560);
    EXPECT_EQ(machine.speed_of(4), kOne);
}

TEST(SimMachine, RefusesAFigureWithoutItsSource)
{
    EXPECT_EQ(error_of(with(complete_file(), "topology = pu:2 | a test", "topology = pu:2")),
              "line 1: topology has no source; it stands behind a bar: NAME = VALUE | SOURCE");
    EXPECT_NE(error_of(with(complete_file(), "cost.l3 = 10 ns | a test", "cost.l3 = 10 ns |")), "");
}

TEST(SimMachine, RefusesWhatIsMissingUnknownOrTwice)
{
    EXPECT_NE(error_of(with(complete_file(), "cost.l3 = 10 ns | a test\n", "")).find("cost.l3 is missing"),
              std::string::npos);
    EXPECT_NE(error_of(complete_file() + "cost.l9 = 1 ns | a test\n").find("cost.l9 is no cost"), std::string::npos);
    EXPECT_NE(error_of(complete_file() + "cost.l3 = 1 ns | a test\n").find("set twice"), std::string::npos);
    EXPECT_NE(error_of(complete_file() + "clock = 1 | a test\n").find("no setting"), std::string::npos);
}

TEST(SimMachine, RefusesATimeWithoutUnitAndAFactorWithOne)
{
    for (const char *value : {"10", "ten ns", "-1 ns", "10 s", "1e300 ms"})
        EXPECT_NE(error_of(with(complete_file(), "cost.l3 = 10 ns", std::string("cost.l3 = ") + value)), "") << value;
    EXPECT_NE(error_of(with(complete_file(), "cost.handoff = 1 ", "cost.handoff = 1 ns ")), "");
}

TEST(SimMachine, ChangesOneCost)
{
    Machine machine;
    std::string error;
    ASSERT_TRUE(machine_parse(complete_file(), machine, error));
    EXPECT_TRUE(machine_change("l3=20", machine, error));
    EXPECT_TRUE(machine_change("same_node*=1.5", machine, error));
    EXPECT_TRUE(machine_change("store_share=0.5", machine, error));
    EXPECT_EQ(machine.costs.l3, 20 * kNs);
    EXPECT_EQ(machine.costs.same_node, 15 * kNs);
    EXPECT_EQ(machine.costs.store_share, kOne / 2);
    EXPECT_FALSE(machine_change("l9=20", machine, error));
    EXPECT_FALSE(machine_change("l3=x", machine, error));
}

TEST(SimMachine, TheFilesOfTheProjectAreComplete)
{
    unsigned files = 0;
    for (const auto &entry : std::filesystem::directory_iterator("lib/sim/machines")) {
        Machine machine;
        std::string error;
        EXPECT_TRUE(machine_load(entry.path(), machine, error)) << error;
        EXPECT_FALSE(machine.description.empty()) << entry.path();
        files++;
    }
    EXPECT_GE(files, 6u);
}

} // namespace
} // namespace kmirror::sim
