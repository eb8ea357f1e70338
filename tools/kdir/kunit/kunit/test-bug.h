/* SPDX-License-Identifier: GPL-2.0-only */
/* kunit/test-bug.h for check-kernel: see test.h. */
#include <kunit/test.h>
