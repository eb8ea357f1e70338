// SPDX-License-Identifier: GPL-2.0-only
//
// What kmirror soak does beside a load: CPUs go off and on, memory is short, requests fail. And the watchdog.
#pragma once

#include <linux/mm.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kmirror::command {

// Ends the process, after all locks and the stack of every thread, when nobody feeds it for kPatience seconds.
class Watchdog {
public:
    Watchdog();
    ~Watchdog();
    Watchdog(const Watchdog &) = delete;
    Watchdog &operator=(const Watchdog &) = delete;

    void feed() { fed_++; }
    void phase(const std::string &name);

private:
    void watch();
    [[noreturn]] void bark();

    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> fed_{0};
    std::mutex lock_;   // of name_
    std::string name_;
    std::thread thread_;
};

// CPUs from `first` on go off and come back until it is stopped; they are all there afterwards.
class Hotplug {
public:
    Hotplug(unsigned first, std::uint64_t seed);
    ~Hotplug() { stop(); }
    void stop();
    std::uint64_t times() const { return times_; }

private:
    void work();

    unsigned first_;
    std::mt19937_64 random_;
    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> times_{0};
    std::thread thread_;
};

// Holds the memory of every node but `left` pages and the reserve. 0: holds nothing.
class Squeeze {
public:
    explicit Squeeze(unsigned long left);
    ~Squeeze() { stop(); }
    void stop();

private:
    void take(int node, unsigned long left);

    std::vector<std::pair<struct page *, unsigned>> held_; // with the order of each
};

// One request in a hundred for an object, a page, a sheaf, a barn or a lock that is only tried fails, while it lives.
class Failures {
public:
    explicit Failures(bool wanted);
    ~Failures() { stop(); }
    void stop();

private:
    bool on_;
};

struct Disturbances {
    unsigned first_cpu;        // of those that go off and on
    std::uint64_t seed;
    unsigned long pages_left;  // to each node; 0: all
    bool failing;
};

// All of them at once.
class Unrest {
public:
    explicit Unrest(const Disturbances &what)
        : squeeze_(what.pages_left), failures_(what.failing), hotplug_(what.first_cpu, what.seed)
    {
    }
    // Whoever looks for what is wrong wants to be alone.
    void stop()
    {
        hotplug_.stop();
        failures_.stop();
        squeeze_.stop();
    }
    std::uint64_t hotplugs() const { return hotplug_.times(); }

private:
    Squeeze squeeze_;
    Failures failures_;
    Hotplug hotplug_;
};

}  // namespace kmirror::command
