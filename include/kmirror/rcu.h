/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/rcu.h>: grace periods by hand.
 *
 * Natively a grace period ends when liburcu says so, and a thread of the library runs the callbacks. How many
 * operations lie between two grace periods then depends on the host, and with it how long freed objects wait,
 * how many slabs are in use, how often list_lock is taken. With stepping on, the program says when a grace
 * period has passed, and each CPU runs the callbacks that were queued on it, as softirqs do in the kernel:
 * counts then depend on the sequence of operations only.
 *
 *   kmirror_rcu_stepping(true);
 *   for (;;) {
 *       ... each CPU, in parallel: kmirror_rcu_run(); N operations ...
 *       kmirror_rcu_step();
 *   }
 *   kmirror_rcu_stepping(false);
 *
 * rcu_barrier() takes steps of its own until nothing is queued. synchronize_rcu() is what it always is.
 */
#ifndef KMIRROR_RCU_H
#define KMIRROR_RCU_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * kmirror_rcu_stepping() - Steps on or off. Off first does what rcu_barrier() does.
 * Context: no read section, no callback; no other thread may use RCU during the call.
 */
void kmirror_rcu_stepping(bool on);

/*
 * kmirror_rcu_step() - A grace period: what was queued before is ready to run afterwards.
 * Context: no read section. It waits for those of others. Return: callbacks that became ready, on all CPUs.
 */
unsigned long kmirror_rcu_step(void);

/*
 * kmirror_rcu_run() - Runs what is ready on the caller's CPU, oldest first.
 * Context: no read section. Return: callbacks that ran.
 */
unsigned long kmirror_rcu_run(void);

#ifdef __cplusplus
}
#endif

#endif /* KMIRROR_RCU_H */
