// SPDX-License-Identifier: GPL-2.0-only
//
// The results of kmirror stress --workload, for people and for programs.

#include <kmirror/topology.h>
#include <linux/kallsyms.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "tools/kmirror/stress.h"
#include "tools/kmirror/stress_workload.h"
#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

using stress::Figures;

double per_second(const Figures &figures)
{
    return static_cast<double>(figures.operations) / std::max(figures.seconds, 1e-9);
}

// Of the time of all tasks, per cent.
double wait_percent(const Figures &figures, const kmirror_lock_stat &lock, unsigned tasks)
{
    return 100 * static_cast<double>(lock.wait_ns_total) / (std::max(figures.seconds, 1e-9) * 1e9 * tasks);
}

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

template <class Value>
std::vector<double> each(const WorkloadSetting &setting, Value value)
{
    std::vector<double> values;
    for (const WorkloadRun &run : setting.runs)
        values.push_back(static_cast<double>(value(run)));
    return values;
}

template <class Value>
double middle(const WorkloadSetting &setting, Value value)
{
    return median(each(setting, value));
}

std::string spread(const WorkloadSetting &setting)
{
    const std::vector<double> rates = each(setting, [](const WorkloadRun &run) { return per_second(run.figures); });
    const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
    return rates.size() < 2 ? "-" : percent((*high - *low) / std::max(median(rates), 1e-9));
}

std::vector<std::string> cells_of(const WorkloadSetting &setting)
{
    return {setting.load->name, setting.generation, setting.capacity ? std::to_string(setting.capacity) : "off",
            std::to_string(setting.tasks), setting.mode()};
}

void print_speed(const std::vector<WorkloadSetting> &settings)
{
    Table table({"workload", "slab", "sheaves", "tasks", "mode", "per task", "total", "spread", "fairness", "p50 ns",
                 "p99 ns", "p99.9 ns", "max ns"});
    for (const WorkloadSetting &setting : settings) {
        std::vector<std::string> cells = cells_of(setting);
        const double total = middle(setting, [](const WorkloadRun &run) { return per_second(run.figures); });
        cells.insert(cells.end(), {short_number(total / setting.tasks), short_number(total), spread(setting),
                                   fixed(middle(setting, [](const WorkloadRun &run) { return run.figures.fairness(); }), 3)});
        for (const double part : {0.5, 0.99, 0.999, 1.0})
            cells.push_back(count(static_cast<std::uint64_t>(middle(
                setting, [=](const WorkloadRun &run) { return run.figures.latency.percentile(part); }))));
        table.row(cells);
    }
    table.print(stdout);
}

void print_memory(const std::vector<WorkloadSetting> &settings)
{
    Table table({"workload", "slab", "sheaves", "tasks", "mode", "slabs at first", "at last", "partial",
                 "objects", "in use", "in sheaves", "unreclaimable kB"});
    for (const WorkloadSetting &setting : settings) {
        const std::vector<stress::MemoryPoint> &points = setting.runs.back().figures.memory;
        if (points.empty())
            continue;
        const stress::Memory &last = points.back().memory;
        std::vector<std::string> cells = cells_of(setting);
        cells.insert(cells.end(), {count(points.front().memory.slabs), count(last.slabs), count(last.partial),
                                   count(last.objects), count(last.used), count(last.sheaved), count(last.kib)});
        table.row(cells);
    }
    table.print(stdout);
}

void print_all_locks(const std::vector<WorkloadSetting> &settings)
{
    for (const WorkloadSetting &setting : settings) {
        std::printf("%s\n", setting.name().c_str());
        print_lock_stat(setting.runs.back().figures.locks, stdout);
        std::printf("\n");
    }
}

Axes axes_of(const WorkloadSetting &setting)
{
    return {{"workload", setting.load->name},
            {"generation", setting.generation},
            {"sheaves", std::to_string(setting.capacity)},
            {"tasks", std::to_string(setting.tasks)},
            {"mode", setting.mode()},
            {"machine", kmirror_machine_describe()}};
}

void put_memory(Json &json, const std::string &at, const Figures &figures)
{
    for (std::size_t i = 0; i < figures.memory.size(); i++) {
        const std::string point = at + "/" + std::to_string(i);
        const stress::Memory &memory = figures.memory[i].memory;
        json.set(point + "/seconds", figures.memory[i].seconds);
        json.set(point + "/slabs", memory.slabs);
        json.set(point + "/partial", memory.partial);
        json.set(point + "/objects", memory.objects);
        json.set(point + "/used", memory.used);
        json.set(point + "/in_sheaves", memory.sheaved);
        json.set(point + "/unreclaimable_kib", memory.kib);
    }
}

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

// ---- as /proc/lock_stat ----

constexpr int kName = 40, kColumns = 12, kWidth = 14;

void print_points(const kmirror_lock_stat &lock, std::FILE *out)
{
    const std::string dashes(std::strlen(lock.name), '-');
    std::fprintf(out, "%*s\n", kName, dashes.c_str());
    for (const LockPoint &point : points_of(lock))
        std::fprintf(out, "%*s %*" PRIu64 "          [<%016lx>] %s\n", kName, lock.name, kWidth, point.contended, point.ip,
                     point.name.c_str());
    std::fprintf(out, "\n");
}

void print_class(const kmirror_lock_stat &lock, std::FILE *out)
{
    std::fprintf(out, "%*s: %*d %*" PRIu64 " %*.2f %*.2f %*.2f %*.2f %*d %*" PRIu64 " %*.2f %*.2f %*.2f %*.2f\n", kName,
                 lock.name, kWidth, 0, kWidth, std::uint64_t{lock.contended}, kWidth, 0.0, kWidth,
                 microseconds(lock.wait_ns_max), kWidth, microseconds(lock.wait_ns_total), kWidth,
                 share(lock.wait_ns_total, lock.contended) / 1000, kWidth, 0, kWidth, std::uint64_t{lock.acquisitions},
                 kWidth, 0.0, kWidth, microseconds(lock.hold_ns_max), kWidth, microseconds(lock.hold_ns_total), kWidth,
                 share(lock.hold_ns_total, lock.acquisitions) / 1000);
    if (lock.contended)
        print_points(lock, out);
}

// ---- for programs ----

void put_points(Json &json, const std::string &at, const Figures &figures)
{
    std::size_t number = 0;
    for (const kmirror_lock_stat &lock : figures.locks)
        for (const LockPoint &point : points_of(lock)) {
            const std::string site = at + "/" + std::to_string(number++);
            json.set(site + "/lock", lock.name);
            json.set(site + "/site", point.name);
            json.set(site + "/contended", point.contended);
        }
}

} // namespace

std::vector<LockPoint> points_of(const kmirror_lock_stat &lock)
{
    std::vector<LockPoint> points;
    char name[KSYM_SYMBOL_LEN];
    for (const kmirror_lock_point &point : lock.points) {
        if (point.ip == 0)
            break;
        sprint_symbol(name, point.ip);
        points.push_back({point.ip, point.contended, name});
    }
    std::sort(points.begin(), points.end(),
              [](const LockPoint &a, const LockPoint &b) { return a.contended > b.contended; });
    return points;
}

std::vector<Series> workload_series(const WorkloadSetting &setting)
{
    const Axes axes = axes_of(setting);
    std::vector<Series> all;
    const auto add = [&](const std::string &metric, auto value) { all.push_back({axes, metric, each(setting, value)}); };
    add("run.fail", [](const WorkloadRun &run) { return run.figures.wrong.size(); });
    add("total", [](const WorkloadRun &run) { return per_second(run.figures); });
    add(setting.per_task(), [&](const WorkloadRun &run) { return per_second(run.figures) / setting.tasks; });
    add("fairness", [](const WorkloadRun &run) { return run.figures.fairness(); });
    add("latency_ns.mean", [](const WorkloadRun &run) { return run.figures.latency.mean(); });
    add("latency_ns.p50", [](const WorkloadRun &run) { return run.figures.latency.percentile(0.5); });
    add("latency_ns.p99", [](const WorkloadRun &run) { return run.figures.latency.percentile(0.99); });
    add("latency_ns.p99.9", [](const WorkloadRun &run) { return run.figures.latency.percentile(0.999); });
    add("latency_ns.max", [](const WorkloadRun &run) { return run.figures.latency.max(); });
    for (const kmirror_lock_stat &lock : setting.runs.back().figures.locks) {
        if (!lock.acquisitions)
            continue;
        const std::string name = lock.name;
        add("lock." + name + ".per_1000",
            [&](const WorkloadRun &run) { return run.figures.acquisitions_per_1000(name.c_str()); });
        add("lock." + name + ".wait%", [&](const WorkloadRun &run) {
            return wait_percent(run.figures, run.figures.lock(name.c_str()), setting.tasks);
        });
    }
    add("slabs", [](const WorkloadRun &run) { return run.figures.slabs; });
    add("unreclaimable_kib", [](const WorkloadRun &run) {
        return run.figures.memory.empty() ? 0 : run.figures.memory.back().memory.kib;
    });
    if (setting.runs.back().counters.known) {
        const auto operations = [](const WorkloadRun &run) { return std::max<std::uint64_t>(run.figures.operations, 1); };
        add("cycles_per_op", [&](const WorkloadRun &run) { return share(run.counters.cycles, operations(run)); });
        add("cycles_per_instruction",
            [](const WorkloadRun &run) { return share(run.counters.cycles, run.counters.instructions); });
        add("cache_misses_per_op",
            [&](const WorkloadRun &run) { return share(run.counters.cache_misses, operations(run)); });
    }
    return all;
}

void print_workloads(const std::vector<WorkloadSetting> &settings, const StressOptions &options, bool stopped)
{
    std::printf("%s\nseed %" PRIu64 ", %u of each, latency of every %uth operation\n\n", kmirror_machine_describe(),
                options.seed, options.repeat, stress::kSampled);
    if (stopped)
        std::printf("STOPPED: these are the results so far.\n\n");
    print_speed(settings);
    std::printf("\n");
    print_memory(settings);
    std::printf("\n");
    if (options.lock_stat)
        print_all_locks(settings);
    const std::vector<std::string> wrong = wrong_of(settings);
    for (const std::string &line : wrong)
        std::printf("WRONG: %s\n", line.c_str());
    if (wrong.empty())
        std::printf("Every cache and tree was valid and empty at the end.\n");
}

void print_ktap(const std::vector<WorkloadSetting> &settings, std::FILE *out)
{
    constexpr const char *kSuite = "kmirror_stress";
    bool fine = true;
    std::fprintf(out, "KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: %s\n    1..%zu\n", kSuite, settings.size());
    std::size_t number = 0;
    for (const WorkloadSetting &setting : settings) {
        const std::vector<std::string> wrong = wrong_of({setting});
        for (const std::string &line : wrong)
            std::fprintf(out, "    # %s\n", line.c_str());
        std::fprintf(out, "    # %s operations/s\n", short_number(middle(setting, [](const WorkloadRun &run) {
                                                             return per_second(run.figures);
                                                         })).c_str());
        std::fprintf(out, "    %s %zu - %s\n", wrong.empty() ? "ok" : "not ok", ++number, setting.name().c_str());
        fine = fine && wrong.empty();
    }
    std::fprintf(out, "%s 1 - %s\n", fine ? "ok" : "not ok", kSuite);
}

void print_lock_stat(const std::vector<kmirror_lock_stat> &locks, std::FILE *out)
{
    const std::string rule(kName + 1 + kColumns * (kWidth + 1), '-');
    std::fprintf(out, "lock_stat version 0.4\n%s\n%*s ", rule.c_str(), kName, "class name");
    for (const char *column : {"con-bounces", "contentions", "waittime-min", "waittime-max", "waittime-total",
                               "waittime-avg", "acq-bounces", "acquisitions", "holdtime-min", "holdtime-max",
                               "holdtime-total", "holdtime-avg"})
        std::fprintf(out, " %*s", kWidth, column);
    std::fprintf(out, "\n%s\n", rule.c_str());
    for (const kmirror_lock_stat &lock : locks)
        if (lock.acquisitions)
            print_class(lock, out);
}

Json workload_json(const std::vector<WorkloadSetting> &settings, const StressOptions &options, bool stopped)
{
    Json json("kmirror-stress", 3);
    put_origin(json);
    json.set("/plan/seconds", options.seconds);
    json.set("/plan/repeat", options.repeat);
    json.set("/plan/seed", options.seed);
    json.set("/plan/stopped", stopped);
    std::vector<Series> series;
    std::size_t at = 0;
    for (const WorkloadSetting &setting : settings) {
        for (Series &each : workload_series(setting))
            series.push_back(std::move(each));
        const std::string run = "/runs/" + std::to_string(at++);
        json.set(run + "/name", setting.name());
        put_memory(json, run + "/memory", setting.runs.back().figures);
        put_points(json, run + "/waits", setting.runs.back().figures);
    }
    put_series(json, series);
    const std::vector<std::string> wrong = wrong_of(settings);
    json.set("/verdict/passed", wrong.empty());
    for (std::size_t i = 0; i < wrong.size(); i++)
        json.set("/verdict/wrong/" + std::to_string(i), wrong[i]);
    return json;
}

} // namespace kmirror::command
