// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/explore.h: the same CPUs and code, with a strategy in place of the clocks.
//
//   access to a line that two CPUs touch, lock      -> decision: which CPU goes on
//   CPU waits, or has nothing to do                 -> decision without that CPU
//
// What only one CPU touches needs no decision: wherever it is put between two others, nobody can tell. Which lines
// two CPUs touch is learnt in a few runs that decide at every access, and does not change afterwards. A run is
// given by its decisions, and of those only the ones that differ from the default: the running CPU goes on, and when
// it waits the next one by number. So a schedule is a short list, and can be shrunk by leaving switches out.
//
// Every access is also told to a detector of data races (race.h), with the CPU as the task: what runs on one CPU is in
// order. While an explorer is set, clocks only make ticks come.
//
// Strategies: at random; PCT (Burckhardt and others, ASPLOS 2010: random priorities and `depth` - 1 points where
// the running CPU falls to the end); and the replay of a schedule.
#pragma once

#include "lib/sim/race.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kmirror::sim {

// At that decision this CPU went on, against the default.
struct Switch {
    std::uint32_t step;
    std::uint32_t cpu;
    bool operator==(const Switch &) const = default;
};
using Schedule = std::vector<Switch>;

// "12:1 40:0", and back. False when it is no such list, or its steps do not rise.
std::string schedule_text(const Schedule &schedule);
bool schedule_parse(std::string_view text, Schedule &schedule);

struct Choice {
    std::span<const unsigned> ready;   // numbers of the CPUs that can go on, rising; never empty
    int running;                       // one of them, or -1: it cannot
    bool gives_way;                    // it waits in a loop for what another one does
    std::uint32_t step;
};

class Strategy {
public:
    virtual ~Strategy() = default;
    virtual unsigned choose(const Choice &choice) = 0;
};

// What happens without a strategy.
unsigned default_choice(const Choice &choice);

// One decision in `one_in` is drawn among all that are ready.
std::unique_ptr<Strategy> random_strategy(std::uint64_t seed, unsigned one_in);
// `steps`: how long a run is thought to be; the points are drawn from it.
std::unique_ptr<Strategy> pct_strategy(std::uint64_t seed, unsigned depth, std::uint32_t steps);
std::unique_ptr<Strategy> replay_strategy(Schedule schedule);

// A bug that is put in on purpose, in the world below the code under test.
struct Plant {
    std::string unlocked;     // locks of this class do not lock
    bool early_rcu = false;   // callbacks do not wait for readers
    bool half_compare = false;    // the 16-byte compare-exchange looks at the first 8 bytes
    bool weak = false;        // stores that should release do not
};

// Lines that two CPUs touch, by number. All runs of a scenario have one, in memory that children share.
struct SharedLines {
    std::uint8_t *of_line;
    bool learning;      // every access is a decision
};

class Explorer {
public:
    Explorer(Strategy &strategy, SharedLines lines, const Plant &plant, std::uint32_t most_steps);

    // ---- called by the engine

    // Which CPU goes on; `running`: -1 when it waits. -1: none, back to whoever started the run.
    int choose(std::vector<unsigned> &ready, int running, bool gives_way);

    // ---- called by runtime and world, on a running CPU

    // Before an access: others may come first.
    void point(const void *address, const void *place);
    void plain(const void *address, std::size_t size, bool write, const void *place);
    void load(const void *address, std::size_t size, Order order, const void *place);
    void store(const void *address, std::size_t size, Order order, const void *place);
    void exchange(const void *address, std::size_t size, Order order, const void *place);
    void fence(Order order) { races_.fence(self(), order); }
    // What the CPU did comes before what is after an acquired() of the same object.
    void released(const void *object) { races_.release(self(), object); }
    void acquired(const void *object) { races_.acquire(self(), object); }
    void released_by(unsigned cpu, const void *object) { races_.release(cpu, object); }
    void acquired_by(unsigned cpu, const void *object) { races_.acquire(cpu, object); }
    // The CPU does not go on meanwhile: another one does something for it.
    void freeze(unsigned cpu, bool frozen);

    const Plant &plant() const { return plant_; }
    bool lock_is_planted(std::uint16_t class_id) const;

    // ---- the run

    void stop() { stopped_ = true; }              // at the next decision
    bool deadlocked() const { return deadlocked_; }
    bool too_long() const { return step_ >= most_steps_; }
    std::uint32_t steps() const { return step_; }
    const Schedule &schedule() const { return schedule_; }
    const std::vector<Race> &races() const { return races_.races(); }
    void renew(const void *address, std::size_t size) { races_.renew(address, size); }

    // Where the running CPU was at each switch, while this is set.
    struct Trace {
        std::uint32_t step;
        int from;
        unsigned to;
        const void *place;
    };
    std::vector<Trace> *trace = nullptr;

private:
    unsigned self() const;

    Strategy &strategy_;
    SharedLines lines_;
    Plant plant_;
    RaceDetector races_;
    Schedule schedule_;
    std::vector<bool> frozen_;
    const void *place_ = nullptr;      // of the latest access
    std::uint32_t step_ = 0, most_steps_;
    bool stopped_ = false, deadlocked_ = false;
};

// Null: the clocks decide.
extern Explorer *explorer;

} // namespace kmirror::sim
