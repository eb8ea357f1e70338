// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/cpu.cpp: which thread is on which virtual CPU.
//
// A thread takes the least used CPU with its first operation and keeps it. The register below knows the
// threads of every CPU; it alone gives and takes the right to lock with plain stores (task_struct.bias):
//
//   a second thread joins   the first one's bias 3 -> 1, membarrier(), and only then may the second go on
//   one thread is left      its bias becomes 3
//   the CPU goes offline    every thread's bias & 1 and leased = 0, membarrier(), wait for the sections to
//   end
//
// Owns     the lists of threads per CPU (task_struct.cpu_next) and the field `bias` of every registered
//          thread.
// Bounds   NR_CPUS lists; a thread is on one list or on none.
// Locking  `lock`, a leaf: nothing else is taken under it. Leases are rare, once per thread, so one lock
//          serves all.
// Fails    never; a wrong request is refused with an error number.
//
// (C1) a thread has bias 3 only while it is the only one on its CPU's list, the CPU is online and it may stay
// there
// (C2) the online mask changes under `lock` only
// (C3) lines[c].count is the length of lines[c].threads

#include "lib/kernel/cpu.h"

#include "lib/kernel/topology.h"

#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/membarrier.h>
#include <linux/mempolicy.h>
#include <linux/percpu-defs.h>
#include <linux/smp.h>

#include <atomic>
#include <mutex>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kmirror::kernel {
namespace {

struct Line {
    task_struct *threads;
    int count;
};

std::mutex lock;
Line lines[NR_CPUS];
std::atomic<unsigned long> revocations;
pthread_key_t exit_key;
bool bias_possible;
int bias_forbidden;   // reasons, under `lock`

// Every thread of this process passes a full barrier before this returns.
void membarrier_all()
{
    if (bias_possible)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

bool membarrier_works()
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

// ---- the register; `lock` is held ----

// An owner stays one, so that it gives back what it holds as `owner`; it just is no longer alone.
void lose_bias(task_struct &task)
{
    const auto left = static_cast<unsigned char>(READ_ONCE(task.bias) & KMIRROR_BIAS_OWNER);
    __atomic_store_n(&task.bias, left, __ATOMIC_RELAXED);
}

// Others have come to a CPU whose owner locked with plain stores. Pairs with (B3) in local_lock.h.
void stop_owner(task_struct &owner)
{
    if (READ_ONCE(owner.bias) != KMIRROR_BIAS_ALONE)
        return;
    lose_bias(owner);
    membarrier_all();
    revocations.fetch_add(1, std::memory_order_relaxed);
}

bool may_be_on(int cpu)
{
    return cpu >= 0 && cpu_possible(static_cast<unsigned>(cpu)) && cpu_online(static_cast<unsigned>(cpu));
}

// (C1) for a CPU that may have one thread left.
void promote(int cpu)
{
    task_struct *last = lines[cpu].threads;
    if (!bias_possible || bias_forbidden != 0 || lines[cpu].count != 1 || !READ_ONCE(last->leased) ||
        !may_be_on(cpu))
        return;
    // Who has a memory policy may not take the short ways, which know none.
    if (READ_ONCE(last->flags) & PF_HAS_MEMPOLICY)
        return;
    // (B2) The leaver's sections come before the plain stores of the one that stays. Pairs with (B1),
    // local_lock.h.
    __atomic_store_n(&last->bias, KMIRROR_BIAS_ALONE, __ATOMIC_RELEASE);
}

void join(task_struct &task, int cpu)
{
    Line &line = lines[cpu];
    if (line.count == 1)
        stop_owner(*line.threads);
    task.cpu_next = line.threads;
    line.threads = &task;
    line.count++;
    task.cpu = cpu;
    task.node = cpu_to_node(cpu);
    task.percpu_offset = per_cpu_offset(cpu);
    task.on_cpu_list = 1;
    __atomic_store_n(&task.leased, 1, __ATOMIC_RELAXED);
    promote(cpu);
}

void leave(task_struct &task)
{
    if (!task.on_cpu_list)
        return;
    const int cpu = task.cpu;
    Line &line = lines[cpu];
    for (task_struct **at = &line.threads; *at; at = &(*at)->cpu_next) {
        if (*at == &task) {
            *at = task.cpu_next;
            line.count--;
            break;
        }
    }
    task.on_cpu_list = 0;
    task.cpu_next = nullptr;
    task.cpu = task.node = -1;
    __atomic_store_n(&task.leased, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&task.bias, 0, __ATOMIC_RELAXED);
    promote(cpu);
}

// The first online CPU with the fewest threads.
int least_used()
{
    int best = -1;
    unsigned int cpu;
    for_each_online_cpu(cpu) {
        if (best < 0 || lines[cpu].count < lines[best].count)
            best = static_cast<int>(cpu);
        if (lines[best].count == 0)
            break;
    }
    return best;
}

bool in_section(const task_struct &task)
{
    // (P3) What the section did is seen by who finds it ended. Pairs with (P2) in preempt.h.
    return __atomic_load_n(&task.preempt_count, __ATOMIC_ACQUIRE) != 0;
}

void move_to(task_struct &task, int cpu)
{
    machine_pin();
    leave(task);
    join(task, cpu >= 0 ? cpu : least_used());
    pthread_setspecific(exit_key, &task);
}

// ---- thread exit, fork, start ----

void thread_exits(void *task_pointer)
{
    auto &task = *static_cast<task_struct *>(task_pointer);
    WARN(task.preempt_count != 0, "a thread ends inside a section of CPU %d\n", task.cpu);
    task.preempt_count = 0;
    const std::lock_guard guard(lock);
    leave(task);
}

void before_fork()
{
    lock.lock();
}

void after_fork_in_parent()
{
    lock.unlock();
}

// Only the calling thread exists now.
void after_fork_in_child()
{
    task_struct &self = kmirror_task;
    const int cpu = self.on_cpu_list ? self.cpu : -1;
    for (Line &line : lines)
        line = {};
    bias_possible = bias_possible && membarrier_works();
    self.on_cpu_list = 0;
    if (cpu >= 0) {
        lose_bias(self);
        join(self, cpu);
    }
    lock.unlock();
}

[[gnu::constructor(102)]] void start()
{
    pthread_key_create(&exit_key, thread_exits);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    bias_possible = !KMIRROR_TSAN && membarrier_works();
}

}  // namespace

void cpu_forbid_bias(bool forbid)
{
    const std::lock_guard guard(lock);
    bias_forbidden += forbid ? 1 : -1;
    for (int cpu = 0; cpu < NR_CPUS; ++cpu) {
        if (lines[cpu].count != 1)
            continue;
        if (forbid)
            stop_owner(*lines[cpu].threads);
        else
            promote(cpu);
    }
}

void bias_changed(task_struct &self)
{
    const std::lock_guard guard(lock);
    if (!self.on_cpu_list)
        return;
    if (self.flags & PF_HAS_MEMPOLICY)
        lose_bias(self);
    else
        promote(self.cpu);
}

bool cpu_bias_possible()
{
    return bias_possible;
}

void cpu_settle()
{
    const std::lock_guard guard(lock);
    move_to(kmirror_task, -1);
}

namespace {

// Tells the threads of a CPU to move with their next operation.
void send_away(int cpu)
{
    const std::lock_guard guard(lock);
    cpumask_clear_cpu(cpu, &__cpu_online_mask);
    for (task_struct *task = lines[cpu].threads; task; task = task->cpu_next) {
        __atomic_store_n(&task->leased, 0, __ATOMIC_RELAXED);
        lose_bias(*task);
    }
    membarrier_all();
}

bool anybody_in_section(int cpu)
{
    const std::lock_guard guard(lock);
    for (const task_struct *task = lines[cpu].threads; task; task = task->cpu_next)
        if (in_section(*task))
            return true;
    return false;
}

}  // namespace

void cpu_evict(int cpu)
{
    send_away(cpu);
    // Without membarrier a thread's count may sit in its store buffer; it does not for long.
    if (!bias_possible)
        usleep(1000);
    while (anybody_in_section(cpu))
        usleep(50);
}

// Who comes took `lock` after us, and so sees all that was done to the dead CPU's data.
void cpu_admit(int cpu)
{
    const std::lock_guard guard(lock);
    cpumask_set_cpu(static_cast<unsigned int>(cpu), &__cpu_online_mask);
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

int kmirror_cpu_lease(int cpu)
{
    task_struct &task = kmirror_task;
    if (task.preempt_count != 0)
        return -EBUSY;
    const std::lock_guard guard(lock);
    if (cpu != -1 && !may_be_on(cpu))
        return -EINVAL;
    if (cpu == -1 || cpu != task.cpu || !READ_ONCE(task.leased))
        move_to(task, cpu);
    return task.cpu;
}

int kmirror_cpu_release(void)
{
    task_struct &task = kmirror_task;
    if (task.preempt_count != 0)
        return -EBUSY;
    const std::lock_guard guard(lock);
    leave(task);
    return 0;
}

int kmirror_cpu_threads(int cpu)
{
    const std::lock_guard guard(lock);
    return cpu >= 0 && cpu_possible(static_cast<unsigned>(cpu)) ? lines[cpu].count : 0;
}

unsigned long kmirror_cpu_revocations(void)
{
    return revocations.load(std::memory_order_relaxed);
}

void kmirror_preempt_disable(void)
{
    task_struct &task = kmirror_task;
    for (;;) {
        WRITE_ONCE(task.preempt_count, task.preempt_count + 1);
        barrier(); // (P1), see preempt.h
        if (READ_ONCE(task.leased) || task.preempt_count > 1)
            return;
        WRITE_ONCE(task.preempt_count, task.preempt_count - 1);
        cpu_settle();
    }
}

void kmirror_preempt_enable(void)
{
    preempt_enable();
}

unsigned int kmirror_preempt_count(void)
{
    return kmirror_task.preempt_count;
}

// Inside a section the answer stands even if the CPU is about to go.
static task_struct &settled_task(void)
{
    task_struct &task = kmirror_task;
    if (!READ_ONCE(task.leased) && task.preempt_count == 0)
        cpu_settle();
    return task;
}

int kmirror_smp_processor_id(void)
{
    return settled_task().cpu;
}

unsigned long kmirror_percpu_offset(void)
{
    return settled_task().percpu_offset;
}

int kmirror_numa_node_id(void)
{
    return settled_task().node;
}

}  // extern "C"
