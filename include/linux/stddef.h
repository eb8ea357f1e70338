/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/stddef.h: positions and sizes of struct members. */
#ifndef KMIRROR_LINUX_STDDEF_H
#define KMIRROR_LINUX_STDDEF_H

#include <linux/compiler_types.h>
#include <stddef.h>

/* The size of a member, without an object. */
#define sizeof_field(type, member) sizeof(((type *)0)->member)

/* The first offset behind a member. */
#define offsetofend(type, member) (offsetof(type, member) + sizeof_field(type, member))

#endif /* KMIRROR_LINUX_STDDEF_H */
#include_next <linux/stddef.h>
