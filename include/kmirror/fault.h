/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/fault.h>: making allocations fail on purpose.
 *
 * Points: "failslab" (one object of any cache) and "fail_page_alloc" (one block of
 * pages). They are libfiu points, so libfiu's own tools reach them as well once
 * kmirror_fault_watch() has lifted the flag that normally keeps it out of the way.
 *
 * A request with __GFP_NOFAIL never fails, whatever is switched on here. In a build
 * with FAULTS=0 nothing can be switched on: the functions return -EOPNOTSUPP, false
 * or 0.
 *
 * Context: any thread, no spinlock held. Switching is atomic for other threads: a
 * request sees a point on or off.
 */
#ifndef _KMIRROR_FAULT_H
#define _KMIRROR_FAULT_H

#include <linux/kconfig.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KMIRROR_FAULT_ONCE  0x1U    /* the point switches itself off after one failure */

/*
 * Enables a point for all threads with the given @probability, above 0 and at most 1;
 * 1 fails every request. A point that is on already takes the new values.
 * Return: 0; -EINVAL for an unknown name, a bad probability or unknown flags, and
 * then nothing has changed.
 */
int kmirror_fault_enable(const char *name, double probability, unsigned int flags);

/* Switches a point off. Return: 0, or -EINVAL for an unknown name. */
int kmirror_fault_disable(const char *name);

/* Failures the point has caused since the process began, by whatever way; 0 for an unknown name. */
unsigned long kmirror_fault_count(const char *name);

/*
 * Asks libfiu at each point from now on (or no longer), so that points enabled by
 * fiu_enable() or fiu-ctrl work without kmirror_fault_enable().
 */
void kmirror_fault_watch(bool on);

/*
 * Lets the @nth request of the calling thread from now on fail (1: the next one), at
 * whichever point it comes; 0 disarms. The _from form fails that one and all after it,
 * until it is disarmed. Counting replaces the previous arming.
 * Return: whether the previous arming has fired.
 */
bool kmirror_fail_nth(unsigned int nth);
bool kmirror_fail_from_nth(unsigned int nth);

/* Requests of this thread that were counted since it last armed. */
unsigned int kmirror_fail_seen(void);

/*
 * Between the two, requests of the calling thread are neither counted nor failed: a
 * stretch that must not fail, such as the allocator's own start. Pairs may be nested.
 */
void kmirror_fault_pause(void);
void kmirror_fault_resume(void);

#ifdef __cplusplus
}
#endif

#endif /* _KMIRROR_FAULT_H */
