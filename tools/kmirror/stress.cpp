// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror stress: the allocator and the tree under load with sheaves of 32, of 4 and off; what that did to
// throughput, latency and locks; and the verdict.
//
// Owns     the runs and their figures. The loads themselves are in slab/stress_*.
// Bounds   options.seconds of load and what it takes to give everything back; nothing waits without end.
// Fails    with kFoundWrong when a load found something wrong, when sheaves do not spare list_lock
//          (kLeastRatio), or when the result could not be written; an existing --json file is then as it
//          was.

#include "tools/kmirror/stress.h"

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

constexpr int kCapacities[] = {32, 4, 0};
constexpr double kAllocatorShare = 2.0 / 9, kTreeShare = 1.0 / 9; // of the time, for each capacity

unsigned machine_cpus() { return static_cast<unsigned>(kmirror_slab_ops()->nr_cpus()); }

// kDone, or what a bad option returned.
int check(const StressOptions &options)
{
    if (options.cpus > machine_cpus())
        return bad_option("--cpus", std::to_string(options.cpus),
                          "this machine has " + std::to_string(machine_cpus()) +
                              " CPUs, --machine takes a larger one");
    std::string error;
    if (!options.json.empty() && !can_write(options.json, error))
        return bad_option("--json", options.json, "it takes a file that can be written: " + error);
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

StressRun run(Crew &crew, Progress &progress, Exporter &exporter, const char *load, int capacity,
              double seconds)
{
    const bool is_tree = load == kTreeLoad;
    const auto made = is_tree ? stress::new_tree_load(crew.plan(), capacity)
                              : stress::new_allocator_load(crew.plan(), capacity);
    const std::string label = std::string(load) + ", " + capacity_text(capacity);
    const auto tick = [&](std::uint64_t operations) {
        progress.update(label, operations);
        exporter.tick();
    };
    // The verdict wants to see list_lock contended without sheaves; a short run may need longer for that.
    std::function<bool()> enough;
    if (!is_tree && capacity == 0 && shares_locks(crew.plan()))
        enough = list_lock_was_contended;
    return {load, capacity, crew.run(*made, seconds, tick, enough)};
}

std::vector<StressRun> run_all(const StressOptions &options, const stress::Plan &plan)
{
    Crew crew(plan);
    Progress progress(options.seconds, options.quiet);
    Exporter exporter(options.sysfs);
    std::vector<StressRun> runs;
    for (int capacity : kCapacities)
        runs.push_back(run(crew, progress, exporter, kAllocatorLoad, capacity,
                           options.seconds * kAllocatorShare));
    for (int capacity : kCapacities)
        runs.push_back(run(crew, progress, exporter, kTreeLoad, capacity, options.seconds * kTreeShare));
    progress.clear();
    return runs;
}

const Figures &allocator_figures(const std::vector<StressRun> &runs, int capacity)
{
    return std::find_if(runs.begin(), runs.end(), [&](const StressRun &run) {
               return run.load == kAllocatorLoad && run.capacity == capacity;
           })->figures;
}

StressVerdict judge(const std::vector<StressRun> &runs, const stress::Plan &plan)
{
    StressVerdict verdict;
    const Figures &with = allocator_figures(runs, 32), &without = allocator_figures(runs, 0);
    verdict.with_32 = with.acquisitions_per_1000(kListLock);
    verdict.without = without.acquisitions_per_1000(kListLock);
    verdict.contended_without = without.lock(kListLock).contended;
    for (const StressRun &run : runs)
        for (const std::string &wrong : run.figures.wrong)
            verdict.wrong.push_back(std::string(run.load) + ", " + capacity_text(run.capacity) + ": " +
                                    wrong);
    if (verdict.without < kLeastRatio * verdict.with_32)
        verdict.wrong.push_back("sheaves of 32 do not spare list_lock as they should");
    if (shares_locks(plan) && verdict.contended_without == 0)
        verdict.wrong.push_back("without sheaves list_lock was never contended");
    return verdict;
}

} // namespace

std::string capacity_text(int capacity)
{
    return capacity ? "sheaves of " + std::to_string(capacity) : "no sheaves";
}

int stress_main(const StressOptions &options)
{
    if (const int status = check(options); status != kDone)
        return status;
    if (const int status = open_trace(options.trace); status != kDone)
        return status;
    const stress::Plan plan = plan_of(options);
    const std::vector<StressRun> runs = run_all(options, plan);
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
