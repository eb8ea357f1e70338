/* SPDX-License-Identifier: GPL-2.0-only */
/* The name under which cmocka's ancestor was included. */
#include <cmocka.h>
