// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror soak: random workloads, generations, sheaf capacities, numbers of threads and failures, one after the other
// for a long time, while other CPUs go off and on; all is validated after each, about once a second.
//
// Owns     the failure points' settings and the CPUs behind those at work, during its run.
// Bounds   options.seconds and one phase. Threads: up to kCrowd for each CPU where the load's memory allows it.
// Fails    with kFoundWrong at the first thing a load finds wrong, when memory grows, or when a phase makes no progress
//          for kPatience seconds: the watchdog then prints all locks and the stack of every thread, and ends the process.

#include <dirent.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <kmirror/fault.h>
#include <kmirror/pages.h>
#include <kmirror/slab_ops.h>
#include <kmirror/topology.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>

#include "slab/stress_load.h"
#include "tools/kmirror/commands.h"
#include "tools/kmirror/progress.h"
#include "tools/kmirror/stress.h"
#include "tools/kmirror/stress_live.h"
#include "tools/kmirror/stress_workload.h"
#include "tools/kmirror/table.h"

namespace kmirror::command {
namespace {

using Random = std::mt19937_64;

constexpr double kPhaseSeconds = 0.8;
constexpr unsigned kCrowd = 64;          // threads for each CPU
constexpr int kPatience = 60;            // seconds without a round
constexpr double kGrowthKib = 4 * 1024;  // of the machine, from the second tenth of the phases to the last
constexpr unsigned kFirstPhases = 30;    // before memory can be judged
constexpr const char *kGenerations[] = {"cpu-slab", "cpu-slab+sheaves", "double", "sheaves"};
constexpr int kCapacities[] = {0, 4, 32, 128};
// Chance of one request to fail: per cent.
constexpr const char *kFailing = "failslab:probability=1,times=-1", *kNotFailing = "failslab:probability=0";

const slab_ops &ops() { return *kmirror_slab_ops(); }

template <class List>
const auto &any_of(const List &list, Random &random)
{
    return list[random() % std::size(list)];
}

// ---- watchdog ----------------------------------------------------------------------------------------------------

void print_stack(int)
{
    void *frames[32];
    backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
}

// Every thread says where it is; in the code of a lock: it waits for that.
void print_threads()
{
    DIR *folder = opendir("/proc/self/task");
    while (const dirent *entry = folder ? readdir(folder) : nullptr) {
        const int thread = std::atoi(entry->d_name);
        if (thread == 0)
            continue;
        fmt::print(stderr, "thread {}:\n", thread);
        syscall(SYS_tgkill, getpid(), thread, SIGUSR2);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (folder)
        closedir(folder);
}

class Watchdog {
public:
    Watchdog() : thread_([this] { watch(); }) { std::signal(SIGUSR2, print_stack); }
    ~Watchdog()
    {
        over_ = true;
        thread_.join();
    }
    void feed() { fed_++; }
    void phase(const std::string &name) { name_ = name; }

private:
    void watch()
    {
        std::uint64_t seen = 0;
        for (int hungry = 0; !over_; hungry = fed_ == seen ? hungry + 1 : 0) {
            seen = fed_;
            for (int i = 0; i < 10 && !over_; i++)
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            if (hungry >= kPatience)
                bark();
        }
    }
    [[noreturn]] void bark()
    {
        fmt::print(stderr, "kmirror: no progress for {} s in: {}\n", kPatience, name_);
        std::vector<kmirror_lock_stat> locks(256);
        locks.resize(std::min(kmirror_lockstat_snapshot(locks.data(), locks.size()), locks.size()));
        print_lock_stat(locks, stderr);
        print_threads();
        std::abort();
    }

    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> fed_{0};
    std::string name_;
    std::thread thread_;
};

// ---- disturbances ------------------------------------------------------------------------------------------------

// CPUs from `first` on go off and come back until it is stopped; they are all there afterwards.
class Hotplug {
public:
    Hotplug(unsigned first, std::uint64_t seed) : first_(first), random_(seed), thread_([this] { work(); }) {}
    ~Hotplug() { stop(); }
    void stop()
    {
        if (over_.exchange(true))
            return;
        thread_.join();
        for (unsigned cpu = first_; cpu < cpus(); cpu++)
            ops().cpu_set_online(static_cast<int>(cpu), true);
    }
    std::uint64_t times() const { return times_; }

private:
    static unsigned cpus() { return static_cast<unsigned>(ops().nr_cpus()); }
    void work()
    {
        while (!over_ && first_ < cpus()) {
            const int cpu = static_cast<int>(first_ + random_() % (cpus() - first_));
            times_ += ops().cpu_set_online(cpu, random_() % 2 != 0) == 0;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    unsigned first_;
    Random random_;
    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> times_{0};
    std::thread thread_;
};

// A load beside which CPUs come and go; they do no more when it is validated, which wants to be alone.
class Disturbed final : public stress::Load {
public:
    Disturbed(std::unique_ptr<stress::Load> load, Hotplug &hotplug) : load_(std::move(load)), hotplug_(hotplug) {}
    void batch(stress::Lane &lane) override { load_->batch(lane); }
    stress::Memory memory() const override { return load_->memory(); }
    std::uint64_t refused() const override { return load_->refused(); }
    std::vector<std::string> finish() override
    {
        hotplug_.stop();
        return load_->finish();
    }

private:
    std::unique_ptr<stress::Load> load_;
    Hotplug &hotplug_;
};

// ---- phases ------------------------------------------------------------------------------------------------------

struct Phase {
    const stress::LoadKind *load; // NULL: the mixed load of the allocator, which knows how to be refused
    std::string generation;
    int capacity;
    bool failing;
    stress::Plan plan;

    std::string name() const
    {
        return fmt::format("{}, {}, {}, {} CPUs, {} threads{}{}", load ? load->name : kAllocatorLoad, generation,
                           capacity_text(capacity), plan.cpus, plan.threads, plan.one_mm ? ", one mm" : "",
                           failing ? ", failing" : "");
    }
};

bool is_light(const stress::LoadKind *load)
{
    for (const stress::LoadKind &kind : stress::mm_loads())
        if (load == &kind)
            return true;
    return load && std::string_view(load->name).starts_with("tree");
}

Phase draw(Random &random)
{
    const std::vector<const stress::LoadKind *> loads = stress::all_loads();
    const std::size_t drawn = random() % (loads.size() + 3);
    Phase phase{drawn < loads.size() ? loads[drawn] : nullptr, any_of(kGenerations, random), any_of(kCapacities, random),
                false, {}};
    if (phase.generation == "cpu-slab")
        phase.capacity = 0;
    phase.failing = !phase.load && random() % 3 != 0;
    phase.plan.cpus = 1 + static_cast<unsigned>(random() % static_cast<unsigned>(ops().nr_cpus()));
    const unsigned factors[] = {1, 1, 2, is_light(phase.load) ? kCrowd : 4};
    phase.plan.threads = phase.plan.cpus * any_of(factors, random);
    phase.plan.seed = random();
    phase.plan.one_mm = random() % 2;
    return phase;
}

struct Tally {
    std::uint64_t phases = 0, operations = 0, injected = 0, refused = 0, hotplugs = 0;
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
    Hotplug hotplug(phase.plan.cpus, phase.plan.seed);
    Disturbed load(std::move(made), hotplug);
    if (phase.failing)
        kmirror_fault_configure(kFailing, nullptr, 0);
    const stress::Figures figures = crew.run(load, kPhaseSeconds, [&](std::uint64_t operations) {
        watchdog.feed();
        progress.update(phase.name(), operations);
    });
    kmirror_fault_configure(kNotFailing, nullptr, 0);
    ops().set_generation(before);
    tally.phases++;
    tally.operations += figures.operations;
    tally.injected += figures.injected;
    tally.refused += figures.refused;
    tally.hotplugs += hotplug.times();
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

int soak_main(const SoakOptions &options)
{
    stop_on_interrupt();
    Random random(options.seed);
    Watchdog watchdog;
    Progress progress(options.seconds, options.quiet);
    Tally tally;
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    while (elapsed() < options.seconds && tally.wrong.empty() && !stress::stop_requested())
        run(draw(random), watchdog, progress, tally);
    progress.clear();
    fmt::print("{}\nseed {}: {} phases in {:.0f} s, {} operations, up to {} threads, {} CPUs turned off or on, {} failures "
               "injected, {} operations refused\n",
               kmirror_machine_describe(), options.seed, tally.phases, elapsed(), short_number(static_cast<double>(tally.operations)),
               tally.most_threads, tally.hotplugs, count(tally.injected), count(tally.refused));
    judge_memory(tally);
    for (const std::string &line : tally.wrong)
        fmt::print("WRONG: {}\n", line);
    if (tally.wrong.empty())
        fmt::print("Every cache, tree and address space was valid and empty after its phase.\n");
    return tally.wrong.empty() ? kDone : kFoundWrong;
}

} // namespace kmirror::command
