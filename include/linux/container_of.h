/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/container_of.h: from the address of a member to its struct. */
#ifndef KMIRROR_LINUX_CONTAINER_OF_H
#define KMIRROR_LINUX_CONTAINER_OF_H

#include <linux/compiler.h>
#include <linux/stddef.h>

#define container_of(pointer, type, member) \
    ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

#define container_of_const(pointer, type, member) \
    ((const type *)(const void *)((const char *)(pointer) - offsetof(type, member)))

#endif /* KMIRROR_LINUX_CONTAINER_OF_H */
