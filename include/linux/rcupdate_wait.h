/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/rcupdate_wait.h>: see <linux/rcupdate.h>, which declares everything there is. */
#ifndef _LINUX_RCUPDATE_WAIT_H
#define _LINUX_RCUPDATE_WAIT_H

#include <linux/rcupdate.h>

#endif /* _LINUX_RCUPDATE_WAIT_H */
