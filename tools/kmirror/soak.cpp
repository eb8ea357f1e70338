// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror soak: random workloads, generations, sheaf capacities and numbers of threads, one after the other for a long
// time, while other CPUs go off and on, requests fail and memory runs out (soak_unrest.h); all is validated after each,
// about once a second.
//
// Owns     the allocator's generation and the level of messages that are shown, during its run.
// Bounds   options.seconds and one phase. Threads: up to kCrowd for each CPU where the load's memory allows it.
// Fails    with kFoundWrong at the first thing a load finds wrong, at a warning, or when memory grows; the watchdog ends
//          the process.

#include <fmt/format.h>
#include <kmirror/pages.h>
#include <kmirror/printk.h>
#include <kmirror/slab_ops.h>
#include <kmirror/topology.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>

#include "slab/stress_load.h"
#include "tools/kmirror/commands.h"
#include "tools/kmirror/progress.h"
#include "tools/kmirror/soak_unrest.h"
#include "tools/kmirror/stress.h"
#include "tools/kmirror/stress_live.h"
#include "tools/kmirror/stress_workload.h"
#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

using Random = std::mt19937_64;

constexpr double kPhaseSeconds = 0.8;
constexpr unsigned kCrowd = 64;          // threads for each CPU
constexpr double kGrowthKib = 4 * 1024;  // of the machine, from the second tenth of the phases to the last
constexpr int kErrorsAlone = 4;          // messages below this level: running out of memory is no news here
constexpr unsigned kFirstPhases = 30;    // before memory can be judged
constexpr unsigned kMixed = 5;           // chances of the mixed load, where each other one has one
constexpr unsigned long kLeastPages = 64, kMostPages = 1024; // of a node that is short of memory

const slab_ops &ops() { return *kmirror_slab_ops(); }

template <class List>
const auto &any_of(const List &list, Random &random)
{
    return list[random() % std::size(list)];
}

// ---- phases ------------------------------------------------------------------------------------------------------

// A load in unrest, which ends before it is validated.
class Disturbed final : public stress::Load {
public:
    Disturbed(std::unique_ptr<stress::Load> load, Unrest &unrest) : load_(std::move(load)), unrest_(unrest) {}
    void batch(stress::Lane &lane) override { load_->batch(lane); }
    stress::Memory memory() const override { return load_->memory(); }
    std::uint64_t refused() const override { return load_->refused(); }
    std::vector<std::string> finish() override
    {
        unrest_.stop();
        return load_->finish();
    }

private:
    std::unique_ptr<stress::Load> load_;
    Unrest &unrest_;
};

struct Phase {
    const stress::LoadKind *load; // NULL: the mixed load of the allocator, which knows how to be refused
    std::string generation;
    int capacity;
    bool failing;
    unsigned long pages_left; // to each node; 0: all
    stress::Plan plan;

    std::string name() const
    {
        return fmt::format("{}, {}, {}, {} CPUs, {} threads{}{}{}", load ? load->name : kAllocatorLoad, generation,
                           capacity_text(capacity), plan.cpus, plan.threads, plan.one_mm ? ", one mm" : "",
                           failing ? ", failing" : "",
                           pages_left ? fmt::format(", {} pages a node", pages_left) : "");
    }
};

bool is_tree(const stress::LoadKind *load) { return load && std::string_view(load->name).starts_with("tree"); }

bool is_light(const stress::LoadKind *load)
{
    for (const stress::LoadKind &kind : stress::mm_loads())
        if (load == &kind)
            return true;
    return is_tree(load);
}

// What is drawn from.
struct Choices {
    std::vector<const stress::LoadKind *> loads; // NULL: the mixed one
    std::vector<std::string> generations;
    std::vector<int> capacities;
};

Phase draw(const Choices &choices, Random &random)
{
    Phase phase{any_of(choices.loads, random), any_of(choices.generations, random),
                any_of(choices.capacities, random), false, 0, {}};
    if (phase.generation == "cpu-slab")
        phase.capacity = 0;
    // The mixed load and those of the tree know how to be refused.
    if (!phase.load || is_tree(phase.load)) {
        phase.failing = random() % 3 != 0;
        phase.pages_left = random() % 2 ? kLeastPages + random() % (kMostPages - kLeastPages) : 0;
    }
    phase.plan.cpus = 1 + static_cast<unsigned>(random() % static_cast<unsigned>(ops().nr_cpus()));
    const unsigned factors[] = {1, 1, 2, is_light(phase.load) ? kCrowd : 4};
    phase.plan.threads = phase.plan.cpus * any_of(factors, random);
    phase.plan.seed = random();
    phase.plan.one_mm = random() % 2;
    phase.plan.scarce = phase.pages_left != 0;
    return phase;
}

struct Tally {
    std::uint64_t phases = 0, scarce = 0, operations = 0, injected = 0, refused = 0, hotplugs = 0;
    unsigned most_threads = 0;
    std::vector<double> machine_kib; // handed out after each phase
    double most_resident_kib = 0;
    std::vector<std::string> wrong;
};

// What the caches that stay have of the machine's pages.
double machine_kib()
{
    unsigned long pages = 0;
    kmirror_drain_pages();
    for (int node = 0; node < ops().nr_nodes(); node++) {
        kmirror_page_counts counts{};
        if (kmirror_node_pages(node, &counts) == 0)
            pages += counts.managed - counts.free - counts.percpu;
    }
    return static_cast<double>(pages) * 4;
}

double resident_kib()
{
    double total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

void run(const Phase &phase, Watchdog &watchdog, Progress &progress, Tally &tally)
{
    watchdog.phase(phase.name());
    const char *before = ops().set_generation(phase.generation.c_str());
    stress::Crew crew(phase.plan);
    auto made = phase.load ? phase.load->make(phase.plan, phase.capacity)
                           : stress::new_allocator_load(phase.plan, phase.capacity);
    Unrest unrest({phase.plan.cpus, phase.plan.seed, phase.pages_left, phase.failing});
    Disturbed load(std::move(made), unrest);
    const unsigned long warned = kmirror_warn_count();
    stress::Figures figures = crew.run(load, kPhaseSeconds, [&](std::uint64_t operations) {
        watchdog.feed();
        progress.update(phase.name(), operations);
    });
    if (const unsigned long more = kmirror_warn_count() - warned)
        figures.wrong.push_back(fmt::format("{} warnings", more));
    ops().set_generation(before);
    tally.phases++;
    tally.scarce += phase.plan.scarce;
    tally.operations += figures.operations;
    tally.injected += figures.injected;
    tally.refused += figures.refused;
    tally.hotplugs += unrest.hotplugs();
    tally.most_threads = std::max(tally.most_threads, phase.plan.threads);
    tally.machine_kib.push_back(machine_kib());
    tally.most_resident_kib = std::max(tally.most_resident_kib, resident_kib());
    for (const std::string &line : figures.wrong)
        tally.wrong.push_back(fmt::format("phase {}: {}: {}", tally.phases, phase.name(), line));
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

void judge_memory(Tally &tally)
{
    const std::vector<double> &all = tally.machine_kib;
    if (all.size() < kFirstPhases)
        return;
    const auto tenth = static_cast<std::ptrdiff_t>(all.size() / 10);
    const double first = median({all.begin() + tenth, all.begin() + 2 * tenth}), last = median({all.end() - tenth, all.end()});
    fmt::print("pages in use after a phase: {:.0f} kB in the second tenth of the phases, {:.0f} kB in the last; the process "
               "was resident with {:.0f} kB at most\n",
               first, last, tally.most_resident_kib);
    if (last > first + kGrowthKib)
        tally.wrong.push_back("memory in use grows");
}

} // namespace

namespace {

bool read_loads(const std::string &text, std::vector<const stress::LoadKind *> &loads)
{
    if (text != kAllocatorLoad && !parse_loads(text, loads))
        return false;
    if (text == "all" || text == kAllocatorLoad)
        loads.insert(loads.end(), kMixed, nullptr);
    return true;
}

int read(const SoakOptions &options, Choices &choices)
{
    if (!read_loads(options.workload, choices.loads))
        return bad_option("--workload", options.workload,
                          "it takes all, allocator, or with commas: " + workload_names());
    if (!parse_generations(options.slab, choices.generations))
        return bad_option("--slab", options.slab, kGenerationsAllowed);
    if (!parse_capacities(options.sheaves, choices.capacities))
        return bad_option("--sheaves", options.sheaves, capacities_allowed());
    return kDone;
}

} // namespace

int soak_main(const SoakOptions &options)
{
    Choices choices;
    if (const int status = read(options, choices); status != kDone)
        return status;
    stop_on_interrupt();
    kmirror_set_loglevel(kErrorsAlone);
    Random random(options.seed);
    Watchdog watchdog;
    Progress progress(options.seconds, options.quiet);
    Tally tally;
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    while (elapsed() < options.seconds && tally.wrong.empty() && !stress::stop_requested())
        run(draw(choices, random), watchdog, progress, tally);
    progress.clear();
    fmt::print("{}\nseed {}: {} phases in {:.0f} s, {} of them short of memory, {} operations, up to {} threads, {} CPUs "
               "turned off or on, {} failures injected, {} operations refused\n",
               kmirror_machine_describe(), options.seed, tally.phases, elapsed(), tally.scarce,
               short_number(static_cast<double>(tally.operations)), tally.most_threads, count(tally.hotplugs),
               count(tally.injected), count(tally.refused));
    judge_memory(tally);
    for (const std::string &line : tally.wrong)
        fmt::print("WRONG: {}\n", line);
    if (tally.wrong.empty())
        fmt::print("Every cache, tree and address space was valid and empty after its phase.\n");
    return tally.wrong.empty() ? kDone : kFoundWrong;
}

} // namespace kmirror::command
