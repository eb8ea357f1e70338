// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work queues of a kernel tree's allocator, its work after an interrupt, and its grace periods by number.
 *
 * Owns     the queue, in the order of due times, and the threads that empty it: a new one when all are busy, so that
 *          work may wait for other work.
 * Bounds   MOST_WORKERS threads; they end with the process.
 * Locking  `guard` for everything; work runs without it.
 * Fails    by waiting: without a thread the work is done by who flushes it.
 */
#include "tools/kdir/slub/shim/kernel.h"

#undef irq_work_queue
#undef swab

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORKERS = 64 };

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued; /* or the end has come */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(queue);
static pthread_t workers[MOST_WORKERS];
static int nr_workers, nr_idle, nr_pending;
static bool ending;

static bool due_now(const struct work_struct *work)
{
    return (long)(jiffies - work->due) >= 0;
}

/* Behind all that are due no later. Under guard. */
static void enqueue(struct work_struct *work, unsigned long delay)
{
    struct list_head *before = queue.prev;

    work->due = jiffies + delay;
    while (before != &queue && (long)(list_entry(before, struct work_struct, entry)->due - work->due) > 0)
        before = before->prev;
    list_add(&work->entry, before);
    WRITE_ONCE(work->pending, true);
    nr_pending++;
}

static void dequeue(struct work_struct *work)
{
    list_del(&work->entry);
    WRITE_ONCE(work->pending, false);
    nr_pending--;
}

static void call_func(void *work)
{
    ((struct work_struct *)work)->func(work);
}

/* Under guard, which is given up meanwhile. The work may queue itself anew, and is there until it has ended. */
static void run(struct work_struct *work)
{
    const int cpu = work->cpu;

    dequeue(work);
    work->running = true;
    pthread_mutex_unlock(&guard);
    /* On a CPU that has left meanwhile it is done where we are, as a kernel's unbound workers do. */
    if (cpu < 0 || smp_call_function_single(cpu, call_func, work, 1))
        call_func(work);
    pthread_mutex_lock(&guard);
    work->running = false;
    pthread_cond_broadcast(&done);
}

static void sleep_until(unsigned long due)
{
    const long ticks = (long)(due - jiffies);
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += ticks / HZ;
    time.tv_nsec += ticks % HZ * (1000000000L / HZ);
    if (time.tv_nsec >= 1000000000L) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000L;
    }
    pthread_cond_timedwait(&queued, &guard, &time);
}

/* The first that is due and not being run by another thread, as a kernel never runs one work twice at once. */
static struct work_struct *next_work(void)
{
    struct work_struct *work;

    list_for_each_entry(work, &queue, entry) {
        if (!due_now(work))
            return NULL;
        if (!work->running)
            return work;
    }
    return NULL;
}

static void *worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&guard);
    while (!ending) {
        struct work_struct *work = next_work();

        if (work) {
            run(work);
            continue;
        }
        nr_idle++;
        if (list_empty(&queue) || due_now(list_first_entry(&queue, struct work_struct, entry)))
            pthread_cond_wait(&queued, &guard);
        else
            sleep_until(list_first_entry(&queue, struct work_struct, entry)->due);
        nr_idle--;
    }
    pthread_mutex_unlock(&guard);
    return NULL;
}

/* Under guard. */
static void want_worker(void)
{
    static bool clock_chosen;

    if (!clock_chosen) {
        pthread_condattr_t attributes;

        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&queued, &attributes);
        pthread_condattr_destroy(&attributes);
        clock_chosen = true;
    }
    if (nr_idle < nr_pending && nr_workers < MOST_WORKERS && !ending &&
        pthread_create(&workers[nr_workers], NULL, worker, NULL) == 0)
        nr_workers++;
    pthread_cond_signal(&queued);
}

/* ---- after an interrupt ------------------------------------------------------------------------------------ */

/* Raised from anywhere, a signal handler too, and done by a thread that sleeps on the number of raises. */
static unsigned int raises;
static pthread_t interrupt_thread;
static bool interrupts_on;

static long futex(unsigned int *word, int operation, unsigned int value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void *do_raised(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST)) {
        const unsigned int seen = __atomic_load_n(&raises, __ATOMIC_SEQ_CST);

        irq_work_run();
        futex(&raises, FUTEX_WAIT_PRIVATE, seen);
    }
    irq_work_run();
    return NULL;
}

static void wake_interrupt_thread(void)
{
    __atomic_fetch_add(&raises, 1, __ATOMIC_SEQ_CST);
    futex(&raises, FUTEX_WAKE_PRIVATE, 1);
}

void kdir_start_interrupts(void)
{
    interrupts_on = pthread_create(&interrupt_thread, NULL, do_raised, NULL) == 0;
}

bool kdir_irq_work_queue(struct irq_work *work)
{
    const int error = errno;
    const bool fresh = irq_work_queue(work);

    if (fresh)
        wake_interrupt_thread();
    errno = error;
    return fresh;
}

__attribute__((destructor)) static void end_workers(void)
{
    int i;

    pthread_mutex_lock(&guard);
    __atomic_store_n(&ending, true, __ATOMIC_SEQ_CST);
    if (nr_workers)
        pthread_cond_broadcast(&queued);
    pthread_mutex_unlock(&guard);
    for (i = 0; i < nr_workers; i++)
        pthread_join(workers[i], NULL);
    if (interrupts_on) {
        wake_interrupt_thread();
        pthread_join(interrupt_thread, NULL);
    }
}

/* ---- work -------------------------------------------------------------------------------------------------- */

bool kdir_queue_work(struct work_struct *work, int cpu, unsigned long delay)
{
    bool fresh;

    pthread_mutex_lock(&guard);
    fresh = !work->pending;
    if (fresh) {
        work->cpu = cpu;
        enqueue(work, delay);
        want_worker();
    }
    pthread_mutex_unlock(&guard);
    return fresh;
}

bool kdir_requeue_work(struct work_struct *work, unsigned long delay)
{
    bool moved;

    pthread_mutex_lock(&guard);
    moved = work->pending;
    if (moved)
        dequeue(work);
    enqueue(work, delay);
    want_worker();
    pthread_mutex_unlock(&guard);
    return moved;
}

/* Both under guard: until what is queued now has run, and until nobody runs it. */
static bool finish(struct work_struct *work)
{
    const bool waited = work->pending || work->running;

    if (work->pending && !due_now(work)) {
        dequeue(work);
        enqueue(work, 0);
        want_worker();
    }
    while (work->pending && due_now(work)) {
        if (!work->running && (nr_workers == 0 || nr_idle == 0))
            run(work);
        else
            pthread_cond_wait(&done, &guard);
    }
    while (work->running)
        pthread_cond_wait(&done, &guard);
    return waited;
}

bool flush_work(struct work_struct *work)
{
    bool waited;

    pthread_mutex_lock(&guard);
    waited = finish(work);
    pthread_mutex_unlock(&guard);
    return waited;
}

bool kdir_cancel_work(struct work_struct *work)
{
    bool was_pending;

    pthread_mutex_lock(&guard);
    was_pending = work->pending;
    do {
        if (work->pending)
            dequeue(work);
        while (work->running)
            pthread_cond_wait(&done, &guard);
    } while (work->pending);
    pthread_mutex_unlock(&guard);
    return was_pending;
}

/* ---- grace periods ----------------------------------------------------------------------------------------- */

/* Each queue_rcu_work() ends a number: a grace period that begins then passes it and all before. */
static unsigned long number_now = 1, number_passed;

unsigned long get_state_synchronize_rcu(void)
{
    return __atomic_load_n(&number_now, __ATOMIC_SEQ_CST);
}

bool poll_state_synchronize_rcu(unsigned long state)
{
    return __atomic_load_n(&number_passed, __ATOMIC_SEQ_CST) >= state;
}

static void pass(unsigned long state)
{
    unsigned long passed = __atomic_load_n(&number_passed, __ATOMIC_SEQ_CST);

    while (passed < state && !__atomic_compare_exchange_n(&number_passed, &passed, state, false, __ATOMIC_SEQ_CST,
                                                          __ATOMIC_SEQ_CST))
        ;
}

static void after_grace_period(struct rcu_head *head)
{
    struct rcu_work *work = container_of(head, struct rcu_work, rcu);

    pass(work->state);
    pthread_mutex_lock(&guard);
    work->waiting--;
    enqueue(&work->work, 0);
    want_worker();
    pthread_cond_broadcast(&done);
    pthread_mutex_unlock(&guard);
}

bool kdir_queue_rcu_work(struct rcu_work *work)
{
    bool fresh;

    pthread_mutex_lock(&guard);
    fresh = !work->waiting && !work->work.pending;
    if (fresh) {
        work->waiting++;
        work->work.cpu = -1;
        work->state = __atomic_fetch_add(&number_now, 1, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&guard);
    if (fresh)
        call_rcu(&work->rcu, after_grace_period);
    return fresh;
}

bool flush_rcu_work(struct rcu_work *work)
{
    bool waited;

    pthread_mutex_lock(&guard);
    waited = work->waiting != 0;
    while (work->waiting) {
        /* Where grace periods are counted in operations, nobody else would end one. */
        pthread_mutex_unlock(&guard);
        rcu_barrier();
        pthread_mutex_lock(&guard);
    }
    waited |= finish(&work->work);
    pthread_mutex_unlock(&guard);
    return waited;
}
