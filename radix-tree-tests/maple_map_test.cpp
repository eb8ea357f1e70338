// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: maple_map<T> gives typed access to a maple tree: what goes in comes out, ranges and iterators
// agree with a model, guards hold what they say, every failed allocation is reported and leaves the map as it
// was.
#include <kmirror/maple_tree.hpp>

#include <kmirror/fault.h>

#include "radix-tree-tests/tree.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ranges>
#include <thread>
#include <vector>

namespace kmirror::testing {
namespace {

enum class Color : std::uint8_t { red, green = 200 };
struct Region {
    int id;
};

template <class T>
using Map = maple_map<T>;
template <class T>
using Values = std::vector<typename Map<T>::value_type>;

template <class T>
Values<T> contents(const Map<T> &map)
{
    Values<T> all;
    for (auto range : map.read())
        all.push_back(range);
    return all;
}

// Ten ranges: [10 i, 10 i + 4] holds i.
void fill(Map<int> &map, int ranges = 10)
{
    for (int i = 0; i < ranges; i++)
        ASSERT_EQ(map.store_range(i * 10ul, i * 10ul + 4, i).error(), 0);
}

struct MapleMap : MapleTest {};
struct MapleMapConcurrent : MapleTest {};

static_assert(std::bidirectional_iterator<Map<int>::iterator>);
static_assert(std::ranges::bidirectional_range<decltype(std::declval<Map<int> &>().read())>);
static_assert(std::is_nothrow_move_constructible_v<Map<int>> &&
              std::is_nothrow_move_assignable_v<Map<Region>>);
static_assert(!std::is_copy_constructible_v<Map<int>> && !std::is_copy_assignable_v<Map<int>>);
static_assert(std::is_same_v<Map<const Region>::mapped_type, const Region *>);
static_assert(std::is_same_v<Map<Color>::found_type, std::optional<Color>>);

TEST_F(MapleMap, integers_and_enumerations_are_stored_by_value)
{
    constexpr int kMost = sizeof(long) > sizeof(int) ? INT_MAX : INT_MAX / 2;
    Map<int> signed_map;
    for (int value : {0, 1, -1, -kMost - 1, kMost}) {
        ASSERT_TRUE(signed_map.store(7, value));
        EXPECT_EQ(signed_map.load(7), value);
    }
    EXPECT_EQ(signed_map.load(8), std::nullopt);
    Map<Color> colors;
    ASSERT_TRUE(colors.store_range(3, 9, Color::green));
    EXPECT_EQ(colors.load(9), Color::green);
    Map<bool> bits;
    ASSERT_TRUE(bits.store(0, false));
    EXPECT_EQ(bits.load(0), false);
    EXPECT_TRUE(bits.contains(0) && !bits.contains(1));
}

TEST_F(MapleMap, a_value_with_as_many_significant_bits_as_a_word_is_refused)
{
    constexpr unsigned long kTopBit = ULONG_MAX / 2 + 1;
    Map<unsigned long> map;
    Map<long> signed_map;
    EXPECT_EQ(map.store(1, ULONG_MAX).error(), -EINVAL);
    EXPECT_EQ(map.insert(1, kTopBit).error(), -EINVAL);
    EXPECT_EQ(map.alloc_range(ULONG_MAX, 1).error(), -EINVAL);
    EXPECT_EQ(map.lock().store(1, ULONG_MAX).error(), -EINVAL);
    EXPECT_EQ(signed_map.store(1, LONG_MAX).error(), -EINVAL);
    EXPECT_TRUE(map.empty() && signed_map.empty());
    EXPECT_TRUE(map.store(1, kTopBit - 1));
    EXPECT_EQ(map.load(1), kTopBit - 1);
    EXPECT_TRUE(signed_map.store(1, LONG_MIN / 2));
    EXPECT_EQ(signed_map.load(1), LONG_MIN / 2);
}

TEST_F(MapleMap, pointers_keep_their_type)
{
    Region text{1}, heap{2};
    Map<Region> map;
    const Region constant{3};
    Map<const Region> read_only;
    ASSERT_TRUE(map.store_range(0x1000, 0x1fff, &text));
    ASSERT_TRUE(map.insert_range(0x3000, 0x3fff, &heap));
    ASSERT_TRUE(read_only.store(1, &constant));
    EXPECT_EQ(map.load(0x1800)->id, 1);
    EXPECT_EQ(read_only.load(1), &constant);
    EXPECT_EQ(map.load(0x2000), nullptr);
    EXPECT_EQ(map.insert_range(0x1fff, 0x2fff, &heap).error(), -EEXIST);
    EXPECT_EQ(map.store(1, nullptr).error(), -EINVAL);
    EXPECT_EQ(map.store_range(2, 1, &heap).error(), -EINVAL);
    EXPECT_EQ(map.lock().store_range(2, 1, &heap).error(), -EINVAL);
    EXPECT_EQ(map.store(1, reinterpret_cast<Region *>(0x402)).error(), -EINVAL);
    EXPECT_EQ(map.erase(0x3abc), &heap);
    EXPECT_EQ(contents(map), (Values<Region>{{0x1000, 0x1fff, &text}}));
}

TEST_F(MapleMap, erase_takes_the_range_and_erase_range_the_indices)
{
    Map<int> map;
    fill(map, 3);
    EXPECT_EQ(map.erase(12), 1);
    EXPECT_EQ(map.erase(12), std::nullopt);
    EXPECT_TRUE(map.erase_range(2, 21));
    EXPECT_EQ(contents(map), (Values<int>{{0, 1, 0}, {22, 24, 2}}));
    map.clear();
    EXPECT_TRUE(map.empty());
    EXPECT_TRUE(map.store(5, 5)) << "a cleared map is usable";
}

TEST_F(MapleMap, find_looks_at_above_and_below)
{
    using Found = std::optional<Map<int>::value_type>;
    Map<int> map;
    fill(map);
    EXPECT_EQ(map.find(23), (Found{{20, 24, 2}}));
    EXPECT_EQ(map.find(25), (Found{{30, 34, 3}}));
    EXPECT_EQ(map.find(25, 29), Found{});
    EXPECT_EQ(map.find_next(23), (Found{{30, 34, 3}}));
    EXPECT_EQ(map.find_next(93), Found{});
    EXPECT_EQ(map.find_prev(23), (Found{{10, 14, 1}}));
    EXPECT_EQ(map.find_prev(25), (Found{{20, 24, 2}}));
    EXPECT_EQ(map.find_prev(4), Found{});
}

// The root alone, one leaf, several levels; entries at both ends of the index space.
TEST_F(MapleMap, iterators_go_both_ways_from_everywhere)
{
    for (int ranges : {0, 1, 2, 15, 300}) {
        Map<int> map;
        Values<int> expected;
        if (ranges)
            expected.push_back({0, 0, -1});
        for (int i = 1; i < ranges; i++)
            expected.push_back({i * 10ul, i * 10ul + 6, i});
        if (ranges == 300)
            expected.back().last = ULONG_MAX;
        for (auto [first, last, value] : expected)
            ASSERT_TRUE(map.store_range(first, last, value));

        const auto in = map.read();
        EXPECT_TRUE(std::ranges::equal(in, expected));
        Values<int> backwards;
        for (auto at = in.end(); at != in.begin();)
            backwards.push_back(*--at);
        EXPECT_TRUE(std::equal(backwards.rbegin(), backwards.rend(), expected.begin(), expected.end()));
        auto at = in.begin();
        for (std::size_t i = 0; i < expected.size(); i++, at++) {
            EXPECT_EQ(*at, expected[i]);
            EXPECT_EQ(at, in.from(expected[i].last));
            EXPECT_TRUE(i == 0 || *std::ranges::prev(at) == expected[i - 1]);
        }
        EXPECT_EQ(at, in.end());
        EXPECT_TRUE(ranges == 0 || *--at == expected.back());
    }
}

TEST_F(MapleMap, within_gives_what_meets_a_range)
{
    Map<int> map;
    fill(map);
    const auto in = map.read();
    const auto ids = [&](unsigned long first, unsigned long last) {
        std::vector<int> found;
        for (auto range : in.within(first, last))
            found.push_back(range.value);
        return found;
    };
    EXPECT_EQ(ids(5, 9), std::vector<int>{});
    EXPECT_EQ(ids(4, 9), std::vector<int>{0});
    EXPECT_EQ(ids(5, 10), std::vector<int>{1});
    EXPECT_EQ(ids(12, 31), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(ids(85, ULONG_MAX), std::vector<int>{9});
}

// clang 14 cannot compile the views of libstdc++ 12.
#if !defined(__clang__) || __clang_major__ >= 16
TEST_F(MapleMap, views_of_the_standard_library_apply)
{
    Map<int> map;
    fill(map);
    const auto in = map.read();
    auto odd = in | std::views::filter([](auto range) { return range.value % 2; }) | std::views::reverse;
    EXPECT_EQ(std::ranges::distance(odd), 5);
    EXPECT_EQ((*odd.begin()).value, 9);
}
#endif

TEST_F(MapleMap, gaps_are_found_and_taken_from_either_side)
{
    Map<int> map;
    fill(map);
    EXPECT_EQ(map.alloc_range(70, 5, 0, 99).value(), (map_range{5, 9}));
    EXPECT_EQ(map.alloc_range_high(71, 5, 0, 99).value(), (map_range{95, 99}));
    EXPECT_EQ(map.alloc_range(72, 6, 0, 99).error(), -EBUSY);
    EXPECT_EQ(map.lock().find_gap(4, 0, 99).value(), (map_range{15, 18}));
    EXPECT_EQ(map.lock().find_gap_high(4, 0, 99).value(), (map_range{86, 89}));
    EXPECT_EQ(map.lock().find_gap(6, 0, 99).error(), -EBUSY);
    unsigned long next = 97;
    EXPECT_EQ(map.alloc_cyclic(1, 90, 101, next).value(), 100u);
    EXPECT_EQ(map.alloc_cyclic(1, 90, 101, next).value(), 101u);
    EXPECT_EQ(map.alloc_cyclic(1, 90, 101, next).error(), -EBUSY);

    Map<int> plain(Map<int>::kind::no_gaps);
    EXPECT_EQ(plain.alloc_range(1, 1).error(), -EINVAL);
    EXPECT_EQ(plain.lock().find_gap(1).error(), -EINVAL);
}

TEST_F(MapleMap, moving_leaves_contents_where_they_are_and_duplicating_copies)
{
    Map<int> map;
    fill(map, 100);
    const Values<int> before = contents(map);
    const maple_tree *tree = map.c_tree();
    Map<int> moved = std::move(map);
    EXPECT_EQ(moved.c_tree(), tree);
    map = Map<int>(Map<int>::kind::no_gaps);
    EXPECT_TRUE(map.empty());
    auto copy = moved.duplicate();
    ASSERT_TRUE(copy);
    EXPECT_TRUE(moved.store(3, 1000));
    EXPECT_EQ(contents(*copy), before);
    map = std::move(moved);
    EXPECT_EQ(map.load(3), 1000);
    map.swap(*copy);
    EXPECT_EQ(contents(map), before);
    EXPECT_TRUE(map.duplicate()->alloc_range(1, 1)) << "a copy is of the same kind";
}

TEST_F(MapleMap, a_lock_keeps_writers_out_and_a_reservation_cannot_fail)
{
    Map<int> map;
    fill(map, 40);
    std::atomic<bool> locked = false, stored = false;
    std::thread other;
    {
        auto held = map.lock();
        other = std::thread([&] {
            locked = true;
            EXPECT_TRUE(map.store(3, -3));
            stored = true;
        });
        while (!locked)
            std::this_thread::yield();
        auto reserved = held.reserve(15, 215, -1);
        ASSERT_TRUE(reserved);
        reserved->commit();
        EXPECT_TRUE(held.erase_range(0, 4));
        EXPECT_EQ(held.load(100), -1);
        EXPECT_FALSE(stored);
        EXPECT_EQ(held.begin(), held.from(10));
        EXPECT_EQ(held.reserve(3, 2, 1).error(), -EINVAL);
        ASSERT_TRUE(held.reserve(0, 1000, 5)) << "given back";
    }
    other.join();
    EXPECT_EQ(map.load(3), -3);
}

// Fails the k-th allocation of each operation, for every k: 0 or -ENOMEM, and then nothing has changed.
TEST_F(MapleMap, no_allocation_failure_is_hidden)
{
    KMIRROR_NEEDS_FAULTS();
    using Step = map_result<> (*)(Map<int> &);
    const Step steps[] = {
        [](Map<int> &map) { return map.store_range(12, 2345, -1); },
        [](Map<int> &map) { return map.insert_range(35, 38, -1); },
        [](Map<int> &map) { return map.erase_range(31, 32); },
        [](Map<int> &map) { return map.lock().store_range(12, 2345, -1); },
        [](Map<int> &map) { return map_result<>::from(map.alloc_range(-1, 4, 0, 1000).error()); },
        [](Map<int> &map) {
            unsigned long next = 0;
            return map_result<>::from(map.alloc_cyclic(-1, 100, 200, next).error());
        },
        [](Map<int> &map) { return map_result<>::from(map.duplicate().error()); },
        [](Map<int> &map) {
            auto held = map.lock();
            auto reserved = held.reserve(3, 800, -1);
            if (reserved)
                reserved->commit();
            return map_result<>::from(reserved.error());
        },
    };
    for (const Step &step : steps) {
        unsigned refused = 0;
        for (unsigned nth = 1;; nth++) {
            Map<int> map;
            fill(map, 300);
            const Values<int> before = contents(map);
            kmirror_fail_from_nth(nth);
            const map_result<> result = step(map);
            const bool fired = kmirror_fail_nth(0);
            EXPECT_TRUE(result || (fired && result.error() == -ENOMEM)) << nth << ": " << result.error();
            if (!result) {
                EXPECT_EQ(contents(map), before);
                refused++;
            }
            if (!fired)
                break;
        }
        EXPECT_GT(refused, 0u) << "step " << &step - steps;
    }
    kmirror_fail_nth(1);
    EXPECT_EQ(Map<int>::make().error(), -ENOMEM);
    kmirror_fail_nth(1);
    EXPECT_TRUE(Map<int>().empty()) << "the constructor waits for memory";
    kmirror_fail_nth(0);
}

// A writer replaces and removes every second range; readers meet each fixed one exactly once and in order.
TEST_F(MapleMapConcurrent, readers_need_no_lock)
{
    constexpr int kRanges = 300;
    const int rounds = KMIRROR_TSAN || KMIRROR_ASAN ? 20 : 100;
    Map<int> map;
    fill(map, kRanges);
    std::atomic<bool> stop = false;
    std::atomic<unsigned> wrong = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; i++)
        readers.emplace_back([&] {
            do {
                int expected = 0;
                for (auto [first, last, value] : map.read())
                    if (value % 2 == 0) {
                        wrong += value != expected || first != value * 10ul || last != first + 4;
                        expected = value + 2;
                    }
                wrong += expected != kRanges || map.load(20) != 2 || map.find(41)->value != 4;
            } while (!stop);
        });
    for (int round = 0; round < rounds; round++)
        for (int i = 1; i < kRanges; i += 2) {
            if (round % 2)
                wrong += map.erase(i * 10ul) != i;
            else
                wrong += !map.lock().store_range(i * 10ul, i * 10ul + 4, i);
        }
    stop = true;
    for (std::thread &reader : readers)
        reader.join();
    EXPECT_EQ(wrong, 0u);
}

} // namespace
} // namespace kmirror::testing
