/* SPDX-License-Identifier: GPL-2.0-only */
/* What layout_test.cpp asks the C file beside it: 0, or the line of the check that failed. */
#ifndef KMIRROR_RADIX_TREE_TESTS_PUBLIC_IN_C_H
#define KMIRROR_RADIX_TREE_TESTS_PUBLIC_IN_C_H

#ifdef __cplusplus
extern "C" {
#endif

int public_macros_in_c(void);
int public_functions_in_c(void);
int public_cursor_in_c(void);
int public_outside_lock_in_c(void);
int public_harness_in_c(void);
void public_dumps_in_c(void);
unsigned long layout_in_c(int number);

#ifdef __cplusplus
}
#endif

#endif
