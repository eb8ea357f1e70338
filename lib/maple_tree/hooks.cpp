// SPDX-License-Identifier: GPL-2.0-only
//
// The kernel's userspace test hooks of the tree, which are hooks of its node cache under other names.
//
// Owns     nothing: budget, callback and counters belong to the cache (<kmirror/harness.h>).
// Locking  none of its own; the counters may be read at any time and are exact when nobody allocates.
// Fails    never.
#include "lib/maple_tree/reserve.h"

#include <kmirror/harness.h>
#include <linux/maple_tree.h>
#include <linux/slab.h>

using kmirror::maple::maple_node_cache_get;

void mt_set_non_kernel(unsigned int val)
{
    kmem_cache_set_non_kernel(maple_node_cache_get(), val);
}

void mt_set_callback(void (*callback)(void *))
{
    kmem_cache_set_callback(maple_node_cache_get(), callback);
}

void mt_set_private(void *private_data)
{
    kmem_cache_set_private(maple_node_cache_get(), private_data);
}

unsigned long mt_get_alloc_size(void)
{
    return kmem_cache_get_alloc(maple_node_cache_get());
}

unsigned long mt_nr_allocated(void)
{
    return kmem_cache_nr_allocated(maple_node_cache_get());
}

unsigned long mt_nr_tallocated(void)
{
    return kmem_cache_nr_tallocated(maple_node_cache_get());
}

void mt_zero_nr_tallocated(void)
{
    kmem_cache_zero_nr_tallocated(maple_node_cache_get());
}

void mt_cache_shrink(void)
{
    kmem_cache_shrink(maple_node_cache_get());
}
