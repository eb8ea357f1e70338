// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/rcu_callback.cpp: what runs after a grace period.
//
//   call_rcu          push on the lane of the caller's node      lock-free
//     lane thread     take all, wait for readers, run, rest      no lock held while a callback runs
//
// A lane is a queue and a thread. The thread sleeps on a futex while its queue is empty. After a batch it
// rests for kRestNs, so that a busy writer's callbacks share one grace period and need no wake-up each;
// whoever waits for callbacks (rcu_barrier, call_rcu_hurry, a caller out of memory) ends the rest. The thread
// gives its CPU back after each batch: it must not share one with a worker for longer than it works.
//
// Owns     the lanes: one for each node, kMaxLanes at most, their threads started by their first callback and
//          ended at exit, after what is queued then has run.
// Bounds   the queue is as long as memory: a callback's room belongs to the object it frees.
// Locking  `start_lock`, a leaf, for starting and stopping threads. Queues are lock-free.
// Fails    without a thread to run callbacks the process cannot go on: BUG.
//
// Invariants
//   (C1) a callback is in `queued` of one lane, or in the batch of a lane with busy != 0, or has run
//   (C2) state == kAsleep  =>  who makes `queued` non-empty wakes the thread
//
// Order
//   (Q1) push, seq_cst, before the pusher reads `state`. Pairs with (Q2). Without the order both sides could
//        miss the other: the thread sleeps and nobody wakes it.
//   (Q2) `state` stored, seq_cst, before the thread reads `queued` for the last time before sleeping.
//   (Q3) the pusher's stores before the push are seen by the callback: the push releases, taking acquires.
//   (Q4) busy = 1 before the queue is taken, busy = 0 after the last callback, both seq_cst. Pairs with
//        lane_idle(), which reads `queued` first: it cannot miss a batch between queue and busy, and what
//        callbacks wrote is seen.

#include <linux/bug.h>
#include <linux/nodemask.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <kmirror/topology.h>

#include "lib/kernel/futex.h"
#include "lib/kernel/rcu.h"
#include "lib/kernel/rcu_queue.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace kmirror::kernel {
namespace {

constexpr unsigned kMaxLanes = 8;
constexpr u64 kRestNs = 1000000;
constexpr u64 kExitPatienceNs = 2000000000;

enum State : u32 { kAwake, kResting, kAsleep };

struct alignas(64) Lane {
    std::atomic<rcu_head *> queued{nullptr};   // newest first
    std::atomic<u32> state{kAwake};
    std::atomic<u32> busy{0};
    std::atomic<u32> hurry{0};                 // somebody waits: do not rest
    std::atomic<u32> ended{0};
    std::atomic<bool> started{false};
    pthread_t thread{};
};

Lane lanes[kMaxLanes];
std::mutex start_lock;
std::atomic<bool> stopping;
__thread bool runs_callbacks;

// Ends the thread's sleep, and with `resting` its rest as well.
void wake(Lane &lane, bool resting)
{
    u32 state = lane.state.load(std::memory_order_seq_cst);   // (Q1)
    while (state == kAsleep || (resting && state == kResting)) {
        if (lane.state.compare_exchange_weak(state, kAwake, std::memory_order_seq_cst)) {
            futex_wake(lane.state, 1);
            return;
        }
    }
}

void push_hurried(Lane &lane, rcu_head *head)
{
    push(lane.queued, head);
    // After the push: do_batch() clears it before it takes the queue.
    lane.hurry.store(1, std::memory_order_seq_cst);
    wake(lane, true);
}

bool has_queued(const Lane &lane)
{
    return lane.queued.load(std::memory_order_seq_cst) != nullptr;
}

bool lane_idle(const Lane &lane)   // (Q4)
{
    return !has_queued(lane) && lane.busy.load(std::memory_order_seq_cst) == 0;
}

// Waits for callbacks. False: none left and the process ends.
bool await_callbacks(Lane &lane)
{
    while (lane.queued.load(std::memory_order_relaxed) == nullptr) {
        if (stopping.load(std::memory_order_relaxed))
            return false;
        lane.state.store(kAsleep, std::memory_order_seq_cst);   // (Q2)
        if (!has_queued(lane) && !stopping.load(std::memory_order_seq_cst))
            futex_wait(lane.state, kAsleep);
        lane.state.store(kAwake, std::memory_order_seq_cst);
    }
    return true;
}

void rest(Lane &lane)
{
    lane.state.store(kResting, std::memory_order_seq_cst);
    if (lane.hurry.load(std::memory_order_seq_cst) == 0)
        futex_wait(lane.state, kResting, kRestNs);
    lane.state.store(kAwake, std::memory_order_seq_cst);
}

void do_batch(Lane &lane)
{
    lane.busy.store(1, std::memory_order_seq_cst);   // (Q4)
    lane.hurry.store(0, std::memory_order_seq_cst);
    rcu_head *const newest = lane.queued.exchange(nullptr, std::memory_order_seq_cst);
    wait_for_readers();
    run_chain(reversed(newest));
    kmirror_cpu_release();
    lane.busy.store(0, std::memory_order_seq_cst);   // (Q4)
}

void *lane_main(void *argument)
{
    Lane &lane = *static_cast<Lane *>(argument);
    runs_callbacks = true;
    current_task()->flags |= PF_KTHREAD;
    while (await_callbacks(lane)) {
        do_batch(lane);
        rest(lane);
    }
    lane.ended.store(1, std::memory_order_release);
    futex_wake(lane.ended);
    return nullptr;
}

// False when the thread does not end in time, because a reader holds up its last grace period.
bool await_end(Lane &lane)
{
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kExitPatienceNs);
    while (lane.ended.load(std::memory_order_acquire) == 0) {
        if (std::chrono::steady_clock::now() >= give_up)
            return false;
        futex_wait(lane.ended, 0, kExitPatienceNs);
    }
    return true;
}

// At exit. A callback that calls exit() must not wait for its own thread.
void stop_lanes()
{
    stopping.store(true, std::memory_order_seq_cst);
    if (runs_callbacks)
        return;
    for (Lane &lane : lanes) {
        if (!lane.started.load(std::memory_order_acquire))
            continue;
        lane.hurry.store(1, std::memory_order_seq_cst);
        wake(lane, true);
        if (!await_end(lane))
            continue;
        pthread_join(lane.thread, nullptr);
        lane.ended.store(0, std::memory_order_relaxed);
        lane.started.store(false, std::memory_order_release);   // for who queues something after this
    }
    stopping.store(false, std::memory_order_relaxed);
}

void start_thread(Lane &lane)
{
    sigset_t all;
    sigfillset(&all);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &all);   // the program's signals are for its own threads
    const int error = pthread_create(&lane.thread, &attributes, lane_main, &lane);
    pthread_attr_destroy(&attributes);
    BUG_ON(error != 0);
    pthread_setname_np(lane.thread, "kmirror-rcu");
}

[[gnu::noinline, gnu::cold]] void start_lane(Lane &lane)
{
    const std::lock_guard guard(start_lock);
    if (lane.started.load(std::memory_order_relaxed))
        return;
    static bool stops_at_exit;
    if (!stops_at_exit)
        std::atexit(stop_lanes);
    stops_at_exit = true;
    start_thread(lane);
    lane.started.store(true, std::memory_order_release);
}

// The lane of the caller's node, with a thread to serve it.
Lane &my_lane()
{
    const unsigned count = nr_node_ids < kMaxLanes ? nr_node_ids : kMaxLanes;
    const int node = current_task()->node;
    Lane &lane = lanes[node > 0 && count > 1 ? static_cast<unsigned>(node) % count : 0];
    if (!lane.started.load(std::memory_order_acquire)) [[unlikely]]
        start_lane(lane);
    return lane;
}

// One for each lane that rcu_barrier() waits for. The last one to run wakes it.
struct BarrierEntry {
    rcu_head head;
    std::atomic<u32> *left;
};

void barrier_reached(rcu_head *head)
{
    std::atomic<u32> &left = *reinterpret_cast<BarrierEntry *>(head)->left;
    // From here on the waiter may return, and `left` with it; only its address is used.
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1)
        futex_wake(left);
}

}  // namespace

bool in_rcu_callback()
{
    return runs_callbacks;
}

unsigned long run_as_callbacks(rcu_head *oldest)
{
    const bool nested = runs_callbacks;
    runs_callbacks = true;
    const unsigned long count = run_chain(oldest);
    runs_callbacks = nested;
    return count;
}

void flush_callbacks(unsigned milliseconds)
{
    if (runs_callbacks || current_task()->rcu_nesting != 0)
        return;
    if (rcu_stepping.load(std::memory_order_relaxed)) [[unlikely]]
        flush_steps();
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    for (Lane &lane : lanes) {
        while (!lane_idle(lane) && std::chrono::steady_clock::now() < give_up) {
            lane.hurry.store(1, std::memory_order_seq_cst);
            wake(lane, true);
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
}

}  // namespace kmirror::kernel

using namespace kmirror::kernel;
using kmirror::current_task;

extern "C" void (call_rcu)(struct rcu_head *head, rcu_callback_t func)
{
    head_write(head->func, func);
    if (rcu_stepping.load(std::memory_order_relaxed)) [[unlikely]] {
        queue_for_step(head);
        return;
    }
    Lane &lane = my_lane();
    if (push(lane.queued, head))
        wake(lane, false);
}

extern "C" void (call_rcu_hurry)(struct rcu_head *head, rcu_callback_t func)
{
    head_write(head->func, func);
    if (rcu_stepping.load(std::memory_order_relaxed)) [[unlikely]]
        queue_for_step(head);
    else
        push_hurried(my_lane(), head);
}

extern "C" void rcu_barrier(void)
{
    if (WARN_ON_ONCE(current_task()->rcu_nesting != 0 || in_rcu_callback()))
        return;
    if (rcu_stepping.load(std::memory_order_relaxed)) [[unlikely]]
        flush_steps();
    BarrierEntry entries[kMaxLanes];
    std::atomic<u32> left{1};   // our own: the count cannot reach 0 before all entries are queued
    for (unsigned i = 0; i < kMaxLanes; ++i) {
        if (lane_idle(lanes[i]))
            continue;
        entries[i] = {{nullptr, barrier_reached}, &left};
        left.fetch_add(1, std::memory_order_relaxed);
        push_hurried(lanes[i], &entries[i].head);
    }
    left.fetch_sub(1, std::memory_order_acq_rel);
    for (u32 now; (now = left.load(std::memory_order_acquire)) != 0;)
        futex_wait(left, now);
}
