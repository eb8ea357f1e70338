// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/cpu_hotplug.cpp: CPUs going on- and offline, and who is told.
//
// Down:  teardowns of the states above CPUHP_BRINGUP_CPU, on the CPU, from the highest; then the CPU leaves
//        the online mask and its threads leave their sections; then the teardowns below, on a CPU that is
//        dead.
// Up:    the same backwards with the start-up callbacks. An error undoes what was done, in reverse.
//
// Owns     the table of callbacks.
// Locking  `hotplug` is written for a change and read by who wants none; `table` orders registrations,
//          outside it.
// Fails    with the callback's error, and then the CPU is as it was.

#include "lib/kernel/cpu.h"

#include <linux/bug.h>
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/fault-inject.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>

#include <kmirror/lockstat.h>
#include <kmirror/topology.h>

namespace kmirror::kernel {
namespace {

struct Step {
    const char *name;
    cpuhp_callback_t startup;
    cpuhp_callback_t teardown;
    bool taken;
};

DECLARE_RWSEM(hotplug);
DEFINE_MUTEX(table);
Step steps[CPUHP_ONLINE];

bool runs_on_cpu(int state)
{
    return state > CPUHP_BRINGUP_CPU;
}

// ---- running something on a CPU ----

struct RemoteCallback {
    cpuhp_callback_t callback;
    unsigned int cpu;
    int result;
};

void run_remote(void *info)
{
    auto &call = *static_cast<RemoteCallback *>(info);
    call.result = call.callback(call.cpu);
}

// On the CPU itself if the state wants that.
int call(cpuhp_callback_t callback, int state, unsigned int cpu)
{
    if (!callback)
        return 0;
    if (!runs_on_cpu(state))
        return callback(cpu);
    RemoteCallback remote = {callback, cpu, 0};
    const int error = smp_call_function_single(static_cast<int>(cpu), run_remote, &remote, 1);
    return error ? error : remote.result;
}

// ---- walking the states; each returns the first error and where it happened ----

struct Walk {
    int error;
    int stopped_at;
};

Walk start_states(unsigned int cpu, int from, int to)
{
    for (int state = from; state < to; ++state)
        if (const int error = call(steps[state].startup, state, cpu); error != 0)
            return {error, state};
    return {0, to};
}

Walk stop_states(unsigned int cpu, int from, int to)
{
    for (int state = from - 1; state >= to; --state)
        if (const int error = call(steps[state].teardown, state, cpu); error != 0)
            return {error, state};
    return {0, to};
}

constexpr int kFirst = CPUHP_OFFLINE + 1;
constexpr int kAlive = CPUHP_BRINGUP_CPU + 1;

int take_down(unsigned int cpu)
{
    const Walk alive = stop_states(cpu, CPUHP_ONLINE, kAlive);
    if (alive.error != 0) {
        start_states(cpu, alive.stopped_at + 1, CPUHP_ONLINE);
        return alive.error;
    }
    cpu_evict(static_cast<int>(cpu));
    const Walk dead = stop_states(cpu, CPUHP_BRINGUP_CPU, kFirst);
    WARN(dead.error != 0, "CPU %u: teardown %s of a dead CPU says %d\n", cpu, steps[dead.stopped_at].name,
         dead.error);
    return 0;
}

int bring_up(unsigned int cpu)
{
    const Walk dead = start_states(cpu, kFirst, CPUHP_BRINGUP_CPU);
    if (dead.error != 0) {
        stop_states(cpu, dead.stopped_at, kFirst);
        return dead.error;
    }
    cpu_admit(static_cast<int>(cpu));
    const Walk alive = start_states(cpu, kAlive, CPUHP_ONLINE);
    if (alive.error == 0)
        return 0;
    stop_states(cpu, alive.stopped_at, kAlive);
    cpu_evict(static_cast<int>(cpu));
    stop_states(cpu, CPUHP_BRINGUP_CPU, kFirst);
    return alive.error;
}

// ---- registration; `table` is held ----

// The state asked for, or a free one of a dynamic range; negative if there is none.
int choose_state(int state)
{
    const bool prepare = state == CPUHP_BP_PREPARE_DYN, online = state == CPUHP_AP_ONLINE_DYN;
    if (!prepare && !online)
        return steps[state].taken ? -EBUSY : state;
    const int last = prepare ? CPUHP_BP_PREPARE_DYN_END : CPUHP_AP_ONLINE_DYN_END;
    for (int candidate = state; candidate <= last; ++candidate)
        if (!steps[candidate].taken)
            return candidate;
    return -ENOSPC;
}

// Start-up on all online CPUs; on an error the CPUs before it are torn down again.
int start_everywhere(int state)
{
    unsigned int cpu;
    for_each_online_cpu(cpu) {
        const int error = call(steps[state].startup, state, cpu);
        if (error == 0)
            continue;
        unsigned int done;
        for_each_online_cpu(done)
            if (done < cpu)
                call(steps[state].teardown, state, done);
        return error;
    }
    return 0;
}

int register_state(cpuhp_state wanted, const Step &step, bool calls)
{
    if (wanted <= CPUHP_OFFLINE || wanted >= CPUHP_ONLINE || wanted == CPUHP_BRINGUP_CPU)
        return -EINVAL;
    cpus_read_lock();
    mutex_lock(&table);
    const int state = choose_state(wanted);
    int result = state;
    if (state >= 0) {
        steps[state] = step;
        const int error = calls ? start_everywhere(state) : 0;
        if (error != 0)
            steps[state] = {};
        const bool dynamic = wanted == CPUHP_BP_PREPARE_DYN || wanted == CPUHP_AP_ONLINE_DYN;
        result = error != 0 ? error : dynamic ? state : 0;
    }
    mutex_unlock(&table);
    cpus_read_unlock();
    return result;
}

void unregister_state(cpuhp_state state, bool calls)
{
    if (state <= CPUHP_OFFLINE || state >= CPUHP_ONLINE)
        return;
    cpus_read_lock();
    mutex_lock(&table);
    unsigned int cpu;
    if (calls && steps[state].taken)
        for_each_online_cpu(cpu)
            call(steps[state].teardown, state, cpu);
    steps[state] = {};
    mutex_unlock(&table);
    cpus_read_unlock();
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

int cpu_down(unsigned int cpu)
{
    if (!cpu_possible(cpu))
        return -EINVAL;
    if (preempt_count() != 0)
        return -EBUSY;
    cpus_write_lock();
    int error = 0;
    if (cpu_online(cpu))
        error = num_online_cpus() == 1 || should_fail_cpu_offline() ? -EBUSY : take_down(cpu);
    cpus_write_unlock();
    return error;
}

int cpu_up(unsigned int cpu)
{
    if (!cpu_possible(cpu))
        return -EINVAL;
    if (preempt_count() != 0)
        return -EBUSY;
    cpus_write_lock();
    const int error = cpu_online(cpu) ? 0 : bring_up(cpu);
    cpus_write_unlock();
    return error;
}

int cpuhp_setup_state(enum cpuhp_state state, const char *name, cpuhp_callback_t startup,
                      cpuhp_callback_t teardown)
{
    return register_state(state, {name, startup, teardown, true}, true);
}

int cpuhp_setup_state_nocalls(enum cpuhp_state state, const char *name, cpuhp_callback_t startup,
                              cpuhp_callback_t teardown)
{
    return register_state(state, {name, startup, teardown, true}, false);
}

void cpuhp_remove_state(enum cpuhp_state state)
{
    unregister_state(state, true);
}

void cpuhp_remove_state_nocalls(enum cpuhp_state state)
{
    unregister_state(state, false);
}

void cpus_read_lock(void)
{
    down_read(&hotplug);
}

void cpus_read_unlock(void)
{
    up_read(&hotplug);
}

int cpus_read_trylock(void)
{
    return down_read_trylock(&hotplug);
}

void cpus_write_lock(void)
{
    down_write(&hotplug);
}

void cpus_write_unlock(void)
{
    up_write(&hotplug);
}

void lockdep_assert_cpus_held(void)
{
    WARN(kmirror_lockdep_enabled() && !rwsem_is_locked(&hotplug), "the hotplug lock is not held\n");
}

int smp_call_function_single(int cpu, void (*function)(void *info), void *info, int)
{
    const bool had_cpu = READ_ONCE(kmirror_task.leased);
    const int home = kmirror_task.cpu;
    const int leased = kmirror_cpu_lease(cpu < 0 ? NR_CPUS : cpu);
    if (leased < 0)
        return leased == -EBUSY ? -EBUSY : -ENXIO;
    preempt_disable();
    const bool there = raw_smp_processor_id() == cpu;
    if (there)
        function(info);
    preempt_enable();
    // Home may have gone offline meanwhile; then the next operation finds another CPU.
    if (home != cpu && (!had_cpu || kmirror_cpu_lease(home) < 0))
        kmirror_cpu_release();
    return there ? 0 : -ENXIO;
}

void on_each_cpu(void (*function)(void *info), void *info, int wait)
{
    unsigned int cpu;
    cpus_read_lock();
    for_each_online_cpu(cpu)
        smp_call_function_single(static_cast<int>(cpu), function, info, wait);
    cpus_read_unlock();
}

}  // extern "C"
