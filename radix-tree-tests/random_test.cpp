// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: after any sequence of operations, whatever API they went through, the tree and the model agree,
// the tree obeys its rules, and in the end every node is back. Checked after each step; the seed stands in
// the failure line.
#include "radix-tree-tests/tree.h"

#include <algorithm>
#include <sstream>

namespace kmirror::testing {
namespace {

// Where the indices of a sequence come from: each profile meets other writers.
struct Profile {
    const char *name;
    unsigned long span;     // indices lie below
    unsigned long longest;  // a range is at most so long
    unsigned erase_percent;
    unsigned steps;
};

constexpr Profile kProfiles[] = {
    {"single indices side by side", 250, 1, 35, 1200},
    {"short ranges", 1200, 12, 30, 1200},
    {"short and long ranges", 3000, 700, 10, 1000},
    {"ranges over everything", ULONG_MAX, ULONG_MAX, 20, 800},
    {"a high tree", 40000, 20, 20, 100},
};

class Player {
public:
    Player(unsigned flags, const Profile &profile, unsigned long seed)
        : tree(flags), profile_(profile), random_(seed)
    {
    }

    void play()
    {
        if (profile_.span == 40000)
            fill(tree, 1500, 25, 20);
        for (unsigned step = 0; step < profile_.steps; step++) {
            one_step();
            ASSERT_TRUE(tree.agrees()) << profile_.name << ", step " << step << ": " << what_.str();
        }
    }

    JudgedTree tree;

private:
    void one_step()
    {
        what_.str("");
        pick_range();
        if (random_() % 100 < profile_.erase_percent)
            return erase();
        void *entry = random_() % 8 ? value(random_() % 4096) : nullptr;
        what_ << " [" << first_ << ", " << last_ << "] = " << entry;
        switch (random_() % 5) {
        case 0: return tree.mas_store(first_, last_, entry);
        case 1: return tree.prealloc_store(first_, last_, entry);
        case 2: return tree.insert(first_, last_, value(random_() % 4096));
        case 3: return allocate(value(random_() % 4096));
        default: return tree.store(first_, last_, entry);
        }
    }

    void pick_range()
    {
        first_ = random_() % profile_.span;
        const unsigned long room = profile_.span - 1 - first_;
        unsigned long length = random_() % profile_.longest;
        if (profile_.longest > 100 && random_() % 2)
            length >>= random_() % (8 * sizeof(long));
        last_ = first_ + std::min(length, room);
    }

    void erase()
    {
        what_ << " erase " << first_;
        if (random_() % 2)
            return tree.erase(first_);
        const Locked locked(tree);
        Cursor cursor(tree, first_);
        EXPECT_EQ(cursor.erase(), tree.model.erase(first_));
    }

    // At the lowest or highest gap of a window; the model tells where that is.
    void allocate(void *entry)
    {
        if (!(tree.flags() & kAlloc))
            return tree.store(first_, last_, entry);
        const unsigned long size = 1 + random_() % 9;
        if (last_ - first_ < size - 1)
            return;
        const bool up = random_() % 2;
        const auto expected =
            up ? tree.model.lowest_gap(first_, last_, size) : tree.model.highest_gap(first_, last_, size);
        unsigned long start = 0;
        const int error =
            up ? ops()->alloc_range(tree, &start, entry, size, first_, last_, MAPLE_OPS_KERNEL)
               : ops()->alloc_rrange(tree, &start, entry, size, first_, last_, MAPLE_OPS_KERNEL);
        EXPECT_EQ(error, expected ? 0 : -EBUSY) << "size " << size;
        if (!expected || error)
            return;
        EXPECT_EQ(start, *expected);
        tree.model.store(start, start + size - 1, entry);
    }

    const Profile &profile_;
    std::mt19937_64 random_;
    std::ostringstream what_;
    unsigned long first_ = 0, last_ = 0;
};

using MapleRandom = MapleKinds;
KMIRROR_EVERY_KIND(MapleRandom);

TEST_P(MapleRandom, sequences_agree_with_the_model_after_each_step)
{
    unsigned long number = seed();
    for (const Profile &profile : kProfiles) {
        Player player(GetParam(), profile, number++);
        player.play();
        if (HasFatalFailure())
            return;
    }
}

TEST_P(MapleRandom, sequences_agree_when_the_mode_for_readers_changes_in_between)
{
    constexpr Profile profile = {"mode changes", 2000, 30, 30, 60};
    Player player(GetParam(), profile, seed());
    for (int round = 0; round < 12; round++) {
        round % 2 ? ops()->set_in_rcu(player.tree) : ops()->clear_in_rcu(player.tree);
        player.play();
        if (HasFatalFailure())
            return;
    }
}

} // namespace
} // namespace kmirror::testing
