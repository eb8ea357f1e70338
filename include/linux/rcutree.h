/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/rcutree.h>: see <linux/rcupdate.h>, which declares everything there is. */
#ifndef _LINUX_RCUTREE_H
#define _LINUX_RCUTREE_H

#include <linux/rcupdate.h>

#endif /* _LINUX_RCUTREE_H */
