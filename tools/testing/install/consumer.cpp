// SPDX-License-Identifier: GPL-2.0-only
//
// A C++ program of somebody else: see consumer.c. It prints the same lines.

#include <climits>
#include <cstdio>
#include <map>
#include <vector>

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/fs.h>
#include <linux/maple_tree.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/xarray.h>

namespace {

DEFINE_MTREE(tree);

void check_tree() {
    unsigned long index = 0;
    const int stored = mtree_store_range(&tree, 10, 20, xa_mk_value(7), GFP_KERNEL);
    const int exists = mtree_insert(&tree, 15, xa_mk_value(8), GFP_KERNEL);
    void* entry = mtree_load(&tree, 15);

    mt_find(&tree, &index, ULONG_MAX);
    std::printf("tree %d %d %lu %lu\n", stored, exists, xa_to_value(entry), index);
    mtree_destroy(&tree);
}

void check_cache() {
    kmem_cache* cache = kmem_cache_create("consumer", 40, 0, SLAB_HWCACHE_ALIGN, nullptr);
    void* object = kmem_cache_alloc(cache, GFP_KERNEL);

    std::printf("cache %u %d\n", kmem_cache_size(cache), object != nullptr);
    kmem_cache_free(cache, object);
    kmem_cache_destroy(cache);
}

}  // namespace

int main() {
    check_tree();
    check_cache();
}
