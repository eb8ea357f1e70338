// SPDX-License-Identifier: GPL-2.0-only
//
// The crew: TBB workers that run batches on virtual CPUs, and the figures of a run.
//
// Owns     the TBB scheduler during a Crew's life: its limit is raised above the number of cores, or TBB
//          would start no more workers than those.
// Bounds   a round is one batch of every lane. TBB does not promise that batches run at the same time, so
//          none waits for another; a round ends when all have ended.
// Locking  a lane is its batch's alone; the end of a round orders it before the next.
// Fails    a CPU that cannot be leased is reported as wrong by the run.

#include "slab/implementation.h"
#include "slab/stress_load.h"

#include <kmirror/fault.h>
#include <kmirror/rcu.h>
#include <kmirror/slab_ops.h>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <cstring>

namespace kmirror::stress {

using Clock = std::chrono::steady_clock;

std::uint64_t Lane::now_ns()
{
    return static_cast<std::uint64_t>(Clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

namespace {
std::atomic<bool> stopping{false};
}

void request_stop() { stopping.store(true, std::memory_order_relaxed); }
bool stop_requested() { return stopping.load(std::memory_order_relaxed); }

// ---- figures ----------------------------------------------------------------------------------------

double Figures::operations_per_second_per_cpu() const
{
    return seconds > 0 ? static_cast<double>(operations) / seconds / cpus : 0;
}

double Figures::fairness() const
{
    double sum = 0, squares = 0;
    for (const double rate : rates) {
        sum += rate;
        squares += rate * rate;
    }
    return squares > 0 ? sum * sum / (squares * static_cast<double>(rates.size())) : 0;
}

kmirror_lock_stat Figures::lock(const char *name) const
{
    for (const kmirror_lock_stat &stat : locks)
        if (std::strcmp(stat.name, name) == 0)
            return stat;
    kmirror_lock_stat none{};
    none.name = name;
    return none;
}

double Figures::acquisitions_per_1000(const char *name) const
{
    return operations
               ? 1000.0 * static_cast<double>(lock(name).acquisitions) / static_cast<double>(operations)
               : 0;
}

namespace {

std::vector<kmirror_lock_stat> all_locks()
{
    std::vector<kmirror_lock_stat> locks(kmirror_lockstat_snapshot(nullptr, 0) + 16);
    const std::size_t used = kmirror_lockstat_snapshot(locks.data(), locks.size());
    locks.resize(std::min(used, locks.size()));
    return locks;
}

std::vector<Lane> new_lanes(const Plan &plan)
{
    std::vector<Lane> lanes(std::max(plan.cpus, plan.threads));
    for (unsigned i = 0; i < lanes.size(); i++) {
        lanes[i].index = i;
        lanes[i].cpu = i % plan.cpus;
        lanes[i].random.seed(plan.seed * 1000003 + i);
    }
    return lanes;
}

void forget(std::vector<Lane> &lanes)
{
    for (Lane &lane : lanes) {
        lane.operations = 0;
        lane.busy_ns = 0;
        lane.latency = {};
    }
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Keeps kMemoryPoints points, evenly spread over `seconds`.
class MemoryLog {
public:
    explicit MemoryLog(double seconds) : step_(seconds / kMemoryPoints) {}

    void take(const Load &load, double now)
    {
        if (now < next_ || points.size() == kMemoryPoints)
            return;
        points.push_back({now, load.memory()});
        next_ = now + step_;
    }
    std::vector<MemoryPoint> points;

private:
    double step_, next_ = 0;
};

std::uint64_t operations_of(const std::vector<Lane> &lanes)
{
    std::uint64_t sum = 0;
    for (const Lane &lane : lanes)
        sum += lane.operations;
    return sum;
}

} // namespace

// ---- threads ----------------------------------------------------------------------------------------

struct Crew::Threads {
    explicit Threads(unsigned threads)
        : limit(tbb::global_control::max_allowed_parallelism, threads + 1),
          arena(static_cast<int>(threads), 1)
    {
    }

    tbb::task_scheduler_handle scheduler{tbb::attach{}};
    tbb::global_control limit;
    tbb::task_arena arena;
    std::atomic<unsigned> refused{0};  // batches that did not get their CPU
    std::atomic<unsigned> begun{0};    // rounds
    std::atomic<unsigned> finished{0}; // batches
};

Crew::Crew(const Plan &plan) : plan_(plan), threads_(std::make_unique<Threads>(plan.threads))
{
    if (plan_.grace_period)
        kmirror_rcu_stepping(true);
}

Crew::~Crew()
{
    if (plan_.grace_period)
        kmirror_rcu_stepping(false);
    slab_under_test().cpu_unpin(); // this thread was one of the workers
    threads_->arena.terminate();
    // The limit has to outlive the workers: on one core it is what lets the last of them end.
    tbb::finalize(threads_->scheduler, std::nothrow);
}

void Crew::round(Load &load, std::vector<Lane> &lanes)
{
    // (T1) and (T2) say what TBB's own synchronisation does, for the thread sanitizer, which does not see
    // into it: a batch comes after the start of its round, and the end of the round after all its batches.
    const auto work = [&](Lane &lane) {
        if (plan_.grace_period)
            kmirror_rcu_run();
        const std::uint64_t start = Lane::now_ns();
        load.batch(lane);
        lane.busy_ns += Lane::now_ns() - start;
    };
    const auto batch = [&](std::size_t i) {
        (void)threads_->begun.load(std::memory_order_acquire); // (T1)
        if (slab_under_test().cpu_pin(static_cast<int>(lanes[i].cpu)) < 0)
            threads_->refused++;
        else
            work(lanes[i]);
        threads_->finished.fetch_add(1, std::memory_order_release); // (T2)
    };
    threads_->begun.fetch_add(1, std::memory_order_release); // (T1)
    threads_->arena.execute(
        [&] { tbb::parallel_for(std::size_t{0}, lanes.size(), batch, tbb::static_partitioner{}); });
    (void)threads_->finished.load(std::memory_order_acquire); // (T2)
    if (plan_.grace_period)
        kmirror_rcu_step();
}

Figures Crew::run(Load &load, double seconds, const std::function<void(std::uint64_t)> &tick,
                  const std::function<bool()> &enough)
{
    std::vector<Lane> lanes = new_lanes(plan_);
    const unsigned long injected_before = kmirror_fault_log_total();
    threads_->refused = 0;
    if (plan_.warm)
        warm_up(load, lanes);
    kmirror_lockstat_reset();
    kmirror_lockstat_enable(true);
    MemoryLog log(seconds);
    const Clock::time_point start = Clock::now();
    double elapsed = 0;
    do {
        round(load, lanes);
        tick(operations_of(lanes));
        elapsed = seconds_since(start);
        log.take(load, elapsed);
    } while (!stop_requested() &&
             (elapsed < seconds || (enough && elapsed < seconds + kMostExtraSeconds && !enough())));
    kmirror_lockstat_enable(false);
    Figures figures = figures_of(load, lanes, elapsed, kmirror_fault_log_total() - injected_before);
    figures.memory = std::move(log.points);
    return figures;
}

void Crew::warm_up(Load &load, std::vector<Lane> &lanes)
{
    const Clock::time_point start = Clock::now();
    unsigned long before = 0;
    do {
        before = load.slabs();
        for (unsigned i = 0; i < kSteadyRounds; i++)
            round(load, lanes);
    } while (!stop_requested() && seconds_since(start) < kMostWarmSeconds && load.slabs() > before + before / 50);
    forget(lanes);
}

Figures Crew::run_rounds(Load &load, unsigned warm, unsigned rounds,
                         const std::function<void(std::uint64_t)> &tick)
{
    std::vector<Lane> lanes = new_lanes(plan_);
    const unsigned long injected_before = kmirror_fault_log_total();
    threads_->refused = 0;
    for (unsigned i = 0; i < warm; i++) {
        round(load, lanes);
        tick(operations_of(lanes));
    }
    forget(lanes);
    kmirror_lockstat_reset();
    kmirror_lockstat_enable(true);
    const Clock::time_point start = Clock::now();
    for (unsigned i = 0; i < rounds; i++) {
        round(load, lanes);
        tick(operations_of(lanes));
    }
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    kmirror_lockstat_enable(false);
    return figures_of(load, lanes, elapsed.count(), kmirror_fault_log_total() - injected_before);
}

Figures Crew::figures_of(Load &load, const std::vector<Lane> &lanes, double seconds, std::uint64_t injected)
{
    Figures figures;
    figures.seconds = seconds;
    figures.cpus = plan_.cpus;
    figures.operations = operations_of(lanes);
    figures.locks = all_locks();
    for (const Lane &lane : lanes) {
        figures.latency.merge(lane.latency);
        figures.rates.push_back(1e9 * static_cast<double>(lane.operations) /
                                static_cast<double>(std::max<std::uint64_t>(lane.busy_ns, 1)));
    }
    figures.slabs = load.slabs();
    figures.injected = injected;
    figures.refused = load.refused();
    figures.wrong = load.finish();
    if (!plan_.scarce && figures.refused > injected)
        figures.wrong.push_back(std::to_string(figures.refused) + " operations got no memory, and " +
                                std::to_string(injected) + " failures were injected");
    if (threads_->refused)
        figures.wrong.push_back(std::to_string(threads_->refused) + " batches did not get their CPU");
    return figures;
}

} // namespace kmirror::stress
