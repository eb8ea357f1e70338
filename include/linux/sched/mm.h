/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/sched/mm.h>: what the calling thread may do when it asks for memory. */
#ifndef _LINUX_SCHED_MM_H
#define _LINUX_SCHED_MM_H

#include <linux/kconfig.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* States that the caller is about to ask with @gfp_mask; reported where it may not sleep. */
static inline void might_alloc(gfp_t gfp_mask)
{
    might_sleep_if(gfpflags_allow_blocking(gfp_mask));
}

/*
 * Lets this thread's requests use all of the reserves until the restore, which gets
 * what the save returned. Any context; pairs may be nested.
 */
unsigned int memalloc_noreclaim_save(void);
void memalloc_noreclaim_restore(unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif /* _LINUX_SCHED_MM_H */
