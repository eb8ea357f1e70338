// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror stress --workload: chosen loads over generations, sheaf capacities and numbers of tasks, each repeated.
//
// Owns     the runs and their figures. The loads themselves are in slab/stress_*.
// Bounds   options.seconds of load, shared evenly, and for each run kMostWarmSeconds until its slabs are steady.
// Fails    with kFoundWrong when a load found something wrong or the result could not be written. Ctrl-C is no
//          failure: what was measured so far is shown.

#include "slab/implementation.h"
#include "tools/kmirror/stress_workload.h"

#include <kmirror/slab_ops.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "tools/kmirror/progress.h"
#include "tools/kmirror/stress.h"
#include "tools/kmirror/stress_live.h"

namespace kmirror::command {
namespace {

// Numbers with commas, each from `lowest` to `highest`.
template <class Number>
bool parse_numbers(const std::string &text, Number lowest, Number highest, std::vector<Number> &numbers)
{
    for (const std::string &part : split(text)) {
        Number value{};
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc() || end != part.data() + part.size() || value < lowest || value > highest)
            return false;
        numbers.push_back(value);
    }
    return true;
}

struct Choices {
    std::vector<const stress::LoadKind *> loads;
    std::vector<std::string> generations;
    std::vector<int> capacities;
    std::vector<unsigned> tasks;
};

// kDone, or what a bad option returned.
int read(const StressOptions &options, Choices &choices)
{
    if (!parse_loads(options.workload, choices.loads))
        return bad_option("--workload", options.workload, "it takes all, or with commas: " + workload_names());
    if (!parse_generations(options.slab, choices.generations))
        return bad_option("--slab", options.slab, kGenerationsAllowed);
    if (!parse_capacities(options.sheaves, choices.capacities))
        return bad_option("--sheaves", options.sheaves, capacities_allowed());
    if (options.tasks.empty())
        choices.tasks = {static_cast<unsigned>(slab_under_test().nr_cpus())};
    else if (!parse_numbers(options.tasks, 1u, kMaxThreads, choices.tasks))
        return bad_option("--tasks", options.tasks,
                          "it takes, with commas, numbers of tasks from 1 to " + std::to_string(kMaxThreads));
    const int status = check_cpus(options.cpus);
    return status != kDone ? status : check_json(options.json);
}

std::vector<WorkloadSetting> all_settings(const Choices &choices, bool threads)
{
    std::vector<WorkloadSetting> all;
    for (const stress::LoadKind *load : choices.loads)
        for (const std::string &generation : choices.generations)
            for (const int capacity : choices.capacities)
                for (const unsigned tasks : choices.tasks)
                    if (generation != "cpu-slab" || capacity == choices.capacities.front())
                        all.push_back({load, generation, generation == "cpu-slab" ? 0 : capacity, tasks, threads, {}});
    return all;
}

stress::Plan plan_of(const WorkloadSetting &setting, const StressOptions &options)
{
    const unsigned cpus = options.cpus ? options.cpus : static_cast<unsigned>(slab_under_test().nr_cpus());
    stress::Plan plan;
    plan.cpus = std::min(cpus, setting.tasks);
    plan.threads = setting.tasks;
    plan.seed = options.seed;
    plan.one_mm = setting.threads;
    plan.warm = true;
    return plan;
}

WorkloadRun run(const WorkloadSetting &setting, const StressOptions &options, double seconds,
                const CounterGroup &counters, const std::function<void(std::uint64_t)> &tick)
{
    stress::Crew crew(plan_of(setting, options));
    const char *before = slab_under_test().set_generation(setting.generation.c_str());
    const auto load = setting.load->make(crew.plan(), setting.capacity);
    const Counters at_start = counters.read();
    WorkloadRun done{crew.run(*load, seconds, tick), {}};
    done.counters = counters.read() - at_start;
    slab_under_test().set_generation(before);
    return done;
}

void run_all(std::vector<WorkloadSetting> &settings, const StressOptions &options, const CounterGroup &counters)
{
    const double seconds = options.seconds / static_cast<double>(settings.size() * options.repeat);
    Live live(options.live && !options.quiet);
    Progress progress(options.quiet || live.on());
    std::size_t done = 0;
    for (WorkloadSetting &setting : settings) {
        const std::string label = setting.name() + " (" + std::to_string(++done) + " of " +
                                  std::to_string(settings.size()) + ")";
        const auto tick = [&](std::uint64_t operations) {
            progress.update(label, operations);
            live.update(label, operations);
        };
        for (unsigned repeat = 0; repeat < options.repeat && !stress::stop_requested(); repeat++)
            setting.runs.push_back(run(setting, options, seconds, counters, tick));
        progress.share(static_cast<double>(done) / static_cast<double>(settings.size()));
    }
    progress.clear();
}

} // namespace

std::string workload_names()
{
    std::string names;
    for (const stress::LoadKind *kind : stress::all_loads())
        names += (names.empty() ? "" : ", ") + std::string(kind->name);
    return names;
}

bool parse_loads(const std::string &text, std::vector<const stress::LoadKind *> &loads)
{
    if (text == "all")
        loads = stress::all_loads();
    else
        for (const std::string &name : split(text))
            loads.push_back(stress::load_by_name(name));
    return std::count(loads.begin(), loads.end(), nullptr) == 0;
}

bool parse_capacities(const std::string &text, std::vector<int> &capacities)
{
    return parse_numbers(text, 0, kMostSheafCapacity, capacities);
}

std::string capacities_allowed()
{
    return "it takes, with commas, objects from 0 to " + std::to_string(kMostSheafCapacity);
}

std::string WorkloadSetting::name() const
{
    return std::string(load->name) + ", " + generation + ", " + capacity_text(capacity) + ", " +
           std::to_string(tasks) + (tasks == 1 ? " task" : " tasks") + ", " + mode();
}

std::vector<std::string> wrong_of(const std::vector<WorkloadSetting> &settings)
{
    std::vector<std::string> wrong;
    for (const WorkloadSetting &setting : settings)
        for (const WorkloadRun &run : setting.runs)
            for (const std::string &line : run.figures.wrong)
                wrong.push_back(setting.name() + ": " + line);
    return wrong;
}

int workload_main(const StressOptions &options)
{
    Choices choices;
    if (const int status = read(options, choices); status != kDone)
        return status;
    stop_on_interrupt();
    const CounterGroup counters;
    std::vector<WorkloadSetting> settings = all_settings(choices, options.mode == "thread");
    run_all(settings, options, counters);
    const bool stopped = stress::stop_requested();
    std::erase_if(settings, [](const WorkloadSetting &setting) { return setting.runs.empty(); });
    if (options.ktap)
        print_ktap(settings, stdout);
    else
        print_workloads(settings, options, stopped);
    if (!options.ktap && !counters.missing().empty())
        std::printf("No counters of the processor: %s.\n", counters.missing().c_str());
    std::string error;
    if (!options.json.empty() && !workload_json(settings, options, stopped).write(options.json, error)) {
        std::fprintf(stderr, "kmirror: %s could not be written: %s\n", options.json.c_str(), error.c_str());
        return kFoundWrong;
    }
    return wrong_of(settings).empty() ? kDone : kFoundWrong;
}

} // namespace kmirror::command
