/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/xarray.h>: how an entry's low bits tell what it is. Only this much of the
 * XArray exists here; the maple tree shares its entry format.
 *
 *   ...00  pointer           ...x1  value, 63 bits above the mark
 *   ...10  internal: a small number (257: zero entry), a node, or, as a negative
 *          number down to -MAX_ERRNO, an error
 *
 * All helpers look at the entry alone and may be called in any context.
 */
#ifndef _LINUX_XARRAY_H
#define _LINUX_XARRAY_H

#include <linux/kconfig.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/limits.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define BITS_PER_XA_VALUE   63
#define XA_RETRY_ENTRY      xa_mk_internal(256)
#define XA_ZERO_ENTRY       xa_mk_internal(257)

/* Entry for the integer @v, at most LONG_MAX; above that the top bit is lost, with a warning. */
static inline void *xa_mk_value(unsigned long v)
{
    WARN_ON(v > (unsigned long)LONG_MAX);
    return (void *)(v * 2 + 1);
}

/* The integer in a value entry. */
static inline unsigned long xa_to_value(const void *entry)
{
    return (unsigned long)entry / 2;
}

static inline bool xa_is_value(const void *entry)
{
    return ((unsigned long)entry & 1) != 0;
}

/* Internal entry for @v; the top two bits of @v are lost. */
static inline void *xa_mk_internal(unsigned long v)
{
    return (void *)(v * 4 + 2);
}

/* The number in an internal entry, without its sign. */
static inline unsigned long xa_to_internal(const void *entry)
{
    return (unsigned long)entry / 4;
}

static inline bool xa_is_internal(const void *entry)
{
    return ((unsigned long)entry & 3) == 2;
}

/* True for an internal entry that is the address of a node. */
static inline bool xa_is_node(const void *entry)
{
    return xa_is_internal(entry) && (unsigned long)entry > 4096;
}

/* True for the entry that reserves an index while readers see nothing there. */
static inline bool xa_is_zero(const void *entry)
{
    return __builtin_expect(entry == XA_ZERO_ENTRY, 0);
}

/* True for an internal entry that holds -1 .. -MAX_ERRNO. */
static inline bool xa_is_err(const void *entry)
{
    const unsigned long lowest = (unsigned long)xa_mk_internal(-(unsigned long)MAX_ERRNO);

    return __builtin_expect(xa_is_internal(entry) && (unsigned long)entry >= lowest, 0);
}

/* The negative errno in @entry, 0 if it is no error. */
static inline int xa_err(void *entry)
{
    return xa_is_err(entry) ? (int)((long)entry >> 2) : 0;
}

/* True for entries only the advanced API may store: internal ones in the reserved range. */
static inline bool xa_is_advanced(const void *entry)
{
    return xa_is_internal(entry) && entry <= XA_RETRY_ENTRY;
}

#endif /* _LINUX_XARRAY_H */
