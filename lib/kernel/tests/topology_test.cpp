// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: KMIRROR_MACHINE becomes CPUs, nodes and distances as it says; what is impossible is one line and
// status 2.

#include "tools/testing/harness.h"

#include <kmirror/topology.h>
#include <linux/percpu.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using kmirror::testing::ChildResult;
using kmirror::testing::rerun_this_test;

std::vector<int> fallback_of(int node)
{
    int count = 0;
    const int *nodes = kmirror_node_fallback(node, &count);
    return {nodes, nodes + count};
}

TEST(Topology, ThisHostHasACpuAndANodeWithMemory)
{
    EXPECT_GE(num_possible_cpus(), 1u);
    EXPECT_EQ(num_possible_cpus(), nr_cpu_ids);
    EXPECT_EQ(num_online_nodes(), static_cast<int>(nr_online_nodes));
    EXPECT_TRUE(node_state(cpu_to_mem(0), N_NORMAL_MEMORY));
}

KMIRROR_TEST_IN(Topology, TwoSocketsFourNodes, "KMIRROR_MACHINE=2s-192c-4n", "KMIRROR_MEM=")
{
    ASSERT_EQ(nr_cpu_ids, 192u);
    ASSERT_EQ(nr_node_ids, 4u);
    std::vector<int> cpus_of_node(4);
    for (int cpu = 0; cpu < 192; ++cpu)
        cpus_of_node[static_cast<std::size_t>(cpu_to_node(cpu))]++;
    EXPECT_EQ(cpus_of_node, (std::vector{48, 48, 48, 48}));
    EXPECT_EQ(cpumask_weight(cpumask_of_node(3)), 48u);
    EXPECT_EQ(node_distance(0, 0), LOCAL_DISTANCE);
    EXPECT_EQ(node_distance(0, 1), node_distance(1, 0));
    EXPECT_LT(node_distance(0, 1), node_distance(0, 2));
    EXPECT_EQ(fallback_of(0), (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(fallback_of(3), (std::vector{3, 2, 0, 1}));
    EXPECT_NE(kmirror_cpu_place(0)->package, kmirror_cpu_place(191)->package);
    EXPECT_EQ(kmirror_cpu_place(7)->l3, kmirror_cpu_place(0)->l3);
    EXPECT_NE(kmirror_cpu_place(8)->l3, kmirror_cpu_place(0)->l3);
}

KMIRROR_TEST_IN(Topology, FirstThreadsOfAllCoresComeFirst, "KMIRROR_MACHINE=turin-64c", "KMIRROR_MEM=")
{
    ASSERT_EQ(nr_cpu_ids, 128u);
    std::set<int> cores;
    for (int cpu = 0; cpu < 64; ++cpu)
        cores.insert(kmirror_cpu_place(cpu)->core);
    EXPECT_EQ(cores.size(), 64u);
    EXPECT_EQ(kmirror_cpu_place(64)->core, kmirror_cpu_place(0)->core);
}

KMIRROR_TEST_IN(Topology, NodesWithoutMemoryAreLeftOut, "KMIRROR_MACHINE=numa:4 core:2 pu:1",
                "KMIRROR_MEM=0:64M,1:0,2:64M,3:0")
{
    for (int node = 0; node < 4; ++node)
        kmirror_node_set_memory(node, node % 2 == 0);
    EXPECT_TRUE(node_online(1));
    EXPECT_FALSE(node_state(1, N_NORMAL_MEMORY));
    EXPECT_TRUE(node_state(1, N_CPU));
    EXPECT_EQ(cpu_to_node(2), 1);
    EXPECT_EQ(node_to_mem_node(0), 0);
    EXPECT_NE(cpu_to_mem(2), 1);
    EXPECT_EQ(fallback_of(2), (std::vector{2, 0}));
    std::vector<int> with_memory;
    int node;
    for_each_node_state(node, N_NORMAL_MEMORY)
        with_memory.push_back(node);
    EXPECT_EQ(with_memory, (std::vector{0, 2}));
}

TEST(Topology, EveryPresetCanBeRead)
{
    int count = 0;
    const kmirror_machine_preset *presets = kmirror_machine_presets(&count);
    ASSERT_GE(count, 4);
    for (int index = 0; index < count; ++index) {
        char message[256] = "";
        // In use already by other tests, or set for good: either way the string itself is judged first.
        EXPECT_NE(kmirror_machine_set(presets[index].name, message, sizeof(message)), -EINVAL) << message;
    }
}

KMIRROR_TEST_IN(Topology, TheMachineIsFixedOnceSomebodyUsesIt, "KMIRROR_MACHINE=core:4 pu:1", "KMIRROR_MEM=")
{
    char message[256] = "";
    EXPECT_EQ(kmirror_machine_set("core:0 pu:1", message, sizeof(message)), -EINVAL);
    EXPECT_NE(std::string(message).find("core:0"), std::string::npos) << message;
    EXPECT_EQ(nr_cpu_ids, 4u);
    ASSERT_GE(kmirror_cpu_lease(-1), 0);
    EXPECT_EQ(kmirror_machine_set("core:8 pu:1", message, sizeof(message)), -EBUSY);
    EXPECT_EQ(nr_cpu_ids, 4u);
}

class ImpossibleMachine : public ::testing::TestWithParam<const char *> {};

TEST_P(ImpossibleMachine, IsOneLineAndStatusTwo)
{
    if (kmirror::testing::in_child())
        return; // never reached: the process ends before main()
    const ChildResult child = rerun_this_test({std::string("KMIRROR_MACHINE=") + GetParam()});
    EXPECT_TRUE(child.exited && child.status == 2) << child.status << child.output;
    EXPECT_EQ(std::count(child.output.begin(), child.output.end(), '\n'), 1) << child.output;
    EXPECT_EQ(child.output.find("kmirror: KMIRROR_MACHINE="), 0u) << child.output;
}

INSTANTIATE_TEST_SUITE_P(Topology, ImpossibleMachine,
                         ::testing::Values("no-such-preset", "core:4", "pack:0 pu:1", "pu:-3", "pu:2.5",
                                           "pack:2 foo:3 pu:1", "pu:1000000000", "pack:3x pu:1",
                                           "numa:65 pu:1", "pu:1025", "two\nlines", "88226pu:9"),
                         [](const auto &info) { return std::to_string(info.index); });

TEST(Topology, SizesAreReadWithTheirUnit)
{
    unsigned long bytes = 7;
    const char *end = nullptr;
    EXPECT_EQ(kmirror_parse_size("64M", nullptr, &bytes), 0);
    EXPECT_EQ(bytes, 64UL << 20);
    EXPECT_EQ(kmirror_parse_size("1g,1", &end, &bytes), 0);
    EXPECT_EQ(bytes, 1UL << 30);
    EXPECT_STREQ(end, ",1");
    EXPECT_EQ(kmirror_parse_size("0", nullptr, &bytes), 0);
    EXPECT_EQ(bytes, 0u);
    for (const char *wrong : {"", "M", "-1", "1Q", "1MB", " 1", "99999999999999999999", "9999999999G"})
        EXPECT_EQ(kmirror_parse_size(wrong, nullptr, &bytes), -EINVAL) << wrong;
    EXPECT_EQ(bytes, 0u);
}

}  // namespace
