// SPDX-License-Identifier: GPL-2.0-only
//
// Promise, to a reader without a lock in RCU mode, whatever one writer does meanwhile (store, erase, destroy,
// duplicate):
//   (V1) a load gives the entry from before or from after the write, and once it gave the one from after it
//        never gives the one from before again;
//   (V2) each range that an iteration gives, up or down, paused or not, is one from before or one from after,
//        whole: first, last and entry belong together;
//   (V3) an iteration goes in one direction: no range overlaps one given earlier, also when the reader had to
//        look its place up again because the node under it was replaced. After a pause a range that was
//        stored over the place meanwhile is given whole; it still reaches further than all before;
//   (V4) a range that the write does not touch is given exactly once.
//
// A store that only moves the seam of two ranges replaces no node, not even here: it writes the entry, then the
// pivot. Around such a seam (V2) is weaker, a reader may get the part of the new range that lay on one side of
// the old seam; and so is (V3), as after a pause.
//
// Both halves of every interleaving are tried, one after the other and without a second thread. A write
// happens as a whole at each point a reader passes (between what it reads from a node and its look at the
// dead mark); and readers look at each point a writer passes (before each publication, dead mark, call_rcu
// and unlock). The address sanitizer watches that no node is read after its grace period; concurrent_test.cpp
// has the threads.
//
// Between the swap of a subtree and the adoption of the children that live on, a reader that climbs out of
// such a child meets the old parent, which is dead, and looks its place up again until the writer has gone
// on: it waits. So while a writer stands at a point, iterations are tried in trees of one leaf; loads and
// walks, which never climb, in all.
#include "radix-tree-tests/tree.h"

#include <kmirror/stop_point.h>

#include <algorithm>
#include <vector>

namespace kmirror::testing {
namespace {

// What is read: all of [lo, hi].
struct Window {
    unsigned long lo, hi;
};

using Ranges = std::vector<Range>;

struct Look {
    const char *name;
    Ranges (*look)(maple_ops_tree *, Window);
    bool up;
    bool pauses;
};

Ranges look_up(maple_ops_tree *tree, Window window)
{
    Ranges seen;
    Cursor cursor(tree, window.lo);
    const Reading reading;
    while (void *entry = cursor.find(window.hi))
        seen.push_back(cursor.range(entry));
    return seen;
}

Ranges look_down(maple_ops_tree *tree, Window window)
{
    Ranges seen;
    Cursor cursor(tree, window.hi);
    const Reading reading;
    while (void *entry = cursor.find_rev(window.lo))
        seen.push_back(cursor.range(entry));
    return seen;
}

Ranges look_up_pausing(maple_ops_tree *tree, Window window)
{
    Ranges seen;
    Cursor cursor(tree, window.lo);
    for (;;) {
        const Reading reading;
        void *entry = cursor.find(window.hi);
        if (!entry)
            return seen;
        seen.push_back(cursor.range(entry));
        cursor.pause();
    }
}

Ranges look_down_pausing(maple_ops_tree *tree, Window window)
{
    Ranges seen;
    Cursor cursor(tree, window.hi);
    for (;;) {
        const Reading reading;
        void *entry = cursor.find_rev(window.lo);
        if (!entry)
            return seen;
        seen.push_back(cursor.range(entry));
        cursor.pause();
    }
}

// The walk, then steps over every range, NULL ones included.
Ranges step_up(maple_ops_tree *tree, Window window)
{
    Ranges seen;
    Cursor cursor(tree, window.lo);
    const Reading reading;
    void *entry = cursor.walk();
    do {
        if (entry)
            seen.push_back(cursor.range(entry));
        entry = cursor.next_range(window.hi);
    } while (cursor.status() == MAPLE_OPS_ACTIVE);
    return seen;
}

Ranges step_down(maple_ops_tree *tree, Window window)
{
    Ranges seen;
    Cursor cursor(tree, window.hi);
    const Reading reading;
    void *entry = cursor.walk();
    do {
        if (entry)
            seen.push_back(cursor.range(entry));
        entry = cursor.prev_range(window.lo);
    } while (cursor.status() == MAPLE_OPS_ACTIVE);
    return seen;
}

// From the root for each range.
Ranges walk_each(maple_ops_tree *tree, Window window)
{
    Ranges seen;
    const Reading reading;
    for (unsigned long at = window.lo; at <= window.hi;) {
        Cursor cursor(tree, at);
        if (void *entry = cursor.walk())
            seen.push_back(cursor.range(entry));
        if (cursor.last() == ULONG_MAX)
            break;
        at = cursor.last() + 1;
    }
    return seen;
}

enum { kUp, kDown };
constexpr Look kLooks[] = {
    {"up", look_up, true, false},
    {"down", look_down, false, false},
    {"up, pausing", look_up_pausing, true, true},
    {"steps up", step_up, true, false},
    {"down, pausing", look_down_pausing, false, true},
    {"steps down", step_down, false, false},
    {"walks", walk_each, true, true},
};

struct Write {
    const char *name;
    void (*write)(JudgedTree &);
    bool moves_a_seam = false;
};

bool holds(const RangeMap &map, const Range &range)
{
    const auto found = map.ranges().find(range.first);
    return found != map.ranges().end() && found->second == range;
}

// (V2) at a moved seam: a part of a range.
bool holds_around(const RangeMap &map, const Range &range)
{
    return std::any_of(map.ranges().begin(), map.ranges().end(), [&](const auto &item) {
        const Range &whole = item.second;
        return whole.entry == range.entry && whole.first <= range.first && range.last <= whole.last;
    });
}

bool was_or_is(const Range &range, const Write &write, const RangeMap &before, const RangeMap &after)
{
    return holds(before, range) || holds(after, range) ||
           (write.moves_a_seam && range.first <= range.last && holds_around(after, range));
}

// (V3)
bool goes_on(const Range &from, const Range &to, const Look &look, const Write &write)
{
    if (look.pauses || write.moves_a_seam)
        return look.up ? to.last > from.last : to.first < from.first;
    return look.up ? to.first > from.last : to.last < from.first;
}

// (V2) (V3) (V4), as a text: what is wrong, or nothing.
std::string judge(const Ranges &seen, const Look &look, const Write &write, Window window,
                  const RangeMap &before, const RangeMap &after)
{
    for (std::size_t i = 0; i < seen.size(); i++) {
        if (!was_or_is(seen[i], write, before, after))
            return "never was: " + to_string(seen[i]);
        if (i && !goes_on(seen[i - 1], seen[i], look, write))
            return "went back: " + to_string(seen[i - 1]) + ", " + to_string(seen[i]);
    }
    for (const auto &[first, range] : before.ranges())
        if (range.last >= window.lo && first <= window.hi && holds(after, range) &&
            std::count(seen.begin(), seen.end(), range) != 1)
            return "untouched and not given once: " + to_string(range);
    return "";
}

// One write each, around index 200 of ranges [i * 10, i * 10 + 4], i < 40 or more.
const Write kWrites[] = {
    {"exact fit", [](JudgedTree &tree) { tree.store(200, 204, value(900)); }},
    {"gap filled", [](JudgedTree &tree) { tree.store(205, 209, value(900)); }},
    {"begin of a range", [](JudgedTree &tree) { tree.store(200, 202, value(900)); }},
    {"end of a range", [](JudgedTree &tree) { tree.store(202, 204, value(900)); }},
    {"range and gap", [](JudgedTree &tree) { tree.store(200, 209, value(900)); }},
    {"middle of a range", [](JudgedTree &tree) { tree.store(202, value(900)); }},
    {"middle of the next", [](JudgedTree &tree) { tree.store(222, value(900)); }},
    {"middle of the one before", [](JudgedTree &tree) { tree.store(182, value(900)); }},
    {"seam of two ranges", [](JudgedTree &tree) { tree.store(203, 211, value(900)); }},
    {"part of a range and the gap", [](JudgedTree &tree) { tree.store(203, 209, value(900)); }, true},
    {"range and a part of the gap", [](JudgedTree &tree) { tree.store(200, 206, value(900)); }, true},
    {"gap and a part of the next", [](JudgedTree &tree) { tree.store(205, 211, value(900)); }, true},
    {"part of the gap and the next", [](JudgedTree &tree) { tree.store(207, 214, value(900)); }, true},
    {"NULL over the end of a range", [](JudgedTree &tree) { tree.store(203, 209, nullptr); }, true},
    {"NULL over the begin of a range", [](JudgedTree &tree) { tree.store(205, 211, nullptr); }, true},
    {"append", [](JudgedTree &tree) { tree.store(240, 244, value(900)); }},
    {"erase", [](JudgedTree &tree) { tree.erase(201); }},
    {"NULL over two", [](JudgedTree &tree) { tree.store(200, 214, nullptr); }},
    {"NULL inside one", [](JudgedTree &tree) { tree.store(201, 202, nullptr); }},
    {"span", [](JudgedTree &tree) { tree.store(175, 262, value(900)); }},
    {"span over whole leaves", [](JudgedTree &tree) { tree.store(103, 331, value(900)); }},
    {"NULL span", [](JudgedTree &tree) { tree.store(172, 281, nullptr); }},
    {"NULL span over whole leaves", [](JudgedTree &tree) { tree.store(93, 332, nullptr); }},
    {"everything", [](JudgedTree &tree) { tree.store(0, ULONG_MAX, value(900)); }},
    {"NULL over everything", [](JudgedTree &tree) { tree.store(0, ULONG_MAX, nullptr); }},
    {"destroy", [](JudgedTree &tree) { tree.destroy(); }},
    {"duplicate", [](JudgedTree &tree) {
         Tree copy(tree.flags());
         EXPECT_EQ(ops()->dup(tree, copy, MAPLE_OPS_KERNEL), 0);
     }},
};

constexpr unsigned long kOneLeaf = 7;   // ranges that one leaf holds

class MapleReader : public MapleKinds {
protected:
    // Trees of one leaf, of two levels and (with gaps) of three; ascending and scattered stores fill leaves
    // differently.
    template <class Visit>
    void for_each_base(Visit visit) const
    {
        for (const unsigned long count : {kOneLeaf, 40ul, 130ul})
            for (const bool scattered : {false, true}) {
                JudgedTree base(GetParam());
                const unsigned long shift = count == kOneLeaf ? 17 : 0;
                for (unsigned long i = 0; i < count; i++) {
                    const unsigned long at = (scattered ? i * 11 % count : i) + shift;
                    base.store(at * 10, at * 10 + 4, value(at));
                }
                for (const Write &write : kWrites) {
                    visit(base, write);
                    if (HasFailure())
                        return;
                }
            }
    }
    static void copy(const JudgedTree &base, JudgedTree &to)
    {
        ASSERT_EQ(ops()->dup(base, to, MAPLE_OPS_KERNEL), 0);
        to.model = base.model;
    }
};
INSTANTIATE_TEST_SUITE_P(Every, MapleReader, ::testing::Values(kRcu, kAllocRcu),
                         [](const auto &info) { return kind_name(info.param); });

#define KMIRROR_NEEDS_STOP_POINTS() \
    if (!KMIRROR_STOP_POINTS)       \
    GTEST_SKIP() << "release builds have no stop points"

constexpr Window kWindow = {142, 268}, kNear = {176, 242};

// The reader looks; at the `moment`th point it passes, `write` happens. True: the point was reached.
bool write_inside(JudgedTree &tree, const RangeMap &before, const Look &look, const Write &write,
                  unsigned moment)
{
    unsigned passed = 0;
    Ranges seen;
    {
        const StopVisitor visitor([&](const char *, const char *) {
            if (++passed == moment)
                write.write(tree);
        });
        seen = look.look(tree, kNear);
    }
    EXPECT_EQ(judge(seen, look, write, kNear, before, tree.model), "")
        << look.name << ", " << write.name << " at point " << moment << " of " << before.size() << " ranges";
    return passed >= moment;
}

TEST_P(MapleReader, iterates_over_what_was_and_what_is_when_a_write_comes_at_any_point_of_it)
{
    KMIRROR_NEEDS_STOP_POINTS();
    unsigned long runs = 0;
    for_each_base([&](const JudgedTree &base, const Write &write) {
        for (const Look &look : kLooks)
            for (unsigned moment = 1; !HasFailure(); moment++, runs++) {
                JudgedTree tree(GetParam());
                copy(base, tree);
                if (!write_inside(tree, base.model, look, write, moment))
                    break;
                if (moment == 1) {
                    EXPECT_TRUE(tree.agrees());
                }
            }
    });
    std::printf("# %s: %lu interleavings of a reader with a write\n", kind_name(GetParam()).c_str(), runs);
    EXPECT_GT(runs, 1000u);
}

TEST_P(MapleReader, loads_what_was_or_what_is_when_a_write_comes_at_any_point_of_it)
{
    KMIRROR_NEEDS_STOP_POINTS();
    for_each_base([&](const JudgedTree &base, const Write &write) {
        for (unsigned long at = 176; at < 236; at += 3)
            for (unsigned moment = 1, passed = moment; passed >= moment && !HasFailure(); moment++) {
                JudgedTree tree(GetParam());
                copy(base, tree);
                passed = 0;
                const StopVisitor visitor([&](const char *, const char *) {
                    if (++passed == moment)
                        write.write(tree);
                });
                const void *seen = tree.load(at);
                EXPECT_TRUE(seen == base.model.load(at) || seen == tree.model.load(at))
                    << at << ", " << write.name << " at point " << moment;
            }
    });
}

// What readers find at one point of a writer's way. `turned`: indices at which the new entry was seen (V1).
void look_around(const JudgedTree &tree, const Write &write, const RangeMap &before, const RangeMap &after,
                 std::vector<bool> &turned, const std::string &place)
{
    for (const Look &look : kLooks)
        if (look.look == walk_each || before.size() <= kOneLeaf) {
            EXPECT_EQ(judge(look.look(tree, kWindow), look, write, kWindow, before, after), "")
                << look.name << place;
        }
    for (unsigned long at = kWindow.lo; at <= kWindow.hi; at++) {
        const void *seen = tree.load(at);
        const void *old = before.load(at), *fresh = after.load(at);
        if (old == fresh) {
            EXPECT_EQ(seen, old) << at << place;
            continue;
        }
        EXPECT_TRUE(seen == fresh || (seen == old && !turned[at])) << at << place;
        turned[at] = seen == fresh;
    }
}

TEST_P(MapleReader, finds_what_was_or_what_is_at_every_point_of_a_writers_way)
{
    KMIRROR_NEEDS_STOP_POINTS();
    unsigned long points = 0;
    for_each_base([&](const JudgedTree &base, const Write &write) {
        JudgedTree tree(GetParam()), done(GetParam());
        copy(base, tree);
        copy(base, done);
        write.write(done);
        std::vector<bool> turned(kWindow.hi + 1);
        const Reading reading;      // a node that is retired now stays readable
        const StopVisitor visitor([&](const char *function, const char *operation) {
            look_around(tree, write, base.model, done.model, turned,
                        std::string(", ") + write.name + " at " + function + ":" + operation);
            points++;
        });
        write.write(tree);
    });
    std::printf("# %s: readers looked at %lu points of writers\n", kind_name(GetParam()).c_str(), points);
    EXPECT_GT(points, 1000u);
}

// Cursors that stood in the tree before the write go on from there, at every point of the writer's way.
TEST_P(MapleReader, goes_on_from_where_it_stood_at_every_point_of_a_writers_way)
{
    KMIRROR_NEEDS_STOP_POINTS();
    for_each_base([&](const JudgedTree &base, const Write &write) {
        if (base.model.size() > kOneLeaf)
            return;
        JudgedTree tree(GetParam()), done(GetParam());
        copy(base, tree);
        copy(base, done);
        write.write(done);
        const Reading reading;
        Cursor stood(tree, 200);
        ASSERT_EQ(stood.walk(), value(20));
        const StopVisitor visitor([&](const char *function, const char *operation) {
            Cursor up = stood, down = stood;
            void *above = up.next(), *below = down.prev();
            const Range here = {200, 204, value(20)}, upper = up.range(above), lower = down.range(below);
            const std::string place = std::string(write.name) + " at " + function + ":" + operation;
            EXPECT_TRUE(!above || (goes_on(here, upper, kLooks[kUp], write) &&
                                   was_or_is(upper, write, base.model, done.model)))
                << place << ", up to " << to_string(upper);
            EXPECT_TRUE(!below || (goes_on(here, lower, kLooks[kDown], write) &&
                                   was_or_is(lower, write, base.model, done.model)))
                << place << ", down to " << to_string(lower);
        });
        write.write(tree);
    });
}

// Two seams that move between two steps of a reader bring a range from behind it: the pivots count as they are
// when it steps. Nothing between is left out.
TEST_P(MapleReader, steps_onto_the_range_that_two_moved_seams_left_behind_it)
{
    JudgedTree tree(GetParam());
    // More than the fewest slots of a leaf: fewer are never changed in place under readers.
    for (unsigned long i = sizeof(long) == 8 ? 18 : 13; i < 23; i++)
        tree.store(i * 10, i * 10 + 4, value(i));
    const Reading reading;
    Cursor cursor(tree, 200);
    EXPECT_EQ(cursor.walk(), value(20));
    tree.store(202, 209, value(900));
    tree.store(203, 214, value(901));
    EXPECT_EQ(cursor.next(), value(900));
    EXPECT_EQ(to_string(cursor.range(nullptr)), to_string(Range{202, 202, nullptr}));
    EXPECT_EQ(cursor.next(), value(901));
    EXPECT_EQ(to_string(cursor.range(nullptr)), to_string(Range{203, 214, nullptr}));
    EXPECT_EQ(cursor.next(), value(22));
}

// After a pause nothing of the old nodes is needed: they are gone, poisoned, when the reader resumes.
TEST_P(MapleReader, resumes_after_a_pause_in_which_every_node_was_replaced_and_freed)
{
    for_each_base([&](const JudgedTree &base, const Write &write) {
        for (const bool up : {true, false}) {
            JudgedTree tree(GetParam());
            copy(base, tree);
            Cursor cursor(tree, 200);
            {
                const Reading reading;
                EXPECT_EQ(cursor.walk(), value(20));
                cursor.pause();
            }
            write.write(tree);
            ops()->rcu_barrier();
            const Reading reading;
            void *entry = up ? cursor.find() : cursor.find_rev();
            const auto expected = up ? tree.model.find(205, ULONG_MAX) : tree.model.find_rev(199, 0);
            EXPECT_EQ(entry, expected ? expected->entry : nullptr) << write.name << (up ? ", up" : ", down");
        }
    });
}

} // namespace
} // namespace kmirror::testing
