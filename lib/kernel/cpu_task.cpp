// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/cpu_task.cpp: the calling thread's task, and the small operations that are calls for
// instrumented code: barriers, a waiting loop's hint, offering the processor, waiting for a time.
//
// Owns     kmirror_task. Locking: none. Fails: never.

#include <asm/barrier.h>
#include <asm/processor.h>
#include <linux/delay.h>
#include <linux/sched.h>

#include <atomic>
#include <ctime>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static constexpr task_struct kFreshTask = [] {
    task_struct task = {};
    task.cpu = -1;
    task.node = -1;
    return task;
}();

__thread struct task_struct kmirror_task __attribute__((tls_model("initial-exec"))) = kFreshTask;

namespace {

unsigned long long now_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const auto seconds = static_cast<unsigned long long>(now.tv_sec);
    return seconds * 1000000000ULL + static_cast<unsigned long long>(now.tv_nsec);
}

void spin_ns(unsigned long long ns)
{
    const unsigned long long end = now_ns() + ns;
    while (now_ns() < end)
        cpu_relax();
}

void sleep_us(unsigned long long us)
{
    timespec left = {static_cast<time_t>(us / 1000000), static_cast<long>(us % 1000000) * 1000};
    while (nanosleep(&left, &left) != 0)
        ;
}

}  // namespace

extern "C" {

struct task_struct *kmirror_current(void)
{
    return &kmirror_task;
}

int kmirror_task_pid(void)
{
    if (kmirror_task.pid == 0)
        kmirror_task.pid = static_cast<int>(syscall(SYS_gettid));
    return kmirror_task.pid;
}

void yield(void)
{
    sched_yield();
}

void schedule(void)
{
    sched_yield();
}

void kmirror_cpu_relax(void)
{
    cpu_relax();
}

// The thread sanitizer does not model fences, and says so when it compiles one.
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

void kmirror_smp_mb(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void kmirror_smp_rmb(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

void kmirror_smp_wmb(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

#pragma GCC diagnostic pop

void ndelay(unsigned long ns)
{
    spin_ns(ns);
}

void udelay(unsigned long us)
{
    spin_ns(us * 1000ULL);
}

void mdelay(unsigned long ms)
{
    spin_ns(ms * 1000000ULL);
}

void msleep(unsigned int ms)
{
    sleep_us(ms * 1000ULL);
}

void usleep_range(unsigned long min_us, unsigned long)
{
    sleep_us(min_us);
}

}  // extern "C"
