/* SPDX-License-Identifier: GPL-2.0-only */
/* The name under which the contracts of cmocka's ancestor were included. */
#include <cmocka_pbc.h>
