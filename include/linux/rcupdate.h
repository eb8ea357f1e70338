/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/rcupdate.h>: read-copy update over liburcu's memb flavour.
 *
 * A reader brackets its accesses with rcu_read_lock() and rcu_read_unlock(). Who has
 * made an object unreachable waits for a grace period, in which every read section
 * that could have seen it ends, before reusing the memory.
 *
 * Threads need no registration: the first read section registers, thread exit
 * unregisters. liburcu only detects grace periods; callbacks run on threads of this
 * library (lib/kernel/rcu.cpp), which it starts when the first one is queued and
 * stops at exit. After fork() without exec() only the parent may use RCU.
 *
 * This header must not include liburcu's: their inline assembly hides accesses from
 * the sanitizers.
 */
#ifndef _LINUX_RCUPDATE_H
#define _LINUX_RCUPDATE_H

#include <kmirror/stop_point.h>
#include <linux/kconfig.h>
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/string.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read section, may be nested. Context: any thread. Between the two calls the thread
 * must not call synchronize_rcu() or rcu_barrier(), and should not sleep.
 */
void rcu_read_lock(void);
void rcu_read_unlock(void);

/* Is the calling thread in a read section? */
int rcu_read_lock_held(void);

/*
 * Runs @func(@head) on a callback thread after a grace period that starts after this
 * call. @head stays the library's until then. Callbacks of one thread run in the
 * order they were queued as long as the thread stays on its node.
 * Context: any, also with spinlocks held and in a read section. Never fails.
 */
void call_rcu(struct rcu_head *head, rcu_callback_t func);

/* The same, without waiting for company that would share the grace period. */
void call_rcu_hurry(struct rcu_head *head, rcu_callback_t func);

#define call_rcu(head, func)        (KM_STOP_POINT("call_rcu"), call_rcu((head), (func)))
#define call_rcu_hurry(head, func)  (KM_STOP_POINT("call_rcu"), call_rcu_hurry((head), (func)))

/*
 * Waits for a grace period. In a read section it would wait for itself: that is
 * reported and it returns at once. In a callback it is reported, then done.
 * Context: no locks held that a read section may take.
 */
void synchronize_rcu(void);

static inline void synchronize_rcu_expedited(void)
{
    synchronize_rcu();
}

/*
 * Waits until every callback queued before this call, by any thread, has run. With
 * none queued it returns within microseconds. Context as synchronize_rcu(); in a
 * callback or a read section it is reported and returns at once.
 */
void rcu_barrier(void);

/*
 * Registers (unregisters) the calling thread with liburcu. Both may be left out and
 * both may be called twice. Unregistering inside a read section is reported and ignored.
 */
void rcu_register_thread(void);
void rcu_unregister_thread(void);

/*
 * kfree() (any slab object, any cache) of @ptr after a grace period; see lib/slub.
 * @head is the rcu_head inside the object, or NULL: then the call may sleep.
 */
void kvfree_call_rcu(struct rcu_head *head, void *ptr);
/* The same from where no lock may be waited for; the rest is done later if need be. */
void kfree_call_rcu_nolock(struct kvfree_rcu_head *head, void *ptr);

#define rcu_read_lock_bh()      rcu_read_lock()
#define rcu_read_unlock_bh()    rcu_read_unlock()
#define rcu_read_lock_sched()   rcu_read_lock()
#define rcu_read_unlock_sched() rcu_read_unlock()
#define rcu_read_lock_bh_held()     rcu_read_lock_held()
#define rcu_read_lock_any_held()    rcu_read_lock_held()

/* For lock_is_held(): the lock a callback thread holds while it runs callbacks. */
extern struct lockdep_map rcu_callback_map;

/* Set by kmirror_rcu_check(1) or KMIRROR_LOCKDEP=1: _check and _protected forms then test their condition. */
extern bool kmirror_rcu_checking;
void kmirror_rcu_check(bool on);
__attribute__((cold)) void kmirror_rcu_suspicious(const char *file, int line, const char *what);

#define RCU_LOCKDEP_WARN(condition, text)                                                         \
    do {                                                                                          \
        if (__builtin_expect(__atomic_load_n(&kmirror_rcu_checking, __ATOMIC_RELAXED), 0) &&      \
            (condition))                                                                          \
            kmirror_rcu_suspicious(__FILE__, __LINE__, text);                                     \
    } while (0)

/*
 * (U1) The load of a published pointer. Pairs with (U2): without it the reader could
 * see the pointer and not yet what the writer put behind it.
 */
#define __kmirror_rcu_load(p)   ((__typeof__(p))__atomic_load_n(&(p), __ATOMIC_ACQUIRE))

/* The pointer in @p, to be followed until the end of the read section. */
#define rcu_dereference_check(p, condition)                                                       \
    ({                                                                                            \
        RCU_LOCKDEP_WARN(!((condition) || rcu_read_lock_held()), "rcu_dereference_check");        \
        __kmirror_rcu_load(p);                                                                    \
    })
#define rcu_dereference(p)          rcu_dereference_check(p, 0)
#define rcu_dereference_bh(p)       rcu_dereference_check(p, 0)
#define rcu_dereference_sched(p)    rcu_dereference_check(p, 0)
#define rcu_dereference_raw(p)      __kmirror_rcu_load(p)
#define rcu_dereference_raw_check(p)    __kmirror_rcu_load(p)
#define rcu_dereference_bh_check(p, condition)  rcu_dereference_check(p, condition)

/* The same for a writer: @condition says why nobody can change @p now, so no order is needed. */
#define rcu_dereference_protected(p, condition)                                                   \
    ({                                                                                            \
        RCU_LOCKDEP_WARN(!(condition), "rcu_dereference_protected");                              \
        (__typeof__(p))__atomic_load_n(&(p), __ATOMIC_RELAXED);                                   \
    })

/* The pointer in @p, to be compared but not followed. */
#define rcu_access_pointer(p)   ((__typeof__(p))__atomic_load_n(&(p), __ATOMIC_RELAXED))

/* (U2) Publishes @v: what was written before is seen by who loads @p with (U1). */
#define rcu_assign_pointer(p, v)                                                                  \
    (KM_STOP_POINT("publish"), __atomic_store_n(&(p), (__typeof__(p))(v), __ATOMIC_RELEASE))

/* Stores @v where there is nothing to publish: NULL, or an object readers know already. */
#define RCU_INIT_POINTER(p, v)      __atomic_store_n(&(p), (__typeof__(p))(v), __ATOMIC_RELAXED)
#define RCU_INITIALIZER(v)          (v)
#define RCU_POINTER_INITIALIZER(p, v)   .p = RCU_INITIALIZER(v)

#define rcu_replace_pointer(p, v, condition)                                                      \
    ({                                                                                            \
        __typeof__(p) __kmirror_old = rcu_dereference_protected(p, condition);                    \
        rcu_assign_pointer(p, v);                                                                 \
        __kmirror_old;                                                                            \
    })

/* Ends what (U1) began: the object is now kept by a lock or a reference. */
#define rcu_pointer_handoff(p)      (p)

/*
 * Frees @ptr (NULL is allowed) after a grace period. @field is the struct rcu_head
 * or kvfree_rcu_head in *@ptr, in its first 4096 bytes. Any context.
 */
#define kfree_rcu(ptr, field)                                                                     \
    do {                                                                                          \
        __typeof__(ptr) __kmirror_p = (ptr);                                                      \
                                                                                                  \
        BUILD_BUG_ON(__builtin_offsetof(__typeof__(*(ptr)), field) >= 4096);                      \
        if (__kmirror_p) {                                                                        \
            KM_STOP_POINT("call_rcu");                                                            \
            kvfree_call_rcu((struct rcu_head *)&__kmirror_p->field, (void *)__kmirror_p);         \
        }                                                                                         \
    } while (0)
#define kvfree_rcu(ptr, field)  kfree_rcu(ptr, field)

/*
 * kfree_rcu() for memory of kmalloc_nolock(), where no lock may be waited for. @field is a
 * struct kvfree_rcu_head.
 */
#define kfree_rcu_nolock(ptr, field)                                                              \
    do {                                                                                          \
        __typeof__(ptr) __kmirror_p = (ptr);                                                      \
                                                                                                  \
        BUILD_BUG_ON(__builtin_offsetof(__typeof__(*(ptr)), field) >= 4096);                      \
        if (__kmirror_p)                                                                          \
            kfree_call_rcu_nolock(&__kmirror_p->field, (void *)__kmirror_p);                      \
    } while (0)

/* The same for objects without an rcu_head. May sleep. */
#define kfree_rcu_mightsleep(ptr)                                                                 \
    do {                                                                                          \
        __typeof__(ptr) __kmirror_p = (ptr);                                                      \
                                                                                                  \
        if (__kmirror_p)                                                                          \
            kvfree_call_rcu((struct rcu_head *)0, (void *)__kmirror_p);                           \
    } while (0)
#define kvfree_rcu_mightsleep(ptr)  kfree_rcu_mightsleep(ptr)

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_RCUPDATE_H */
