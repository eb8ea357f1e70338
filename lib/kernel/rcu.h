// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/rcu.h: the parts of RCU and what they want of each other.
//
//   rcu_read_lock, synchronize_rcu       rcu.cpp            readers; grace periods, by liburcu
//   call_rcu, rcu_barrier                rcu_callback.cpp   lanes: queue -> grace period -> callbacks
#pragma once

namespace kmirror::kernel {

// Returns after a grace period. The caller may be in a callback, but in no read section.
void wait_for_readers();

// True in a thread that runs callbacks.
bool in_rcu_callback();

// Lets all queued callbacks run soon and waits for them, but not longer than `milliseconds`. For a caller
// that is out of memory: in a read section or in a callback it returns at once.
void flush_callbacks(unsigned milliseconds);

}  // namespace kmirror::kernel
