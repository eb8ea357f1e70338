/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting, working elsewhere, and staying on a CPU, where the kernel's names go beyond this library's headers.
 *
 * Threads that share a virtual CPU run in parallel. What the kernel excludes by disabling interrupts around a per-CPU
 * slab is excluded by that slab's local lock, which this library makes a real one; the compare-and-exchange of
 * (freelist, tid) takes the same lock, so that it never lands in the middle of such a section.
 */
#ifndef KDIR_SHIM_SYNC_H
#define KDIR_SHIM_SYNC_H

#include <linux/irqflags.h>

/*
 * Interrupts are disabled for what comes next: to stay with a per-CPU lock that was found, and around a bit lock. Both
 * exclude by their lock; a thread that moves meanwhile goes on with the lock that it took.
 */
#undef local_irq_save
#undef local_irq_restore
#define local_irq_save(flags) ((void)((flags) = 0))
#define local_irq_restore(flags) ((void)(flags))

/* The number itself belongs to this library's allocator, which may be in the same program. */
#define CPUHP_SLUB_DEAD CPUHP_BP_PREPARE_DYN

/* ---- per-CPU data ------------------------------------------------------------------------------------------ */

/*
 * A static per-CPU variable stands in a section of the program, which runtime.c copies for each CPU before the
 * allocator starts. Whether a pointer leads to such a variable is told from its type, so each such type is named here.
 */
#define DEFINE_PER_CPU(type, name)                                                              \
    const char kdir_known_##name[KDIR_IS_STATIC_PERCPU((type *)0) ? 1 : -1] __maybe_unused = {0}; \
    static __typeof__(type) name __attribute__((section("kdir_percpu"), aligned(64)))
#define KDIR_IS_TYPE(pointer, tag) __builtin_types_compatible_p(__typeof__(*(pointer)), struct tag)
#define KDIR_IS_STATIC_PERCPU(pointer)                                                          \
    (KDIR_IS_TYPE(pointer, slub_flush_work) || KDIR_IS_TYPE(pointer, deferred_percpu_work) ||   \
     KDIR_IS_TYPE(pointer, defer_free) || KDIR_IS_TYPE(pointer, rnd_state) ||\
     KDIR_IS_TYPE(pointer, kfree_rcu_cpu))

struct slub_flush_work;
struct deferred_percpu_work;
struct defer_free;
struct rnd_state;
struct kfree_rcu_cpu;

#define PERCPU_DYNAMIC_EARLY_SIZE (1UL << 20)

/* CPU 0's copy of a static per-CPU variable. */
void *kdir_percpu_first(const void *variable);

#define KDIR_PERCPU(pointer)                                                                    \
    ((__typeof__(pointer))(KDIR_IS_STATIC_PERCPU(pointer) ? kdir_percpu_first(pointer) : (void *)(pointer)))
#undef per_cpu_ptr
#undef this_cpu_ptr
#define per_cpu_ptr(pointer, cpu) SHIFT_PERCPU_PTR(KDIR_PERCPU(pointer), per_cpu_offset(cpu))
#define this_cpu_ptr(pointer) SHIFT_PERCPU_PTR(KDIR_PERCPU(pointer), this_cpu_offset())
#define per_cpu(variable, cpu) (*per_cpu_ptr(&(variable), (cpu)))

#define this_cpu_try_cmpxchg128(word, old, fresh)                                               \
    __extension__({                                                                             \
        __typeof__(&(word)) kdir_word = &(word);                                                \
        struct local_lock *kdir_lock = kdir_cpu_lock_of(kdir_word);                             \
        bool kdir_done;                                                                         \
        local_lock(kdir_lock);                                                                  \
        kdir_word = this_cpu_ptr(kdir_word);                                                    \
        kdir_done = *kdir_word == *(old);                                                       \
        if (kdir_done)                                                                          \
            *kdir_word = (fresh);                                                               \
        else                                                                                    \
            *(old) = *kdir_word;                                                                \
        local_unlock(kdir_lock);                                                                \
        kdir_done;                                                                              \
    })
#define kdir_cpu_lock_of(word) \
    (&((struct kmem_cache_cpu *)((char *)(word) - offsetof(struct kmem_cache_cpu, freelist_tid)))->lock)

/* Threads that share a CPU lose no statistics. */
#undef raw_cpu_add
#define raw_cpu_add(variable, n) this_cpu_add(variable, n)

/* ---- work, at once and later: work.c ----------------------------------------------------------------------- */

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);

struct work_struct {
    struct list_head entry;
    work_func_t func;
    unsigned long due; /* jiffies */
    int cpu;           /* to run on, or -1 */
    bool pending;      /* in the queue */
    bool running;
};
struct delayed_work {
    struct work_struct work;
    struct {
        unsigned long expires;
    } timer;
};
struct rcu_work {
    struct work_struct work;
    struct rcu_head rcu;
    unsigned long state;
    unsigned int waiting; /* grace periods that are to end before the work is queued */
};
struct workqueue_struct;

#define WQ_MEM_RECLAIM 0
#define WQ_UNBOUND 0
#define WQ_PERCPU 0
#define WQ_HIGHPRI 0
#define system_highpri_wq NULL
#define KDIR_WORK(function) ((struct work_struct){.func = (function), .cpu = -1})
#define INIT_WORK(work, function) ((void)(*(work) = KDIR_WORK(function)))
#define INIT_WORK_ONSTACK(work, function) INIT_WORK(work, function)
#define INIT_DELAYED_WORK(delayed, function) INIT_WORK(&(delayed)->work, function)
#define INIT_RCU_WORK(place, function) ((void)(*(place) = (struct rcu_work){.work = KDIR_WORK(function)}))
#define alloc_workqueue(name, flags, ...) ((struct workqueue_struct *)1)
#define destroy_workqueue(queue) ((void)(queue))

/* Threads of a pool do the work, on the CPU that was asked for. False: it was queued already. */
bool kdir_queue_work(struct work_struct *work, int cpu, unsigned long delay);
/* The same, but moved to the new time when it was queued already. */
bool kdir_requeue_work(struct work_struct *work, unsigned long delay);
/* Waits until it is neither queued nor running; one that is due later is done now. */
bool flush_work(struct work_struct *work);
bool kdir_cancel_work(struct work_struct *work);
/* After a grace period. */
bool kdir_queue_rcu_work(struct rcu_work *work);
bool flush_rcu_work(struct rcu_work *work);

#define queue_work_on(cpu, queue, work) ((void)(queue), kdir_queue_work((work), (int)(cpu), 0))
#define queue_work(queue, work) ((void)(queue), kdir_queue_work((work), -1, 0))
#define schedule_work(work) kdir_queue_work((work), -1, 0)
#define queue_delayed_work(queue, delayed, delay)                                               \
    ((void)(queue), (delayed)->timer.expires = jiffies + (delay), kdir_queue_work(&(delayed)->work, -1, (delay)))
#define mod_delayed_work(queue, delayed, delay)                                                 \
    ((void)(queue), (delayed)->timer.expires = jiffies + (delay), kdir_requeue_work(&(delayed)->work, (delay)))
#define delayed_work_pending(delayed) READ_ONCE((delayed)->work.pending)
#define cancel_delayed_work_sync(delayed) kdir_cancel_work(&(delayed)->work)
#define queue_rcu_work(queue, work) ((void)(queue), kdir_queue_rcu_work(work))
#define to_rcu_work(work_) container_of((work_), struct rcu_work, work)

/* There is no interrupt to do the work at once: a thread does. Any context. */
void kdir_start_interrupts(void);
bool kdir_irq_work_queue(struct irq_work *work);
#define irq_work_queue(work) kdir_irq_work_queue(work)

/* A timer that is only ever started with no time to wait. */
enum hrtimer_restart { HRTIMER_NORESTART };
enum hrtimer_mode { HRTIMER_MODE_REL };
struct hrtimer {
    enum hrtimer_restart (*function)(struct hrtimer *timer);
};
#define hrtimer_setup(timer, does, clock, mode) ((timer)->function = (does))
#define hrtimer_start(timer, time, mode) ((void)(timer)->function(timer))

/* ---- grace periods ----------------------------------------------------------------------------------------- */

/* A number that is passed once a grace period that began later has ended behind queue_rcu_work(). */
struct rcu_gp_seq {
    unsigned long number;
};
unsigned long get_state_synchronize_rcu(void);
bool poll_state_synchronize_rcu(unsigned long state);
#define get_state_synchronize_rcu_full(seq) ((void)((seq)->number = get_state_synchronize_rcu()))
#define poll_state_synchronize_rcu_full(seq) poll_state_synchronize_rcu((seq)->number)
#define rcu_gp_oldstate rcu_gp_seq
#define RCU_SCHEDULER_RUNNING 2
#define rcu_scheduler_active RCU_SCHEDULER_RUNNING
#define cond_resched_tasks_rcu_qs() ((void)0)
#define debug_rcu_head_queue(head) ((void)(head), 0)
#define debug_rcu_head_unqueue(head) ((void)(head))
#define rcu_lock_acquire(map) ((void)0)
#define rcu_lock_release(map) ((void)0)

struct KDIR_RCU_HEAD;
void kvfree_call_rcu(struct KDIR_RCU_HEAD *head, void *object);
struct kvfree_rcu_head;
void kfree_call_rcu_nolock(struct kvfree_rcu_head *head, void *object);
#ifdef KDIR_USER /* kfree_rcu() is this library's, and takes any kind of head */
#define kvfree_call_rcu(head, object) kvfree_call_rcu((void *)(head), (object))
#endif
#ifndef KDIR_HAS_KVFREE_INIT
void kvfree_rcu_barrier(void); /* adapter.c */
#endif

/* ---- nothing is reclaimed ---------------------------------------------------------------------------------- */

struct shrink_control {
    long nr_to_scan;
};
struct shrinker {
    unsigned long (*count_objects)(struct shrinker *shrinker, struct shrink_control *control);
    unsigned long (*scan_objects)(struct shrinker *shrinker, struct shrink_control *control);
};
#define SHRINK_STOP (~0UL)
#define SHRINK_EMPTY (~0UL - 1)
#define shrinker_alloc(...) __extension__({ static struct shrinker kdir_shrinker; &kdir_shrinker; })
#define shrinker_register(shrinker) ((void)(shrinker))
#define MSEC_PER_SEC 1000L
#define msecs_to_jiffies(ms) ((unsigned long)(ms) * HZ / MSEC_PER_SEC)

#ifndef llist_for_each_entry_safe
#define llist_for_each_entry_safe(at, after, first, member)                                     \
    for ((at) = llist_entry((first), __typeof__(*(at)), member);                                \
         &(at)->member != NULL &&                                                               \
         ((after) = llist_entry((at)->member.next, __typeof__(*(at)), member), true);           \
         (at) = (after))
#endif

/* The kernel's excludes other takers as the caller does here. */
static inline struct llist_node *llist_del_first(struct llist_head *head)
{
    struct llist_node *first = READ_ONCE(head->first);

    while (first && !try_cmpxchg(&head->first, &first, READ_ONCE(first->next)))
        ;
    return first;
}

#define list_for_each_entry_safe_reverse(at, before, head, member)                              \
    for ((at) = list_entry((head)->prev, __typeof__(*(at)), member),                            \
        (before) = list_entry((at)->member.prev, __typeof__(*(at)), member);                    \
         &(at)->member != (head);                                                               \
         (at) = (before), (before) = list_entry((at)->member.prev, __typeof__(*(at)), member))

/* ---- asserting --------------------------------------------------------------------------------------------- */

#define lockdep_assert_irqs_disabled() ((void)0)
#define lockdep_register_key(key) ((void)(key))
#define lockdep_unregister_key(key) ((void)(key))
#define might_alloc(gfp) ((void)(gfp))
#define DEFINE_WAIT_OVERRIDE_MAP(name, type) int name
#define lock_map_acquire_try(map) ((void)(map))
#define lock_map_release(map) ((void)(map))
#define NOKPROBE_SYMBOL(name) _Static_assert(1, #name)

#endif /* KDIR_SHIM_SYNC_H */
