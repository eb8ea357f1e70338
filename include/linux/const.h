/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/const.h: typed constants; the host's macros, and the short kernel names. */
#ifndef KMIRROR_LINUX_CONST_H
#define KMIRROR_LINUX_CONST_H

#include <linux/kconfig.h>
#include_next <linux/const.h>

#define UL(number) (_UL(number))
#define ULL(number) (_ULL(number))

#endif /* KMIRROR_LINUX_CONST_H */
