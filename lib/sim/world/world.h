// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/world/world.h: what lib/kernel offers, in virtual time. The program is linked with these bodies in place of
// the native ones of the same functions:
//
//   memory.cpp   where simulated memory is, and on which node         (mmap of percpu.cpp and page_alloc*.cpp)
//   lock.cpp     queued locks with hand-off, mutexes, semaphores      (spinlock, mutex, rwsem, local_lock)
//   cpu.cpp      the calling task's CPU, waiting loops, fences        (cpu, cpu_task, cpu_hotplug, random)
//   rcu.cpp      callbacks, grace periods, ticks, ksoftirqd           (rcu, rcu_callback, rcu_steps)
//   string.cpp   strings                                              (string_native)
//
// Everything else of lib/kernel is the native file; the page allocator is the native source, instrumented.
#pragma once

#include "lib/sim/engine.h"

#include <linux/types.h>

#include <string>
#include <vector>

namespace kmirror::sim {

// Builds the machine and the engine. Ends the process with one line and status 2 when the machine cannot be. Once.
void world_init(const Machine &machine, const Engine::Setting &setting);

// ---- locks

struct LockStat {
    std::string name;
    std::uint64_t acquisitions = 0, contended = 0;
    Ps wait = 0, wait_max = 0, hold = 0, hold_max = 0;
};
// By class, in the order in which the classes were entered.
std::vector<LockStat> lock_stats();
void lock_stats_reset();
// The class of the lock whose word lies in the line; null: no lock was ever taken there.
const char *lock_in_line(std::uint32_t number);

// ---- grace periods

struct GracePeriods {
    std::uint64_t completed = 0;
    Ps last_end = 0;
    Ps longest = 0;
};
const GracePeriods &grace_periods();
// Callbacks that wait, of all CPUs.
std::uint64_t callbacks_waiting();
void rcu_init();

} // namespace kmirror::sim

extern "C" {
// The host's own mmap(), which the linker leads elsewhere.
void *__real_mmap(void *at, __SIZE_TYPE__ bytes, int protection, int flags, int file, long offset);

// Per-CPU data lie there; 0 before the first.
extern unsigned long kmirror_sim_percpu_base, kmirror_sim_percpu_bytes;
}
