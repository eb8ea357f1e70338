// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the counts of a node with debugging are those of its lists whenever its lock is free, so a validation at
// any moment finds nothing; and who may not wait for that lock gets an object or NULL after one try, and leaves the
// counts alone.

#include "slab/slab_test.h"

#include <kmirror/slab_info.h>
#include <kmirror/stop_point.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/slab.h>

#include "lib/slub/cache.h"

#include <cstring>

namespace kmirror::slab_test {
namespace {

kmem_cache_node *node_of(kmem_cache *s) { return kmirror::slub::get_node(s, 0); }

long length_of(const list_head &list)
{
    long length = 0;
    for (const list_head *at = list.next; at != &list; at = at->next)
        length++;
    return length;
}

// At each visit the lock is about to be dropped: by then every slab that is counted is on a list.
KMIRROR_TEST_IN(SlabDebugLists, agree_with_the_counts_whenever_the_lock_is_dropped,
                "KMIRROR_MACHINE=pack:1 core:2 pu:1", "KMIRROR_SLAB_DEBUG=FZPU")
{
    if (!KMIRROR_STOP_POINTS)
        GTEST_SKIP() << "nobody can be looked at in this build";
    Pinned here;
    Cache cache(1000);
    kmem_cache_node *n = node_of(as_kmem_cache(cache));
    ops().set_min_partial(cache, 0);
    long visits = 0, wrong = 0;
    const auto look = [&](const char *, const char *operation) {
        if (std::strcmp(operation, "unlock") || !raw_spin_is_locked(&n->list_lock))
            return;
        visits++;
        wrong += atomic_long_read(&n->nr_slabs) != length_of(n->partial) + length_of(n->full);
    };
    const std::size_t count = 3 * cache.geometry().objects;
    std::vector<void *> objects(count);
    {
        const StopVisitor<decltype(look)> between(look);
        for (void *&object : objects)
            object = cache.alloc();
        cache.free(objects);
        EXPECT_TRUE(cache.alloc_bulk(count, objects.data()));
        cache.free_bulk(count, objects.data());
    }
    EXPECT_GE(visits, long(3 * count)) << "the lock is not where this test looks for it";
    EXPECT_EQ(wrong, 0) << "times a validation would have found another number of slabs than was counted";
    EXPECT_EQ(atomic_long_read(&n->nr_slabs), 0);
}

constexpr std::size_t kBytes = 1000; // neither its class nor the next is used by the allocator itself

struct Counted {
    long slabs, objects;
    bool operator==(const Counted &) const = default;
};

Counted counted(kmem_cache *s)
{
    return {atomic_long_read(&node_of(s)->nr_slabs), atomic_long_read(&node_of(s)->total_objects)};
}

// Both classes that kmalloc_nolock() tries, with their lists locked by whom it has interrupted.
KMIRROR_TEST_IN(SlabDebugNolock, fails_after_one_try_and_counts_no_slab, "KMIRROR_MACHINE=pack:1 core:2 pu:1",
                "KMIRROR_SLAB_DEBUG=FZPU")
{
    kmem_cache_init();
    Pinned here;
    kmem_cache *classes[] = {__kmalloc_bucket(kBytes, 0), __kmalloc_bucket(2 * kBytes, 0)};
    Counted before[2];
    for (int i = 0; i < 2; i++) {
        ASSERT_TRUE(classes[i]->flags & SLAB_POISON);
        kfree(kmalloc(classes[i]->object_size, GFP_KERNEL));
        kmem_cache_shrink(classes[i]);
        before[i] = counted(classes[i]);
        raw_spin_lock(&node_of(classes[i])->list_lock);
    }
    nmi_enter();
    void *object = kmalloc_nolock(kBytes, 0, NUMA_NO_NODE); // a second try would never end
    nmi_exit();
    for (int i = 1; i >= 0; i--)
        raw_spin_unlock(&node_of(classes[i])->list_lock);
    EXPECT_EQ(object, nullptr);
    irq_work_run(); // what was put aside
    for (int i = 0; i < 2; i++) {
        EXPECT_TRUE(counted(classes[i]) == before[i]) << "of class " << classes[i]->object_size;
        EXPECT_EQ(validate_slab_cache(classes[i]), before[i].slabs);
    }
    EXPECT_EQ(kmirror_slab_errors(), 0u);
}

} // namespace
} // namespace kmirror::slab_test
