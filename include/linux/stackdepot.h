/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/stackdepot.h>: each stack is kept once, under a number.
 *
 * Context: any, signal handlers too: no lock is taken. What was kept stays until the process
 * ends. Fails by handing out handle 0, which is no stack.
 */
#ifndef _LINUX_STACKDEPOT_H
#define _LINUX_STACKDEPOT_H

#include <linux/kconfig.h>
#include <linux/gfp_types.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef u32 depot_stack_handle_t;

/* Return addresses that are kept of a stack. */
#define STACK_DEPOT_ADDRS_MAX 16

/* stack_depot_save() - the handle of these @nr_entries addresses, innermost first; 0: no room. */
depot_stack_handle_t stack_depot_save(const unsigned long *entries, unsigned int nr_entries, gfp_t gfp_flags);

/*
 * stack_depot_save_caller() - the same for the calling thread's stack from the function on that
 * @caller, a return address, leads to; all of it, when it is not found or NULL.
 */
depot_stack_handle_t stack_depot_save_caller(const void *caller, gfp_t gfp_flags);

/* stack_depot_fetch() - how many addresses, and where they are. */
unsigned int stack_depot_fetch(depot_stack_handle_t handle, const unsigned long **entries);

/* stack_depot_print() - on stderr, one line an address: function and source line. May sleep. */
void stack_depot_print(depot_stack_handle_t handle);

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_STACKDEPOT_H */
