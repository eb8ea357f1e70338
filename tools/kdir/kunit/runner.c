// SPDX-License-Identifier: GPL-2.0-only
/*
 * tools/kdir/kunit/runner.c: runs the program's suite of KUnit cases, one line a case:
 *   ok 1 - name            ok 2 - name # SKIP reason            not ok 3 - name
 * and at the end `check-kernel: cases N passed N failed N skipped N`, which check-kernel reads.
 *
 * Owns     the case that runs, and the allocator's errors meanwhile.
 * Bounds   cases run one after the other.
 * Fails    with status 1 when a case did.
 */
#include <kunit/test.h>
#include <kmirror/printk.h>
#include <kmirror/slab_info.h>
#include <linux/rcupdate.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PASSED, FAILED, SKIPPED, RESULTS };

static jmp_buf skipping;
static char skip_reason[200];

int kunit_add_named_resource(struct kunit *test, void *init, void *free_it, struct kunit_resource *resource,
                             const char *name, void *data)
{
    (void)test;
    (void)init;
    (void)free_it;
    resource->name = name;
    resource->data = data;
    if (strcmp(name, "slab_errors") == 0)
        kmirror_slab_errors_into(data);
    return 0;
}

void kmirror_kunit_skip(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(skip_reason, sizeof(skip_reason), format, args);
    va_end(args);
    longjmp(skipping, 1);
}

void kmirror_kunit_failed(struct kunit *test, const char *file, int line, const char *left, const char *right,
                          long long is, long long wanted)
{
    test->failures++;
    printf("# %s: %s:%d: expected %s == %s, but %s is %lld, not %lld\n", test->name, file, line, left, right,
           right, is, wanted);
}

#ifndef KDIR_ALLOCATOR
struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags, int max_active)
{
    (void)name;
    (void)flags;
    (void)max_active;
    return malloc(1);
}

void destroy_workqueue(struct workqueue_struct *queue)
{
    free(queue);
}

static void *do_work(void *work)
{
    ((struct work_struct *)work)->function(work);
    return NULL;
}

bool queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
    (void)queue;
    return pthread_create(&work->thread, NULL, do_work, work) == 0;
}

bool flush_work(struct work_struct *work)
{
    return pthread_join(work->thread, NULL) == 0;
}
#endif

static int run_case(struct kunit_case *one)
{
    struct kunit test = {one->name, 0};

    if (setjmp(skipping))
        return SKIPPED;
    if (kmirror_kunit_suite->init && kmirror_kunit_suite->init(&test))
        return FAILED;
    one->run_case(&test);
    kvfree_rcu_barrier();
    return test.failures ? FAILED : PASSED;
}

#ifdef KDIR_ALLOCATOR
void kdir_boot(void); /* the tree's own allocator */
#endif

int main(void)
{
    int results[RESULTS] = {0, 0, 0};
    int number = 0;

#ifdef KDIR_ALLOCATOR
    kdir_boot();
#endif
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct kunit_case *one = kmirror_kunit_suite->test_cases; one->run_case; one++) {
        const int result = run_case(one);

        kmirror_slab_errors_into(NULL);
        results[result]++;
        printf("%sok %d - %s%s%s\n", result == FAILED ? "not " : "", ++number, one->name,
               result == SKIPPED ? " # SKIP " : "", result == SKIPPED ? skip_reason : "");
    }
    printf("check-kernel: cases %d passed %d failed %d skipped %d\n", number, results[PASSED], results[FAILED],
           results[SKIPPED]);
    return results[FAILED] != 0;
}
