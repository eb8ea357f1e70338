// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/rcu_steps.cpp: callbacks whose grace periods the program itself declares.
//
//   call_rcu              push on the queue of the caller's CPU: waiting      lock-free
//   kmirror_rcu_step      wait for readers; waiting -> ready, on every CPU    step_lock
//   kmirror_rcu_run       take all that is ready on this CPU, run             no lock held
//
// Owns     a queue for each CPU.
// Bounds   a queue is as long as memory: a callback's room belongs to the object it frees.
// Locking  `step_lock`, a leaf; a step and runs may happen at once.
// Fails    never.
//
// Order
//   (S1) the pusher's stores before the push are seen by the callback: pushes release, taking acquires, and
//        the same again for `ready`.
#include <kmirror/rcu.h>

#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "lib/kernel/rcu.h"
#include "lib/kernel/rcu_queue.h"

#include <atomic>
#include <mutex>

namespace kmirror::kernel {

std::atomic<bool> rcu_stepping;

namespace {

struct alignas(64) StepQueue {
    std::atomic<rcu_head *> waiting{nullptr};   // newest first
    std::atomic<rcu_head *> ready{nullptr};     // oldest first
};

StepQueue queues[NR_CPUS];
std::mutex step_lock;

StepQueue &queue_of_this_cpu()
{
    const int cpu = current_task()->cpu;
    return queues[cpu > 0 ? cpu : 0];
}

// What waits becomes ready, behind what is ready already.
unsigned long advance(StepQueue &queue)
{
    rcu_head *const newest = queue.waiting.exchange(nullptr, std::memory_order_acquire);   // (S1)
    if (!newest)
        return 0;
    rcu_head *const fresh = reversed(newest);
    unsigned long count = 0;
    for (const rcu_head *head = fresh; head; head = head->next)
        ++count;
    rcu_head *older = queue.ready.exchange(nullptr, std::memory_order_acquire);
    rcu_head *const all = older ? older : fresh;
    if (older) {
        while (older->next)
            older = older->next;
        head_write(older->next, fresh);
    }
    queue.ready.store(all, std::memory_order_release);   // (S1)
    return count;
}

unsigned long run(StepQueue &queue)
{
    return run_as_callbacks(queue.ready.exchange(nullptr, std::memory_order_acquire));   // (S1)
}

}  // namespace

void queue_for_step(rcu_head *head)
{
    push(queue_of_this_cpu().waiting, head);   // (S1)
}

void flush_steps()
{
    unsigned long ran;
    do {
        kmirror_rcu_step();
        ran = 0;
        for (StepQueue &queue : queues)
            ran += run(queue);
    } while (ran != 0);
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" void kmirror_rcu_stepping(bool on)
{
    if (WARN_ON_ONCE(kmirror::current_task()->rcu_nesting != 0 || in_rcu_callback()))
        return;
    rcu_barrier();
    rcu_stepping.store(on, std::memory_order_release);
}

extern "C" unsigned long kmirror_rcu_step(void)
{
    const std::lock_guard guard(step_lock);
    unsigned long ready = 0;
    wait_for_readers();
    for (StepQueue &queue : queues)
        ready += advance(queue);
    return ready;
}

extern "C" unsigned long kmirror_rcu_run(void)
{
    return run(queue_of_this_cpu());
}
