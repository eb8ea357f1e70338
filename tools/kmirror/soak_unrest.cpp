// SPDX-License-Identifier: GPL-2.0-only
//
// The disturbances of kmirror soak, and its watchdog.
//
// Owns     the failure points' settings, the pages it holds back and the CPUs behind those at work, while each lives.
// Locking  Hotplug and Watchdog have a thread each; the rest is the caller's alone.
// Fails    Watchdog with SIGABRT.

#include "tools/kmirror/soak_unrest.h"

#include <dirent.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <kmirror/fault.h>
#include <kmirror/lockstat.h>
#include <kmirror/pages.h>
#include <kmirror/slab_ops.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "tools/kmirror/stress_workload.h"

namespace kmirror::command {
namespace {

constexpr int kPatience = 60;   // seconds without a round

// Points that a load meets while it runs; those of caches being made are for kmirror sweep.
constexpr const char *kPoints[] = {"failslab", "fail_page_alloc", "fail_sheaf_alloc", "fail_sheaf_prefill",
                                   "fail_barn_alloc", "fail_alloc_bulk", "fail_trylock", "fail_cpu_offline"};

void set_failures(const char *attributes)
{
    for (const char *point : kPoints)
        kmirror_fault_configure(fmt::format("{}:{}", point, attributes).c_str(), nullptr, 0);
}

const slab_ops &ops() { return *kmirror_slab_ops(); }
unsigned cpus() { return static_cast<unsigned>(ops().nr_cpus()); }

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

}  // namespace

// ---- watchdog ----------------------------------------------------------------------------------------------------

Watchdog::Watchdog() : thread_([this] { watch(); })
{
    std::signal(SIGUSR2, print_stack);
}

Watchdog::~Watchdog()
{
    over_ = true;
    thread_.join();
}

void Watchdog::phase(const std::string &name)
{
    const std::lock_guard guard(lock_);
    name_ = name;
}

void Watchdog::watch()
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

void Watchdog::bark()
{
    const std::lock_guard guard(lock_);
    fmt::print(stderr, "kmirror: no progress for {} s in: {}\n", kPatience, name_);
    std::vector<kmirror_lock_stat> locks(256);
    locks.resize(std::min(kmirror_lockstat_snapshot(locks.data(), locks.size()), locks.size()));
    print_lock_stat(locks, stderr);
    print_threads();
    std::abort();
}

// ---- CPUs --------------------------------------------------------------------------------------------------------

Hotplug::Hotplug(unsigned first, std::uint64_t seed) : first_(first), random_(seed), thread_([this] { work(); }) {}

void Hotplug::stop()
{
    if (over_.exchange(true))
        return;
    thread_.join();
    for (unsigned cpu = first_; cpu < cpus(); cpu++)
        ops().cpu_set_online(static_cast<int>(cpu), true);
}

void Hotplug::work()
{
    while (!over_ && first_ < cpus()) {
        const int cpu = static_cast<int>(first_ + random_() % (cpus() - first_));
        times_ += ops().cpu_set_online(cpu, random_() % 2 != 0) == 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

// ---- memory and failures -----------------------------------------------------------------------------------------

Squeeze::Squeeze(unsigned long left)
{
    if (left == 0)
        return;
    kmirror_drain_pages();
    for (int node = 0; node < ops().nr_nodes(); node++)
        take(node, left);
}

void Squeeze::take(int node, unsigned long left)
{
    kmirror_page_counts counts{};
    for (unsigned order = MAX_PAGE_ORDER;;) {
        if (kmirror_node_pages(node, &counts) != 0 || counts.free <= counts.reserve + left)
            return;
        while (order && (1ul << order) > counts.free - counts.reserve - left)
            order--;
        if (struct page *page = alloc_pages_node(node, GFP_NOWAIT | __GFP_THISNODE | __GFP_NOWARN, order))
            held_.emplace_back(page, order);
        else if (order-- == 0)
            return;
    }
}

void Squeeze::stop()
{
    for (const auto &[page, order] : held_)
        __free_pages(page, order);
    held_.clear();
}

Failures::Failures(bool wanted) : on_(wanted)
{
    if (on_)
        set_failures("probability=1,times=-1,ignore-gfp-wait=N,verbose=0");
}

void Failures::stop()
{
    if (on_)
        set_failures("probability=0");
    on_ = false;
}

}  // namespace kmirror::command
