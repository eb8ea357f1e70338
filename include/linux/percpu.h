/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/percpu.h: one copy of an object for each possible CPU. */
#ifndef KMIRROR_LINUX_PERCPU_H
#define KMIRROR_LINUX_PERCPU_H

#include <linux/percpu-defs.h>
#include <linux/types.h>

KM_C_BEGIN

/**
 * __alloc_percpu() - Allocate zeroed copies for all possible CPUs.
 * @size: Bytes of one copy, 1 to PERCPU_UNIT_SIZE.
 * @align: Power of two, at most the page size.
 *
 * Context: Any thread; takes the allocator's own lock, sleeps for no memory.
 * Return: Address of CPU 0's copy, for per_cpu_ptr(); NULL if the unit is full or
 *         an argument is out of range.
 */
void __percpu *__alloc_percpu(size_t size, size_t align);

/* __alloc_percpu_gfp() - The same; @gfp matters to fault injection only. */
void __percpu *__alloc_percpu_gfp(size_t size, size_t align, gfp_t gfp);

/* free_percpu() - Give all copies back. NULL is fine; another address is a BUG. */
void free_percpu(void __percpu *pointer);

/* Bytes of one CPU's unit that are in use, for tests and reports. */
size_t kmirror_percpu_used(void);

KM_C_END

#define alloc_percpu(type) ((type __percpu *)__alloc_percpu(sizeof(type), __alignof__(type)))
#define alloc_percpu_gfp(type, gfp) \
    ((type __percpu *)__alloc_percpu_gfp(sizeof(type), __alignof__(type), (gfp)))

#endif /* KMIRROR_LINUX_PERCPU_H */
