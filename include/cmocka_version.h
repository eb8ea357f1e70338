/* SPDX-License-Identifier: GPL-2.0-only */
/* The release of cmocka whose macros <cmocka.h> has; sources ask for it to choose between old and typed. */
#ifndef CMOCKA_VERSION_H_
#define CMOCKA_VERSION_H_

#define CMOCKA_VERSION_MAJOR 2
#define CMOCKA_VERSION_MINOR 0
#define CMOCKA_VERSION_MICRO 2
#define CMOCKA_VERSION "2.0.2"

#define CM_VERSION_INT(a, b, c) (((a) << 16) | ((b) << 8) | (c))
#define CMOCKA_VERSION_INT CM_VERSION_INT(CMOCKA_VERSION_MAJOR, CMOCKA_VERSION_MINOR, CMOCKA_VERSION_MICRO)

#endif /* CMOCKA_VERSION_H_ */
