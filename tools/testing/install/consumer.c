// SPDX-License-Identifier: GPL-2.0-only
//
// A C program of somebody else: installed headers and libraries only, host headers beside them. It stores a range,
// reads it back, takes an object from a cache of its own, and prints what it saw (tools/testing/install-check compares).

#include <limits.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/fs.h>
#include <linux/maple_tree.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/xarray.h>

static DEFINE_MTREE(tree);

static int check_tree(void)
{
    unsigned long index = 0;
    int stored = mtree_store_range(&tree, 10, 20, xa_mk_value(7), GFP_KERNEL);
    int exists = mtree_insert(&tree, 15, xa_mk_value(8), GFP_KERNEL);
    void *entry = mtree_load(&tree, 15);

    mt_find(&tree, &index, ULONG_MAX);
    printf("tree %d %d %lu %lu\n", stored, exists, xa_to_value(entry), index);
    mtree_destroy(&tree);
    return 0;
}

static int check_cache(void)
{
    struct kmem_cache *cache = kmem_cache_create("consumer", 40, 0, SLAB_HWCACHE_ALIGN, NULL);
    void *object = kmem_cache_alloc(cache, GFP_KERNEL);

    printf("cache %u %d\n", kmem_cache_size(cache), object != NULL);
    kmem_cache_free(cache, object);
    kmem_cache_destroy(cache);
    return 0;
}

int main(void)
{
    return check_tree() || check_cache();
}
