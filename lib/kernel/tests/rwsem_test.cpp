// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: writers are alone, readers are together, neither starves, and a downgrade lets no writer in
// between.

#include "lib/kernel/tests/threads.h"
#include "tools/testing/harness.h"

#include <linux/rwsem.h>

#include <atomic>

namespace {

using kmirror::testing::run_threads;
using kmirror::testing::wait_until;

TEST(Rwsem, WritersAreAloneAndReadersSeeWholeWrites)
{
    DECLARE_RWSEM(sem);
    unsigned long left = 0, right = 0;
    std::atomic<unsigned long> torn{0};
    run_threads(8, [&](int index) {
        for (int round = 0; round < 2000; ++round) {
            if (index % 2 == 0) {
                down_write(&sem);
                ++left;
                ++right;
                up_write(&sem);
            } else {
                down_read(&sem);
                torn += left != right;
                up_read(&sem);
            }
        }
    });
    EXPECT_EQ(left, 8000u);
    EXPECT_EQ(right, 8000u);
    EXPECT_EQ(torn, 0u);
    EXPECT_FALSE(rwsem_is_locked(&sem));
}

TEST(Rwsem, ReadersAreInsideTogether)
{
    DECLARE_RWSEM(sem);
    std::atomic<int> inside{0};
    run_threads(4, [&](int) {
        down_read(&sem);
        inside++;
        EXPECT_TRUE(wait_until([&] { return inside == 4; }));
        EXPECT_FALSE(down_write_trylock(&sem));
        up_read(&sem);
    });
    EXPECT_TRUE(down_write_trylock(&sem));
    run_threads(1, [&](int) {
        EXPECT_FALSE(down_read_trylock(&sem));
        EXPECT_FALSE(down_write_trylock(&sem));
    });
    up_write(&sem);
    EXPECT_TRUE(down_read_trylock(&sem));
    EXPECT_TRUE(down_read_trylock(&sem));
    up_read(&sem);
    up_read(&sem);
}

// With a reader always inside, a writer still gets in, and readers after it.
TEST(Rwsem, AWriterIsNotStarvedByReaders)
{
    DECLARE_RWSEM(sem);
    std::atomic<bool> written{false}, stop{false};
    std::atomic<int> reads{0};
    std::vector<std::jthread> readers;
    for (int index = 0; index < 3; ++index)
        readers.emplace_back([&] {
            while (!stop) {
                down_read(&sem);
                reads++;
                std::this_thread::yield();
                up_read(&sem);
            }
        });
    EXPECT_TRUE(wait_until([&] { return reads > 10; }));
    std::jthread writer([&] {
        for (int round = 0; round < 50; ++round) {
            down_write(&sem);
            up_write(&sem);
        }
        written = true;
    });
    EXPECT_TRUE(wait_until([&] { return written.load(); }));
    const int before = reads;
    EXPECT_TRUE(wait_until([&] { return reads > before; }));
    stop = true;
}

TEST(Rwsem, DowngradeLetsReadersInAndNoWriter)
{
    DECLARE_RWSEM(sem);
    down_write(&sem);
    std::atomic<bool> wrote{false};
    std::jthread writer([&] {
        down_write(&sem);
        wrote = true;
        up_write(&sem);
    });
    EXPECT_TRUE(wait_until([&] { return READ_ONCE(sem.gate.tail) != nullptr; }));
    downgrade_write(&sem);
    // The queued writer is next, behind the readers inside; who comes now waits for it.
    EXPECT_TRUE(wait_until([&] { return (READ_ONCE(sem.count) & 1) != 0; }));
    EXPECT_FALSE(wrote);
    EXPECT_FALSE(down_read_trylock(&sem));
    up_read(&sem);
    writer.join();
    EXPECT_TRUE(wrote);
    EXPECT_FALSE(rwsem_is_locked(&sem));
}

}  // namespace
