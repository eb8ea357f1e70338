// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/engine.h: virtual CPUs with clocks of their own, and who runs when.
//
//   task (a fiber) -> access() / atomic() / lock ...      its CPU's clock moves on
//        clock beyond the limit -> another CPU runs       the one with the earliest (time, number)
//
// Rules
//   (E1) what other CPUs can notice is done by the CPU with the earliest (time, number): it is a sync point
//   (E2) a CPU that touches only its own lines runs on, at most `skew` beyond the second earliest
//   (E3) clocks are integers, ties go to the smaller number, no host address or time is ever looked at
//
// One simulation for each process. Not thread safe; everything runs on one host thread.
#pragma once

#include "lib/sim/fiber.h"
#include "lib/sim/lines.h"
#include "lib/sim/machine.h"

#include <linux/sched.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kmirror::sim {

struct Cpu;

// Something that runs on a CPU: a fiber and what the kernel's code knows of it.
struct Task {
    Task(Cpu &on, std::function<void()> what, std::string called);

    Cpu *cpu;
    task_struct kernel{};
    std::function<void()> body;
    std::string name;
    std::uint64_t iterations = 0;
    bool ready = false;    // in its CPU's queue
    bool done = false;
    Fiber fiber;
};

inline constexpr unsigned kFilterLines = 1024;

// Counters of one CPU, and of all of them.
struct Counts {
    std::uint64_t accesses = 0;    // calls of the instrumented code
    std::uint64_t misses = 0;      // that were not at hand
    std::uint64_t transfers = 0;   // that came from another CPU
    std::uint64_t atomics = 0;     // locked operations
    std::uint64_t switches = 0;    // of fibers
    std::uint64_t ticks = 0;
    std::uint64_t callbacks = 0;   // of RCU
    Ps lock_wait = 0;              // time in queues for locks
    Ps softirq = 0;                // time in callbacks
    Counts &operator+=(const Counts &other);
    Counts operator-(const Counts &other) const;
};

struct Cpu {
    // What every access looks at.
    Ps now = 0;
    Ps limit = 0;            // beyond it somebody else, or the tick, has to be looked at
    Ps access = 0;           // price of an access to a line at hand, by this CPU now
    Counts counts;
    std::array<std::uint32_t, kFilterLines> filter{};  // number << 1 | mine alone; see Engine::at_hand()

    unsigned id = 0;
    unsigned group = 0;      // L3, modulo 32
    Place place;
    int sibling = -1;        // the core's other thread
    std::int64_t speed = kOne;
    std::int64_t scale = kOne;   // speed, and slower while the sibling works
    Ps drained = 0;          // the store buffer is empty then
    unsigned sections = 0;   // locks held, interrupts off: no tick in between
    bool in_tick = false;
    bool queued = false;     // in the heap
    bool working = false;    // takes its part of the core
    int acting = -1;         // does something for another CPU: the one whose data it takes

    Task *task = nullptr;        // runs, or will when the CPU's turn comes
    std::unique_ptr<Task> idle;
    std::deque<Task *> ready;    // others that want the CPU, oldest first
    Ps next_tick = 0;
    Ps slice_start = 0;
};

// How a line is touched.
enum class Touch { Read, Write, Rmw };

class Engine {
public:
    struct Setting {
        Ps skew = 150 * kNs;          // of (E2)
        bool yield_always = false;    // each miss is a sync point: for the skew test
        std::uint64_t seed = 1;
        std::size_t memory = std::size_t{64} << 30;    // address space for simulated memory
        std::size_t stack = 64 << 10;                  // bytes of each task's
    };

    // Builds the CPUs. Once for each process, before anything else.
    void init(const Machine &machine, const std::vector<Place> &places, const Setting &setting);

    // ---- tasks

    // A new task; it begins when its CPU's clock has come to `start`.
    Task &spawn(unsigned cpu, Ps start, std::function<void()> body, std::string name);
    // Runs the tasks until no clock is before `until`, and returns to the caller. False when nothing can run any more.
    bool run_until(Ps until);
    // Runs `body` at once on the CPU with the engine idle: no time passes. For setting things up.
    void run_idle(unsigned cpu, const std::function<void()> &body);

    // ---- called from tasks

    // A line is touched; the slow half of the runtime's hooks. `size` bytes from `address`.
    void touch(const void *address, std::size_t size, Touch how, const void *place);
    // An atomic read-modify-write; `bytes` of it. `local`: of per-CPU data, without a lock prefix.
    void rmw(const void *address, std::size_t bytes, bool local, const void *place);
    // The store buffer is empty afterwards.
    void drain() { cpu->now = std::max(cpu->now, cpu->drained); }
    // Work that is not modelled, at the CPU's present speed.
    void spend(Ps time);
    // The CPU becomes the earliest one, (E1). With an explorer: a decision.
    void sync();
    // The same in a loop that waits for what another CPU does.
    void give_way();
    // What the clock has passed: the tick, other CPUs. Called when now > limit.
    void limit_passed();
    void section_begin() { cpu->sections++; }
    void section_end();

    // The running CPU waits until wake() says that it may go on, spinning.
    void wait_for_wake();
    void wake(Cpu &waiting, Ps when);
    // The running task waits for start(); others get its CPU.
    void sleep();
    void start(Task &task);
    // Others that are ready get the CPU if the running task's slice is used up; `now`: at once.
    void resched(bool now);
    // A call that runs as if on another CPU: per-CPU data are that one's.
    int act_as(int cpu);

    // ---- lines

    Lines lines;
    // The running CPU takes a line over, for a hand-off that was charged already.
    void give_line(std::uint32_t number, Cpu &to);
    bool at_hand(std::uint32_t number, bool write) const
    {
        const std::uint32_t entry = cpu->filter[number % kFilterLines];
        return entry == (number << 1 | 1) || (!write && entry == number << 1);
    }
    // Price of moving a line from one CPU to another.
    Ps transfer(const Cpu &from, const Cpu &to) const { return moves_[distance_[from.id * cpus.size() + to.id]]; }
    // Has a second CPU ever touched the line?
    bool line_shared(std::uint32_t number);

    // ---- state

    Cpu *cpu = nullptr;      // runs; null: the engine is idle and nothing costs time
    Cpu *place_cpu = nullptr;    // whose data an idle engine takes
    Task *idle_task = nullptr;   // the task of an idle engine
    std::vector<std::unique_ptr<Cpu>> cpus;
    Machine machine;
    Setting setting;
    Ps max_stamp_wait = 0;   // longest wait for a line's stamp: small while (E2) holds

    // The world's part. tick: callbacks and the scheduler, in the interrupted task; home: the node of a line's memory;
    // moved: a line came from another CPU.
    std::function<void(Cpu &)> on_tick;
    std::function<bool(Cpu &)> needs_tick;    // of an idle CPU
    std::function<int(std::uint32_t)> home_node = [](std::uint32_t) { return 0; };
    std::function<void(std::uint32_t, const void *, Ps)> on_move;

    Counts counts() const;
    // Of iterations and clocks of all CPUs: equal for equal runs.
    std::uint64_t hash() const;
    // The earliest clock of those that run.
    Ps earliest() const;

private:
    friend struct Task;
    struct Entry {
        Ps now;
        unsigned id;
        bool before(const Entry &other) const { return now != other.now ? now < other.now : id < other.id; }
    };
    void push(Entry entry);
    Entry pop();
    Entry pop_chosen(bool running, bool gives_way);
    void decide(bool gives_way);
    void sift_down(std::size_t at);
    bool somebody_earlier() const { return !heap_.empty() && heap_[0].before({cpu->now, cpu->id}); }
    void set_limit();
    void enter(Entry next);              // the CPU that was popped runs
    void leave_for_next();               // the running CPU is not in the heap
    void run_fiber(Fiber &next);
    void run_task(Task &next);           // of the running CPU
    void task_main(Task &task);
    void idle_main(Cpu &of);
    void set_working(Cpu &of, bool working);
    void tick();
    Ps read_price(Cpu &by, std::uint32_t number, Line &line, bool &moved);
    Ps write_price(Cpu &by, std::uint32_t number, Line &line, bool &moved);
    void miss(std::uint32_t number, Touch how, const void *place);
    void forget(std::uint32_t number, const Line &line, const Cpu &but);
    void remember(Cpu &by, std::uint32_t number, bool sole);
    Ps age_price(const Cpu &by, std::uint32_t number, Ps age) const;
    Ps memory_price(const Cpu &by, std::uint32_t number) const;

    std::vector<Entry> heap_;
    std::vector<std::unique_ptr<Task>> tasks_;
    Fiber controller_;
    Fiber *running_ = nullptr;
    std::vector<std::uint8_t> distance_;       // classes, by pairs of CPUs
    std::array<Ps, 6> moves_{};                // their prices
    std::vector<std::vector<Cpu *>> group_cpus_;
    std::array<std::array<std::uint8_t, 32>, 32> group_distance_{};
};

extern Engine engine;

} // namespace kmirror::sim
