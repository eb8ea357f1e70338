// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel tree's own lib/maple_tree.c, unmodified, behind our table of operations. tools/kdir/implement
 * compiles this file with
 *   KDIR_SOURCE    the path of that lib/maple_tree.c, in quotes
 *   KDIR_NAME      what the table is called: "linux 7.3"
 *   KDIR_CACHE_NAME  another name for its node cache, in quotes; unset: its own
 *   KDIR_HAS_...   what probing the tree has found, see there
 * and with the tree's own <linux/maple_tree.h>; every other header is ours. Then it gives each symbol a
 * prefix, so that this tree and the library's live in one program.
 *
 * Owns     the table, which never changes once it was asked for, and the tree's node cache.
 * Locking  the cache is made and ended under boot_mutex.
 * Fails    to compile when a node or a tree is laid out differently from ours (adapter.h).
 */
#ifdef KDIR_CACHE_NAME
/* Two caches of one name cannot be told apart. The cache is made through one of these two. */
#include <linux/slab.h>
#define __kmem_cache_create(name, ...) __kmem_cache_create(KDIR_CACHE_NAME, __VA_ARGS__)
#define __kmem_cache_create_args(name, ...) __kmem_cache_create_args(KDIR_CACHE_NAME, __VA_ARGS__)
#endif

#include KDIR_SOURCE

#include <kmirror/maple_ops_fill.h>

#include "tools/kdir/maple/adapter_cursor.h"
#include "tools/kdir/maple/adapter_tree.h"

/* Plans its nodes as this library: heights, numbers of nodes and slots are the same. */
#ifdef KDIR_HAS_COPY_NODE
const int kmirror_maple_same_shape = 1;
#else
const int kmirror_maple_same_shape = 0;
#endif

static struct maple_ops ops_table;

static void ops_fill(void)
{
    ops_table.version = KMIRROR_MAPLE_OPS_VERSION;
    ops_table.nr_bytes = sizeof(ops_table);
    ops_table.name = KDIR_NAME;
    ops_fill_life(&ops_table);
    ops_fill_simple(&ops_table);
    ops_fill_checks(&ops_table);
    ops_fill_position(&ops_table);
    ops_fill_reading(&ops_table);
    ops_fill_writing(&ops_table);
    ops_fill_loops(&ops_table);
}

const struct maple_ops *kmirror_maple_ops(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, ops_fill);
    return &ops_table;
}
