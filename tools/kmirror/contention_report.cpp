// SPDX-License-Identifier: GPL-2.0-only
//
// The results of kmirror contention: judged, for people, for programs.

#include "tools/kmirror/contention.h"

#include <kmirror/topology.h>

#include "tools/kmirror/table.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace kmirror::command {
namespace {

const ContentionRow *find(const std::vector<ContentionRow> &rows, const char *load, const char *generation,
                          int capacity)
{
    for (const ContentionRow &row : rows)
        if (row.load->name == std::string_view(load) && row.generation == generation &&
            row.capacity == capacity)
            return &row;
    return nullptr;
}

std::string name_of(const ContentionRow &row)
{
    return row.generation + " (" + std::to_string(row.capacity) + ")";
}

// One comparison; a row that was not run compares well.
struct Comparison {
    const char *load, *lock;
    double ContentionRow::*count;
    const char *less_generation;
    int less_capacity;
    const char *more_generation;
    int more_capacity;
    double factor; // at least so many times as often
};

constexpr const char *const kList = "list_lock", *const kBarn = "the barn lock";
constexpr double ContentionRow::*kListCount = &ContentionRow::list_lock_per_1000;
constexpr double ContentionRow::*kBarnCount = &ContentionRow::barn_lock_per_1000;

// slab/contention.md says why.
const Comparison kComparisons[] = {
    {"mmap2", kList, kListCount, "cpu-slab", 0, "sheaves", 32, 1.3},
    {"mmap2", kList, kListCount, "cpu-slab+sheaves", 32, "cpu-slab", 0, 0.95},
    {"mmap2", kList, kListCount, "double", 32, "cpu-slab", 0, 0.95},
    {"mmap2", kList, kListCount, "sheaves", 4, "sheaves", 0, 2},
    {"mmap2", kList, kListCount, "sheaves", 32, "sheaves", 4, 2},
    {"mmap2", kList, kListCount, "sheaves", 128, "sheaves", 32, 1.2},
    {"mmap2", kBarn, kBarnCount, "sheaves", 32, "cpu-slab+sheaves", 32, 5},
    {"mmap2", kBarn, kBarnCount, "cpu-slab+sheaves", 32, "double", 32, 1},
    {"mmap2", kBarn, kBarnCount, "cpu-slab+sheaves", 32, "cpu-slab+sheaves", 4, 4},
    {"mmap2", kBarn, kBarnCount, "cpu-slab+sheaves", 128, "cpu-slab+sheaves", 32, 2},
    {"list_lock_storm", kList, kListCount, "cpu-slab", 0, "sheaves", 32, 2},
    {"list_lock_storm", kList, kListCount, "sheaves", 4, "sheaves", 0, 1.5},
    {"list_lock_storm", kList, kListCount, "sheaves", 32, "sheaves", 4, 1.5},
    {"list_lock_storm", kList, kListCount, "sheaves", 128, "sheaves", 32, 1.3},
    {"list_lock_storm", kBarn, kBarnCount, "sheaves", 32, "double", 32, 2},
};

void compare(const std::vector<ContentionRow> &rows, const Comparison &comparison,
             std::vector<std::string> &wrong)
{
    const char *load = comparison.load;
    const ContentionRow *less = find(rows, load, comparison.less_generation, comparison.less_capacity);
    const ContentionRow *more = find(rows, load, comparison.more_generation, comparison.more_capacity);
    if (!less || !more || more->*comparison.count >= comparison.factor * (less->*comparison.count))
        return;
    wrong.push_back(std::string(load) + ": " + name_of(*more) + " takes " + comparison.lock + " " +
                    fixed(more->*comparison.count, 2) + " times for 1000 operations, " + name_of(*less) + " " +
                    fixed(less->*comparison.count, 2) + ": at least " + fixed(comparison.factor, 1) +
                    " times as often is expected");
}

void print_rows(const std::vector<ContentionRow> &rows)
{
    Table table({"load", "slab", "sheaves", "ops/s", "list_lock/1000", "contended", "hold ns", "barn/1000",
                 "contended", "hold ns", "slabs"});
    for (const ContentionRow &row : rows)
        table.row({row.load->name, row.generation, row.capacity ? std::to_string(row.capacity) : "off",
                   short_number(row.operations_per_second), fixed(row.list_lock_per_1000, 2),
                   percent(row.list_contended), fixed(row.list_hold_ns, 0), fixed(row.barn_lock_per_1000, 2),
                   percent(row.barn_contended), fixed(row.barn_hold_ns, 0),
                   count(static_cast<std::uint64_t>(row.slabs))});
    table.print(stdout);
}

} // namespace

std::vector<std::string> judge_order(const std::vector<ContentionRow> &rows)
{
    std::vector<std::string> wrong;
    for (const Comparison &comparison : kComparisons)
        compare(rows, comparison, wrong);
    return wrong;
}

void print_contention(const std::vector<ContentionRow> &rows, const stress::Plan &plan,
                      const std::vector<std::string> &wrong)
{
    std::printf("%s\n%u CPUs at work, one thread each, seed %" PRIu64 ", a grace period every %u operations\n\n",
                kmirror_machine_describe(), plan.cpus, plan.seed, plan.grace_period);
    print_rows(rows);
    std::printf("\n");
    for (const std::string &line : wrong)
        std::printf("WRONG: %s\n", line.c_str());
    if (wrong.empty())
        std::printf("The counts stand in the order that the design of each generation gives them.\n");
}

std::vector<Series> contention_series(const ContentionRow &row, const std::vector<stress::Figures> &runs)
{
    const Axes axes = {{"workload", row.load->name},
                       {"generation", row.generation},
                       {"sheaves", std::to_string(row.capacity)},
                       {"machine", kmirror_machine_describe()}};
    std::vector<Series> series = {{axes, "operations_per_second", {}},
                                  {axes, "list_lock_per_1000", {}},
                                  {axes, "barn_lock_per_1000", {}},
                                  {axes, "slabs", {}},
                                  {axes, "run.fail", {}}};
    for (const stress::Figures &figures : runs) {
        series[0].values.push_back(static_cast<double>(figures.operations) / std::max(figures.seconds, 1e-9));
        series[1].values.push_back(figures.acquisitions_per_1000("&n->list_lock"));
        series[2].values.push_back(figures.acquisitions_per_1000("&barn->lock"));
        series[3].values.push_back(static_cast<double>(figures.slabs));
        series[4].values.push_back(static_cast<double>(figures.wrong.size()));
    }
    return series;
}

Json contention_json(const std::vector<ContentionRow> &rows, const std::vector<Series> &series,
                     const stress::Plan &plan, const std::vector<std::string> &wrong)
{
    Json json("kmirror-contention", 2);
    put_origin(json);
    json.set("/plan/cpus", plan.cpus);
    json.set("/plan/seed", plan.seed);
    json.set("/plan/operations_per_grace_period", plan.grace_period);
    put_series(json, series);
    for (std::size_t i = 0; i < rows.size(); i++) {
        const ContentionRow &row = rows[i];
        const std::string at = "/runs/" + std::to_string(i);
        json.set(at + "/load", row.load->name);
        json.set(at + "/generation", row.generation);
        json.set(at + "/sheaf_capacity", row.capacity);
        json.set(at + "/operations_per_second", row.operations_per_second);
        json.set(at + "/list_lock/acquisitions_per_1000_operations", row.list_lock_per_1000);
        json.set(at + "/list_lock/contended_share", row.list_contended);
        json.set(at + "/list_lock/hold_ns", row.list_hold_ns);
        json.set(at + "/barn_lock/acquisitions_per_1000_operations", row.barn_lock_per_1000);
        json.set(at + "/barn_lock/contended_share", row.barn_contended);
        json.set(at + "/barn_lock/hold_ns", row.barn_hold_ns);
        json.set(at + "/slabs", row.slabs);
    }
    json.set("/verdict/passed", wrong.empty());
    for (std::size_t i = 0; i < wrong.size(); i++)
        json.set("/verdict/wrong/" + std::to_string(i), wrong[i]);
    return json;
}

} // namespace kmirror::command
