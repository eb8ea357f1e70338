// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/world/cpu.cpp: the calling task's CPU; waiting loops, fences, random numbers. A task never changes its CPU,
// and all CPUs stay online.
//
// Owns     one generator of random numbers for each CPU. Locking: none. Fails: cpu_down() with -EBUSY.
#include "lib/sim/explore.h"
#include "lib/sim/world/world.h"

#include <asm/barrier.h>
#include <asm/processor.h>
#include <linux/bug.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/percpu-defs.h>
#include <linux/random.h>
#include <linux/topology.h>

#include "lib/kernel/cpu.h"
#include "lib/kernel/random.h"

#include <cstring>

using namespace kmirror::sim;

// Of the files of lib/kernel that are not instrumented; they run on behalf of whatever task is running.
static constexpr task_struct kHostTask = [] {
    task_struct task = {};
    task.leased = 1;
    return task;
}();
__thread struct task_struct kmirror_task __attribute__((tls_model("initial-exec"))) = kHostTask;

namespace {

Cpu &here() { return engine.cpu ? *engine.cpu : *engine.place_cpu; }

int acting_cpu()
{
    const Cpu &cpu = here();
    return cpu.acting >= 0 ? cpu.acting : static_cast<int>(cpu.id);
}

void wait(Ps time)
{
    if (!engine.cpu)
        return;
    engine.cpu->now += time;
    if (engine.cpu->now > engine.cpu->limit)
        engine.limit_passed();
}

// A waiting loop that nobody ends is a bug of the code under test, or a lock that is missing here.
constexpr std::uint64_t kMostRelaxes = 20'000'000;
std::uint64_t relaxes;

std::uint64_t random_state[NR_CPUS];

} // namespace

namespace kmirror::kernel {

void cpu_settle() {}
void cpu_evict(int) {}
void cpu_admit(int) {}
void cpu_forbid_bias(bool) {}
void bias_changed(task_struct &) {}
bool cpu_bias_possible() { return false; }
u64 process_seed() { return engine.setting.seed; }

} // namespace kmirror::kernel

extern "C" {

struct task_struct *kmirror_current(void)
{
    return engine.cpu ? &engine.cpu->task->kernel : &engine.idle_task->kernel;
}

int kmirror_task_pid(void) { return static_cast<int>(here().id) + 1; }

int kmirror_smp_processor_id(void) { return acting_cpu(); }
unsigned long kmirror_percpu_offset(void) { return per_cpu_offset(acting_cpu()); }
int kmirror_numa_node_id(void) { return cpu_to_node(acting_cpu()); }

int kmirror_cpu_lease(int cpu)
{
    engine.act_as(cpu);
    return acting_cpu();
}

int kmirror_cpu_release(void)
{
    engine.act_as(-1);
    return 0;
}

int kmirror_cpu_threads(int) { return 1; }
unsigned long kmirror_cpu_revocations(void) { return 0; }

void kmirror_preempt_disable(void)
{
    if (engine.cpu)
        engine.section_begin();
}

void kmirror_preempt_enable(void)
{
    if (engine.cpu)
        engine.section_end();
}

unsigned int kmirror_preempt_count(void) { return here().sections; }

void kmirror_cpu_relax(void)
{
    BUG_ON(!engine.cpu || ++relaxes == kMostRelaxes);
    engine.cpu->now += engine.machine.costs.relax;
    engine.give_way();
    if (engine.cpu->now > engine.cpu->limit)
        engine.limit_passed();
}

void yield(void)
{
    if (engine.cpu)
        engine.resched(true);
}

void schedule(void) { yield(); }

void kmirror_smp_mb(void)
{
    if (explorer && engine.cpu) {
        explorer->fence(Order::SeqCst);
    } else if (engine.cpu) {
        engine.drain();
        engine.spend(engine.machine.costs.rmw);
    }
}

void kmirror_smp_rmb(void)
{
    if (explorer && engine.cpu)
        explorer->fence(Order::Acquire);
}

void kmirror_smp_wmb(void)
{
    if (explorer && engine.cpu)
        explorer->fence(Order::Release);
}

void ndelay(unsigned long ns) { wait(static_cast<Ps>(ns) * kNs); }
void udelay(unsigned long us) { wait(static_cast<Ps>(us) * kUs); }
void mdelay(unsigned long ms) { wait(static_cast<Ps>(ms) * kMs); }
void msleep(unsigned int ms) { wait(static_cast<Ps>(ms) * kMs); }
void usleep_range(unsigned long us, unsigned long) { wait(static_cast<Ps>(us) * kUs); }

// ---- CPUs stay

int cpu_down(unsigned int) { return -EBUSY; }
int cpu_up(unsigned int) { return -EBUSY; }
int cpuhp_setup_state(enum cpuhp_state, const char *, cpuhp_callback_t, cpuhp_callback_t) { return 0; }
int cpuhp_setup_state_nocalls(enum cpuhp_state, const char *, cpuhp_callback_t, cpuhp_callback_t) { return 0; }
void cpuhp_remove_state(enum cpuhp_state) {}
void cpuhp_remove_state_nocalls(enum cpuhp_state) {}
void cpus_read_lock(void) {}
void cpus_read_unlock(void) {}
int cpus_read_trylock(void) { return 1; }
void cpus_write_lock(void) {}
void cpus_write_unlock(void) {}
void lockdep_assert_cpus_held(void) {}

// An interrupt comes to the CPU when it has no section open, and nothing else goes on there meanwhile.
static void begin_call(unsigned cpu, const void *call)
{
    while (engine.cpus[cpu]->sections != 0)
        engine.give_way();
    explorer->freeze(cpu, true);
    explorer->released(call);
    explorer->acquired_by(cpu, call);
    explorer->released_by(cpu, call);
    explorer->acquired(call);
}

static void end_call(unsigned cpu, const void *call)
{
    explorer->released(call);
    explorer->acquired_by(cpu, call);
    explorer->freeze(cpu, false);
}

// The caller does it with the other CPU's data; its own clock pays.
int smp_call_function_single(int cpu, void (*function)(void *info), void *info, int)
{
    if (cpu < 0 || static_cast<unsigned int>(cpu) >= nr_cpu_ids)
        return -ENXIO;
    const bool remote = explorer && engine.cpu && engine.cpu->id != static_cast<unsigned>(cpu);
    if (remote)
        begin_call(static_cast<unsigned>(cpu), &info);
    const int before = engine.act_as(cpu);
    function(info);
    engine.act_as(before);
    if (remote)
        end_call(static_cast<unsigned>(cpu), &info);
    return 0;
}

void on_each_cpu(void (*function)(void *info), void *info, int wait_for)
{
    for (unsigned int cpu = 0; cpu < nr_cpu_ids; cpu++)
        smp_call_function_single(static_cast<int>(cpu), function, info, wait_for);
}

// ---- random numbers: SplitMix64, one sequence for each CPU

u64 get_random_u64(void)
{
    constexpr u64 step = 0x9e3779b97f4a7c15ULL;
    const unsigned id = here().id;
    if (random_state[id] == 0)
        random_state[id] = engine.setting.seed * 1000003 + id * step + 1;
    u64 value = random_state[id] += step;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

void kmirror_random_seed(u64 seed) { random_state[here().id] = seed; }

void get_random_bytes(void *buffer, size_t bytes)
{
    for (auto *at = static_cast<unsigned char *>(buffer); bytes != 0;) {
        const u64 word = get_random_u64();
        const size_t part = std::min(bytes, sizeof(word));
        std::memcpy(at, &word, part);
        at += part;
        bytes -= part;
    }
}

} // extern "C"
