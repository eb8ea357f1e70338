// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/program/run.cpp: see run.h.
//
// Owns     the tasks' states. Locking: none: one thread.
// Fails    with what is wrong in the result.
#include "lib/sim/program/run.h"

#include <kmirror/printk.h>
#include <kmirror/slab_info.h>
#include <linux/cpumask.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <unordered_map>

extern "C" void kmirror_sim_spend_base(unsigned part)
{
    using namespace kmirror::sim;
    if (engine.cpu)
        engine.spend(engine.machine.costs.mmap_base * part / kOne);
}

namespace kmirror::sim {
namespace {

constexpr Ps kStep = 250 * kUs;             // how often the run looks at the world
constexpr Ps kMostTime = 20'000 * kMs;      // of a run: grace periods that do not come

class Run {
public:
    Run(const RunSpec &spec, const std::function<void(Ps, std::uint64_t)> &progress)
        : spec_(spec), progress_(progress)
    {
    }
    RunResult go();

private:
    void prepare();
    void spawn_tasks();
    void task_body(unsigned index, Task *&self);
    bool step();
    bool wait_periods(unsigned count, unsigned &seen);
    void measure();
    void finish();
    std::uint64_t iterations() const;
    std::vector<std::uint64_t> iterations_by_cpu() const;
    void note_moves();
    void name_moves();
    void wrong(const std::string &what) { result_.wrong.push_back(what); }

    const RunSpec &spec_;
    const std::function<void(Ps, std::uint64_t)> &progress_;
    RunResult result_;
    std::vector<Task *> tasks_;
    Ps now_ = 0;
    bool stop_ = false;
    unsigned failed_ = 0, ended_wrong_ = 0;
    struct Move {
        std::uint64_t count;
        Ps time;
    };
    std::unordered_map<std::uint64_t, Move> moves_;   // by line and place
};

void Run::prepare()
{
    world_init(spec_.machine, spec_.setting);
    engine.run_idle(0, [this] {
        const int generation = kmirror_slab_generation_by_name(spec_.generation.c_str());
        kmirror_slab_set_generation(generation);
        const int before = kmirror_slab_sheaf_capacity(-1);
        kmirror_slab_sheaf_capacity(spec_.sheaf_capacity);
        spec_.load->prepare(spec_.sheaf_capacity);
        kmirror_slab_sheaf_capacity(before);
    });
}

// Cores before the other threads of cores, as will-it-scale binds its tasks.
std::vector<unsigned> cpu_order()
{
    std::vector<unsigned> order(engine.cpus.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [](unsigned a, unsigned b) {
        const auto second = [](unsigned id) {
            const int sibling = engine.cpus[id]->sibling;
            return sibling >= 0 && static_cast<unsigned>(sibling) < id;
        };
        return second(a) < second(b);
    });
    return order;
}

void Run::task_body(unsigned index, Task *&self)
{
    const Load &load = *spec_.load;
    void *const state = load.begin(index, spec_.setting.seed * 1000003 + index);
    if (!state) {
        failed_++;
        return;
    }
    while (!stop_) {
        if (!load.iterate(state)) {
            failed_++;
            break;
        }
        self->iterations++;
    }
    ended_wrong_ += load.end(state);
}

void Run::spawn_tasks()
{
    const std::vector<unsigned> order = cpu_order();
    tasks_.resize(spec_.tasks);
    for (unsigned i = 0; i < spec_.tasks; i++) {
        const Ps start = spec_.start_spread * (i % 97) / 97;
        tasks_[i] = &engine.spawn(order[i % order.size()], start, [this, i] { task_body(i, tasks_[i]); },
                                  "task " + std::to_string(i));
    }
}

std::uint64_t Run::iterations() const
{
    std::uint64_t sum = 0;
    for (const Task *task : tasks_)
        sum += task->iterations;
    return sum;
}

std::vector<std::uint64_t> Run::iterations_by_cpu() const
{
    std::vector<std::uint64_t> sums(engine.cpus.size());
    for (const Task *task : tasks_)
        sums[task->cpu->id] += task->iterations;
    return sums;
}

// False when nothing runs any more, or for too long.
bool Run::step()
{
    now_ += kStep;
    const bool going = engine.run_until(now_) && now_ < kMostTime;
    progress_(now_, iterations());
    return going;
}

// Goes on until that many grace periods have ended, or their time has passed where there is none.
bool Run::wait_periods(unsigned count, unsigned &seen)
{
    const std::uint64_t first = grace_periods().completed;
    const Ps start = now_;
    for (;;) {
        seen = static_cast<unsigned>(grace_periods().completed - first);
        const bool none = callbacks_waiting() == 0 && seen == 0;
        if (seen >= count || (none && now_ - start >= count * kPeriod))
            return true;
        if (!step() || failed_ != 0)
            return false;
    }
}

void Run::note_moves()
{
    engine.on_move = [this](std::uint32_t number, const void *place, Ps time) {
        const auto at = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(place)) & 0xffffffff;
        Move &move = moves_[static_cast<std::uint64_t>(number) << 32 | at];
        move.count++;
        move.time += time;
    };
}

// While the slabs are still there.
void Run::name_moves()
{
    std::unordered_map<std::string, MovedLine> sums;
    for (const auto &[key, move] : moves_) {
        const std::string what = line_label(static_cast<std::uint32_t>(key >> 32));
        const auto *place = reinterpret_cast<const void *>(static_cast<std::uintptr_t>(key & 0xffffffff));
        const std::string where = place_label(place);
        MovedLine &sum = sums[what + "\n" + where];
        sum.what = what;
        sum.place = where;
        sum.count += move.count;
        sum.time += move.time;
    }
    for (auto &[key, line] : sums)
        result_.lines.push_back(std::move(line));
    std::sort(result_.lines.begin(), result_.lines.end(), [](const MovedLine &a, const MovedLine &b) {
        return a.count != b.count ? a.count > b.count : a.what + a.place < b.what + b.place;
    });
}

void Run::measure()
{
    unsigned seen = 0;
    if (!wait_periods(spec_.warm, seen))
        return wrong("the warm-up did not end");
    const Counts before = engine.counts();
    const std::uint64_t iterations_before = iterations();
    const std::vector<std::uint64_t> by_cpu = iterations_by_cpu();
    const Ps start = now_;
    lock_stats_reset();
    if (spec_.lines)
        note_moves();
    const unsigned half = spec_.periods / 2;
    unsigned first = 0, second = 0;
    bool fine = half == 0 || wait_periods(half, first);
    const std::uint64_t middle = iterations();
    const Ps middle_time = now_;
    fine = fine && wait_periods(spec_.periods - half, second);
    if (!fine)
        return wrong("the measurement did not end");
    engine.on_move = nullptr;
    name_moves();
    result_.iterations = iterations() - iterations_before;
    result_.cpu_iterations = iterations_by_cpu();
    for (std::size_t cpu = 0; cpu < by_cpu.size(); cpu++)
        result_.cpu_iterations[cpu] -= by_cpu[cpu];
    result_.window = now_ - start;
    result_.periods = first + second;
    result_.counts = engine.counts() - before;
    result_.locks = lock_stats();
    result_.hash = engine.hash();
    result_.max_stamp_wait = engine.max_stamp_wait;
    result_.longest_period = grace_periods().longest;
    const auto rate = [](std::uint64_t count, Ps time) { return double(count) / double(std::max<Ps>(time, 1)); };
    if (half != 0 && middle > iterations_before)
        result_.drift = rate(iterations_before + result_.iterations - middle, now_ - middle_time) /
                            rate(middle - iterations_before, middle_time - start) -
                        1;
}

void Run::finish()
{
    stop_ = true;
    const auto all_done = [this] {
        return std::all_of(tasks_.begin(), tasks_.end(), [](const Task *task) { return task->done; });
    };
    while (!all_done())
        if (!step())
            return wrong("the tasks did not end");
    unsigned long left = 0;
    const unsigned long warned = kmirror_warn_count();
    Task &last = engine.spawn(0, now_, [this, &left] { kvfree_rcu_barrier(); left = spec_.load->finish(); }, "finish");
    while (!last.done)
        if (!step())
            return wrong("what was freed did not come back");
    if (left != 0)
        wrong(std::to_string(left) + " objects are left");
    if (kmirror_warn_count() != warned)
        wrong("closing the caches warned");
}

RunResult Run::go()
{
    prepare();
    spawn_tasks();
    measure();
    if (spec_.finish && result_.wrong.empty())
        finish();
    result_.all_iterations = iterations();
    if (failed_ != 0)
        wrong(std::to_string(failed_) + " tasks had a call that failed");
    if (ended_wrong_ != 0)
        wrong(std::to_string(ended_wrong_) + " things were not as they should be at the end");
    return std::move(result_);
}

} // namespace

RunResult run(const RunSpec &spec, const std::function<void(Ps, std::uint64_t)> &progress)
{
    return Run(spec, progress).go();
}

} // namespace kmirror::sim
