// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror machine: what the simulated machine looks like, one line a node, and the presets.

#include <cstdio>
#include <string>
#include <vector>

#include <kmirror/pages.h>
#include <kmirror/topology.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/nodemask.h>

#include "tools/kmirror/commands.h"
#include "tools/kmirror/json.h"
#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

struct Node {
    int id = 0;
    unsigned cpus = 0;
    int l3s = 0;  // last-level caches
    std::string cpu_list;
    unsigned long memory_bytes = 0;
    std::vector<int> distances;  // to every node, in their order
};

// Grows "0-3,8" by one CPU that is higher than all before.
class CpuList {
public:
    void add(int cpu) {
        if (cpu != last_ + 1 || text_.empty()) {
            close();
            text_ += (text_.empty() ? "" : ",") + std::to_string(cpu);
            first_ = cpu;
        }
        last_ = cpu;
    }
    std::string text() {
        close();
        return text_;
    }

private:
    void close() {
        if (last_ > first_) text_ += "-" + std::to_string(last_);
        first_ = last_;
    }

    std::string text_;
    int first_ = -2, last_ = -2;
};

unsigned long memory_of(int node) {
    struct kmirror_page_counts pages = {};
    return kmirror_node_pages(node, &pages) == 0 ? pages.managed << PAGE_SHIFT : 0;
}

Node node_of(int id) {
    Node node;
    node.id = id;
    node.memory_bytes = memory_of(id);
    CpuList cpus;
    int last_l3 = -1;
    for (int cpu = 0; cpu < static_cast<int>(nr_cpu_ids); ++cpu) {
        if (cpu_to_node(cpu) != id) continue;
        ++node.cpus;
        cpus.add(cpu);
        if (kmirror_cpu_place(cpu)->l3 != last_l3) ++node.l3s;
        last_l3 = kmirror_cpu_place(cpu)->l3;
    }
    node.cpu_list = cpus.text();
    for (int other = 0; other < static_cast<int>(nr_node_ids); ++other)
        node.distances.push_back(node_distance(id, other));
    return node;
}

std::string distances_of(const Node& node) {
    std::string text;
    for (int distance : node.distances) text += (text.empty() ? "" : " ") + std::to_string(distance);
    return text;
}

void print_table(const std::vector<Node>& nodes) {
    std::printf("%s\n\n", kmirror_machine_describe());
    Table table({"node", "CPUs", "last-level caches", "memory MiB", "distances", "CPU numbers"});
    for (const Node& node : nodes)
        table.row({std::to_string(node.id), count(node.cpus), count(static_cast<unsigned>(node.l3s)),
                   count(node.memory_bytes >> 20), distances_of(node), node.cpu_list});
    table.print(stdout);

    int presets = 0;
    const kmirror_machine_preset* preset = kmirror_machine_presets(&presets);
    std::printf("\npresets for --machine and KMIRROR_MACHINE:\n");
    for (int i = 0; i < presets; ++i)
        std::printf("  %-15s %s (%s)\n", preset[i].name, preset[i].description, preset[i].synthetic);
}

void print_json(const std::vector<Node>& nodes) {
    Json json("kmirror-machine", 1);
    json.set("/description", kmirror_machine_describe());
    json.set("/cpus", static_cast<unsigned>(nr_cpu_ids));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::string at = "/nodes/" + std::to_string(i);
        json.set(at + "/id", nodes[i].id);
        json.set(at + "/cpus", nodes[i].cpus);
        json.set(at + "/cpu_list", nodes[i].cpu_list);
        json.set(at + "/last_level_caches", nodes[i].l3s);
        json.set(at + "/memory_bytes", nodes[i].memory_bytes);
        for (std::size_t k = 0; k < nodes[i].distances.size(); ++k)
            json.set(at + "/distances/" + std::to_string(k), nodes[i].distances[k]);
    }
    std::fputs(json.text().c_str(), stdout);
}

}  // namespace

int machine_main(const MachineOptions& options) {
    std::vector<Node> nodes;
    for (int id = 0; id < static_cast<int>(nr_node_ids); ++id) nodes.push_back(node_of(id));
    options.json ? print_json(nodes) : print_table(nodes);
    return kDone;
}

}  // namespace kmirror::command
