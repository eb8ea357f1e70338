/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * asm/barrier.h: memory barriers by their kernel names, on C11 orders.
 *
 * Neither the thread sanitizer nor the simulator follows stand-alone fences, so
 * there they are calls into lib/kernel; code of this project pairs
 * smp_store_release() with smp_load_acquire(), which both understand.
 */
#ifndef KMIRROR_ASM_BARRIER_H
#define KMIRROR_ASM_BARRIER_H

#include <kmirror/stop_point.h>
#include <linux/compiler.h>

KM_C_BEGIN
void kmirror_smp_mb(void);
void kmirror_smp_rmb(void);
void kmirror_smp_wmb(void);
KM_C_END

#if KMIRROR_TSAN_FLAG || KMIRROR_INSTRUMENTED
#define smp_mb() (KM_STOP_POINT("barrier"), kmirror_smp_mb())
#define smp_rmb() (KM_STOP_POINT("barrier"), kmirror_smp_rmb())
#define smp_wmb() (KM_STOP_POINT("barrier"), kmirror_smp_wmb())
#else
#define smp_mb() (KM_STOP_POINT("barrier"), __atomic_thread_fence(__ATOMIC_SEQ_CST))
#define smp_rmb() (KM_STOP_POINT("barrier"), __atomic_thread_fence(__ATOMIC_ACQUIRE))
#define smp_wmb() (KM_STOP_POINT("barrier"), __atomic_thread_fence(__ATOMIC_RELEASE))
#endif

#define mb() smp_mb()
#define rmb() smp_rmb()
#define wmb() smp_wmb()

/* Around atomic operations that order nothing by themselves. */
#define smp_mb__before_atomic() smp_mb()
#define smp_mb__after_atomic() smp_mb()
#define smp_mb__after_spinlock() smp_mb()
#define smp_mb__after_unlock_lock() smp_mb()

/* Later accesses come after this load; earlier ones come before this store. */
#define smp_load_acquire(pointer) __atomic_load_n((pointer), __ATOMIC_ACQUIRE)
#define smp_store_release(pointer, value)                                     \
    do {                                                                      \
        __typeof__(*(pointer)) km_release_value = (value);                    \
        KM_STOP_POINT("publish");                                             \
        __atomic_store((pointer), &km_release_value, __ATOMIC_RELEASE);       \
    } while (0)

/* A store with a full barrier behind it. */
#define smp_store_mb(variable, value)                                         \
    do {                                                                      \
        __typeof__(variable) km_mb_value = (value);                           \
        __atomic_store(&(variable), &km_mb_value, __ATOMIC_SEQ_CST);          \
        smp_mb();                                                             \
    } while (0)

#define smp_acquire__after_ctrl_dep() smp_rmb()

#endif /* KMIRROR_ASM_BARRIER_H */
