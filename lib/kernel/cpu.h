// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/cpu.h: what the files of lib/kernel share about leases.
#pragma once

#include <linux/sched.h>

namespace kmirror::kernel {

// Makes sure that the calling thread is on an online CPU: takes one, or moves away from one that went
// offline. Outside of sections only.
void cpu_settle();

// Takes the CPU out of the online mask: no new thread comes, and those on it move with their next operation.
// Returns when none of them is in a section. The caller has the hotplug lock and is in no section.
void cpu_evict(int cpu);

// Puts the CPU into the online mask: threads may come, and see what was done while it was dead.
void cpu_admit(int cpu);

// One more (true) or one less reason for no thread to be told that it is alone. Without one, each CPU's only
// thread is told at once.
void cpu_forbid_bias(bool forbid);

// What promote() looks at has changed for the calling thread; outside of sections.
void bias_changed(task_struct &self);

// May threads be told that they are alone? Not under the thread sanitizer, and not without membarrier().
bool cpu_bias_possible();

}  // namespace kmirror::kernel
