/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmirror/lockstat.h: lock statistics per class, and the switches of lock checks.
 *
 * Off, a lock pays one predictable branch. On, every acquisition is timed and
 * counted under its class: the name at the lock's init site, "&n->list_lock".
 */
#ifndef KMIRROR_LOCKSTAT_H
#define KMIRROR_LOCKSTAT_H

#include <linux/lockdep.h>

/* Call sites told apart for each class; the first that waited have them. */
#define KMIRROR_LOCK_POINTS 8

/* Where a lock was asked for that somebody else had. */
struct kmirror_lock_point {
    unsigned long ip;   /* the address after the call; 0: no more points. sprint_symbol() has its name */
    u64 contended;
};

/* Times in nanoseconds. Averages: wait per contended, hold per acquisition. */
struct kmirror_lock_stat {
    const char *name;
    u64 acquisitions;
    u64 contended; /* acquisitions that had to wait */
    u64 wait_ns_total;
    u64 wait_ns_max;
    u64 hold_ns_total;
    u64 hold_ns_max;
    struct kmirror_lock_point points[KMIRROR_LOCK_POINTS];
};

KM_C_BEGIN

/* kmirror_lockstat_enable() - Start or stop counting; counts are kept. Locks held across are not timed. */
void kmirror_lockstat_enable(bool on);
bool kmirror_lockstat_enabled(void);

/* kmirror_lockstat_reset() - All counts to zero. */
void kmirror_lockstat_reset(void);

/**
 * kmirror_lockstat_snapshot() - Read the counts of all classes that were used.
 * @stats: Room for @room entries; may be NULL if @room is 0.
 * @room: Entries wanted.
 *
 * Classes come in the order of their first registration. Counts of running threads
 * are read one after the other, not at one instant.
 * Return: Number of classes used; may be more than @room.
 */
size_t kmirror_lockstat_snapshot(struct kmirror_lock_stat *stats, size_t room);

/* kmirror_lockstat_get() - The counts of one class; false if it was never used. */
bool kmirror_lockstat_get(const char *name, struct kmirror_lock_stat *stat);

/* kmirror_lockdep_enable() - Turn held-lock and order checks on or off. Call with no lock held. */
void kmirror_lockdep_enable(bool on);
bool kmirror_lockdep_enabled(void);

/* kmirror_lockdep_reset() - Forget every learned and given order. */
void kmirror_lockdep_reset(void);

/* kmirror_lockdep_order() - State that class @outer is taken before class @inner. */
void kmirror_lockdep_order(const char *outer, const char *inner);

/* kmirror_lockdep_violations() - Reports so far: orders, recursions, unlocks of others' locks. */
unsigned long kmirror_lockdep_violations(void);

KM_C_END

#endif /* KMIRROR_LOCKSTAT_H */
