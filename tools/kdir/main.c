// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program around a kernel test module: runs its module_init() as loading it would, then says what the
 * tree and its node cache look like. Read by tools/kdir/suites.
 *
 * Owns     a thread that shows on KMIRROR_PROGRESS_FD how far the checks are, if that is set; the module's
 *          trees are the module's.
 * Fails    with status 1 when the module refused to load, as kernel test modules do when a check failed.
 */
#include <kmirror/printk.h>
#include <linux/maple_tree.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int kmirror_module_init(void);
void kmirror_module_exit(void);

#ifdef KDIR_ALLOCATOR
void kdir_boot(void); /* the tree's own allocator */
#endif

static void *show_progress(void *fd)
{
    unsigned int seconds;

    for (seconds = 1; sleep(1) == 0; seconds++)
        if (dprintf((int)(long)fd, "\r%u checks, %u s ", (unsigned int)atomic_read(&maple_tree_tests_run),
                    seconds) < 0)
            break;
    return NULL;
}

int main(void)
{
    const char *progress = getenv("KMIRROR_PROGRESS_FD");
    pthread_t thread;
    int error;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (progress && pthread_create(&thread, NULL, show_progress, (void *)strtol(progress, NULL, 10)) == 0)
        pthread_detach(thread);
#ifdef KDIR_ALLOCATOR
    kdir_boot();
#endif
    maple_tree_init();
    error = kmirror_module_init();
    kmirror_module_exit();
    kvfree_rcu_barrier();
    rcu_barrier();
    fflush(NULL);
    printf("check-kernel: run %u passed %u nodes %lu warnings %lu\n",
           (unsigned int)atomic_read(&maple_tree_tests_run),
           (unsigned int)atomic_read(&maple_tree_tests_passed), mt_nr_allocated(), kmirror_warn_count());
    return error ? 1 : 0;
}
