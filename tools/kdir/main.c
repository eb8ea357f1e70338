// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program around a kernel test module: runs its module_init() as loading it would, then says what the
 * tree and its node cache look like. Read by check-kernel.
 *
 * Owns     nothing; the module's trees are its own.
 * Fails    with status 1 when the module refused to load, as kernel test modules do when a check failed.
 */
#include <kmirror/printk.h>
#include <linux/maple_tree.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <stdio.h>

int kmirror_module_init(void);
void kmirror_module_exit(void);

int main(void)
{
    int error;

    setvbuf(stdout, NULL, _IOLBF, 0);
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
