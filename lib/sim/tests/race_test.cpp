// SPDX-License-Identifier: GPL-2.0-only
//
// What is a data race and what is not, by small programs of two or three tasks, written out in one of their orders.
#include <gtest/gtest.h>

#include "lib/sim/race.h"

namespace {

using namespace kmirror::sim;

class SimRace : public testing::Test {
protected:
    // The word that is written plainly by one task and read by another, and the flag in between.
    alignas(64) unsigned long data = 0, flag = 0, other = 0;
    RaceDetector detector;

    void write(unsigned task, const void *what) { detector.plain(task, what, 8, true, at(task, 1)); }
    void read(unsigned task, const void *what) { detector.plain(task, what, 8, false, at(task, 2)); }
    void store(unsigned task, const void *what, Order order) { detector.store(task, what, 8, order, at(task, 3)); }
    void load(unsigned task, const void *what, Order order) { detector.load(task, what, 8, order, at(task, 4)); }
    void swap(unsigned task, const void *what, Order order) { detector.exchange(task, what, 8, order, at(task, 5)); }
    std::size_t found() const { return detector.races().size(); }

private:
    static const void *at(unsigned task, unsigned kind) { return reinterpret_cast<const void *>(16 * task + kind + 1); }
};

TEST_F(SimRace, two_plain_accesses_race_if_one_writes) {
    read(0, &data);
    read(1, &data);
    EXPECT_EQ(found(), 0u);
    write(2, &data);
    ASSERT_EQ(found(), 2u);
    EXPECT_EQ(detector.races()[0].first.task, 0);
    EXPECT_EQ(detector.races()[0].second.task, 2);
    EXPECT_FALSE(detector.races()[0].first.write);
    EXPECT_TRUE(detector.races()[0].second.write);
}

TEST_F(SimRace, of_one_task_nothing_races) {
    write(0, &data);
    read(0, &data);
    store(0, &data, Order::Relaxed);
    EXPECT_EQ(found(), 0u);
}

TEST_F(SimRace, a_pair_of_places_is_reported_once) {
    for (int i = 0; i < 3; i++) {
        write(0, &data);
        write(1, &data);
    }
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, atomics_race_with_plain_accesses_only) {
    store(0, &data, Order::Relaxed);
    load(1, &data, Order::Relaxed);
    swap(2, &data, Order::Relaxed);
    EXPECT_EQ(found(), 0u);
    read(3, &data);
    EXPECT_EQ(found(), 2u) << "with the store and the exchange";
}

struct Passing {
    const char *name;
    Order store, load;
    bool race;
};
class SimRacePassing : public SimRace, public testing::WithParamInterface<Passing> {};

TEST_P(SimRacePassing, a_flag_orders_if_it_is_released_and_acquired) {
    write(0, &data);
    store(0, &flag, GetParam().store);
    load(1, &flag, GetParam().load);
    read(1, &data);
    EXPECT_EQ(found(), GetParam().race ? 1u : 0u);
}

TEST_P(SimRacePassing, as_an_exchange_as_well) {
    write(0, &data);
    swap(0, &flag, GetParam().store);
    swap(1, &flag, GetParam().load);
    read(1, &data);
    EXPECT_EQ(found(), GetParam().race ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Orders, SimRacePassing,
    testing::Values(Passing{"release_acquire", Order::Release, Order::Acquire, false},
                    Passing{"seq_cst", Order::SeqCst, Order::SeqCst, false},
                    Passing{"acq_rel", Order::AcqRel, Order::AcqRel, false},
                    Passing{"relaxed_acquire", Order::Relaxed, Order::Acquire, true},
                    Passing{"release_relaxed", Order::Release, Order::Relaxed, true},
                    Passing{"acquire_release", Order::Acquire, Order::Release, true}),
    [](const auto &info) { return info.param.name; });

TEST_F(SimRace, what_comes_after_the_release_is_not_covered) {
    store(0, &flag, Order::Release);
    write(0, &data);
    load(1, &flag, Order::Acquire);
    read(1, &data);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, fences_order_what_relaxed_accesses_pass) {
    write(0, &data);
    detector.fence(0, Order::Release);
    store(0, &flag, Order::Relaxed);
    load(1, &flag, Order::Relaxed);
    detector.fence(1, Order::Acquire);
    read(1, &data);
    EXPECT_EQ(found(), 0u);
}

TEST_F(SimRace, without_the_reader_s_fence_they_do_not) {
    write(0, &data);
    detector.fence(0, Order::Release);
    store(0, &flag, Order::Relaxed);
    load(1, &flag, Order::Relaxed);
    read(1, &data);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, without_the_writer_s_fence_they_do_not) {
    write(0, &data);
    store(0, &flag, Order::Relaxed);
    load(1, &flag, Order::Relaxed);
    detector.fence(1, Order::Acquire);
    read(1, &data);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, an_acquire_fence_is_no_release_fence) {
    write(0, &data);
    detector.fence(0, Order::Acquire);
    store(0, &flag, Order::Relaxed);
    load(1, &flag, Order::Acquire);
    read(1, &data);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, a_relaxed_exchange_passes_on_what_was_published) {
    write(0, &data);
    store(0, &flag, Order::Release);
    swap(2, &flag, Order::Relaxed);
    load(1, &flag, Order::Acquire);
    read(1, &data);
    EXPECT_EQ(found(), 0u);
}

TEST_F(SimRace, a_relaxed_store_does_not) {
    write(0, &data);
    store(0, &flag, Order::Release);
    store(2, &flag, Order::Relaxed);
    load(1, &flag, Order::Acquire);
    read(1, &data);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, order_goes_through_a_third_task) {
    write(0, &data);
    store(0, &flag, Order::Release);
    load(2, &flag, Order::Acquire);
    store(2, &other, Order::Release);
    load(1, &other, Order::Acquire);
    read(1, &data);
    EXPECT_EQ(found(), 0u);
}

TEST_F(SimRace, locks_and_the_birth_of_a_task_order) {
    write(0, &data);
    detector.release(0, &flag);
    detector.acquire(1, &flag);
    write(1, &data);
    detector.start(1, 2);
    write(2, &data);
    EXPECT_EQ(found(), 0u);
    write(1, &data);
    EXPECT_EQ(found(), 1u) << "after the birth the parent is on its own";
    write(3, &data);
    EXPECT_EQ(found(), 3u) << "with either of them";
}

TEST_F(SimRace, a_child_does_not_know_what_its_parent_does_later) {
    detector.start(0, 1);
    write(0, &data);
    read(1, &data);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, only_common_bytes_count) {
    const char *const bytes = reinterpret_cast<const char *>(&data);
    detector.plain(0, bytes, 4, true, bytes);
    detector.plain(1, bytes + 4, 4, true, bytes + 1);
    EXPECT_EQ(found(), 0u);
    detector.plain(2, bytes + 3, 2, false, bytes + 2);
    EXPECT_EQ(found(), 2u);
}

TEST_F(SimRace, an_access_over_two_words_is_seen_in_both) {
    const char *const bytes = reinterpret_cast<const char *>(&data);
    detector.plain(0, bytes, 16, true, bytes);
    detector.plain(1, bytes + 12, 1, false, bytes + 1);
    EXPECT_EQ(found(), 1u);
    detector.plain(2, bytes + 1, 1, false, bytes + 2);
    EXPECT_EQ(found(), 2u);
}

// (R1)
TEST_F(SimRace, an_atomic_write_does_not_hide_the_plain_one_before_it) {
    write(0, &data);
    store(0, &data, Order::Relaxed);
    load(1, &data, Order::Relaxed);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, a_read_does_not_hide_the_write_before_it) {
    write(0, &data);
    read(0, &data);
    read(1, &data);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, a_short_write_does_not_hide_the_long_one_before_it) {
    write(0, &data);
    detector.plain(0, &data, 1, true, &flag);
    detector.plain(1, reinterpret_cast<const char *>(&data) + 4, 4, false, &other);
    EXPECT_EQ(found(), 1u);
}

TEST_F(SimRace, memory_that_is_renewed_has_no_past) {
    write(0, &data);
    store(0, &data, Order::Release);
    detector.renew(&data, sizeof(data));
    write(1, &data);
    EXPECT_EQ(found(), 0u);
}

TEST_F(SimRace, memory_that_is_renewed_publishes_nothing) {
    write(0, &data);
    store(0, &flag, Order::Release);
    detector.renew(&flag, sizeof(flag));
    load(1, &flag, Order::Acquire);
    read(1, &data);
    EXPECT_EQ(found(), 1u);
}

} // namespace
