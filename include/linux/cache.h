/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/cache.h: the cache line, and variables that stay on lines of their own. */
#ifndef KMIRROR_LINUX_CACHE_H
#define KMIRROR_LINUX_CACHE_H

#include <linux/compiler_types.h>

#define L1_CACHE_SHIFT 6
#define L1_CACHE_BYTES (1 << L1_CACHE_SHIFT)
#define SMP_CACHE_BYTES L1_CACHE_BYTES
#define L1_CACHE_ALIGN(x) (((x) + L1_CACHE_BYTES - 1) & ~(__typeof__((x) + 0))(L1_CACHE_BYTES - 1))

#define ____cacheline_aligned __attribute__((__aligned__(L1_CACHE_BYTES)))
#define ____cacheline_aligned_in_smp ____cacheline_aligned
#define __cacheline_aligned ____cacheline_aligned
#define __cacheline_aligned_in_smp ____cacheline_aligned
#define __read_mostly
#define __ro_after_init

/* cache_line_size() - Bytes in a line; the slab geometry uses it. */
static inline int cache_line_size(void)
{
    return L1_CACHE_BYTES;
}

#endif /* KMIRROR_LINUX_CACHE_H */
