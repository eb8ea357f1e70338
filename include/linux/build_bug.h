/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/build_bug.h>: conditions that stop the compiler. */
#ifndef _LINUX_BUILD_BUG_H
#define _LINUX_BUILD_BUG_H

#ifdef __cplusplus
#define BUILD_BUG_ON_MSG(condition, text)   static_assert(!(condition), text)
#else
#define BUILD_BUG_ON_MSG(condition, text)   _Static_assert(!(condition), text)
#endif

#define BUILD_BUG_ON(condition) BUILD_BUG_ON_MSG(condition, "BUILD_BUG_ON: " #condition)

#endif /* _LINUX_BUILD_BUG_H */
