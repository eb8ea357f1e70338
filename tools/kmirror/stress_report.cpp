// SPDX-License-Identifier: GPL-2.0-only
//
// The results of kmirror stress for people (tables on stdout) and for programs (JSON).
//
// Every count stands beside what it is a count of: locks for each 1000 operations of the load (one operation
// is one object allocated or freed, one index looked up, one range stored), times in nanoseconds.

#include "slab/implementation.h"
#include "tools/kmirror/stress.h"

#include <kmirror/fault.h>
#include <kmirror/slab_ops.h>
#include <kmirror/topology.h>

#include "tools/kmirror/table.h"

#include <cinttypes>
#include <cstdio>
#include <unistd.h>

namespace kmirror::command {
namespace {

// ---- for people -------------------------------------------------------------------------------------

void print_speed(const std::vector<StressRun> &runs)
{
    Table table({"load", "slab", "sheaves", "ops/s per CPU", "p50 ns", "p99 ns", "max ns"});
    for (const StressRun &run : runs) {
        const stress::Histogram &latency = run.figures.latency;
        table.row({run.load, run.generation, run.capacity ? std::to_string(run.capacity) : "off",
                   short_number(run.figures.operations_per_second_per_cpu()), count(latency.percentile(0.5)),
                   count(latency.percentile(0.99)), count(latency.max())});
    }
    table.print(stdout);
}

void print_locks(const std::vector<StressRun> &runs)
{
    Table table({"load", "slab", "sheaves", "lock", "per 1000 ops", "contended", "wait avg ns", "wait max ns",
                 "hold avg ns", "hold max ns"});
    for (const StressRun &run : runs)
        for (const char *name : {kListLock, kBarnLock, kTreeLock}) {
            const kmirror_lock_stat stat = run.figures.lock(name);
            if (name == kTreeLock && run.load != kTreeLoad)
                continue;
            table.row({run.load, run.generation, run.capacity ? std::to_string(run.capacity) : "off", name,
                       fixed(run.figures.acquisitions_per_1000(name), 2),
                       percent(share(stat.contended, stat.acquisitions)),
                       fixed(share(stat.wait_ns_total, stat.contended), 0), count(stat.wait_ns_max),
                       fixed(share(stat.hold_ns_total, stat.acquisitions), 0), count(stat.hold_ns_max)});
        }
    table.print(stdout);
}

// What was injected into each run and what became of it; the latest failures by point, thread and ordinal; and
// the command that has them again. Nothing without a failure.
void print_faults(const std::vector<StressRun> &runs)
{
    if (kmirror_fault_log_total() == 0)
        return;
    Table table({"load", "slab", "sheaves", "failures injected", "operations refused"});
    for (const StressRun &run : runs)
        table.row({run.load, run.generation, run.capacity ? std::to_string(run.capacity) : "off",
                   count(run.figures.injected), count(run.figures.refused)});
    table.print(stdout);
    std::fflush(stdout);
    kmirror_fault_log_write(STDOUT_FILENO, false);
    std::printf("\n");
}

void print_verdict(const StressVerdict &verdict)
{
    const double ratio = verdict.with_32 > 0 ? verdict.without / verdict.with_32 : 0;
    const std::string terms = verdict.faulty ? "not judged, as failures were injected"
                                             : "at least " + fixed(kLeastRatio, 0) + " wanted";
    if (verdict.compared)
        std::printf(
            "list_lock is taken %s times for 1000 operations without sheaves and %s times with sheaves of 32: "
            "%s as often (%s); %" PRIu64 " times it was contended.\n",
            fixed(verdict.without, 1).c_str(), fixed(verdict.with_32, 1).c_str(),
            verdict.with_32 > 0 ? (fixed(ratio, 1) + " times").c_str() : "incomparably",
            terms.c_str(), verdict.contended_without);
    for (const std::string &wrong : verdict.wrong)
        std::printf("WRONG: %s\n", wrong.c_str());
    if (verdict.wrong.empty())
        std::printf("Every cache and the tree are valid and empty.\n");
}

// ---- for programs -----------------------------------------------------------------------------------

void put_lock(Json &json, const std::string &at, const stress::Figures &figures,
              const kmirror_lock_stat &stat)
{
    json.set(at + "/name", stat.name);
    json.set(at + "/acquisitions", stat.acquisitions);
    json.set(at + "/acquisitions_per_1000_operations", figures.acquisitions_per_1000(stat.name));
    json.set(at + "/contended", stat.contended);
    json.set(at + "/contended_share", share(stat.contended, stat.acquisitions));
    json.set(at + "/wait_ns_total", stat.wait_ns_total);
    json.set(at + "/wait_ns_max", stat.wait_ns_max);
    json.set(at + "/hold_ns_total", stat.hold_ns_total);
    json.set(at + "/hold_ns_max", stat.hold_ns_max);
}

void put_run(Json &json, const std::string &at, const StressRun &run)
{
    const stress::Figures &figures = run.figures;
    json.set(at + "/load", run.load);
    json.set(at + "/generation", run.generation);
    json.set(at + "/sheaf_capacity", run.capacity);
    json.set(at + "/seconds", figures.seconds);
    json.set(at + "/operations", figures.operations);
    json.set(at + "/operations_per_second_per_cpu", figures.operations_per_second_per_cpu());
    json.set(at + "/latency_ns/samples", figures.latency.count());
    json.set(at + "/latency_ns/p50", figures.latency.percentile(0.5));
    json.set(at + "/latency_ns/p99", figures.latency.percentile(0.99));
    json.set(at + "/latency_ns/max", figures.latency.max());
    json.set(at + "/failures_injected", figures.injected);
    json.set(at + "/operations_refused", figures.refused);
    unsigned used = 0;
    for (const kmirror_lock_stat &stat : figures.locks)
        if (stat.acquisitions)
            put_lock(json, at + "/locks/" + std::to_string(used++), figures, stat);
}

} // namespace

double share(std::uint64_t part, std::uint64_t whole)
{
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

void print_stress(const std::vector<StressRun> &runs, const stress::Plan &plan, const StressVerdict &verdict)
{
    std::printf("%s\n%u CPUs at work, %u threads, seed %" PRIu64 ", latency of every %uth operation\n\n",
                kmirror_machine_describe(), plan.cpus, plan.threads, plan.seed, stress::kSampled);
    print_speed(runs);
    std::printf("\n");
    print_locks(runs);
    std::printf("\n");
    print_faults(runs);
    print_verdict(verdict);
}

std::vector<Series> stress_series(const std::vector<StressRun> &runs)
{
    std::vector<Series> all;
    for (const StressRun &run : runs) {
        const stress::Figures &figures = run.figures;
        const auto add = [&](const std::string &metric, double value) {
            all.push_back({{{"workload", run.load},
                            {"generation", run.generation},
                            {"sheaves", std::to_string(run.capacity)},
                            {"machine", kmirror_machine_describe()}},
                           metric,
                           {value}});
        };
        add("run.fail", static_cast<double>(figures.wrong.size()));
        add("operations_per_second_per_cpu", figures.operations_per_second_per_cpu());
        add("latency_ns.p50", static_cast<double>(figures.latency.percentile(0.5)));
        add("latency_ns.p99", static_cast<double>(figures.latency.percentile(0.99)));
        add("latency_ns.max", static_cast<double>(figures.latency.max()));
        for (const kmirror_lock_stat &lock : figures.locks)
            if (lock.acquisitions)
                add(std::string("lock.") + lock.name + ".per_1000", figures.acquisitions_per_1000(lock.name));
    }
    return all;
}

Json stress_json(const std::vector<StressRun> &runs, const stress::Plan &plan, const StressVerdict &verdict)
{
    Json json("kmirror-stress", 3);
    put_origin(json);
    json.set("/plan/cpus", plan.cpus);
    json.set("/plan/threads", plan.threads);
    json.set("/plan/seed", plan.seed);
    put_series(json, stress_series(runs));
    for (std::size_t i = 0; i < runs.size(); i++)
        put_run(json, "/runs/" + std::to_string(i), runs[i]);
    if (verdict.compared) {
        json.set("/verdict/list_lock_per_1000_operations/sheaves_of_32", verdict.with_32);
        json.set("/verdict/list_lock_per_1000_operations/no_sheaves", verdict.without);
        json.set("/verdict/list_lock_contended_without_sheaves", verdict.contended_without);
    }
    json.set("/verdict/passed", verdict.wrong.empty());
    for (std::size_t i = 0; i < verdict.wrong.size(); i++)
        json.set("/verdict/wrong/" + std::to_string(i), verdict.wrong[i]);
    return json;
}

} // namespace kmirror::command
