/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kunit/test.h for check-kernel: as much of KUnit as the kernel's slab test wants, and what that file
 * takes for granted without including it. The runner is ../runner.c.
 *
 * Bounds   one suite a program, one case at a time, on the thread of main().
 * Fails    an expectation prints where and what, and the case goes on; kunit_skip() ends it.
 */
#ifndef KMIRROR_KUNIT_TEST_H
#define KMIRROR_KUNIT_TEST_H

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kasan.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include <pthread.h>
#include <stdio.h>

struct kunit {
    const char *name;
    int failures;
};

struct kunit_case {
    void (*run_case)(struct kunit *test);
    const char *name;
    int slow;
};

struct kunit_suite {
    const char *name;
    int (*init)(struct kunit *test);
    struct kunit_case *test_cases;      /* the last one has no function */
};

#ifndef KDIR_SHIM_KUNIT_H /* which a tree's own allocator comes with */
struct kunit_resource {
    const char *name;
    void *data;
};
#endif

#define KUNIT_CASE(function)        { (function), #function, 0 }
#define KUNIT_CASE_SLOW(function)   { (function), #function, 1 }

/* The program's suite; found by the runner. */
#define kunit_test_suite(suite)     struct kunit_suite *const kmirror_kunit_suite = &(suite)
extern struct kunit_suite *const kmirror_kunit_suite;

/*
 * Gives the case a resource. That of the name "slab_errors" is an int: while the case runs the allocator adds
 * what it finds to it, instead of reporting.
 */
int kunit_add_named_resource(struct kunit *test, void *init, void *free, struct kunit_resource *resource,
                             const char *name, void *data);

/* Ends the case; the reason stands in its line. */
void kmirror_kunit_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
#define kunit_skip(test, ...)       ((void)(test), kmirror_kunit_skip(__VA_ARGS__))
#define kunit_info(test, format, ...) printf("# %s: " format, (test)->name, ##__VA_ARGS__)

void kmirror_kunit_failed(struct kunit *test, const char *file, int line, const char *left, const char *right,
                          long long is, long long wanted);
#define KUNIT_EXPECT_EQ(test, left, right)                                                              \
    do {                                                                                                \
        const long long kunit_left = (left), kunit_right = (right);                                     \
        if (kunit_left != kunit_right)                                                                  \
            kmirror_kunit_failed(test, __FILE__, __LINE__, #left, #right, kunit_right, kunit_left);     \
    } while (0)

#ifndef KDIR_SHIM_KERNEL_H /* on the library's allocator; a tree's own brings all this */
/* ---- of other headers -------------------------------------------------------------------------------------- */

#define alloc_hooks(call)               (call)
#define __kmalloc_cache_noprof          __kmalloc_cache
#define kmalloc_obj(object, gfp)        ((__typeof__(object) *)kmalloc(sizeof(object), (gfp)))

/* A work queue that has a thread for each piece of work. */
struct work_struct {
    void (*function)(struct work_struct *work);
    pthread_t thread;
};
struct workqueue_struct;

#define WQ_UNBOUND      0
#define WQ_HIGHPRI      0
#define WQ_MEM_RECLAIM  0
#define INIT_WORK_ONSTACK(work, does) ((work)->function = (does))

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags, int max_active);
void destroy_workqueue(struct workqueue_struct *queue);
bool queue_work(struct workqueue_struct *queue, struct work_struct *work);
bool flush_work(struct work_struct *work);
#endif

#endif /* KMIRROR_KUNIT_TEST_H */
