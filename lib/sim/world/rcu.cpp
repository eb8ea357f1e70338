// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/world/rcu.cpp: callbacks and grace periods, driven by the ticks of the CPUs.
//
//   call_rcu    fresh       the CPU's own queue
//   tick        waiting     what is fresh gets the number of the grace period that it waits for
//   tick        done        that grace period is over; callbacks run in softirq, the rest in ksoftirqd
//
// A grace period begins when somebody needs one and none runs. A CPU notices it with its next tick and reports with the
// first tick after that which interrupts no read section; an idle CPU is quiet anyway. It ends with the last report.
//
// What softirq does at a time: up to 10 rounds and costs.softirq_limit; a round is 10 callbacks or a 128th of the queue,
// all of it above 10000: blimit, rcu_divisor and qhimark of the kernel. While ksoftirqd has work ticks leave it to it.
//
// Owns     the queues; a callback's room belongs to the object it frees.
// Locking  none: one thread. What other CPUs can see changes at ticks, whose times are in order but for the skew.
// Fails    misuse warns.
#include "lib/sim/explore.h"
#include "lib/sim/world/world.h"

#include <kmirror/rcu.h>
#include <linux/bug.h>
#include <linux/rcupdate.h>

#include "lib/kernel/rcu.h"

#include <deque>

using namespace kmirror::sim;

bool kmirror_rcu_checking;
struct lockdep_map rcu_callback_map = {"rcu_callback", 0};

namespace kmirror::sim {
namespace {

constexpr std::uint64_t kBatch = 10, kShareShift = 7, kManyCallbacks = 10000;
constexpr unsigned kSoftirqRounds = 10;
constexpr Ps kReportPrice = 100 * kNs;   // rcu_node's lock, once a grace period

// Callbacks, oldest first, linked through their heads.
class Queue {
public:
    void add(rcu_head *head)
    {
        head->next = nullptr;
        (first_ ? last_->next : first_) = head;
        last_ = head;
        size_++;
    }
    void add_all(Queue &other)
    {
        if (!other.first_)
            return;
        (first_ ? last_->next : first_) = other.first_;
        last_ = other.last_;
        size_ += other.size_;
        other = {};
    }
    rcu_head *take()
    {
        rcu_head *const head = first_;
        first_ = head->next;
        size_--;
        return head;
    }
    std::uint64_t size() const { return size_; }

private:
    rcu_head *first_ = nullptr, *last_ = nullptr;
    std::uint64_t size_ = 0;
};

struct Waiting {
    std::uint64_t period;
    Queue queue;
};

struct CpuRcu {
    Queue fresh;
    std::deque<Waiting> waiting;
    Queue done;
    std::uint64_t noticed = 0;     // the grace period it has seen begin
    std::uint64_t reported = 0;    // and the one it has been quiet in
    Task *ksoftirqd = nullptr;
    bool ksoftirqd_works = false;
};

std::vector<CpuRcu> all;
GracePeriods periods;
std::uint64_t running;      // number of the grace period under way; 0: none
std::uint64_t wanted;       // the latest that somebody waits for
unsigned missing;           // CPUs that have not reported
Ps began;

bool quiet_anyway(const Cpu &cpu) { return cpu.task == cpu.idle.get() && cpu.ready.empty(); }

void end_period();

void begin_period()
{
    running = periods.completed + 1;
    began = engine.cpu->now;
    missing = 0;
    for (const auto &cpu : engine.cpus) {
        if (quiet_anyway(*cpu)) {
            all[cpu->id].noticed = all[cpu->id].reported = running;
            if (explorer)
                explorer->released_by(cpu->id, &periods);
        }
        else
            missing++;
    }
    if (missing == 0)
        end_period(); // everybody is idle
}

void end_period()
{
    periods.completed = running;
    periods.last_end = engine.cpu->now;
    periods.longest = std::max(periods.longest, engine.cpu->now - began);
    running = 0;
    if (wanted > periods.completed)
        begin_period();
}

void report(Cpu &cpu, CpuRcu &mine)
{
    if (running == 0 || mine.reported == running)
        return;
    if (mine.noticed != running) {
        mine.noticed = running;
        return;
    }
    if (cpu.task->kernel.rcu_nesting != 0)
        return;
    mine.reported = running;
    if (explorer) {
        explorer->acquired(&periods);
        explorer->released(&periods);
    }
    cpu.now += kReportPrice;
    if (--missing == 0)
        end_period();
}

void advance(CpuRcu &mine)
{
    while (!mine.waiting.empty() && mine.waiting.front().period <= periods.completed) {
        mine.done.add_all(mine.waiting.front().queue);
        mine.waiting.pop_front();
    }
    if (mine.fresh.size() == 0)
        return;
    if (explorer && explorer->plant().early_rcu) {
        mine.done.add_all(mine.fresh);
        return;
    }
    // One that begins after now: the running one may have begun before.
    const std::uint64_t period = running != 0 ? running + 1 : periods.completed + 1;
    if (mine.waiting.empty() || mine.waiting.back().period != period)
        mine.waiting.push_back({period, {}});
    mine.waiting.back().queue.add_all(mine.fresh);
    wanted = std::max(wanted, period);
    if (running == 0)
        begin_period();
}

void run_one(CpuRcu &mine)
{
    rcu_head *const head = mine.done.take();
    engine.touch(head, sizeof(*head), Touch::Read, __builtin_return_address(0));
    engine.spend(engine.machine.costs.callback);
    engine.cpu->counts.callbacks++;
    if (explorer && !explorer->plant().early_rcu)
        explorer->acquired(&periods);
    head->func(head);
    if (explorer)
        explorer->released(&all);
}

void ksoftirqd_main(Cpu &cpu)
{
    CpuRcu &mine = all[cpu.id];
    for (;;) {
        while (mine.done.size() != 0)
            run_one(mine);
        mine.ksoftirqd_works = false;
        engine.sleep();
    }
}

void leave_to_ksoftirqd(Cpu &cpu, CpuRcu &mine)
{
    mine.ksoftirqd_works = true;
    if (mine.ksoftirqd)
        engine.start(*mine.ksoftirqd);
    else
        mine.ksoftirqd = &engine.spawn(cpu.id, cpu.now, [&cpu] { ksoftirqd_main(cpu); }, "ksoftirqd");
}

void softirq(Cpu &cpu, CpuRcu &mine)
{
    if (mine.done.size() == 0 || mine.ksoftirqd_works)
        return;
    const Ps start = cpu.now, end = start + engine.machine.costs.softirq_limit;
    for (unsigned round = 0; round < kSoftirqRounds && mine.done.size() != 0 && cpu.now < end; round++) {
        const std::uint64_t queued = mine.done.size();
        std::uint64_t count = queued > kManyCallbacks ? queued : std::max(kBatch, queued >> kShareShift);
        for (count = std::min(count, queued); count != 0 && cpu.now < end; count--)
            run_one(mine);
    }
    cpu.counts.softirq += cpu.now - start;
    if (mine.done.size() != 0)
        leave_to_ksoftirqd(cpu, mine);
}

void on_tick(Cpu &cpu)
{
    CpuRcu &mine = all[cpu.id];
    report(cpu, mine);
    advance(mine);
    softirq(cpu, mine);
}

bool has_work(Cpu &cpu)
{
    const CpuRcu &mine = all[cpu.id];
    return mine.fresh.size() != 0 || !mine.waiting.empty() || mine.done.size() != 0 ||
           (running != 0 && mine.reported != running);
}

// The running task waits for the next tick.
void wait_for_tick()
{
    engine.cpu->now = std::max(engine.cpu->now, engine.cpu->next_tick);
    engine.give_way();
    engine.limit_passed();
}

} // namespace

const GracePeriods &grace_periods() { return periods; }

std::uint64_t callbacks_waiting()
{
    std::uint64_t sum = 0;
    for (const CpuRcu &mine : all) {
        sum += mine.fresh.size() + mine.done.size();
        for (const Waiting &waiting : mine.waiting)
            sum += waiting.queue.size();
    }
    return sum;
}

void rcu_init()
{
    all.resize(engine.cpus.size());
    engine.on_tick = on_tick;
    engine.needs_tick = has_work;
}

} // namespace kmirror::sim

namespace kmirror::kernel {

bool in_rcu_callback() { return false; }
void flush_callbacks(unsigned) {}

} // namespace kmirror::kernel

extern "C" {

void rcu_read_lock(void) { kmirror_current()->rcu_nesting++; }

void rcu_read_unlock(void)
{
    WARN_ON_ONCE(kmirror_current()->rcu_nesting == 0);
    kmirror_current()->rcu_nesting--;
}

int rcu_read_lock_held(void) { return kmirror_current()->rcu_nesting != 0; }
void rcu_register_thread(void) {}
void rcu_unregister_thread(void) {}

void(call_rcu)(struct rcu_head *head, rcu_callback_t func)
{
    head->func = func;
    if (!engine.cpu) {
        // Nobody reads while the engine is idle.
        head->func(head);
        return;
    }
    engine.touch(head, sizeof(*head), Touch::Write, __builtin_return_address(0));
    engine.spend(engine.machine.costs.call_rcu);
    all[engine.cpu->id].fresh.add(head);
}

void(call_rcu_hurry)(struct rcu_head *head, rcu_callback_t func) { (call_rcu)(head, func); }

void synchronize_rcu(void)
{
    if (!engine.cpu)
        return;
    struct Flag {
        rcu_head head;
        bool set;
    } flag = {};
    (call_rcu)(&flag.head, [](rcu_head *head) { reinterpret_cast<Flag *>(head)->set = true; });
    while (!flag.set)
        wait_for_tick();
    if (explorer)
        explorer->acquired(&periods);
}

void rcu_barrier(void)
{
    while (engine.cpu && callbacks_waiting() != 0)
        wait_for_tick();
    if (explorer && engine.cpu)
        explorer->acquired(&all);
}

void kmirror_rcu_stepping(bool) {}
unsigned long kmirror_rcu_step(void) { return 0; }
unsigned long kmirror_rcu_run(void) { return 0; }

void kmirror_rcu_check(bool on) { kmirror_rcu_checking = on; }

void kmirror_rcu_suspicious(const char *file, int line, const char *what)
{
    kmirror_warn(file, line, what, "suspicious RCU usage: neither the lock nor a read section is held\n");
}

} // extern "C"
