/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/local_lock.h: a CPU's own lock on its per-CPU data.
 *
 * One lock per CPU, in per-CPU data; every call takes the per-CPU address and
 * works on the caller's copy. Usually one thread is alone on its CPU and locks
 * with plain loads and stores of `owner`; when a second one comes, it stops the
 * first once (membarrier) and from then on both use compare-and-swap on `shared`,
 * until one is alone again. local_trylock() fails when the other thread holds the
 * lock, as an interrupt handler's would.
 *
 *   thread's bias   takes                         gives back
 *   3 alone         owner = 1, bias read again    owner = 0 (release)
 *   1 owner, not    shared 0 -> 1 (acquire),      whichever of the two it holds
 *     alone           then owner must be 0
 *   0 sharer        the same                      shared = 0 (release)
 *
 * (LL1) owner and shared are never both held by different threads
 * (LL2) only a thread with the owner bit in its bias ever sets `owner`
 */
#ifndef KMIRROR_LINUX_LOCAL_LOCK_H
#define KMIRROR_LINUX_LOCAL_LOCK_H

#include <kmirror/stop_point.h>
#include <linux/lockdep.h>
#include <linux/percpu-defs.h>

typedef struct local_lock {
    u8 owner;
    u8 pad[3];
    u32 shared;
} local_trylock_t;

typedef local_trylock_t local_lock_t;

KM_STATIC_ASSERT(sizeof(local_trylock_t) == 8, "one word");

#define INIT_LOCAL_LOCK(name) { 0, { 0, 0, 0 }, 0 }
#define INIT_LOCAL_TRYLOCK(name) INIT_LOCAL_LOCK(name)

KM_C_BEGIN
/* Slow and instrumented bodies; lib/kernel/local_lock.cpp. */
bool kmirror_local_trylock(struct local_lock __percpu *lock);
void kmirror_local_lock(struct local_lock __percpu *lock);
void kmirror_local_unlock(struct local_lock __percpu *lock);
KM_C_END

/* local_lock_init() - Make one CPU's copy an unlocked lock; @lock is its plain address. */
static inline void km_local_lock_init(struct local_lock *lock)
{
    lock->owner = 0;
    lock->shared = 0;
}
#define local_lock_init(lock) km_local_lock_init(lock)
#define local_trylock_init(lock) km_local_lock_init(lock)

/*
 * The way of a thread that is alone on its CPU. On success the thread is in a
 * section; on false nothing has changed and the general way must be taken.
 *
 * A section knows what it found: ending it stores that count again, so that no
 * section waits for the store of the one before it to be read back.
 */
struct km_alone {
    struct local_lock *mine; /* this CPU's copy */
    unsigned int count;      /* preempt_count outside */
};

#if !KMIRROR_INSTRUMENTED && !KMIRROR_TSAN
static __always_inline bool km_local_trylock_alone(struct local_lock __percpu *lock,
                                                   struct km_alone *section)
{
    struct task_struct *task = &kmirror_task;
    struct local_lock *mine;

    /* (B1) What the last sharer did on this CPU is seen. Pairs with (B2) in cpu.cpp. */
    if (unlikely(__atomic_load_n(&task->bias, __ATOMIC_ACQUIRE) != KMIRROR_BIAS_ALONE))
        return false;
    section->count = READ_ONCE(task->preempt_count);
    section->mine = mine = SHIFT_PERCPU_PTR(lock, task->percpu_offset);
    WRITE_ONCE(task->preempt_count, section->count + 1);
    if (likely(!(READ_ONCE(mine->owner) | READ_ONCE(mine->shared)))) {
        WRITE_ONCE(mine->owner, 1);
        /*
         * (B3) owner and count are stored before bias is read again. Pairs with the
         * membarrier() of a thread that took the bias away: either it sees our
         * stores, or we see its. Without it both could enter. The bias may have gone
         * and come back in between, so this read acquires as well, (B1): what follows
         * must not have been read while a sharer was inside.
         */
        barrier();
        if (likely(__atomic_load_n(&task->bias, __ATOMIC_ACQUIRE) == KMIRROR_BIAS_ALONE))
            return true;
        __atomic_store_n(&mine->owner, 0, __ATOMIC_RELEASE);
    }
    WRITE_ONCE(task->preempt_count, section->count);
    return false;
}

/* Ends a section that km_local_trylock_alone() began: `owner` is held, whatever the bias is by now. */
static __always_inline void km_local_unlock_alone(const struct km_alone *section)
{
    /* (B4), as in local_unlock() */
    __atomic_store_n(&section->mine->owner, 0, __ATOMIC_RELEASE);
    /* (P2), as in preempt_enable() */
    __atomic_store_n(&kmirror_task.preempt_count, section->count, __ATOMIC_RELEASE);
}

/* numa_node_id() in such a section, in which the CPU stays the same. */
#define km_local_node_alone() (kmirror_task.node)
#else
/* Nobody is ever known to be alone, so every caller takes the general way. */
static __always_inline bool km_local_trylock_alone(struct local_lock __percpu *lock,
                                                   struct km_alone *section)
{
    section->mine = lock;
    section->count = 0;
    return false;
}

static __always_inline void km_local_unlock_alone(const struct km_alone *section)
{
    (void)section;
}

#define km_local_node_alone() 0
#endif

/**
 * local_trylock() - Try to take the lock of the caller's CPU.
 * @lock: Per-CPU address.
 *
 * Context: Any. Return: true with the lock held and the caller kept on its CPU;
 * false if another thread on this CPU (or the caller) holds it.
 */
static __always_inline bool local_trylock(struct local_lock __percpu *lock)
{
    struct km_alone section;

    if (likely(km_local_trylock_alone(lock, &section)))
        return true;
    return kmirror_local_trylock(lock);
}

/* local_lock() - The same, waiting for the other thread. Must not be held by the caller. */
static __always_inline void local_lock(struct local_lock __percpu *lock)
{
    struct km_alone section;

    if (likely(km_local_trylock_alone(lock, &section)))
        return;
    kmirror_local_lock(lock);
}

/* local_unlock() - Give it back; the caller may be moved to another CPU again. */
static __always_inline void local_unlock(struct local_lock __percpu *lock)
{
#if KMIRROR_INSTRUMENTED
    kmirror_local_unlock(lock);
#else
    struct task_struct *task = &kmirror_task;
    struct local_lock *mine = SHIFT_PERCPU_PTR(lock, task->percpu_offset);

    /* (B4) The section is complete before the lock is free. Pairs with (B5), local_lock.cpp. */
    if (likely((READ_ONCE(task->bias) & KMIRROR_BIAS_OWNER) && READ_ONCE(mine->owner)))
        __atomic_store_n(&mine->owner, 0, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&mine->shared, 0, __ATOMIC_RELEASE);
    preempt_enable();
#endif
}

/* The points at which tests can hold a thread; the way of a thread that is alone on its CPU has none. */
#define local_lock(lock) (KM_STOP_POINT("local_lock"), local_lock(lock))
#define local_trylock(lock) (KM_STOP_POINT("local_trylock"), local_trylock(lock))
#define local_unlock(lock) (KM_STOP_POINT("local_unlock"), local_unlock(lock))

#define local_lock_irq(lock) local_lock(lock)
#define local_unlock_irq(lock) local_unlock(lock)
#define local_lock_irqsave(lock, flags) \
    do {                                \
        (flags) = 0;                    \
        local_lock(lock);               \
    } while (0)
#define local_unlock_irqrestore(lock, flags) \
    do {                                     \
        (void)(flags);                       \
        local_unlock(lock);                  \
    } while (0)
#define local_trylock_irqsave(lock, flags) ((flags) = 0, local_trylock(lock))
#define local_lock_is_locked(lock) km_local_lock_taken(this_cpu_ptr(lock))

/* A copy's state, for any CPU. */
static inline bool km_local_lock_taken(const struct local_lock *lock)
{
    return READ_ONCE(lock->owner) || READ_ONCE(lock->shared);
}

#endif /* KMIRROR_LINUX_LOCAL_LOCK_H */
