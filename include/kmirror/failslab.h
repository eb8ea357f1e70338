/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/failslab.h>: the point failslab of <kmirror/fault.h> for an allocator that is not this library's, such as a
 * kernel tree's own mm/slub.c (tools/kdir/slub).
 */
#ifndef KMIRROR_FAILSLAB_H
#define KMIRROR_FAILSLAB_H

#include <linux/fault-inject.h>

#ifdef __cplusplus
extern "C" {
#endif

#if KMIRROR_FAULTS
__attribute__((cold)) bool kmirror_should_failslab_of(const char *cache, size_t size, gfp_t gfp);
#endif

#ifdef __cplusplus
}
#endif

/*
 * Asked once for each request to a cache of that name, whose objects are of @size bytes, before any lock is taken.
 * Return: true to fail it. Context: any.
 */
static inline bool should_failslab_of(const char *cache, size_t size, gfp_t gfp)
{
#if KMIRROR_FAULTS
    return kmirror_faults_on() && kmirror_should_failslab_of(cache, size, gfp);
#else
    (void)cache;
    (void)size;
    (void)gfp;
    return false;
#endif
}

#endif /* KMIRROR_FAILSLAB_H */
