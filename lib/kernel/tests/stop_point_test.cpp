// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a thread can be held before any named operation of the environment and let go again, and only
// that thread; a visitor sees every operation of its own thread, in order.
#include <gtest/gtest.h>

#include <kmirror/config.h>
#include <kmirror/stop_point.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace kmirror::testing {
namespace {

#define KMIRROR_NEEDS_STOP_POINTS() \
    if (!KMIRROR_STOP_POINTS)       \
    GTEST_SKIP() << "release builds have no stop points"

DEFINE_SPINLOCK(shared_lock);
std::atomic<int> steps;

void take_twice()
{
    for (int i = 0; i < 2; i++) {
        spin_lock(&shared_lock);
        steps++;
        spin_unlock(&shared_lock);
    }
}

TEST(StopPoint, a_thread_waits_before_the_named_operation_until_it_is_released)
{
    KMIRROR_NEEDS_STOP_POINTS();
    steps = 0;
    StopPoint stop("take_twice:lock:2");
    ASSERT_EQ(stop.error(), 0);
    std::thread held(take_twice);
    EXPECT_TRUE(stop.wait());
    EXPECT_EQ(steps.load(), 1);
    EXPECT_FALSE(spin_is_locked(&shared_lock)) << "it stands before the lock";
    stop.release();
    held.join();
    EXPECT_EQ(steps.load(), 2);
}

TEST(StopPoint, a_thread_held_before_an_unlock_keeps_the_lock)
{
    KMIRROR_NEEDS_STOP_POINTS();
    StopPoint stop("take_twice:unlock:1");
    std::thread held(take_twice);
    EXPECT_TRUE(stop.wait());
    EXPECT_TRUE(spin_is_locked(&shared_lock));
    stop.release();
    held.join();
}

TEST(StopPoint, the_thread_that_arms_is_neither_held_nor_counted_and_others_are_held_once)
{
    KMIRROR_NEEDS_STOP_POINTS();
    StopPoint stop("take_twice:lock:1");
    take_twice();
    std::thread held(take_twice);
    EXPECT_TRUE(stop.wait());
    std::thread free(take_twice);
    free.join();
    stop.release();
    held.join();
}

TEST(StopPoint, two_threads_stand_at_two_points_and_go_in_the_order_of_the_test)
{
    KMIRROR_NEEDS_STOP_POINTS();
    steps = 0;
    StopPoint first("take_twice:lock:1"), second("take_twice:lock:2");
    std::thread one(take_twice);
    ASSERT_TRUE(first.wait());
    std::thread two(take_twice);
    ASSERT_TRUE(second.wait());
    EXPECT_EQ(steps.load(), 0);
    second.release();
    two.join();
    EXPECT_EQ(steps.load(), 2);
    first.release();
    one.join();
    EXPECT_EQ(steps.load(), 4);
}

TEST(StopPoint, a_point_that_nobody_reaches_is_told)
{
    KMIRROR_NEEDS_STOP_POINTS();
    StopPoint stop("take_twice:lock:3");
    std::thread(take_twice).join();
    EXPECT_FALSE(stop.wait(1));
}

TEST(StopPoint, a_name_that_is_none_is_refused_and_the_table_has_an_end)
{
    KMIRROR_NEEDS_STOP_POINTS();
    for (const char *name : {"", "take_twice", "take_twice:lock", "take_twice:lock:0", "take_twice:lock:",
                             "take_twice:lock:1x", "take_twice:swim:1", ":lock:1", "lock:1"})
        EXPECT_EQ(kmirror_stop_hold(name), -EINVAL) << name;
    EXPECT_EQ(kmirror_stop_hold((std::string(200, 'f') + ":lock:1").c_str()), -EINVAL);

    std::vector<int> stops;
    for (int i = 0; i < KMIRROR_STOP_MAX; i++)
        stops.push_back(kmirror_stop_hold("nobody:lock:1"));
    EXPECT_EQ(kmirror_stop_hold("nobody:lock:1"), -EBUSY);
    for (const int stop : stops)
        kmirror_stop_release(stop);
    EXPECT_EQ(kmirror_stop_armed, 0u);
}

// Each operation once, in the order of the list in <kmirror/stop_point.h>.
void every_operation()
{
    static struct rcu_head head;
    static int *published, pointed;
    auto *const lock = alloc_percpu(local_lock_t);
    spin_lock(&shared_lock);
    spin_unlock(&shared_lock);
    if (spin_trylock(&shared_lock))
        spin_unlock(&shared_lock);
    rcu_assign_pointer(published, &pointed);
    smp_store_release(&published, &pointed);
    smp_mb();
    smp_rmb();
    smp_wmb();
    call_rcu(&head, [](rcu_head *) {});
    local_lock(lock);
    local_unlock(lock);
    if (local_trylock(lock))
        local_unlock(lock);
    if (struct page *page = alloc_frozen_pages(GFP_KERNEL, 0))
        free_frozen_pages(page, 0);
    rcu_barrier();
    free_percpu(lock);
}

void visit_operation()
{
    smp_mb();
}

TEST(StopPoint, a_visitor_sees_every_operation_of_its_thread_in_order_and_none_of_its_own)
{
    KMIRROR_NEEDS_STOP_POINTS();
    std::vector<std::string> seen;
    {
        const StopVisitor visitor([&](const char *function, const char *operation) {
            if (std::string(function) == "every_operation" || std::string(function) == "visit_operation")
                seen.push_back(operation);
            visit_operation();
        });
        every_operation();
        std::thread(take_twice).join();
    }
    every_operation();
    const std::vector<std::string> expected = {
        "lock",        "unlock",     "trylock",      "unlock",        "publish",      "publish",
        "barrier",     "barrier",    "barrier",      "call_rcu",      "local_lock",   "local_unlock",
        "local_trylock", "local_unlock", "alloc_pages", "free_pages"};
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(kmirror_stop_armed, 0u);
}

} // namespace
} // namespace kmirror::testing
