/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/init.h: start-up marks. Nothing is discarded after start-up, so they are
 * empty; in C++ they do not exist, because the C++ library has names spelt so.
 */
#ifndef KMIRROR_LINUX_INIT_H
#define KMIRROR_LINUX_INIT_H

#include <linux/compiler_types.h>

#ifndef __cplusplus
#define __init
#define __exit
#define __initdata
#define __initconst
#define __meminit
#define __meminitdata
#endif

#endif /* KMIRROR_LINUX_INIT_H */
