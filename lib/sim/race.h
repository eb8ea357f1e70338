// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/race.h: data races, by vector clocks that take memory orders as they are written.
//
// Two accesses race when they touch a common byte, one of them writes, one of them is plain (no atomic), and neither
// happens before the other. That is judged by the order of C11, whatever the machine at hand would do:
//
//   store release          later loads with acquire that read it, or a read-modify-write of it, come after
//   relaxed store          publishes what an earlier release fence covered, else nothing, and ends what was
//                          published there before
//   relaxed load           gives what it read to the next acquire fence
//   read-modify-write      keeps what is published at its place, and adds to it
//
// consume counts as acquire: what depends on a loaded pointer is ordered by that on every machine but one, and the
// code that is not ordered by it alone shows in other runs.
//
// Algorithm: Flanagan and Freund, FastTrack (PLDI 2009), with lists of accesses in place of epochs, as accesses of
// one word may be of parts of it; fences as in Lahav and others' reading of C11.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kmirror::sim {

inline constexpr unsigned kRaceTasks = 32;

enum class Order : std::uint8_t { Relaxed, Acquire, Release, AcqRel, SeqCst };

// How far each task has come, as one of them knows.
class Clock {
public:
    std::uint32_t operator[](unsigned task) const { return of_[task]; }
    void tick(unsigned task) { of_[task]++; }
    void join(const Clock &other);

private:
    std::array<std::uint32_t, kRaceTasks> of_{};
};

struct Access {
    std::uintptr_t address = 0;
    std::uint8_t size = 0;
    bool write = false;
    bool marked = false;          // an atomic, or volatile
    std::uint8_t task = 0;
    std::uint32_t clock = 0;      // of the task, when it happened
    const void *place = nullptr;  // in the code
};

struct Race {
    Access first, second;
};

// Tasks are numbers below kRaceTasks; sizes are 1 to 16 bytes.
class RaceDetector {
public:
    RaceDetector();

    // ---- order

    // What `parent` did so far comes before everything of `child`.
    void start(unsigned parent, unsigned child);
    // What `task` did so far comes before what is after an acquire() of the same object: locks, callbacks, queues.
    void release(unsigned task, const void *object);
    void acquire(unsigned task, const void *object);
    void fence(unsigned task, Order order);

    // ---- accesses

    void plain(unsigned task, const void *address, std::size_t size, bool write, const void *place);
    void load(unsigned task, const void *address, std::size_t size, Order order, const void *place);
    void store(unsigned task, const void *address, std::size_t size, Order order, const void *place);
    // A compare-exchange that fails is a load.
    void exchange(unsigned task, const void *address, std::size_t size, Order order, const void *place);
    // The memory is somebody else's now: what was done to it before is of no interest any more.
    void renew(const void *address, std::size_t size);

    // ---- findings

    // One for each pair of places in the code, in the order of their finding.
    const std::vector<Race> &races() const { return races_; }

private:
    struct Task {
        Clock clock;      // what comes before its next step
        Clock pending;    // read by relaxed loads, for an acquire fence
        Clock released;   // at its last release fence
    };
    void touch(unsigned task, const void *address, std::size_t size, bool write, bool marked, const void *place);
    void touch_word(const Access &access);
    bool races(const Access &before, const Access &now) const;
    void report(const Access &before, const Access &now);
    void read_from(unsigned task, const void *address, Order order);
    Clock publication(unsigned task, Order order) const;

    std::array<Task, kRaceTasks> tasks_{};
    std::unordered_map<const void *, Clock> published_;               // by the address of an atomic
    std::unordered_map<const void *, Clock> objects_;
    std::unordered_map<std::uintptr_t, std::vector<Access>> words_;   // by address / 8
    std::vector<Race> races_;
};

} // namespace kmirror::sim
