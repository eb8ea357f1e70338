// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/rcu.h: the parts of RCU and what they want of each other.
//
//   rcu_read_lock, synchronize_rcu       rcu.cpp            readers; grace periods, by liburcu
//   call_rcu, rcu_barrier                rcu_callback.cpp   lanes: queue -> grace period -> callbacks
//   kmirror_rcu_step, kmirror_rcu_run    rcu_steps.cpp      the same with grace periods by hand
#pragma once

#include <linux/types.h>

#include <atomic>

namespace kmirror::kernel {

// Returns after a grace period. The caller may be in a callback, but in no read section.
void wait_for_readers();

// True in a thread that runs callbacks.
bool in_rcu_callback();

// Lets all queued callbacks run soon and waits for them, but not longer than `milliseconds`. For a caller
// that is out of memory: in a read section or in a callback it returns at once.
void flush_callbacks(unsigned milliseconds);

// Runs a chain of callbacks, oldest first, on the caller's thread; it is in callbacks meanwhile. How many.
unsigned long run_as_callbacks(rcu_head *oldest);

// Grace periods by hand: call_rcu() then queues for the caller's CPU.
extern std::atomic<bool> rcu_stepping;
void queue_for_step(rcu_head *head);

// Steps, and runs every CPU's callbacks on the caller's thread, until nothing is queued.
void flush_steps();

}  // namespace kmirror::kernel
