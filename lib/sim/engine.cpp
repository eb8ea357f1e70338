// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/engine.cpp: who runs when. What a line costs is in coherence.cpp.
//
//   heap_     CPUs that have something to do, but for the running one, by (time, number); the caller of run_until()
//             stands in it as the last CPU
//   leave     a CPU that must wait is not in the heap until wake()
//
// Owns     CPUs, tasks and their fibers, until the process ends.
// Bounds   kMaxCpus CPUs.
// Locking  none: one thread.
// Fails    when nobody can run: run_until() returns false.
#include "lib/sim/engine.h"

#include "lib/sim/explore.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace kmirror::sim {

Engine engine;

Counts &Counts::operator+=(const Counts &other)
{
    accesses += other.accesses;
    misses += other.misses;
    transfers += other.transfers;
    atomics += other.atomics;
    switches += other.switches;
    ticks += other.ticks;
    callbacks += other.callbacks;
    lock_wait += other.lock_wait;
    softirq += other.softirq;
    return *this;
}

Counts Counts::operator-(const Counts &other) const
{
    Counts left = *this;
    left.accesses -= other.accesses;
    left.misses -= other.misses;
    left.transfers -= other.transfers;
    left.atomics -= other.atomics;
    left.switches -= other.switches;
    left.ticks -= other.ticks;
    left.callbacks -= other.callbacks;
    left.lock_wait -= other.lock_wait;
    left.softirq -= other.softirq;
    return left;
}

// ---- tasks

Task::Task(Cpu &on, std::function<void()> what, std::string called)
    : cpu(&on), body(std::move(what)), name(std::move(called)),
      fiber([](void *self) { engine.task_main(*static_cast<Task *>(self)); }, this, engine.setting.stack)
{
    kernel.cpu = static_cast<int>(on.id);
    kernel.node = on.place.node;
    kernel.leased = 1;
}

void Engine::task_main(Task &task)
{
    task.body();
    task.done = true;
    sleep();
    std::abort(); // nobody starts it again
}

Task &Engine::spawn(unsigned id, Ps start_at, std::function<void()> body, std::string name)
{
    Cpu &on = *cpus[id];
    tasks_.push_back(std::make_unique<Task>(on, std::move(body), std::move(name)));
    Task &task = *tasks_.back();
    if (!on.queued)
        on.now = std::max(on.now, start_at);
    start(task);
    return task;
}

void Engine::start(Task &task)
{
    Cpu &on = *task.cpu;
    if (task.ready || on.task == &task)
        return;
    task.ready = true;
    on.ready.push_back(&task);
    // An idle CPU that has left the heap comes back.
    if (on.task == on.idle.get() && !on.queued && &on != cpu)
        wake(on, cpu ? cpu->now : on.now);
}

// The next ready task, or the idle one, gets the running CPU.
void Engine::sleep()
{
    Cpu &on = *cpu;
    Task *next = on.idle.get();
    if (!on.ready.empty()) {
        next = on.ready.front();
        on.ready.pop_front();
        on.now += machine.costs.task_switch;
    }
    next->ready = false;
    on.slice_start = on.now;
    run_task(*next);
}

void Engine::run_task(Task &next)
{
    cpu->task = &next;
    set_working(*cpu, &next != cpu->idle.get());
    run_fiber(next.fiber);
}

void Engine::resched(bool now)
{
    Cpu &on = *cpu;
    if (on.ready.empty() || on.task->kernel.rcu_nesting != 0 ||
        (!now && on.now - on.slice_start < machine.costs.slice))
        return;
    if (on.task != on.idle.get()) {
        on.task->ready = true;
        on.ready.push_back(on.task);
    }
    sleep();
}

// Nothing to do: ticks as long as somebody has a use for them, else out of the heap until a task comes.
void Engine::idle_main(Cpu &of)
{
    for (;;) {
        if (!of.ready.empty()) {
            sleep();
        } else if (on_tick && needs_tick(of)) {
            of.now = std::max(of.now, of.next_tick);
            give_way();
            tick();
        } else {
            leave_for_next();
        }
    }
}

// ---- the heap

void Engine::push(Entry entry)
{
    heap_.push_back(entry);
    for (std::size_t at = heap_.size() - 1; at != 0;) {
        const std::size_t up = (at - 1) / 2;
        if (!heap_[at].before(heap_[up]))
            break;
        std::swap(heap_[at], heap_[up]);
        at = up;
    }
    if (entry.id < cpus.size())
        cpus[entry.id]->queued = true;
}

void Engine::sift_down(std::size_t at)
{
    for (;;) {
        std::size_t least = 2 * at + 1;
        if (least >= heap_.size())
            return;
        if (least + 1 < heap_.size() && heap_[least + 1].before(heap_[least]))
            least++;
        if (!heap_[least].before(heap_[at]))
            return;
        std::swap(heap_[at], heap_[least]);
        at = least;
    }
}

Engine::Entry Engine::pop()
{
    const Entry first = heap_[0];
    heap_[0] = heap_.back();
    heap_.pop_back();
    sift_down(0);
    return first;
}

// With an explorer the heap is only a set, and the caller of run_until() goes on when nobody else does.
Engine::Entry Engine::pop_chosen(bool running, bool gives_way)
{
    std::vector<unsigned> ready;
    for (const Entry &entry : heap_)
        if (entry.id < cpus.size())
            ready.push_back(entry.id);
    if (running)
        ready.push_back(cpu->id);
    const int chosen = explorer->choose(ready, running ? static_cast<int>(cpu->id) : -1, gives_way);
    const unsigned id = chosen < 0 ? static_cast<unsigned>(cpus.size()) : static_cast<unsigned>(chosen);
    if (running && id == cpu->id)
        return {cpu->now, id};
    const auto found = std::find_if(heap_.begin(), heap_.end(), [id](const Entry &entry) { return entry.id == id; });
    const Entry entry = *found;
    heap_.erase(found);
    return entry;
}

void Engine::decide(bool gives_way)
{
    const Entry next = pop_chosen(true, gives_way);
    if (next.id == cpu->id)
        return;
    push({cpu->now, cpu->id});
    enter(next);
}

// ---- switching

void Engine::set_limit()
{
    Cpu &self = *cpu;
    self.limit = heap_.empty() || explorer ? kNever : heap_[0].now + setting.skew;
    if (self.sections == 0 && !self.in_tick)
        self.limit = std::min(self.limit, self.next_tick);
}

void Engine::run_fiber(Fiber &next)
{
    Fiber *const from = running_;
    if (from == &next)
        return;
    if (cpu)
        cpu->counts.switches++;
    running_ = &next;
    Fiber::switch_to(*from, next);
}

void Engine::enter(Entry next)
{
    if (next.id == cpus.size()) {
        cpu = nullptr;
        run_fiber(controller_);
        return;
    }
    cpu = cpus[next.id].get();
    cpu->queued = false;
    set_limit();
    run_fiber(cpu->task->fiber);
}

void Engine::leave_for_next()
{
    if (heap_.empty()) {
        std::fprintf(stderr, "kmirror: no simulated CPU can run\n");
        std::abort(); // run_until() always stands in the heap
    }
    enter(explorer ? pop_chosen(false, false) : pop());
}

void Engine::give_way()
{
    if (explorer)
        decide(true);
    else
        sync();
}

void Engine::sync()
{
    if (explorer) {
        decide(false);
        return;
    }
    if (!somebody_earlier()) {
        set_limit();
        return;
    }
    const Entry next = heap_[0];
    heap_[0] = {cpu->now, cpu->id};
    cpu->queued = true;
    sift_down(0);
    enter(next);
}

void Engine::limit_passed()
{
    Cpu &self = *cpu;
    if (self.now >= self.next_tick && self.sections == 0 && !self.in_tick)
        tick();
    if (!explorer && !heap_.empty() && heap_[0].now + setting.skew < self.now)
        sync();
    else
        set_limit();
}

void Engine::section_end()
{
    if (--cpu->sections == 0 && cpu->now >= cpu->next_tick)
        limit_passed();
}

// (E1) holds for what a tick does as for anything else: it touches lines.
void Engine::tick()
{
    Cpu &self = *cpu;
    self.in_tick = true;
    self.counts.ticks++;
    const Ps missed = (self.now - self.next_tick) / machine.costs.tick_period;
    self.next_tick += (missed + 1) * machine.costs.tick_period;
    const Ps began = self.now;
    spend(machine.costs.tick);
    if (on_tick)
        on_tick(self);
    self.slice_start += self.now - began;
    self.in_tick = false;
    resched(false);
}

void Engine::wait_for_wake()
{
    set_working(*cpu, false);
    leave_for_next();
}

void Engine::wake(Cpu &waiting, Ps when)
{
    waiting.now = std::max(waiting.now, when);
    set_working(waiting, waiting.task != waiting.idle.get());
    push({waiting.now, waiting.id});
    if (cpu && !explorer)
        cpu->limit = std::min(cpu->limit, waiting.now + setting.skew);
}

bool Engine::run_until(Ps until)
{
    if (heap_.empty())
        return false;
    push({until, static_cast<unsigned>(cpus.size())});
    enter(explorer ? pop_chosen(false, false) : pop());
    return true;
}

void Engine::run_idle(unsigned id, const std::function<void()> &body)
{
    Cpu *const before = std::exchange(cpu, nullptr);
    Cpu *const place_before = std::exchange(place_cpu, cpus[id].get());
    Task *const task_before = std::exchange(idle_task, cpus[id]->idle.get());
    body();
    idle_task = task_before;
    place_cpu = place_before;
    cpu = before;
}

int Engine::act_as(int id)
{
    Cpu &self = cpu ? *cpu : *place_cpu;
    return std::exchange(self.acting, id);
}

// ---- cores and clocks

void Engine::set_working(Cpu &of, bool working)
{
    if (of.working == working)
        return;
    of.working = working;
    if (of.sibling < 0)
        return;
    Cpu &other = *cpus[static_cast<unsigned>(of.sibling)];
    for (Cpu *each : {&of, &other}) {
        const bool shared = of.working && other.working;
        each->scale = shared ? each->speed * machine.costs.smt_slowdown / kOne : each->speed;
        each->access = machine.costs.access * each->scale / kOne;
    }
}

void Engine::spend(Ps time)
{
    cpu->now += time * cpu->scale / kOne;
    if (cpu->now > cpu->limit)
        limit_passed();
}

Counts Engine::counts() const
{
    Counts sum;
    for (const auto &each : cpus)
        sum += each->counts;
    return sum;
}

std::uint64_t Engine::hash() const
{
    std::uint64_t value = 0xcbf29ce484222325;
    const auto mix = [&value](std::uint64_t word) { value = (value ^ word) * 0x100000001b3; };
    for (const auto &each : cpus) {
        mix(static_cast<std::uint64_t>(each->now));
        mix(each->counts.transfers);
    }
    for (const auto &task : tasks_)
        mix(task->iterations);
    return value;
}

Ps Engine::earliest() const
{
    return heap_.empty() ? 0 : heap_[0].now;
}

// ---- building

namespace {

enum Distance : std::uint8_t { kSelf, kSmt, kSameL3, kSameNode, kSamePackage, kOtherPackage };

Distance distance(const Cpu &a, const Cpu &b)
{
    if (a.id == b.id)
        return kSelf;
    if (a.place.core == b.place.core)
        return kSmt;
    if (a.place.l3 == b.place.l3)
        return kSameL3;
    if (a.place.node == b.place.node)
        return kSameNode;
    return a.place.package == b.place.package ? kSamePackage : kOtherPackage;
}

} // namespace

void Engine::init(const Machine &what, const std::vector<Place> &places, const Setting &how)
{
    machine = what;
    setting = how;
    const Costs &costs = machine.costs;
    moves_ = {0, costs.smt, costs.same_l3, costs.same_node, costs.same_package, costs.other_package};
    group_cpus_.assign(32, {});
    for (unsigned id = 0; id < places.size(); id++) {
        cpus.push_back(std::make_unique<Cpu>());
        Cpu &each = *cpus.back();
        each.id = id;
        each.place = places[id];
        each.group = static_cast<unsigned>(places[id].l3) % 32;
        each.scale = each.speed = machine.speed_of(id);
        each.access = costs.access * each.scale / kOne;
        each.filter.fill(kNoLine);
        each.next_tick = costs.tick_period + costs.tick_spread * id / static_cast<Ps>(places.size());
        group_cpus_[each.group].push_back(&each);
    }
    running_ = &controller_;
    distance_.resize(places.size() * places.size());
    for (const auto &a : cpus)
        for (const auto &b : cpus) {
            const Distance far = distance(*a, *b);
            distance_[a->id * cpus.size() + b->id] = far;
            if (far == kSmt)
                a->sibling = static_cast<int>(b->id);
            std::uint8_t &groups = group_distance_[a->group][b->group];
            groups = std::max<std::uint8_t>(groups, far);
        }
    for (const auto &each : cpus) {
        each->idle = std::make_unique<Task>(*each, [this, of = each.get()] { idle_main(*of); }, "idle");
        each->task = each->idle.get();
    }
    place_cpu = cpus[0].get();
    idle_task = cpus[0]->idle.get();
}

} // namespace kmirror::sim
