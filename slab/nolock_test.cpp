// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: kmalloc_nolock() and its frees wait for nothing. Whatever lock the interrupted thread holds, they
// return, lose no object and damage no count; what could not be done at once is done later.

#include "slab/slab_test.h"

#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <kmirror/slab_info.h>

#include "lib/slub/cache.h"

#include <algorithm>
#include <csignal>
#include <sys/time.h>

namespace kmirror::slab_test {
namespace {

#define ALONE "KMIRROR_MACHINE=pack:1 core:2 pu:1"
constexpr std::size_t kBytes = 1000; // neither its class nor the next is used by the allocator itself

// What a handler does, which came in while the test holds some lock.
template <class Body>
void interrupted(Body body)
{
    nmi_enter();
    body();
    nmi_exit();
}

kmem_cache *class_of(std::size_t bytes) { return __kmalloc_bucket(bytes, 0); }

long used(kmem_cache *s)
{
    slab_ops_counts out{};
    ops().counts(reinterpret_cast<slab_ops_cache *>(s), -1, &out);
    return long(out.used_objects);
}

bool sound(kmem_cache *s) { return ops().check(reinterpret_cast<slab_ops_cache *>(s)) == 0; }

void *nolock(std::size_t bytes = kBytes) { return kmalloc_nolock(bytes, 0, NUMA_NO_NODE); }

KMIRROR_TEST_IN(SlabNolock, gives_memory_of_the_size_asked_for, ALONE)
{
    kmem_cache_init();
    Pinned here;
    for (std::size_t bytes : {1ul, 8ul, 100ul, 192ul, 4096ul, KMALLOC_MAX_CACHE_SIZE}) {
        char *object = static_cast<char *>(kmalloc_nolock(bytes, __GFP_ZERO, NUMA_NO_NODE));
        ASSERT_NE(object, nullptr) << bytes;
        EXPECT_GE(ksize(object), bytes);
        for (std::size_t i = 0; i < bytes; i++)
            ASSERT_EQ(object[i], 0) << i;
        std::fill_n(object, bytes, 0x5a);
        kfree_nolock(object);
    }
    EXPECT_EQ(kmalloc_nolock(0, 0, NUMA_NO_NODE), ZERO_SIZE_PTR);
    kfree_nolock(ZERO_SIZE_PTR);
    kfree_nolock(nullptr);
    EXPECT_EQ(nolock(KMALLOC_MAX_CACHE_SIZE + 1), nullptr) << "whole pages are not for it";
}

KMIRROR_TEST_IN(SlabNolock, does_not_start_the_allocator, ALONE)
{
    EXPECT_EQ(nolock(), nullptr);
    EXPECT_FALSE(slab_is_available());
}

// The thread was interrupted while it had the sheaves' lock: the slabs serve, a free is put aside.
KMIRROR_TEST_IN(SlabNolock, goes_round_a_local_lock_that_is_taken, ALONE)
{
    kmem_cache_init();
    Pinned here;
    kmem_cache *s = class_of(kBytes);
    kfree(kmalloc(kBytes, GFP_KERNEL));
    ASSERT_EQ(kmem_cache_shrink(s), 0);
    local_lock(&s->cpu_sheaves->lock);
    void *object = nullptr;
    interrupted([&] { object = nolock(); });
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(kmirror_slab_cache_of(object), s);
    interrupted([&] { kfree_nolock(object); });
    EXPECT_TRUE(irq_work_raised()) << "no sheaf could take it";
    local_unlock(&s->cpu_sheaves->lock);
    EXPECT_EQ(used(s), 1);
    irq_work_run();
    EXPECT_EQ(used(s), 0);
    EXPECT_TRUE(sound(s));
}

// Sheaves locked and the list locked: the next larger class has other locks.
KMIRROR_TEST_IN(SlabNolock, takes_the_next_class_when_all_locks_of_one_are_taken, ALONE)
{
    SHEAVES_ONLY();
    kmem_cache_init();
    Pinned here;
    kmem_cache *s = class_of(kBytes);
    kfree(kmalloc(kBytes, GFP_KERNEL));
    kmem_cache_shrink(s);
    void *one = kmalloc(kBytes, GFP_KERNEL); // its slab is listed
    local_lock(&s->cpu_sheaves->lock);
    raw_spin_lock(&s->per_node[0].node->list_lock);
    const long slabs = atomic_long_read(&s->per_node[0].node->nr_slabs);
    void *object = nullptr;
    interrupted([&] { object = nolock(); });
    EXPECT_EQ(atomic_long_read(&s->per_node[0].node->nr_slabs), slabs)
        << "a new slab that could not be listed was never counted";
    raw_spin_unlock(&s->per_node[0].node->list_lock);
    local_unlock(&s->cpu_sheaves->lock);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(kmirror_slab_cache_of(object), class_of(2048));
    kfree_nolock(object);
    kfree(one);
    EXPECT_TRUE(sound(s));
}

KMIRROR_TEST_IN(SlabNolock, fails_when_the_next_class_is_locked_as_well, ALONE)
{
    kmem_cache_init();
    Pinned here;
    kmem_cache *classes[] = {class_of(kBytes), class_of(2048)};
    for (kmem_cache *s : classes) {
        kfree(kmalloc(s->object_size, GFP_KERNEL));
        kmem_cache_shrink(s);
    }
    for (kmem_cache *s : classes) {
        local_lock(&s->cpu_sheaves->lock);
        raw_spin_lock(&s->per_node[0].node->list_lock);
    }
    void *object = &classes;
    interrupted([&] { object = nolock(); });
    EXPECT_EQ(object, nullptr);
    for (int i = 1; i >= 0; i--) {
        raw_spin_unlock(&classes[i]->per_node[0].node->list_lock);
        local_unlock(&classes[i]->cpu_sheaves->lock);
    }
    for (kmem_cache *s : classes) {
        EXPECT_EQ(used(s), 0);
        EXPECT_TRUE(sound(s));
    }
}

KMIRROR_TEST_IN(SlabNolock, leaves_a_barn_alone_that_is_locked, ALONE)
{
    WITHOUT_DEBUGGING();
    SHEAVES_ONLY();
    kmem_cache_init();
    Pinned here;
    kmem_cache *s = class_of(kBytes);
    std::vector<void *> objects;
    for (unsigned i = 0; i < 4 * s->sheaf_capacity; i++)
        objects.push_back(kmalloc(kBytes, GFP_KERNEL));
    raw_spin_lock(&s->per_node[0].barn->lock);
    interrupted([&] {
        for (unsigned i = 0; i < 3 * s->sheaf_capacity; i++)
            kfree_nolock(objects[i]);
        for (unsigned i = 0; i < 3 * s->sheaf_capacity; i++)
            objects[i] = nolock();
    });
    raw_spin_unlock(&s->per_node[0].barn->lock);
    for (void *object : objects) {
        ASSERT_NE(object, nullptr);
        kfree_nolock(object);
    }
    irq_work_run();
    EXPECT_TRUE(sound(s));
    EXPECT_EQ(kmem_cache_shrink(s), 0);
}

KMIRROR_TEST_IN(SlabNolock, frees_into_a_full_slab_are_put_aside_and_done, ALONE)
{
    kmem_cache_init();
    Pinned here;
    kmem_cache *s = class_of(kBytes);
    std::vector<void *> objects;
    for (int i = 0; i < 300; i++)
        objects.push_back(nolock());
    local_lock(&s->cpu_sheaves->lock);
    interrupted([&] {
        for (void *object : objects)
            kfree_nolock(object);
    });
    local_unlock(&s->cpu_sheaves->lock);
    EXPECT_GE(used(s), 300);
    EXPECT_EQ(kmem_cache_shrink(s), 0) << "a shrink finds what was put aside";
    EXPECT_FALSE(irq_work_raised());
}

struct Waiting {
    char text[3000]; // a class that the allocator itself does not use
    kvfree_rcu_head rcu;
};

KMIRROR_TEST_IN(SlabNolock, kfree_rcu_waits_for_its_grace_period, ALONE)
{
    kmem_cache_init();
    Pinned here;
    kmem_cache *s = class_of(sizeof(Waiting));
    std::vector<Waiting *> objects;
    for (int i = 0; i < 200; i++)
        objects.push_back(static_cast<Waiting *>(nolock(sizeof(Waiting))));
    rcu_read_lock();
    for (std::size_t i = 0; i < objects.size(); i++) {
        ASSERT_NE(objects[i], nullptr);
        if (i % 2)
            local_lock(&s->cpu_sheaves->lock);
        interrupted([&] { kfree_rcu_nolock(objects[i], rcu); });
        if (i % 2)
            local_unlock(&s->cpu_sheaves->lock);
    }
    irq_work_run();
    EXPECT_GE(used(s), 200) << "a reader may still look";
    rcu_read_unlock();
    kvfree_rcu_barrier();
    EXPECT_TRUE(sound(s));
    EXPECT_EQ(kmem_cache_shrink(s), 0);
}

KMIRROR_TEST_IN(SlabNolock, refuses_what_is_no_object_of_a_slab, ALONE)
{
    void *large = kmalloc(4 * KMALLOC_MAX_CACHE_SIZE, GFP_KERNEL);
    {
        kmirror::testing::ExpectWarnings warnings(1);
        kfree_nolock(large);
    }
    kfree(large);
}

KMIRROR_TEST_IN(SlabNolock, a_wait_where_none_is_allowed_is_reported, ALONE, "KMIRROR_LOCKSTAT=1",
                "KMIRROR_LOCKDEP=1")
{
    kmem_cache_init();
    Pinned here;
    Cache cache(4000);
    kmirror::testing::ExpectWarnings warnings(1);
    raw_spinlock_t *lock = &as_kmem_cache(cache)->per_node[0].node->list_lock;
    interrupted([&] {
        raw_spin_lock(lock);
        raw_spin_unlock(lock);
    });
}

// A real handler, at any instruction of kmalloc and kfree.
volatile unsigned long handled, failed;

void handler(int)
{
    nmi_enter();
    void *object = kmalloc_nolock(kBytes, 0, NUMA_NO_NODE);
    handled = handled + 1;
    if (object)
        kfree_nolock(object);
    else
        failed = failed + 1;
    nmi_exit();
}

KMIRROR_TEST_IN(SlabNolock, works_in_a_signal_handler_at_any_moment, ALONE)
{
    kmem_cache_init();
    Pinned here;
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    const itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_PROF, &often, nullptr);
    kmem_cache *s = class_of(kBytes);
    std::vector<void *> objects(500);
    for (int round = 0; round < 3000 && handled < 100; round++) {
        for (void *&object : objects)
            object = kmalloc(kBytes, GFP_KERNEL);
        for (void *object : objects)
            kfree(object);
    }
    const itimerval never = {};
    setitimer(ITIMER_PROF, &never, nullptr);
    signal(SIGPROF, SIG_IGN);
    EXPECT_EQ(kmem_cache_shrink(s), 0);
    EXPECT_TRUE(sound(s));
}

} // namespace
} // namespace kmirror::slab_test
