/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/fault.h>: making allocations, try-locks and CPU removal fail on purpose.
 *
 * Points, by the kernel's names where it has them:
 *
 *   failslab           one object of any cache
 *   fail_page_alloc    one block of pages
 *   fail_percpu        one extent of per-CPU memory
 *   fail_trylock       one try for a spinlock or a local lock
 *   fail_cpu_offline   taking a CPU away
 *
 * and, each at one place of the allocator or the tree that can run out of memory:
 *
 *   fail_sheaf_alloc       an empty sheaf, at a cache's creation as well
 *   fail_sheaf_prefill     the objects that a prefill or refill of a sheaf is short of
 *   fail_barn_alloc        a node's barn
 *   fail_alloc_bulk        object k of those that a bulk request takes from slabs; the k - 1 before it go back
 *   fail_cache_name        creating a cache: the copy of its name,
 *   fail_cache_alloc         its struct kmem_cache,
 *   fail_cache_percpu        its per-CPU sheaves, and per-CPU slabs in the generations that have them,
 *   fail_cache_random_seq    its random order of objects,
 *   fail_cache_nodes         its kmem_cache_node of one node,
 *   fail_cache_alias         a further name of a shared cache, which is then not remembered
 *   fail_mas_alloc_nodes   the nodes that one store of the tree needs
 *
 * The budgets of <kmirror/harness.h> refuse objects on their own terms; they are counted and logged as the
 * point harness_budget, which has no attributes.
 *
 * They are libfiu points, so fiu-run and fiu-ctrl reach them: a program that was started by
 * fiu-run listens from its start, another one after kmirror_fault_watch(). What is for one
 * cache is also the point failslab/NAME (or fail_sheaf_alloc/NAME, ...) there.
 *
 * Each point has the attributes of the kernel's fault injection (Documentation/
 * fault-injection), asked in its order: the thread's nth failure, which beats everything;
 * probability; task filter; times; functions on the stack; space; interval; chance.
 * Chance is drawn from the thread's own generator, so KMIRROR_SEED repeats it however many
 * threads there are.
 *
 * Settings come from kmirror_fault_configure(), the variable KMIRROR_FAULT with the same text,
 * KMIRROR_FAULT_DIR with files in the shape of debugfs, or fiu-ctrl. Every failure is
 * written into a log that says where it was injected and how to have it again.
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

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of point @index, 0 to the last; NULL past it. */
const char *kmirror_fault_point(unsigned int index);

/*
 * The name of attribute @index as text and files spell it, 0 to the last; NULL past it. And whether point @name has
 * it: some are about pages or caches only, and harness_budget has none. False for an unknown name.
 */
const char *kmirror_fault_attribute(unsigned int index);
bool kmirror_fault_has(const char *name, const char *attribute);

/*
 * One point's attributes, named as the kernel's files. A point that was never set has the kernel's
 * defaults: probability 0, interval 1, times 1, space 0, verbose 2, stacktrace_depth 32,
 * ignore_gfp_wait on, ignore_gfp_highmem on, min_order 1.
 */
struct kmirror_fault_attr {
    double probability;             /* percent, 0 to 100; 0: off */
    unsigned long interval;         /* every interval-th request, from 1 */
    long times;                     /* failures left; -1: no limit */
    unsigned long space;            /* bytes that are granted before the first failure */
    unsigned int verbose;           /* 0 silent, 1 a line for each failure, 2 with the stack */
    bool task_filter;               /* only threads that called kmirror_make_it_fail(true) */
    unsigned int stacktrace_depth;  /* frames looked at for the two below, at most 32 */
    char require_func[64];          /* fail only below this function; empty: anywhere */
    char reject_func[64];           /* never below this one; empty: none */
    bool ignore_gfp_wait;           /* spare requests that may reclaim, where the caller chooses */
    unsigned int min_order;         /* spare smaller blocks; fail_page_alloc */
    bool cache_filter;              /* only caches with SLAB_FAILSLAB; failslab */
    char cache[32];                 /* only this cache, * and ? match; empty: every one; where one is named */
    bool ignore_gfp_highmem;        /* spare requests for high memory; fail_page_alloc */
    unsigned int verbose_ratelimit_interval_ms;   /* 0: every message is printed; else of those in */
    unsigned int verbose_ratelimit_burst;         /* so many ms only the first so many */
};

/*
 * Reads or replaces all attributes of a point. Return: 0; -EINVAL for an unknown point, a figure
 * out of its range or a function that this program does not have, and then nothing has changed.
 */
int kmirror_fault_get(const char *name, struct kmirror_fault_attr *attr);
int kmirror_fault_set(const char *name, const struct kmirror_fault_attr *attr);

/*
 * Sets attributes from text: settings of points, separated by ';'. One setting is
 *
 *   POINT:ATTRIBUTE=VALUE,ATTRIBUTE=VALUE      what is not named keeps its default
 *   POINT=INTERVAL,PROBABILITY,SPACE,TIMES     the kernel's boot parameter
 *
 * with the attributes above, spelled with '-' as the kernel's files are (require-func, min-order),
 * and at=THREAD:REQUEST+THREAD:REQUEST, which fails exactly those requests: threads and the
 * requests of a point are counted from 1 since the process began, or since the log was cleared.
 * Return: 0; -EINVAL, then nothing has changed and @error (if not NULL, @size bytes) has a line
 * that names the mistake and what is allowed.
 */
int kmirror_fault_configure(const char *text, char *error, size_t size);

/*
 * Writes, or reads back, a folder with one folder for each point and one file for each attribute,
 * as debugfs shows them. The folder is made. Return: 0; -errno of the file that could not be
 * written or read; -EINVAL with @error for a value that cannot be, and then nothing has changed.
 */
int kmirror_fault_export(const char *dir);
int kmirror_fault_import(const char *dir, char *error, size_t size);

/* Marks the calling thread for points with task_filter. Return: whether it was marked. */
bool kmirror_make_it_fail(bool yes);

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

/* The same for two requests, @nth and then @then, which is the greater one. */
bool kmirror_fail_pair(unsigned int nth, unsigned int then);

/* Requests of this thread that were counted since it last armed. */
unsigned int kmirror_fail_seen(void);

/*
 * Between the two, requests of the calling thread are neither counted nor failed: a
 * stretch that must not fail, such as the allocator's own start. Pairs may be nested.
 */
void kmirror_fault_pause(void);
void kmirror_fault_resume(void);

/* One failure that was injected. */
struct kmirror_injection {
    unsigned long number;    /* from 1, since the log was cleared */
    const char *point;
    char cache[32];          /* the cache's name, where one is named; else empty */
    unsigned int thread;     /* from 1, in the order of their first request */
    unsigned long request;   /* of this thread at this point, from 1 */
    size_t size;             /* bytes asked for */
    unsigned int frames;     /* used in stack */
    void *stack[16];         /* return addresses, innermost first */
};

/*
 * The latest injections, oldest first: at most @max, and at most 64 are kept. Return: how many were
 * stored. kmirror_fault_log_total() is the number of all since the log was cleared.
 */
unsigned int kmirror_fault_log(struct kmirror_injection *out, unsigned int max);
unsigned long kmirror_fault_log_total(void);

/*
 * Prints the log, each injection with its stack, and the command that fails the same requests
 * again. Prints nothing when there was no injection.
 */
void kmirror_fault_log_print(FILE *out);

/*
 * The same into a file descriptor, as a signal handler may do it: stacks, if wanted, as addresses with the
 * names that the dynamic linker knows. A program in which a failure was injected does this by itself, on
 * stderr, when it dies of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT that it does not handle, or by a
 * sanitizer's report.
 */
void kmirror_fault_log_write(int fd, bool stacks);

/*
 * What follows KMIRROR_FAULT=... in that command; NULL: this process's command line, as it is at first.
 * A copy is kept. Context: not while failures are injected.
 */
void kmirror_fault_log_command(const char *command);

/* Empties the log and begins the counts of threads and requests anew. */
void kmirror_fault_log_clear(void);

#ifdef __cplusplus
}
#endif

#endif /* _KMIRROR_FAULT_H */
