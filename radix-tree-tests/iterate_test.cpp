// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: a cursor steps as documented, in both directions, from every state it can be in and with every
// limit. The documentation is written down here as a second cursor, over the model, that tells what each step
// must find.
#include "radix-tree-tests/tree.h"

#include <array>
#include <vector>

namespace kmirror::testing {
namespace {

// What a cursor over a tree with nodes does. Its position is a range and a status; whether a node is loaded
// makes no difference to anybody (in Linux 7.3 it does).
class SpecCursor {
public:
    SpecCursor(const RangeMap &model, unsigned long index) : model_(model), first(index), last(index) {}

    void *walk() { return stand(model_.at(first)); }

    void *next(unsigned long max, bool gaps)
    {
        if (last >= max)
            return limit(MAPLE_OPS_OVERFLOW);
        if (status == MAPLE_OPS_UNDERFLOW) {
            if (void *entry = walk())
                return entry;
        } else if (status != MAPLE_OPS_ACTIVE) {
            walk();
        }
        return step_up(max, gaps);
    }

    void *prev(unsigned long min, bool gaps)
    {
        if (first <= min)
            return limit(MAPLE_OPS_UNDERFLOW);
        if (status == MAPLE_OPS_OVERFLOW) {
            if (void *entry = walk())
                return entry;
        } else if (status != MAPLE_OPS_ACTIVE) {
            walk();
        }
        return step_down(min, gaps);
    }

    // mas_find() forgets that it met the limit; mas_find_range() does not.
    void *find(unsigned long max, bool gaps)
    {
        if (status == MAPLE_OPS_UNDERFLOW && first >= max)
            return limit(MAPLE_OPS_OVERFLOW);
        if (status != MAPLE_OPS_START && status != MAPLE_OPS_UNDERFLOW && last >= max)
            return nullptr;
        if (status == MAPLE_OPS_PAUSE)
            first = ++last;
        if (status != MAPLE_OPS_ACTIVE) {
            if (first > max)
                return nullptr;
            if (void *entry = walk())
                return entry;
            if (first == max)
                return nullptr;
        }
        void *entry = step_up(max, gaps);
        if (!gaps)
            status = MAPLE_OPS_ACTIVE;
        return entry;
    }

    void *find_rev(unsigned long min, bool gaps)
    {
        if (first <= min && status != MAPLE_OPS_START && status != MAPLE_OPS_ACTIVE)
            return limit(MAPLE_OPS_UNDERFLOW);
        if (status == MAPLE_OPS_PAUSE)
            last = --first;
        if (status == MAPLE_OPS_START || status == MAPLE_OPS_PAUSE) {
            if (first < min)
                return status = MAPLE_OPS_START, nullptr;
            if (void *entry = walk())
                return entry;
        } else {
            walk();
        }
        if (first < min)
            return nullptr;
        return step_down(min, gaps);
    }

    void pause() { status = MAPLE_OPS_PAUSE; }

private:
    const RangeMap &model_;

    void *limit(maple_ops_status which)
    {
        status = which;
        return nullptr;
    }
    void *stand(const Range &range)
    {
        first = range.first;
        last = range.last;
        status = MAPLE_OPS_ACTIVE;
        return range.entry;
    }
    // The next range, or the next entry; it ends on the range in which the limit lies.
    void *step_up(unsigned long max, bool gaps)
    {
        do {
            if (last >= max)
                return limit(MAPLE_OPS_OVERFLOW);
            if (void *entry = stand(model_.at(last + 1)))
                return entry;
        } while (!gaps);
        return nullptr;
    }
    void *step_down(unsigned long min, bool gaps)
    {
        do {
            if (first <= min)
                return limit(MAPLE_OPS_UNDERFLOW);
            if (void *entry = stand(model_.at(first - 1)))
                return entry;
        } while (!gaps);
        return nullptr;
    }

public:
    unsigned long first, last;
    maple_ops_status status = MAPLE_OPS_START;
};

enum Step { kNext, kPrev, kFind, kFindRev, kNextRange, kPrevRange, kFindRange, kFindRangeRev, kSteps };
constexpr const char *kStepNames[] = {"next",       "prev",       "find",       "find_rev",
                                      "next_range", "prev_range", "find_range", "find_range_rev"};

void *take(Cursor &cursor, Step step, unsigned long limit)
{
    switch (step) {
    case kNext: return cursor.next(limit);
    case kPrev: return cursor.prev(limit);
    case kFind: return cursor.find(limit);
    case kFindRev: return cursor.find_rev(limit);
    case kNextRange: return cursor.next_range(limit);
    case kPrevRange: return cursor.prev_range(limit);
    case kFindRange: return cursor.find_range(limit);
    default: return cursor.find_range_rev(limit);
    }
}

void *take(SpecCursor &cursor, Step step, unsigned long limit)
{
    const bool gaps = step >= kNextRange;
    switch (step) {
    case kNext:
    case kNextRange: return cursor.next(limit, gaps);
    case kPrev:
    case kPrevRange: return cursor.prev(limit, gaps);
    case kFind:
    case kFindRange: return cursor.find(limit, gaps);
    default: return cursor.find_rev(limit, gaps);
    }
}

// Both cursors, which must never differ.
class Pair {
public:
    Pair(const JudgedTree &tree, unsigned long index) : cursor_(tree, index), spec_(tree.model, index) {}

    void walk()
    {
        note("walk", 0);
        compare(cursor_.walk(), spec_.walk());
    }
    void pause()
    {
        note("pause", 0);
        cursor_.pause();
        spec_.pause();
    }
    void take(Step step, unsigned long limit)
    {
        note(kStepNames[step], limit);
        compare(testing::take(cursor_, step, limit), testing::take(spec_, step, limit));
    }
    unsigned long first() const { return spec_.first; }
    unsigned long last() const { return spec_.last; }

private:
    struct Taken {
        const char *step;
        unsigned long limit;
    };

    // Formatted only when something is wrong: hundreds of thousands of steps are not.
    void note(const char *step, unsigned long limit)
    {
        taken_[count_++ % taken_.size()] = Taken{step, limit};
    }
    std::string history() const
    {
        std::string text = "the last steps:";
        for (unsigned i = count_ > taken_.size() ? count_ - unsigned(taken_.size()) : 0; i < count_; i++) {
            const Taken &taken = taken_[i % taken_.size()];
            text += std::string(" ") + taken.step + "(" + std::to_string(taken.limit) + ")";
        }
        return text;
    }

    void compare(void *found, void *expected)
    {
        const maple_ops_position at = cursor_.at();
        if (found == expected && at.status == spec_.status && at.first == spec_.first &&
            at.last == spec_.last)
            return;
        EXPECT_EQ(found, expected) << history();
        EXPECT_EQ(at.status, spec_.status);
        EXPECT_EQ(at.first, spec_.first);
        EXPECT_EQ(at.last, spec_.last);
    }

    Cursor cursor_;
    SpecCursor spec_;
    std::array<Taken, 40> taken_{};
    unsigned count_ = 0;
};

// Every way to come to a state at an index; "fresh" ones have no node loaded.
using Preparation = void (*)(Pair &);
constexpr Preparation kStates[] = {
    [](Pair &) {},
    [](Pair &pair) { pair.walk(); },
    [](Pair &pair) { pair.pause(); },
    [](Pair &pair) { pair.walk(), pair.pause(); },
    [](Pair &pair) { pair.take(kNext, pair.last()); },
    [](Pair &pair) { pair.take(kPrev, pair.first()); },
    [](Pair &pair) { pair.walk(), pair.take(kNext, pair.last()); },
    [](Pair &pair) { pair.walk(), pair.take(kPrev, pair.first()); },
    [](Pair &pair) { pair.walk(), pair.pause(), pair.take(kNext, pair.last()); },
    [](Pair &pair) { pair.walk(), pair.pause(), pair.take(kPrev, pair.first()); },
    [](Pair &pair) { pair.take(kNext, pair.last() + 12); },
    [](Pair &pair) { pair.take(kPrev, pair.first() - (pair.first() > 12 ? 12 : pair.first())); },
};

// Takes each step with limits around the cursor and far from it, from each state at each of these indices.
void try_everything(const JudgedTree &tree, unsigned long from, unsigned long to, unsigned long by)
{
    const Locked locked(tree);
    for (unsigned long index = from; index <= to; index += by)
        for (const Preparation prepare : kStates)
            for (int step = 0; step < kSteps; step++)
                for (const unsigned long limit :
                     {0ul, index - 11, index - 1, index, index + 1, index + 9, index + 40, to, ULONG_MAX}) {
                    Pair pair(tree, index);
                    prepare(pair);
                    pair.take(Step(step), limit);
                    // The cursor is as good as before.
                    pair.take(Step(step ^ 1), index);
                    if (::testing::Test::HasFailure())
                        return;
                }
}

using MapleIterate = MapleKinds;
KMIRROR_EVERY_KIND(MapleIterate);

TEST_P(MapleIterate, from_every_state_and_limit_over_ranges_with_gaps)
{
    JudgedTree tree(GetParam());
    fill(tree, 24, 10, 5);
    try_everything(tree, 0, 260, 1);
}

TEST_P(MapleIterate, from_every_state_and_limit_over_single_indices_side_by_side)
{
    JudgedTree tree(GetParam());
    fill(tree, 30, 1, 1);
    try_everything(tree, 0, 36, 1);
}

TEST_P(MapleIterate, from_every_state_and_limit_in_a_high_tree)
{
    JudgedTree tree(GetParam());
    fill(tree, 1200, 10, 10);
    for (unsigned long i = 0; i < 1200; i += 5)
        tree.store(i * 10 + 8, i * 10 + 21, nullptr);
    try_everything(tree, 0, 12000, 137);
}

TEST_P(MapleIterate, in_any_order_of_steps)
{
    std::mt19937_64 random(seed());
    JudgedTree tree(GetParam());
    for (unsigned long i = 0; i < 200; i++) {
        const unsigned long first = random() % 2000;
        tree.store(first, first + random() % 12, random() % 4 ? value(i) : nullptr);
    }
    const Locked locked(tree);
    for (int round = 0; round < 400; round++) {
        Pair pair(tree, random() % 2050);
        for (int steps = 0; steps < 30; steps++) {
            const unsigned long near = pair.first() + random() % 60;
            const unsigned long limit = random() % 4 == 0 ? 0
                                        : random() % 3    ? near - (near > 30 ? 30 : near)
                                                          : ULONG_MAX;
            if (random() % 8 == 0)
                pair.pause();
            pair.take(Step(random() % kSteps), limit);
            if (HasFailure())
                return;
        }
    }
}

struct Visits {
    std::vector<Range> ranges;
};

int record(void *arg, unsigned long first, unsigned long last, void *entry)
{
    static_cast<Visits *>(arg)->ranges.push_back(Range{first, last, entry});
    return 0;
}

TEST_P(MapleIterate, mas_for_each_and_its_reverse_visit_every_entry_between_index_and_limit)
{
    JudgedTree tree(GetParam());
    fill(tree, 100, 10, 5);
    for (const auto &[index, limit] :
         {std::pair{0ul, ULONG_MAX}, {12ul, 87ul}, {15ul, 990ul}, {500ul, 500ul}}) {
        Visits up, down;
        const Reading reading;
        Cursor forwards(tree, index), backwards(tree, limit);
        ops()->mas_each(forwards, limit, record, &up);
        ops()->mas_each_rev(backwards, index, record, &down);

        std::vector<Range> expected;
        for (const auto &[first, range] : tree.model.ranges())
            if (range.last >= index && first <= limit)
                expected.push_back(range);
        EXPECT_EQ(up.ranges, expected);
        EXPECT_EQ(down.ranges, std::vector<Range>(expected.rbegin(), expected.rend()));
    }
}

// Without a node there are only two ranges, or one.
TEST_P(MapleIterate, over_an_empty_tree_finds_nothing)
{
    const JudgedTree tree(GetParam());
    const Locked locked(tree);
    for (const unsigned long index : {0ul, 1ul, 77ul, ULONG_MAX})
        for (int step = 0; step < kSteps; step++)
            for (const unsigned long limit : {0ul, 5ul, ULONG_MAX}) {
                Cursor cursor(tree, index);
                EXPECT_EQ(take(cursor, Step(step), limit), nullptr) << kStepNames[step] << " from " << index;
                EXPECT_EQ(take(cursor, Step(step), limit), nullptr) << kStepNames[step] << " from " << index;
            }
}

TEST_P(MapleIterate, over_a_lone_entry_at_index_0_finds_it_from_where_it_should)
{
    JudgedTree tree(GetParam());
    tree.store(0, value(1));
    const Locked locked(tree);
    for (const unsigned long index : {0ul, 1ul, 77ul, ULONG_MAX}) {
        Cursor up(tree, index), down(tree, index), find(tree, index), find_rev(tree, index);
        EXPECT_EQ(up.next(), nullptr) << index;
        EXPECT_EQ(down.prev(), index ? value(1) : nullptr) << index;
        EXPECT_EQ(find.find(), index ? nullptr : value(1)) << index;
        EXPECT_EQ(find.find(), nullptr) << index;
        EXPECT_EQ(find_rev.find_rev(), value(1)) << index;
        EXPECT_EQ(find_rev.find_rev(), nullptr) << index;
    }
}

TEST_P(MapleIterate, ends_at_the_last_index_without_wrapping)
{
    JudgedTree tree(GetParam());
    fill(tree, 40, 10, 5);
    tree.store(ULONG_MAX - 3, ULONG_MAX, value(40));
    const Reading reading;
    Cursor cursor(tree, 395);
    EXPECT_EQ(cursor.next(), value(40));
    EXPECT_EQ(cursor.next(), nullptr);
    EXPECT_EQ(cursor.status(), MAPLE_OPS_OVERFLOW);
    EXPECT_EQ(cursor.prev(), value(40));
    EXPECT_EQ(cursor.prev(), value(39));
    EXPECT_EQ(cursor.next(), value(40));
    EXPECT_EQ(cursor.find(), nullptr);
}

} // namespace
} // namespace kmirror::testing
