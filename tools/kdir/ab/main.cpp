// SPDX-License-Identifier: GPL-2.0-only
//
// ab: the maple trees of two kernel trees, prefixes a_ and b_, measured in turn (tools/kdir/ab-build).
//
//   ab NAME_A NAME_B [--rounds N] [WORKLOAD...]
//
// A round runs each workload on both sides, one after the other, and every other round begins with the other side;
// what counts is the best of kTries tries. Time is CPU time of the thread that calls: what the grace period's thread
// does later is not in it.
//
// Status: 0 measured, 1 a workload failed, 2 bad input.
#include "tools/kdir/ab/workloads.h"
#include "tools/kmirror/lkp_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" const maple_ops *a_kmirror_maple_ops(void);
extern "C" const maple_ops *b_kmirror_maple_ops(void);

namespace {

using namespace kmirror::ab;
using kmirror::command::LkpTable;
using kmirror::command::Runs;

constexpr unsigned kTries = 3;
constexpr unsigned long kMostRounds = 1000;

struct Plan {
    std::string names[2];
    unsigned long rounds = 15;
    std::vector<const Workload *> chosen;
};

std::string all_names()
{
    std::string names;
    for (const Workload &one : workloads())
        names += std::string(names.empty() ? "" : " ") + one.name;
    return names;
}

int bad(const std::string &what)
{
    std::fprintf(stderr, "ab: %s\n", what.c_str());
    return 2;
}

// Empty: read.
std::string read_arguments(int argc, char **argv, Plan &plan)
{
    if (argc < 3)
        return "is run by make ab";
    plan.names[0] = argv[1];
    plan.names[1] = argv[2];
    for (int i = 3; i < argc; i++) {
        const std::string argument = argv[i];
        if (argument == "--rounds") {
            const char *value = i + 1 < argc ? argv[++i] : "";
            char *end = nullptr;
            plan.rounds = std::strtoul(value, &end, 10);
            if (*value < '0' || *value > '9' || *end || plan.rounds < 1 || plan.rounds > kMostRounds)
                return "--rounds " + std::string(value) + " is not possible; it is a number from 1 to " +
                       std::to_string(kMostRounds);
            continue;
        }
        const auto all = workloads();
        const auto found = std::find_if(all.begin(), all.end(), [&](const Workload &one) { return argument == one.name; });
        if (found == all.end())
            return argument + " is no workload; there are: " + all_names();
        plan.chosen.push_back(&*found);
    }
    if (plan.chosen.empty())
        for (const Workload &one : workloads())
            plan.chosen.push_back(&one);
    return {};
}

// Operations a second; 0: a call failed.
double best_of(const Workload &workload, const maple_ops *ops)
{
    double best = 0;
    for (unsigned i = 0; i < kTries; i++) {
        const Measured measured = workload.run(ops);
        if (!measured.operations || measured.seconds <= 0)
            return 0;
        best = std::max(best, double(measured.operations) / measured.seconds);
    }
    return best;
}

} // namespace

int main(int argc, char **argv)
{
    Plan plan;
    if (const std::string wrong = read_arguments(argc, argv, plan); !wrong.empty())
        return bad(wrong);
    const maple_ops *const sides[2] = {a_kmirror_maple_ops(), b_kmirror_maple_ops()};
    std::vector<std::array<std::vector<double>, 2>> values(plan.chosen.size());
    for (unsigned long round = 0; round < plan.rounds; round++) {
        for (std::size_t i = 0; i < plan.chosen.size(); i++) {
            for (unsigned turn = 0; turn < 2; turn++) {
                const unsigned side = (round + turn) % 2;
                const double rate = best_of(*plan.chosen[i], sides[side]);
                if (rate == 0) {
                    std::printf("not ok - %s failed on %s\n", plan.chosen[i]->name, plan.names[side].c_str());
                    return 1;
                }
                values[i][side].push_back(rate);
            }
        }
    }
    LkpTable table(plan.names[0], plan.names[1], Runs::Paired);
    for (std::size_t i = 0; i < plan.chosen.size(); i++)
        table.row(std::string(plan.chosen[i]->name) + ".ops_per_cpu_s", values[i][0], values[i][1]);
    table.print(stdout);
    std::printf("%lu rounds, the best of %u tries each, CPU time of the calling thread\n", plan.rounds, kTries);
    return 0;
}
