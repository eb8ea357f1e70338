// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror stress: the allocator and the tree under load with sheaves of 32, of 4 and off, and in the older
// generations of the allocator if asked for; what that did to throughput, latency and locks; and the verdict.
//
// Owns     the runs and their figures. The loads themselves are in slab/stress_*.
// Bounds   options.seconds of load and what it takes to give everything back; nothing waits without end.
// Fails    with kFoundWrong when a load found something wrong, when sheaves do not spare list_lock
//          (kLeastRatio), or when the result could not be written; an existing --json file is then as it
//          was.

#include "slab/implementation.h"
#include "tools/kmirror/stress.h"

#include <kmirror/fault.h>
#include <kmirror/slab_ops.h>
#include <kmirror/slab_sysfs.h>
#include <kmirror/trace.h>

#include "tools/kmirror/commands.h"
#include "tools/kmirror/json.h"
#include "tools/kmirror/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace kmirror::command {
namespace {

using stress::Crew;
using stress::Figures;

constexpr const char *kSheaves = "sheaves";
constexpr double kAllocatorShare = 2, kTreeShare = 1; // of the time, for each capacity of each generation

using Generations = std::vector<std::string>;

// What a generation is run with; those between the first and the last have one kind of sheaf.
std::vector<int> capacities_of(const std::string &generation)
{
    if (generation == kSheaves)
        return {32, 4, 0};
    return {generation == "cpu-slab" ? 0 : 32};
}

bool is_generation(const std::string &name)
{
    const char *before = slab_under_test().set_generation(name.c_str());
    if (before)
        slab_under_test().set_generation(before);
    return before != nullptr;
}

unsigned machine_cpus() { return static_cast<unsigned>(slab_under_test().nr_cpus()); }

// kDone, or what a bad option returned.
int check(const StressOptions &options, Generations &generations)
{
    if (!parse_generations(options.slab, generations))
        return bad_option("--slab", options.slab,
                          kGenerationsAllowed);
    for (const int status : {check_cpus(options.cpus), check_json(options.json)})
        if (status != kDone)
            return status;
    if (options.sysfs.empty())
        return kDone;
    const int refused = kmirror_slab_sysfs_export(options.sysfs.c_str());
    return refused ? bad_option("--sysfs", options.sysfs,
                                "it takes a folder that is new, empty or an earlier export: " +
                                    std::string(std::strerror(-refused)))
                   : kDone;
}

// Keeps --sysfs fresh, but not more often than somebody would look.
class Exporter {
public:
    explicit Exporter(std::string folder) : folder_(std::move(folder)) {}

    void tick()
    {
        const auto now = std::chrono::steady_clock::now();
        if (folder_.empty() || now < next_)
            return;
        kmirror_slab_sysfs_export(folder_.c_str());
        next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    }

private:
    std::string folder_;
    std::chrono::steady_clock::time_point next_;
};

stress::Plan plan_of(const StressOptions &options)
{
    stress::Plan plan;
    plan.cpus = options.cpus ? options.cpus : machine_cpus();
    plan.threads = options.threads ? options.threads : plan.cpus;
    plan.seed = options.seed;
    return plan;
}

// Can two threads of the load meet at a lock?
bool shares_locks(const stress::Plan &plan) { return plan.cpus > 1 && plan.threads > 1; }

bool list_lock_was_contended()
{
    kmirror_lock_stat stat;
    return kmirror_lockstat_get(kListLock, &stat) && stat.contended != 0;
}

StressRun run(Crew &crew, Progress &progress, Exporter &exporter, const char *load,
              const std::string &generation, int capacity, double seconds)
{
    const bool is_tree = load == kTreeLoad;
    const char *before = slab_under_test().set_generation(generation.c_str());
    kmirror_fault_pause();   // injected failures are for the load, not for what it stands on
    const auto made = is_tree ? stress::new_tree_load(crew.plan(), capacity)
                              : stress::new_allocator_load(crew.plan(), capacity);
    kmirror_fault_resume();
    slab_under_test().set_generation(before);
    const std::string label = std::string(load) + ", " + generation + ", " + capacity_text(capacity);
    const auto tick = [&](std::uint64_t operations) {
        progress.update(label, operations);
        exporter.tick();
    };
    // The verdict wants to see list_lock contended without sheaves; a short run may need longer for that.
    std::function<bool()> enough;
    if (!is_tree && generation == kSheaves && capacity == 0 && shares_locks(crew.plan()))
        enough = list_lock_was_contended;
    return {load, generation, capacity, crew.run(*made, seconds, tick, enough)};
}

std::vector<StressRun> run_all(const StressOptions &options, const Generations &generations,
                               const stress::Plan &plan)
{
    std::size_t settings = 0;
    for (const std::string &generation : generations)
        settings += capacities_of(generation).size();
    const double part = options.seconds / (static_cast<double>(settings) * (kAllocatorShare + kTreeShare));
    Crew crew(plan);
    Progress progress(options.seconds, options.quiet);
    Exporter exporter(options.sysfs);
    std::vector<StressRun> runs;
    for (const char *load : {kAllocatorLoad, kTreeLoad})
        for (const std::string &generation : generations)
            for (int capacity : capacities_of(generation))
                runs.push_back(run(crew, progress, exporter, load, generation, capacity,
                                   part * (load == kTreeLoad ? kTreeShare : kAllocatorShare)));
    progress.clear();
    return runs;
}

// NULL: generation sheaves was not run.
const Figures *allocator_figures(const std::vector<StressRun> &runs, int capacity)
{
    const auto found = std::find_if(runs.begin(), runs.end(), [&](const StressRun &run) {
        return run.load == kAllocatorLoad && run.generation == kSheaves && run.capacity == capacity;
    });
    return found == runs.end() ? nullptr : &found->figures;
}

void compare(StressVerdict &verdict, const Figures &with, const Figures &without, bool contention_wanted)
{
    verdict.compared = true;
    verdict.with_32 = with.acquisitions_per_1000(kListLock);
    verdict.without = without.acquisitions_per_1000(kListLock);
    verdict.contended_without = without.lock(kListLock).contended;
    verdict.faulty = with.injected + without.injected != 0;
    if (verdict.faulty)
        return;   // what was refused took other ways than the work that is compared
    if (verdict.without < kLeastRatio * verdict.with_32)
        verdict.wrong.push_back("sheaves of 32 do not spare list_lock as they should");
    if (contention_wanted && verdict.contended_without == 0)
        verdict.wrong.push_back("without sheaves list_lock was never contended");
}

StressVerdict judge(const std::vector<StressRun> &runs, const stress::Plan &plan)
{
    StressVerdict verdict;
    for (const StressRun &run : runs)
        for (const std::string &wrong : run.figures.wrong)
            verdict.wrong.push_back(std::string(run.load) + ", " + run.generation + ", " +
                                    capacity_text(run.capacity) + ": " + wrong);
    if (const Figures *with = allocator_figures(runs, 32))
        compare(verdict, *with, *allocator_figures(runs, 0), shares_locks(plan));
    return verdict;
}

} // namespace

std::vector<std::string> split(const std::string &list)
{
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= list.size();) {
        const std::size_t end = std::min(list.find(',', from), list.size());
        parts.push_back(list.substr(from, end - from));
        from = end + 1;
    }
    return parts;
}

int check_cpus(unsigned cpus)
{
    if (cpus <= machine_cpus())
        return kDone;
    return bad_option("--cpus", std::to_string(cpus),
                      "this machine has " + std::to_string(machine_cpus()) +
                          " CPUs, --machine takes a larger one");
}

int check_json(const std::string &file)
{
    std::string error;
    if (file.empty() || can_write(file, error))
        return kDone;
    return bad_option("--json", file, "it takes a file that can be written: " + error);
}

bool parse_generations(const std::string &text, std::vector<std::string> &out)
{
    if (text.empty()) {
        out = {slab_under_test().set_generation(nullptr)};
        return true;
    }
    if (text == "all") {
        out = {"cpu-slab", "cpu-slab+sheaves", "double", kSheaves};
        return true;
    }
    out = split(text);
    return std::all_of(out.begin(), out.end(), is_generation);
}

std::string capacity_text(int capacity)
{
    return capacity ? "sheaves of " + std::to_string(capacity) : "no sheaves";
}

int stress_main(const StressOptions &options)
{
    if (!options.workload.empty())
        return workload_main(options);
    Generations generations;
    if (const int status = check(options, generations); status != kDone)
        return status;
    if (const int status = open_trace(options.trace); status != kDone)
        return status;
    const stress::Plan plan = plan_of(options);
    const std::vector<StressRun> runs = run_all(options, generations, plan);
    if (kmirror_trace_close() != 0)
        std::fprintf(stderr, "kmirror: %s could not be written whole\n", options.trace.c_str());
    const StressVerdict verdict = judge(runs, plan);
    print_stress(runs, plan, verdict);
    if (options.json.empty())
        return verdict.wrong.empty() ? kDone : kFoundWrong;
    std::string error;
    if (stress_json(runs, plan, verdict).write(options.json, error))
        return verdict.wrong.empty() ? kDone : kFoundWrong;
    std::fprintf(stderr, "kmirror: %s could not be written: %s\n", options.json.c_str(), error.c_str());
    return kFoundWrong;
}

} // namespace kmirror::command
