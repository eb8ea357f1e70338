/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/percpu-defs.h: access to per-CPU data.
 *
 * An address from alloc_percpu() is that of CPU 0's copy; the copy of CPU n lies
 * n * PERCPU_UNIT_SIZE behind it.
 *
 *   this_cpu_ptr(p)   address of the caller's copy
 *   this_cpu_add(v,n) relaxed atomic: two threads may share a CPU
 *   __this_cpu_add    plain: the caller excludes others, e.g. by the local lock
 *   raw_cpu_add       load and store: an update may be lost, never torn
 */
#ifndef KMIRROR_LINUX_PERCPU_DEFS_H
#define KMIRROR_LINUX_PERCPU_DEFS_H

#include <linux/smp.h>

/* Bytes of one CPU's copies; address space only, pages come on first use. */
#define PERCPU_UNIT_SIZE (4UL << 20)

/* this_cpu_offset() - Distance of the caller's copies from CPU 0's. */
static __always_inline unsigned long this_cpu_offset(void)
{
#if !KMIRROR_INSTRUMENTED
    if (likely(READ_ONCE(kmirror_task.leased)))
        return kmirror_task.percpu_offset;
#endif
    return kmirror_percpu_offset();
}

#define per_cpu_offset(cpu) ((unsigned long)(cpu) * PERCPU_UNIT_SIZE)
#ifdef __cplusplus
template <class T> static __always_inline T *km_shift_percpu(T *pointer, unsigned long offset)
{
    return (T *)((unsigned long)pointer + offset);
}
#define SHIFT_PERCPU_PTR(pointer, offset) km_shift_percpu((pointer), (offset))
#else
#define SHIFT_PERCPU_PTR(pointer, offset) ((__typeof__(pointer))((unsigned long)(pointer) + (offset)))
#endif
#define per_cpu_ptr(pointer, cpu) SHIFT_PERCPU_PTR(pointer, per_cpu_offset(cpu))
#define this_cpu_ptr(pointer) SHIFT_PERCPU_PTR(pointer, this_cpu_offset())
#define raw_cpu_ptr(pointer) this_cpu_ptr(pointer)

#define get_cpu_ptr(pointer)        \
    __extension__({                 \
        preempt_disable();          \
        this_cpu_ptr(pointer);      \
    })
#define put_cpu_ptr(pointer)        \
    do {                            \
        (void)(pointer);            \
        preempt_enable();           \
    } while (0)

#define this_cpu_read(variable) READ_ONCE(*this_cpu_ptr(&(variable)))
#define this_cpu_write(variable, value) WRITE_ONCE(*this_cpu_ptr(&(variable)), (value))
#define this_cpu_add(variable, n) \
    ((void)__atomic_fetch_add(this_cpu_ptr(&(variable)), (n), __ATOMIC_RELAXED))
#define this_cpu_add_return(variable, n) \
    __atomic_add_fetch(this_cpu_ptr(&(variable)), (n), __ATOMIC_RELAXED)
#define this_cpu_sub(variable, n) \
    ((void)__atomic_fetch_sub(this_cpu_ptr(&(variable)), (n), __ATOMIC_RELAXED))
#define this_cpu_inc(variable) this_cpu_add(variable, 1)
#define this_cpu_dec(variable) this_cpu_sub(variable, 1)
#define this_cpu_xchg(variable, value) KM_XCHG(this_cpu_ptr(&(variable)), value, __ATOMIC_SEQ_CST)
#define this_cpu_cmpxchg(variable, old, fresh) cmpxchg(this_cpu_ptr(&(variable)), old, fresh)
#define this_cpu_try_cmpxchg(variable, old, fresh) try_cmpxchg(this_cpu_ptr(&(variable)), old, fresh)

#define __this_cpu_read(variable) (*this_cpu_ptr(&(variable)))
#define __this_cpu_write(variable, value) ((void)(*this_cpu_ptr(&(variable)) = (value)))
#define __this_cpu_add(variable, n) ((void)(*this_cpu_ptr(&(variable)) += (n)))
#define __this_cpu_sub(variable, n) ((void)(*this_cpu_ptr(&(variable)) -= (n)))
#define __this_cpu_inc(variable) __this_cpu_add(variable, 1)
#define __this_cpu_dec(variable) __this_cpu_sub(variable, 1)

#define raw_cpu_read(variable) this_cpu_read(variable)
#define raw_cpu_write(variable, value) this_cpu_write(variable, value)
#define raw_cpu_add(variable, n)                                           \
    do {                                                                   \
        __typeof__(&(variable)) km_raw_counter = this_cpu_ptr(&(variable)); \
        WRITE_ONCE(*km_raw_counter, READ_ONCE(*km_raw_counter) + (n));     \
    } while (0)
#define raw_cpu_inc(variable) raw_cpu_add(variable, 1)
#define raw_cpu_dec(variable) raw_cpu_add(variable, -1)

#endif /* KMIRROR_LINUX_PERCPU_DEFS_H */
