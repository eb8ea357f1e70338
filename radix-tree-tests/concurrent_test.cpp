// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: readers need no lock in RCU mode. Whatever a writer does, each of them finds every entry that was
// never touched, exactly once and in order, and of all others an old or a new one; nothing is read after it
// was freed (the address sanitizer watches) and nothing races (the thread sanitizer does).
//
// Readers take no synchronisation of the test's own while they run, so that it cannot hide a race.
#include "radix-tree-tests/tree.h"

#include <kmirror/config.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace kmirror::testing {
namespace {

// 1 under a plain build; sanitizers get less to do.
constexpr unsigned long kScale = KMIRROR_TSAN ? 6 : KMIRROR_ASAN ? 3 : 1;

// The index space: blocks of ten. Every fourth one holds a fixed entry, its number; in between a writer
// plays, with entries that tell the block they were stored into.
constexpr unsigned long kBlocks = 800;
constexpr unsigned long kTag = 1000;

void *fixed(unsigned long block) { return value(block); }
void *played(unsigned long block, unsigned long version) { return value((version + 1) * kTag + block); }
unsigned long number_of(const void *entry) { return reinterpret_cast<unsigned long>(entry) >> 1; }
bool is_fixed(unsigned long block) { return block % 4 == 0; }

// What a reader may find at an index.
bool is_possible(unsigned long index, const void *entry)
{
    const unsigned long block = index / 10;
    if (is_fixed(block))
        return index % 10 < 8 ? entry == fixed(block) : !entry || number_of(entry) % kTag / 4 == block / 4;
    return !entry || number_of(entry) % kTag / 4 == block / 4;
}

void fill_blocks(maple_ops_tree *tree)
{
    for (unsigned long block = 0; block < kBlocks; block++)
        EXPECT_EQ(ops()->store_range(tree, block * 10, block * 10 + 7, fixed(block), MAPLE_OPS_KERNEL), 0);
}

// Stores and erases between the fixed entries, narrow and wide; each fourth step rewrites a fixed one with
// itself.
void play(maple_ops_tree *tree, unsigned long steps, unsigned long seed)
{
    std::mt19937_64 random(seed);
    for (unsigned long step = 0; step < steps; step++) {
        const unsigned long group = random() % (kBlocks / 4), block = group * 4 + 1 + random() % 3;
        const unsigned long first = block * 10 + random() % 5, last = first + random() % 5;
        int error = 0;
        switch (random() % 6) {
        case 0: ops()->erase(tree, first); break;
        case 1: error = ops()->store_range(tree, first, last, nullptr, MAPLE_OPS_KERNEL); break;
        case 2: // all three blocks at once
            error = ops()->store_range(tree, group * 40 + 8, group * 40 + 39,
                                       step % 2 ? played(block, step) : nullptr, MAPLE_OPS_KERNEL);
            break;
        case 3:
            error = ops()->store_range(tree, group * 40, group * 40 + 7, fixed(group * 4), MAPLE_OPS_KERNEL);
            break;
        default: error = ops()->store_range(tree, first, last, played(block, step), MAPLE_OPS_KERNEL);
        }
        EXPECT_EQ(error, 0);
    }
}

// A reader's findings; added up when it is joined.
struct Findings {
    unsigned long rounds = 0;
    unsigned long wrong = 0;
};

void load_at_random(maple_ops_tree *tree, std::mt19937_64 &random, Findings &found)
{
    for (int i = 0; i < 300; i++) {
        const unsigned long index = random() % (kBlocks * 10);
        found.wrong += !is_possible(index, ops()->load(tree, index));
    }
}

// Lets go of the read section in the middle of an iteration, as a reader that has to sleep does.
void pause(Cursor &cursor, std::optional<Reading> &reading)
{
    cursor.pause();
    reading.reset();
    reading.emplace();
}

// One pass over the tree in ascending order: no fixed entry is missing, none comes twice, and no range reaches
// over one that has come. Among the others the seams move while the reader steps, so they may overlap.
void iterate_up(maple_ops_tree *tree, std::mt19937_64 &random, Findings &found)
{
    unsigned long block = 4 * (random() % (kBlocks / 8)), end = block + 4 * (random() % 100);
    const bool pauses = random() % 2;
    Cursor cursor(tree, block * 10);
    std::optional<Reading> reading(std::in_place);
    unsigned long behind = block * 10;
    while (void *entry = cursor.find(end * 10)) {
        const maple_ops_position at = cursor.at();
        found.wrong += at.first < behind || at.first > at.last || !is_possible(at.first, entry);
        if (pauses)
            pause(cursor, reading);
        if (entry == fixed(at.first / 10) && is_fixed(at.first / 10)) {
            found.wrong += at.first / 10 != block;
            block += 4;
            behind = at.last + 1;
        }
    }
    found.wrong += block != end + 4;
}

void iterate_down(maple_ops_tree *tree, std::mt19937_64 &random, Findings &found)
{
    unsigned long block = kBlocks - 4 - 4 * (random() % (kBlocks / 8));
    const unsigned long end = block - 4 * (random() % 90);
    const bool pauses = random() % 2;
    Cursor cursor(tree, block * 10 + 7);
    std::optional<Reading> reading(std::in_place);
    unsigned long below = block * 10 + 8;
    while (void *entry = cursor.find_rev(end * 10)) {
        const maple_ops_position at = cursor.at();
        const unsigned long here = at.first / 10;
        found.wrong += at.last >= below || at.first > at.last || !is_possible(at.first, entry);
        if (pauses)
            pause(cursor, reading);
        if (entry == fixed(here) && is_fixed(here)) {
            found.wrong += here != block;
            block -= 4;
            below = at.first;
        }
    }
    found.wrong += block != end - 4;
}

// Short hops with mt_find(), and next/prev from where a cursor stands.
void hop(maple_ops_tree *tree, std::mt19937_64 &random, Findings &found)
{
    unsigned long index = random() % (kBlocks * 10 - 100);
    for (int i = 0; i < 20; i++) {
        const unsigned long from = index;
        void *entry = ops()->find(tree, &index, kBlocks * 10);
        if (!entry)
            break;
        found.wrong += index <= from || !is_possible(index - 1, entry);
    }
    const unsigned long block = 4 + 4 * (random() % (kBlocks / 4 - 2));
    const Reading reading;
    Cursor cursor(tree, block * 10);
    found.wrong += cursor.walk() != fixed(block);
    while (cursor.next() != fixed(block + 4) && cursor.first() < (block + 4) * 10)
        ;
    while (cursor.prev() != fixed(block) && cursor.last() > block * 10)
        ;
    found.wrong += cursor.first() != block * 10 || cursor.last() != block * 10 + 7;
}

using Look = void (*)(maple_ops_tree *, std::mt19937_64 &, Findings &);

// Three readers that look until the writer, this thread, is done.
void read_while(maple_ops_tree *tree, Look look, const std::function<void()> &write)
{
    std::atomic<bool> done = false;
    Findings findings[3];
    std::vector<std::thread> readers;
    for (Findings &found : findings)
        readers.emplace_back([&, seed = seed() + readers.size()] {
            std::mt19937_64 random(seed);
            do {
                look(tree, random, found);
                found.rounds++;
            } while (!done.load(std::memory_order_relaxed));
        });
    write();
    done.store(true, std::memory_order_relaxed);
    for (std::thread &reader : readers)
        reader.join();
    for (const Findings &found : findings) {
        EXPECT_EQ(found.wrong, 0u) << "of " << found.rounds << " rounds";
        EXPECT_GT(found.rounds, 0u);
    }
}

class MapleConcurrent : public MapleKinds {
protected:
    void look_while_a_writer_plays(Look look)
    {
        Tree tree(GetParam());
        fill_blocks(tree);
        read_while(tree, look, [&] { play(tree, 12000 / kScale, seed()); });
        tree.expect_sound();
    }
};
INSTANTIATE_TEST_SUITE_P(Every, MapleConcurrent, ::testing::Values(kRcu, kAllocRcu),
                         [](const auto &info) { return kind_name(info.param); });

TEST_P(MapleConcurrent, loads_find_every_fixed_entry_while_a_writer_plays)
{
    look_while_a_writer_plays(load_at_random);
}

TEST_P(MapleConcurrent, iteration_upwards_finds_every_fixed_entry_once_while_a_writer_plays)
{
    look_while_a_writer_plays(iterate_up);
}

TEST_P(MapleConcurrent, iteration_downwards_finds_every_fixed_entry_once_while_a_writer_plays)
{
    look_while_a_writer_plays(iterate_down);
}

TEST_P(MapleConcurrent, hops_in_both_directions_find_every_fixed_entry_while_a_writer_plays)
{
    look_while_a_writer_plays(hop);
}

TEST_P(MapleConcurrent, readers_meet_a_whole_tree_or_none_while_it_is_destroyed_and_filled_again)
{
    Tree tree(GetParam());
    const Look look = [](maple_ops_tree *shared, std::mt19937_64 &, Findings &found) {
        const Reading reading;
        Cursor cursor(shared, 0);
        unsigned long before = 0, next = 0;
        while (void *entry = cursor.find()) {
            next = number_of(entry);
            found.wrong += next < before || cursor.first() != next * 3;
            before = next + 1;
        }
        Cursor down(shared, ULONG_MAX);
        for (before = ULONG_MAX; void *entry = down.find_rev(); before = next) {
            next = number_of(entry);
            found.wrong += next >= before || down.first() != next * 3;
        }
    };
    read_while(tree, look, [&] {
        for (unsigned long round = 0; round < 60 / kScale; round++) {
            for (unsigned long i = 0; i < 400; i++)
                EXPECT_EQ(tree.store(i * 3, i * 3 + 1, value(i)), 0);
            tree.destroy();
        }
    });
}

TEST_P(MapleConcurrent, a_tree_is_duplicated_while_readers_are_in_it)
{
    Tree tree(GetParam());
    fill_blocks(tree);
    const Look look = [](maple_ops_tree *shared, std::mt19937_64 &random, Findings &found) {
        load_at_random(shared, random, found);
        iterate_up(shared, random, found);
        iterate_down(shared, random, found);
    };
    read_while(tree, look, [&] {
        for (unsigned long round = 0; round < 60 / kScale; round++) {
            Tree copy(GetParam());
            EXPECT_EQ(ops()->dup(tree, copy, MAPLE_OPS_KERNEL), 0);
            play(copy, 60, seed() + round);
            copy.expect_sound();
        }
    });
}

// Without a lock of their own: the tree's lock must be enough.
TEST(MapleConcurrentWriters, never_lose_each_others_entries)
{
    const Balance balance;
    for (const unsigned flags : kEveryKind) {
        Tree tree(flags);
        std::vector<std::thread> writers;
        for (unsigned long writer = 0; writer < 4; writer++)
            writers.emplace_back([&tree, writer] {
                for (unsigned long i = 0; i < 1500 / kScale; i++) {
                    const unsigned long at = (i * 4 + writer) * 5;
                    EXPECT_EQ(tree.store(at, at + 3, value(at)), 0);
                    if (i % 3 == 0) {
                        EXPECT_EQ(tree.erase(at + 1), value(at));
                    }
                }
            });
        for (std::thread &writer : writers)
            writer.join();
        for (unsigned long i = 0; i < 1500 / kScale; i++)
            for (unsigned long writer = 0; writer < 4; writer++) {
                const unsigned long at = (i * 4 + writer) * 5;
                ASSERT_EQ(tree.load(at + 2), i % 3 ? value(at) : nullptr);
            }
        tree.expect_sound();
    }
}

TEST(MapleConcurrentWriters, never_get_the_same_index_allocated)
{
    const Balance balance;
    Tree tree(kAllocRcu);
    std::vector<std::thread> writers;
    for (unsigned long writer = 0; writer < 4; writer++)
        writers.emplace_back([&tree, writer] {
            std::mt19937_64 random(seed() + writer);
            std::vector<unsigned long> mine;
            for (unsigned long i = 0; i < 2500 / kScale; i++) {
                unsigned long start = 0;
                const unsigned long size = 1 + random() % 3;
                if (mine.size() > 60) {
                    const unsigned long at = mine[random() % mine.size()];
                    std::erase(mine, at);
                    EXPECT_EQ(tree.erase(at), value(at * 4 + writer));
                    continue;
                }
                // Reserved first, named after where it is, then.
                const int error = random() % 2
                                      ? ops()->alloc_range(tree, &start, value(~0u), size, 0, 5000, 0)
                                      : ops()->alloc_rrange(tree, &start, value(~0u), size, 0, 5000, 0);
                ASSERT_EQ(error, 0);
                EXPECT_EQ(tree.load(start), value(~0u));
                EXPECT_EQ(tree.store(start, start + size - 1, value(start * 4 + writer)), 0);
                mine.push_back(start);
            }
            for (const unsigned long at : mine)
                EXPECT_EQ(tree.erase(at), value(at * 4 + writer));
        });
    for (std::thread &writer : writers)
        writer.join();
    EXPECT_TRUE(tree.empty());
}

} // namespace
} // namespace kmirror::testing
