// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror contention: how often each generation of the allocator, with sheaves of each size, takes list_lock and
// the barn's lock for the same work.
//
// Grace periods come by number of operations (<kmirror/rcu.h>), and each CPU has one thread: the counts are those
// of the design, nearly free of time. Throughput, waits and holds are this host's.
//
// Owns     the runs and their figures. The loads themselves are in slab/stress_*.
// Bounds   options.warm + options.rounds rounds for each setting and repeat.
// Fails    with kFoundWrong when a load found something wrong, when the counts are in another order than
//          judge_order() knows, or when the result could not be written.

#include "slab/implementation.h"
#include "tools/kmirror/contention.h"

#include <kmirror/slab_ops.h>

#include "tools/kmirror/commands.h"
#include "tools/kmirror/progress.h"
#include "tools/kmirror/stress.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>

namespace kmirror::command {
namespace {

using stress::Crew;
using stress::Figures;
using stress::LoadKind;

struct Settings {
    std::vector<const LoadKind *> loads;
    std::vector<std::string> generations;
    std::vector<int> capacities;
};

std::string load_names()
{
    std::string names;
    for (const auto &kinds : {stress::mm_loads(), stress::slab_loads()})
        for (const LoadKind &kind : kinds)
            names += (names.empty() ? "" : ", ") + std::string(kind.name);
    return names;
}

bool is_capacity(const std::string &text, int &capacity)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), capacity);
    return error == std::errc() && end == text.data() + text.size() && capacity >= 0 &&
           capacity <= kMostSheafCapacity;
}

// kDone, or what a bad option returned.
int read(const ContentionOptions &options, Settings &settings)
{
    for (const std::string &name : split(options.loads)) {
        settings.loads.push_back(stress::load_by_name(name));
        if (!settings.loads.back())
            return bad_option("--load", name, "it takes, with commas: " + load_names());
    }
    if (!parse_generations(options.slab, settings.generations))
        return bad_option("--slab", options.slab, kGenerationsAllowed);
    for (const std::string &text : split(options.sheaves)) {
        settings.capacities.push_back(0);
        if (!is_capacity(text, settings.capacities.back()))
            return bad_option("--sheaves", text,
                              "it takes, with commas, objects from 0 to " + std::to_string(kMostSheafCapacity));
    }
    const int status = check_cpus(options.cpus);
    return status != kDone ? status : check_json(options.json);
}

// Another implementation has one generation, and no part in the loads of mm_loads(), which are on this library's tree.
bool is_driven(const LoadKind &kind, const std::string &generation)
{
    if (&slab_under_test() == kmirror_slab_ops())
        return true;
    const auto loads = stress::slab_loads();
    return slab_under_test().set_generation(generation.c_str()) &&
           std::any_of(loads.begin(), loads.end(), [&](const LoadKind &each) { return &each == &kind; });
}

// What generation cpu-slab can have.
bool has_capacity(const std::string &generation, int capacity) { return generation != "cpu-slab" || !capacity; }

Figures run(Crew &crew, const LoadKind &kind, const std::string &generation, int capacity,
            const ContentionOptions &options, const std::function<void(std::uint64_t)> &tick)
{
    const char *before = slab_under_test().set_generation(generation.c_str());
    const auto load = kind.make(crew.plan(), capacity);
    Figures figures = crew.run_rounds(*load, options.warm, options.rounds, tick);
    slab_under_test().set_generation(before);
    return figures;
}

double median_of(const std::vector<Figures> &runs, const std::function<double(const Figures &)> &value)
{
    std::vector<double> values;
    for (const Figures &figures : runs)
        values.push_back(value(figures));
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

ContentionRow row_of(const LoadKind &kind, const std::string &generation, int capacity,
                     const std::vector<Figures> &runs)
{
    const auto per_1000 = [&](const char *lock) {
        return median_of(runs, [=](const Figures &figures) { return figures.acquisitions_per_1000(lock); });
    };
    const auto contended = [&](const char *lock) {
        return median_of(runs, [=](const Figures &figures) {
            return share(figures.lock(lock).contended, figures.lock(lock).acquisitions);
        });
    };
    const auto hold = [&](const char *lock) {
        return median_of(runs, [=](const Figures &figures) {
            return share(figures.lock(lock).hold_ns_total, figures.lock(lock).acquisitions);
        });
    };
    return {&kind,
            generation,
            capacity,
            median_of(runs,
                      [](const Figures &figures) {
                          return static_cast<double>(figures.operations) / std::max(figures.seconds, 1e-9);
                      }),
            per_1000(kListLock),
            per_1000(kBarnLock),
            contended(kListLock),
            contended(kBarnLock),
            hold(kListLock),
            hold(kBarnLock),
            median_of(runs, [](const Figures &figures) { return static_cast<double>(figures.slabs); })};
}

struct Setting {
    const LoadKind *load;
    std::string generation;
    int capacity;

    std::string name() const
    {
        return std::string(load->name) + ", " + generation + ", " + capacity_text(capacity);
    }
};

std::vector<Setting> all_settings(const Settings &settings)
{
    std::vector<Setting> all;
    for (const LoadKind *load : settings.loads)
        for (const std::string &generation : settings.generations)
            for (const int capacity : settings.capacities)
                if (has_capacity(generation, capacity) && is_driven(*load, generation))
                    all.push_back({load, generation, capacity});
    return all;
}

std::vector<ContentionRow> run_all(Crew &crew, const std::vector<Setting> &settings,
                                   const ContentionOptions &options, std::vector<Series> &series,
                                   std::vector<std::string> &wrong)
{
    Progress progress(options.quiet);
    std::vector<ContentionRow> rows;
    for (std::size_t i = 0; i < settings.size(); i++) {
        const Setting &setting = settings[i];
        progress.share(static_cast<double>(i) / static_cast<double>(settings.size()));
        const std::string label = setting.name() + " (" + std::to_string(i + 1) + " of " +
                                  std::to_string(settings.size()) + ")";
        const auto tick = [&](std::uint64_t operations) { progress.update(label, operations); };
        std::vector<Figures> runs;
        for (unsigned repeat = 0; repeat < options.repeats; repeat++) {
            runs.push_back(run(crew, *setting.load, setting.generation, setting.capacity, options, tick));
            for (const std::string &complaint : runs.back().wrong)
                wrong.push_back(setting.name() + ": " + complaint);
        }
        rows.push_back(row_of(*setting.load, setting.generation, setting.capacity, runs));
        for (Series &each : contention_series(rows.back(), runs))
            series.push_back(std::move(each));
    }
    progress.clear();
    return rows;
}

} // namespace

int contention_main(const ContentionOptions &options)
{
    Settings settings;
    if (const int status = read(options, settings); status != kDone)
        return status;
    stress::Plan plan;
    plan.cpus = options.cpus ? options.cpus : static_cast<unsigned>(slab_under_test().nr_cpus());
    plan.threads = plan.cpus;
    plan.seed = options.seed;
    plan.grace_period = options.grace_period;
    std::vector<std::string> wrong;
    std::vector<ContentionRow> rows;
    std::vector<Series> series;
    {
        Crew crew(plan);
        rows = run_all(crew, all_settings(settings), options, series, wrong);
    }
    for (const std::string &line : judge_order(rows))
        wrong.push_back(line);
    print_contention(rows, plan, wrong);
    std::string error;
    if (!options.json.empty() && !contention_json(rows, series, plan, wrong).write(options.json, error)) {
        std::fprintf(stderr, "kmirror: %s could not be written: %s\n", options.json.c_str(), error.c_str());
        return kFoundWrong;
    }
    return wrong.empty() ? kDone : kFoundWrong;
}

} // namespace kmirror::command
