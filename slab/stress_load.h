// SPDX-License-Identifier: GPL-2.0-only
//
// Loads for stress runs, and the crew of threads that drives them over virtual CPUs.
//
//   Crew crew({.cpus = 8, .threads = 8, .seed = 1});
//   auto load = new_allocator_load(crew.plan(), 32);
//   Figures figures = crew.run(*load, 3.0, [](std::uint64_t operations) { ... });
//   figures.wrong, figures.latency, figures.locks ...
//
// Owns     a Crew owns TBB's scheduler and its worker threads; a Load owns its caches or its tree.
// Bounds   a run lasts `seconds` and at most one round (some milliseconds) longer, or kMostExtraSeconds
//          where that is asked for; a load holds a bounded number of objects. After a Crew is gone none of
//          its threads is left.
// Locking  one run at a time, from one thread. A lane's batches never run beside each other.
// Fails    what went wrong in a load is told in Figures::wrong; nothing is thrown.
#pragma once

#include "slab/stress_histogram.h"

#include <kmirror/lockstat.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kmirror::stress {

struct Plan {
    unsigned cpus = 1;         // virtual CPUs 0 to cpus - 1 are used
    unsigned threads = 1;      // workers; fewer than CPUs take turns, more than CPUs share
    std::uint64_t seed = 1;    // of all choices
    // Operations of one batch; 0: the load's own number. Not 0: RCU goes by steps (<kmirror/rcu.h>), each CPU
    // runs its callbacks at the start of a batch, and each round ends with a grace period.
    unsigned grace_period = 0;
    bool one_mm = false;       // loads on lib/mm share one address space, as threads do, instead of one each
    bool scarce = false;       // memory may run out: what is refused then is not wrong
    bool warm = false;         // Crew::run() begins to count when the number of slabs is steady
};

// Lanes that share a CPU. Batches grow shorter with them, so that a round does not grow longer.
inline unsigned lanes_per_cpu(const Plan &plan) { return std::max(1u, plan.threads / plan.cpus); }

// For Plan::warm: so many rounds bring less than 2 % of slabs, or so many seconds have passed.
inline constexpr unsigned kSteadyRounds = 8;
inline constexpr double kMostWarmSeconds = 2;

// Runs end after the round that is under way, from now on. Async-signal-safe.
void request_stop();
bool stop_requested();

// Memory of a load's caches.
struct Memory {
    unsigned long slabs = 0, partial = 0;            // slabs, and those on partial lists
    unsigned long objects = 0, used = 0, sheaved = 0; // objects of all slabs; taken out of them; in barns
    unsigned long kib = 0;                           // of slabs, none of it reclaimable
};
struct MemoryPoint {
    double seconds; // since the counting began
    Memory memory;
};

// How much longer than asked a run may go on to see what it waits for.
inline constexpr double kMostExtraSeconds = 5;

// One operation of this many is timed: a clock read costs as much as the operation itself.
inline constexpr unsigned kSampled = 16;

// One strand of work on one CPU, with what it did and how long it took. There are as many as there are CPUs
// or, if more, workers.
struct alignas(64) Lane {
    unsigned index = 0;
    unsigned cpu = 0;
    std::mt19937_64 random;
    std::uint64_t operations = 0;
    std::uint64_t busy_ns = 0; // in batches
    Histogram latency;

    static std::uint64_t now_ns();

    // Performs one operation, counts it, and times it if its turn has come.
    template <class Operation>
    auto timed(Operation operation)
    {
        if (operations++ % kSampled)
            return operation();
        const Stopwatch watch{*this};
        return operation();
    }

private:
    struct Stopwatch {
        Lane &lane;
        std::uint64_t start = now_ns();
        ~Stopwatch() { lane.latency.record(now_ns() - start); }
    };
};

// Something to do, in batches of a few hundred microseconds.
class Load {
public:
    virtual ~Load() = default;

    // Some work on `lane.cpu`, which the calling thread runs on. Many CPUs at once.
    virtual void batch(Lane &lane) = 0;

    // Of the caches that the load is about, while nobody works; all 0 where it does not say.
    unsigned long slabs() const { return memory().slabs; }
    virtual Memory memory() const { return {}; }

    // Operations that got no memory and changed nothing. As many as failures were injected are none of the
    // load's business; more are wrong. 0 where finish() tells of them itself.
    virtual std::uint64_t refused() const { return 0; }

    // Ends the load: gives everything back and checks it. What is wrong; nothing: all is well.
    virtual std::vector<std::string> finish() = 0;
};

// Objects of three sizes, allocated on one CPU and freed on another, in parcels larger than a sheaf.
// sheaf_capacity: objects in each sheaf; 0: none.
std::unique_ptr<Load> new_allocator_load(const Plan &plan, int sheaf_capacity);

// One maple tree in RCU mode: most look ranges up without a lock, some store and erase them.
std::unique_ptr<Load> new_tree_load(const Plan &plan, int sheaf_capacity);

// A load by its name, with sheaves of `sheaf_capacity` objects (0: none) in the caches it makes.
struct LoadKind {
    const char *name;
    const char *what;     // one operation
    const char *stresses; // caches and locks
    std::unique_ptr<Load> (*make)(const Plan &plan, int sheaf_capacity);
};

// will-it-scale's cases on lib/mm, each lane with an address space of its own (stress_mm.cpp).
std::span<const LoadKind> mm_loads();

// Caches of the load's own (stress_slab.cpp).
std::span<const LoadKind> slab_loads();

// Ways of using memory, on caches of the load's own (stress_patterns.cpp).
std::span<const LoadKind> pattern_loads();

// The tree under readers (stress_tree.cpp).
std::span<const LoadKind> tree_loads();

// All of them.
std::vector<const LoadKind *> all_loads();

// NULL: there is none of that name.
const LoadKind *load_by_name(std::string_view name);

inline constexpr std::size_t kMemoryPoints = 60;

// What a run showed.
struct Figures {
    std::uint64_t operations = 0;
    double seconds = 0;
    unsigned cpus = 1;
    Histogram latency;                    // ns of one operation
    std::vector<kmirror_lock_stat> locks; // by class
    unsigned long slabs = 0;              // Load::slabs() after the last round
    std::vector<double> rates;            // of each lane, operations a second while it was at work
    std::vector<MemoryPoint> memory;      // at most kMemoryPoints, from the first round to the last
    std::uint64_t injected = 0;           // failures, see <kmirror/fault.h>
    std::uint64_t refused = 0;            // Load::refused()
    std::vector<std::string> wrong;

    double operations_per_second_per_cpu() const;
    // Jain's index of the rates: 1 when all lanes are as fast, 1 / lanes when one is and the others stand.
    double fairness() const;
    // All zero if the class was never used.
    kmirror_lock_stat lock(const char *name) const;
    // Acquisitions of that class for each 1000 operations.
    double acquisitions_per_1000(const char *name) const;
};

class Crew {
public:
    explicit Crew(const Plan &plan);
    ~Crew();
    Crew(const Crew &) = delete;
    Crew &operator=(const Crew &) = delete;

    const Plan &plan() const { return plan_; }

    // Runs the load for about `seconds` and finishes it. `tick` hears of the operations so far between
    // rounds. With `enough` the run goes on until that is true as well, but at most kMostExtraSeconds longer.
    Figures run(Load &load, double seconds, const std::function<void(std::uint64_t)> &tick,
                const std::function<bool()> &enough = {});

    // Runs `warm` rounds, then counts over `rounds` more, and finishes the load.
    Figures run_rounds(Load &load, unsigned warm, unsigned rounds,
                       const std::function<void(std::uint64_t)> &tick);

private:
    struct Threads; // TBB
    void round(Load &load, std::vector<Lane> &lanes);
    void warm_up(Load &load, std::vector<Lane> &lanes);
    Figures figures_of(Load &load, const std::vector<Lane> &lanes, double seconds, std::uint64_t injected);

    Plan plan_;
    std::unique_ptr<Threads> threads_;
};

} // namespace kmirror::stress
