/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/atomic.h: atomic_t, atomic64_t, atomic_long_t and cmpxchg() on variables.
 *
 * Order, as in the kernel: an operation that returns a value is a full barrier
 * unless its name says _relaxed, _acquire or _release; one that returns nothing
 * orders nothing; a failed compare orders nothing.
 */
#ifndef KMIRROR_LINUX_ATOMIC_H
#define KMIRROR_LINUX_ATOMIC_H

#include <asm/barrier.h>
#include <asm/processor.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* One operation @op of family @f: void, and the old value in four orders. */
#define KM_ATOMIC_FETCH(f, value_t, op, builtin)                                              \
    static __always_inline void f##_##op(value_t by, f##_t *v)                                \
    {                                                                                         \
        __atomic_fetch_##builtin(&v->counter, by, __ATOMIC_RELAXED);                          \
    }                                                                                         \
    static __always_inline value_t f##_fetch_##op(value_t by, f##_t *v)                       \
    {                                                                                         \
        return __atomic_fetch_##builtin(&v->counter, by, __ATOMIC_SEQ_CST);                   \
    }                                                                                         \
    static __always_inline value_t f##_fetch_##op##_relaxed(value_t by, f##_t *v)             \
    {                                                                                         \
        return __atomic_fetch_##builtin(&v->counter, by, __ATOMIC_RELAXED);                   \
    }                                                                                         \
    static __always_inline value_t f##_fetch_##op##_acquire(value_t by, f##_t *v)             \
    {                                                                                         \
        return __atomic_fetch_##builtin(&v->counter, by, __ATOMIC_ACQUIRE);                   \
    }                                                                                         \
    static __always_inline value_t f##_fetch_##op##_release(value_t by, f##_t *v)             \
    {                                                                                         \
        return __atomic_fetch_##builtin(&v->counter, by, __ATOMIC_RELEASE);                   \
    }

/* The new value of an addition or subtraction, in four orders. */
#define KM_ATOMIC_RETURN(f, value_t, op)                                                      \
    static __always_inline value_t f##_##op##_return(value_t by, f##_t *v)                    \
    {                                                                                         \
        return __atomic_##op##_fetch(&v->counter, by, __ATOMIC_SEQ_CST);                      \
    }                                                                                         \
    static __always_inline value_t f##_##op##_return_relaxed(value_t by, f##_t *v)            \
    {                                                                                         \
        return __atomic_##op##_fetch(&v->counter, by, __ATOMIC_RELAXED);                      \
    }                                                                                         \
    static __always_inline value_t f##_##op##_return_acquire(value_t by, f##_t *v)            \
    {                                                                                         \
        return __atomic_##op##_fetch(&v->counter, by, __ATOMIC_ACQUIRE);                      \
    }                                                                                         \
    static __always_inline value_t f##_##op##_return_release(value_t by, f##_t *v)            \
    {                                                                                         \
        return __atomic_##op##_fetch(&v->counter, by, __ATOMIC_RELEASE);                      \
    }

/* Steps by one. */
#define KM_ATOMIC_STEP(f, value_t, step, op)                                                  \
    static __always_inline void f##_##step(f##_t *v)                                          \
    {                                                                                         \
        f##_##op(1, v);                                                                       \
    }                                                                                         \
    static __always_inline value_t f##_##step##_return(f##_t *v)                              \
    {                                                                                         \
        return f##_##op##_return(1, v);                                                       \
    }                                                                                         \
    static __always_inline value_t f##_fetch_##step(f##_t *v)                                 \
    {                                                                                         \
        return f##_fetch_##op(1, v);                                                          \
    }                                                                                         \
    static __always_inline bool f##_##step##_and_test(f##_t *v)                               \
    {                                                                                         \
        return f##_##op##_return(1, v) == 0;                                                  \
    }

/* Exchange and compare-exchange in one order; @suffix is empty or _acquire, .... */
#define KM_ATOMIC_XCHG(f, value_t, suffix, order, fail_order)                                 \
    static __always_inline value_t f##_xchg##suffix(f##_t *v, value_t fresh)                  \
    {                                                                                         \
        return __atomic_exchange_n(&v->counter, fresh, order);                                \
    }                                                                                         \
    static __always_inline bool f##_try_cmpxchg##suffix(f##_t *v, value_t *old, value_t fresh) \
    {                                                                                         \
        return __atomic_compare_exchange_n(&v->counter, old, fresh, false, order, fail_order); \
    }                                                                                         \
    static __always_inline value_t f##_cmpxchg##suffix(f##_t *v, value_t old, value_t fresh)  \
    {                                                                                         \
        (void)f##_try_cmpxchg##suffix(v, &old, fresh);                                        \
        return old;                                                                           \
    }

/* Reads, stores, and the conditional forms built on try_cmpxchg. */
#define KM_ATOMIC_BASE(f, value_t)                                                            \
    static __always_inline value_t f##_read(const f##_t *v)                                   \
    {                                                                                         \
        return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);                                \
    }                                                                                         \
    static __always_inline value_t f##_read_acquire(const f##_t *v)                           \
    {                                                                                         \
        return __atomic_load_n(&v->counter, __ATOMIC_ACQUIRE);                                \
    }                                                                                         \
    static __always_inline void f##_set(f##_t *v, value_t value)                              \
    {                                                                                         \
        __atomic_store_n(&v->counter, value, __ATOMIC_RELAXED);                               \
    }                                                                                         \
    static __always_inline void f##_set_release(f##_t *v, value_t value)                      \
    {                                                                                         \
        __atomic_store_n(&v->counter, value, __ATOMIC_RELEASE);                               \
    }

#define KM_ATOMIC_CONDITIONAL(f, value_t)                                                     \
    static __always_inline bool f##_sub_and_test(value_t by, f##_t *v)                        \
    {                                                                                         \
        return f##_sub_return(by, v) == 0;                                                    \
    }                                                                                         \
    static __always_inline bool f##_add_negative(value_t by, f##_t *v)                        \
    {                                                                                         \
        return f##_add_return(by, v) < 0;                                                     \
    }                                                                                         \
    static __always_inline value_t f##_fetch_add_unless(f##_t *v, value_t by, value_t unless) \
    {                                                                                         \
        value_t old = f##_read(v);                                                            \
                                                                                              \
        while (old != unless && !f##_try_cmpxchg(v, &old, old + by))                          \
            ;                                                                                 \
        return old;                                                                           \
    }                                                                                         \
    static __always_inline bool f##_add_unless(f##_t *v, value_t by, value_t unless)          \
    {                                                                                         \
        return f##_fetch_add_unless(v, by, unless) != unless;                                 \
    }                                                                                         \
    static __always_inline bool f##_inc_not_zero(f##_t *v)                                    \
    {                                                                                         \
        return f##_add_unless(v, 1, 0);                                                       \
    }                                                                                         \
    static __always_inline value_t f##_dec_if_positive(f##_t *v)                              \
    {                                                                                         \
        value_t old = f##_read(v);                                                            \
                                                                                              \
        while (old > 0 && !f##_try_cmpxchg(v, &old, old - 1))                                 \
            ;                                                                                 \
        return old - 1;                                                                       \
    }

#define KM_ATOMIC_FAMILY(f, value_t)                                               \
    KM_ATOMIC_BASE(f, value_t)                                                     \
    KM_ATOMIC_FETCH(f, value_t, add, add)                                          \
    KM_ATOMIC_FETCH(f, value_t, sub, sub)                                          \
    KM_ATOMIC_FETCH(f, value_t, and, and)                                          \
    KM_ATOMIC_FETCH(f, value_t, or, or)                                            \
    KM_ATOMIC_FETCH(f, value_t, xor, xor)                                          \
    KM_ATOMIC_RETURN(f, value_t, add)                                              \
    KM_ATOMIC_RETURN(f, value_t, sub)                                              \
    KM_ATOMIC_STEP(f, value_t, inc, add)                                           \
    KM_ATOMIC_STEP(f, value_t, dec, sub)                                           \
    KM_ATOMIC_XCHG(f, value_t, , __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)               \
    KM_ATOMIC_XCHG(f, value_t, _relaxed, __ATOMIC_RELAXED, __ATOMIC_RELAXED)       \
    KM_ATOMIC_XCHG(f, value_t, _acquire, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)       \
    KM_ATOMIC_XCHG(f, value_t, _release, __ATOMIC_RELEASE, __ATOMIC_RELAXED)       \
    KM_ATOMIC_CONDITIONAL(f, value_t)

KM_ATOMIC_FAMILY(atomic, int)
KM_ATOMIC_FAMILY(atomic64, s64)
KM_ATOMIC_FAMILY(atomic_long, long)

/* On variables of 1, 2, 4 or 8 bytes; 16 bytes have their own place in lib/slub. */
#define KM_CMPXCHG(pointer, old, fresh, order)                                                \
    __extension__({                                                                           \
        __typeof__(*(pointer)) km_cmpxchg_old = (old);                                        \
        __typeof__(*(pointer)) km_cmpxchg_new = (fresh);                                      \
        __atomic_compare_exchange((pointer), &km_cmpxchg_old, &km_cmpxchg_new, 0, order,      \
                                  __ATOMIC_RELAXED);                                          \
        km_cmpxchg_old;                                                                       \
    })

#define KM_TRY_CMPXCHG(pointer, old_pointer, fresh, order)                                    \
    __extension__({                                                                           \
        __typeof__(*(pointer)) km_cmpxchg_new = (fresh);                                      \
        (bool)__atomic_compare_exchange((pointer), (old_pointer), &km_cmpxchg_new, 0, order,  \
                                        __ATOMIC_RELAXED);                                    \
    })

#define KM_XCHG(pointer, fresh, order)                                                        \
    __extension__({                                                                           \
        __typeof__(*(pointer)) km_xchg_new = (fresh);                                         \
        __typeof__(*(pointer)) km_xchg_old;                                                   \
        __atomic_exchange((pointer), &km_xchg_new, &km_xchg_old, order);                      \
        km_xchg_old;                                                                          \
    })

#define cmpxchg(pointer, old, fresh) KM_CMPXCHG(pointer, old, fresh, __ATOMIC_SEQ_CST)
#define cmpxchg_relaxed(pointer, old, fresh) KM_CMPXCHG(pointer, old, fresh, __ATOMIC_RELAXED)
#define cmpxchg_acquire(pointer, old, fresh) KM_CMPXCHG(pointer, old, fresh, __ATOMIC_ACQUIRE)
#define cmpxchg_release(pointer, old, fresh) KM_CMPXCHG(pointer, old, fresh, __ATOMIC_RELEASE)
#define try_cmpxchg(pointer, old, fresh) KM_TRY_CMPXCHG(pointer, old, fresh, __ATOMIC_SEQ_CST)
#define try_cmpxchg_relaxed(pointer, old, fresh) KM_TRY_CMPXCHG(pointer, old, fresh, __ATOMIC_RELAXED)
#define try_cmpxchg_acquire(pointer, old, fresh) KM_TRY_CMPXCHG(pointer, old, fresh, __ATOMIC_ACQUIRE)
#define try_cmpxchg_release(pointer, old, fresh) KM_TRY_CMPXCHG(pointer, old, fresh, __ATOMIC_RELEASE)
#define xchg(pointer, fresh) KM_XCHG(pointer, fresh, __ATOMIC_SEQ_CST)
#define xchg_relaxed(pointer, fresh) KM_XCHG(pointer, fresh, __ATOMIC_RELAXED)

#endif /* KMIRROR_LINUX_ATOMIC_H */
