/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/poison.h>: byte patterns and addresses that mean "not in use". Values are
 * the kernel's, so that its tests and its people recognise a dump.
 */
#ifndef _LINUX_POISON_H
#define _LINUX_POISON_H

#include <linux/kconfig.h>

/* Slab objects: never used yet, freed, last byte of a freed one. */
#define POISON_INUSE        0x5a
#define POISON_FREE         0x6b
#define POISON_END          0xa5
/* Bytes beside an object that is free, or handed out. */
#define SLUB_RED_INACTIVE   0xbb
#define SLUB_RED_ACTIVE     0xcc
/* Free pages. */
#define PAGE_POISON         0xaa

#endif /* _LINUX_POISON_H */
