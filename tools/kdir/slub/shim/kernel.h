/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mm/slub.c and mm/slab_common.c of a kernel tree find behind the headers that they include: everything, in this
 * order. tools/kdir/implement-slab makes one file for each such header, which includes this one. The tree's own
 * <linux/slab.h>, <linux/gfp_types.h>, <linux/poison.h> and mm/slab.h are used as they are; spinlocks, per-CPU data,
 * RCU, CPUs and nodes are this library's.
 */
#ifndef KDIR_SHIM_KERNEL_H
#define KDIR_SHIM_KERNEL_H

#include "tools/kdir/slub/shim/config.h"

/* The tree has its own, of other types. */
#define kvfree_call_rcu kdir_not_ours_kvfree_call_rcu
#define kfree_call_rcu_nolock kdir_not_ours_kfree_call_rcu_nolock
#define kvfree_rcu_head kdir_not_ours_kvfree_rcu_head
#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bit_spinlock.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hardirq.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/local_lock.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/printk.h>
/* The same values, with the tree's spelling. */
#undef LIST_POISON1
#undef LIST_POISON2
#include <linux/poison.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/topology.h>
#undef kvfree_call_rcu
#undef kfree_call_rcu_nolock
#undef kvfree_rcu_head
struct kvfree_rcu_head {
#ifdef CONFIG_KVFREE_RCU_BATCHED
    struct kvfree_rcu_head *next;
#else
    struct rcu_head head;
#endif
};

#include "tools/kdir/slub/shim/language.h"
#include "tools/kdir/slub/shim/page.h"
#include "tools/kdir/slub/shim/sync.h"
#include "tools/kdir/slub/shim/vmalloc.h"
#include "tools/kdir/slub/shim/sysfs.h"
#include "tools/kdir/slub/shim/numa.h"
#include "tools/kdir/slub/shim/kunit.h"
#include "tools/kdir/slub/shim/off.h"

#endif /* KDIR_SHIM_KERNEL_H */
