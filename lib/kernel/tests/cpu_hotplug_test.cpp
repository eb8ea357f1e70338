// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: cpu_down() moves threads away, waits for their sections, and tells who asked in the right order;
// an error of a callback leaves the CPU as it was.

#include "lib/kernel/tests/threads.h"
#include "tools/testing/harness.h"

#include <kmirror/topology.h>
#include <linux/cpu.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>

#include <atomic>
#include <string>

namespace {

using kmirror::testing::run_threads;
using kmirror::testing::wait_until;

std::string calls;
int fail_startup, fail_teardown;

int prepare(unsigned int cpu) { calls += "p" + std::to_string(cpu); return 0; }
int dead(unsigned int cpu) { calls += "d" + std::to_string(cpu); return 0; }
int online(unsigned int cpu)
{
    calls += "o" + std::to_string(cpu);
    EXPECT_EQ(smp_processor_id(), static_cast<int>(cpu));
    return fail_startup;
}
int going(unsigned int cpu)
{
    calls += "g" + std::to_string(cpu);
    EXPECT_EQ(smp_processor_id(), static_cast<int>(cpu));
    return fail_teardown;
}

KMIRROR_TEST_IN(CpuHotplug, OfflineAndOnlineAgain, "KMIRROR_MACHINE=core:3 pu:1")
{
    EXPECT_EQ(cpu_down(1), 0);
    EXPECT_FALSE(cpu_online(1));
    EXPECT_TRUE(cpu_possible(1));
    EXPECT_EQ(num_online_cpus(), 2u);
    EXPECT_EQ(kmirror_cpu_lease(1), -EINVAL);
    EXPECT_EQ(cpu_down(1), 0) << "is down already";
    EXPECT_EQ(cpu_down(2), 0);
    EXPECT_EQ(cpu_down(0), -EBUSY) << "the last one";
    EXPECT_EQ(cpu_down(3), -EINVAL);
    EXPECT_EQ(cpu_up(3), -EINVAL);
    EXPECT_EQ(cpu_up(1), 0);
    EXPECT_EQ(cpu_up(1), 0);
    EXPECT_EQ(cpu_up(2), 0);
    EXPECT_EQ(num_online_cpus(), 3u);
}

KMIRROR_TEST_IN(CpuHotplug, ThreadsMoveToAnotherCpu, "KMIRROR_MACHINE=core:2 pu:1")
{
    std::atomic<int> step{0};
    std::jthread other([&] {
        EXPECT_EQ(kmirror_cpu_lease(1), 1);
        step = 1;
        EXPECT_TRUE(wait_until([&] { return step == 2; }));
        EXPECT_EQ(smp_processor_id(), 0);
        EXPECT_EQ(this_cpu_offset(), 0u);
    });
    EXPECT_TRUE(wait_until([&] { return step == 1; }));
    EXPECT_EQ(cpu_down(1), 0);
    step = 2;
    other.join();
    EXPECT_EQ(kmirror_cpu_threads(1), 0);
    EXPECT_EQ(cpu_up(1), 0);
}

KMIRROR_TEST_IN(CpuHotplug, WaitsForTheSectionOfAThread, "KMIRROR_MACHINE=core:2 pu:1")
{
    auto *lock = alloc_percpu(local_trylock_t);
    std::atomic<bool> locked{false}, down{false}, unlock{false};
    std::jthread other([&] {
        kmirror_cpu_lease(1);
        local_lock(lock);
        locked = true;
        EXPECT_TRUE(wait_until([&] { return unlock.load(); }));
        EXPECT_FALSE(down) << "cpu_down() did not wait for the local lock";
        EXPECT_EQ(smp_processor_id(), 1) << "kept until the section ends";
        preempt_disable();
        local_unlock(lock);
        EXPECT_EQ(smp_processor_id(), 1);
        preempt_enable();
        EXPECT_EQ(smp_processor_id(), 0);
    });
    EXPECT_TRUE(wait_until([&] { return locked.load(); }));
    kmirror_cpu_lease(0);
    preempt_disable();
    EXPECT_EQ(cpu_down(1), -EBUSY) << "not from inside a section";
    preempt_enable();
    std::jthread taker([&] {
        EXPECT_EQ(cpu_down(1), 0);
        down = true;
    });
    EXPECT_TRUE(wait_until([] { return !cpu_online(1); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(down);
    unlock = true;
    taker.join();
    other.join();
    free_percpu(lock);
}

KMIRROR_TEST_IN(CpuHotplug, CallbacksComeInOrder, "KMIRROR_MACHINE=core:2 pu:1")
{
    ASSERT_EQ(cpuhp_setup_state_nocalls(CPUHP_SLUB_DEAD, "test:dead", prepare, dead), 0);
    EXPECT_EQ(calls, "");
    EXPECT_EQ(cpuhp_setup_state_nocalls(CPUHP_SLUB_DEAD, "again", prepare, dead), -EBUSY);
    const int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "test:online", online, going);
    ASSERT_GE(state, CPUHP_AP_ONLINE_DYN);
    EXPECT_EQ(calls, "o0o1");
    calls.clear();
    EXPECT_EQ(cpu_down(1), 0);
    EXPECT_EQ(calls, "g1d1");
    calls.clear();
    EXPECT_EQ(cpu_up(1), 0);
    EXPECT_EQ(calls, "p1o1");

    calls.clear();
    fail_teardown = -EAGAIN;
    EXPECT_EQ(cpu_down(1), -EAGAIN);
    EXPECT_TRUE(cpu_online(1));
    EXPECT_EQ(calls, "g1");
    fail_teardown = 0;
    EXPECT_EQ(cpu_down(1), 0);

    calls.clear();
    fail_startup = -ENOMEM;
    EXPECT_EQ(cpu_up(1), -ENOMEM);
    EXPECT_FALSE(cpu_online(1));
    EXPECT_EQ(calls, "p1o1d1");
    fail_startup = 0;
    EXPECT_EQ(cpu_up(1), 0);

    calls.clear();
    cpuhp_remove_state(static_cast<cpuhp_state>(state));
    EXPECT_EQ(calls, "g0g1");
    cpuhp_remove_state_nocalls(CPUHP_SLUB_DEAD);
    calls.clear();
    EXPECT_EQ(cpu_down(1), 0);
    EXPECT_EQ(calls, "");

    fail_startup = -EINVAL;
    EXPECT_EQ(cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "test:fails", online, going), -EINVAL);
    EXPECT_EQ(cpuhp_setup_state(CPUHP_OFFLINE, "test:none", online, going), -EINVAL);
    fail_startup = 0;
}

int fail_prepare_2;
int prepare_2(unsigned int) { calls += "P"; return fail_prepare_2; }
int dead_2(unsigned int) { calls += "D"; return 0; }
int online_2(unsigned int) { calls += "O"; return 0; }
int going_2(unsigned int) { calls += "G"; return 0; }

KMIRROR_TEST_IN(CpuHotplug, AnErrorUndoesWhatWasDone, "KMIRROR_MACHINE=core:2 pu:1")
{
    ASSERT_GE(cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "test:1", prepare, dead), 0);
    ASSERT_GE(cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "test:2", prepare_2, dead_2), 0);
    ASSERT_GE(cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "test:3", online, going), 0);
    ASSERT_GE(cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "test:4", online_2, going_2), 0);
    fail_teardown = -EAGAIN;
    EXPECT_EQ(cpu_down(1), -EAGAIN);
    EXPECT_EQ(calls, "Gg1O") << "the one that failed is not started again";
    fail_teardown = 0;
    calls.clear();
    EXPECT_EQ(cpu_down(1), 0);
    EXPECT_EQ(calls, "Gg1Dd1");
    calls.clear();
    fail_prepare_2 = -ENOMEM;
    EXPECT_EQ(cpu_up(1), -ENOMEM);
    EXPECT_FALSE(cpu_online(1));
    EXPECT_EQ(calls, "p1Pd1");
    fail_prepare_2 = 0;
    calls.clear();
    EXPECT_EQ(cpu_up(1), 0);
    EXPECT_EQ(calls, "p1Po1O");
}

// The dead CPU's data is the callback's alone: plain accesses on both sides, judged by the counts (and by
// TSan).
struct Counted {
    local_trylock_t lock;
    unsigned long count;
};
Counted *counted;
unsigned long drained;

int drain(unsigned int cpu)
{
    drained += per_cpu_ptr(counted, cpu)->count;
    per_cpu_ptr(counted, cpu)->count = 0;
    return 0;
}

KMIRROR_TEST_IN(CpuHotplug, DeadCpusDataBelongsToTheCallback, "KMIRROR_MACHINE=core:2 pu:1")
{
    constexpr int rounds = 30000;
    counted = alloc_percpu(Counted);
    ASSERT_EQ(cpuhp_setup_state_nocalls(CPUHP_SLUB_DEAD, "test:drain", nullptr, drain), 0);
    std::atomic<int> running{4};
    std::jthread hotplug([&] {
        for (int cpu = 0; running != 0; cpu ^= 1) {
            EXPECT_EQ(cpu_down(static_cast<unsigned>(cpu)), 0);
            EXPECT_EQ(cpu_up(static_cast<unsigned>(cpu)), 0);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    });
    run_threads(4, [&](int) {
        for (int round = 0; round < rounds; ++round) {
            local_lock(&counted->lock);
            this_cpu_ptr(counted)->count++;
            local_unlock(&counted->lock);
        }
        running--;
    });
    hotplug.join();
    EXPECT_EQ(drained + per_cpu_ptr(counted, 0)->count + per_cpu_ptr(counted, 1)->count, 4UL * rounds);
    cpuhp_remove_state_nocalls(CPUHP_SLUB_DEAD);
    free_percpu(counted);
}

}  // namespace
