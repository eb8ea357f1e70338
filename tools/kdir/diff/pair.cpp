// SPDX-License-Identifier: GPL-2.0-only
//
// The loop over a sequence on two trees, and its comparisons; see pair.h.
#include "tools/kdir/diff/pair.h"

#include "fuzz/maple_run.h"

#include <algorithm>
#include <climits>
#include <cstdio>

namespace kmirror::diff {
namespace {

using fuzz::Answer;
using fuzz::kMapleTrees;
using fuzz::MapleOp;
using fuzz::MapleOracle;
using fuzz::MapleTable;
using fuzz::Operation;
using fuzz::Step;

// The parts of an answer that the model knows.
Answer comparable(Answer answer, const Answer &expected, const Step &step)
{
    if (!expected.has_range) {
        answer.has_range = false;
        answer.first = answer.last = 0;
    }
    // Of a store over more than one leaf mas_store() does not say what was there.
    if (step.op == MapleOp::CursorStore && !answer.entry)
        answer.entry = expected.entry;
    return answer;
}

std::string place_of(const maple_ops_position &at)
{
    return "status " + std::to_string(at.status) + ", [" + std::to_string(at.first) + ", " +
           std::to_string(at.last) + "], slot " + std::to_string(at.offset) + " of [" + std::to_string(at.min) +
           ", " + std::to_string(at.max) + "]" + (at.has_node ? "" : ", no node");
}

class Pair {
public:
    Pair(const fuzz::Sequence &sequence, const PairOptions &options, PairCounts &counts)
        : sequence_(sequence), options_(options), counts_(counts), kinds_(fuzz::maple_kinds(sequence.setup)),
          ours_(options.ours, kinds_), theirs_(options.theirs, kinds_), oracle_(kinds_)
    {
    }

    ~Pair()
    {
        for (unsigned tree = 0; tree < kMapleTrees; tree++)
            end_quietly(tree);
    }

    std::string go()
    {
        const fuzz::Grammar &grammar = fuzz::maple_grammar();
        for (std::size_t i = 0; i < sequence_.operations.size(); i++)
            if (const std::string wrong = one(sequence_.operations[i]); !wrong.empty())
                return report("operation " + std::to_string(i + 1) + ", " +
                              to_text(grammar, sequence_.operations[i]) + ": " + wrong, last_tree_);
        for (unsigned tree = 0; tree < kMapleTrees; tree++)
            if (const std::string wrong = is_changed_[tree] ? compare_all(tree) : ""; !wrong.empty())
                return report("at the end, tree " + std::to_string(tree) + ": " + wrong, tree);
        return {};
    }

private:
    // A comparison of whole trees costs about as much as this many steps on their ranges.
    static constexpr std::size_t kCreditPerStep = 6;

    // ---- one step on both

    std::string one(const Operation &operation)
    {
        const Step step = oracle_.resolve(operation, ours_);
        // mas_expected_entries() is gone from newer trees, and older ones count on ranges without gaps between them.
        if (step.skipped || step.op == MapleOp::CursorBulk)
            return {};
        const unsigned tree = last_tree_ = step.op == MapleOp::Dup ? step.other : step.tree;
        counts_.operations++;
        counts_.stores += std::max(step.count, 1ul);
        const maple_ops_position before = ours_.position(step.tree);
        const model::RangeMap map_before = cheap_copy(step);
        const bool quietly =
            is_noted(meets_u2_or_u9(step, oracle_.map(step.tree), options_.theirs, theirs_.tree(step.tree)));
        const Answer expected = oracle_.expect(step, before);

        const bool kept_away = known().note(Bug::U1, meets_u1(step, theirs_.position(step.tree)));
        const Counted counted(*this);
        const unsigned levels = options_.theirs->height(theirs_.tree(tree));
        const Answer our_answer = comparable(ours_.perform(step), expected, step);
        if (our_answer != expected)
            return "expected " + to_string(expected) + "; ours " + to_string(our_answer);
        if (kept_away)
            return to_one_state(tree, before);
        const Answer their_answer = comparable(perform_theirs(step, quietly), expected, step);
        if (their_answer != expected) {
            if (is_known(step, map_before, expected, their_answer))
                return to_one_state(tree, before);
            return "expected, and ours, " + to_string(expected) + "; theirs " + to_string(their_answer);
        }
        if (known().note(Bug::U3, is_u3(oracle_.map(tree), options_.theirs, theirs_.tree(tree))))
            return to_one_state(tree, before);
        if (const std::string wrong = counted.difference(); !wrong.empty() && !quietly &&
                                                            !known().note(Bug::D1, is_d1(step, expected, oracle_.map(tree))))
            return wrong;
        if (const std::string wrong = compare_cursors(step, expected, before); !wrong.empty())
            return wrong;
        if (known().note(Bug::U10, is_u10(step, levels, options_.theirs, theirs_.tree(tree))))
            cursors_to(tree, ours_.position(tree));
        return compare(tree);
    }

    // U8 asks for a map of one entry; no other bug asks for the map.
    model::RangeMap cheap_copy(const Step &step) const
    {
        const model::RangeMap &map = oracle_.map(step.tree);
        return map.size() <= 1 ? map : model::RangeMap();
    }

    bool is_known(const Step &step, const model::RangeMap &before, const Answer &expected, const Answer &found)
    {
        return known().note(Bug::U6, is_u6(step, expected, found)) ||
               known().note(Bug::U7, is_u7(step, expected, found, theirs_.tree(step.tree))) ||
               known().note(Bug::U8, is_u8(step, before, found)) ||
               known().note(Bug::D4, !options_.same_shape && is_d4(step));
    }

    bool is_noted(std::optional<Bug> bug) { return bug && known().note(*bug, true); }

    // Out of RCU mode, where that is what a bug needs.
    Answer perform_theirs(const Step &step, bool quietly)
    {
        if (!quietly)
            return theirs_.perform(step);
        rcu_of_theirs(step.tree, MapleOp::ClearRcu);
        const Answer answer = theirs_.perform(step);
        rcu_of_theirs(step.tree, MapleOp::SetRcu);
        return answer;
    }

    void rcu_of_theirs(unsigned tree, MapleOp op) { theirs_.perform({.op = op, .tree = tree}); }

    void end_quietly(unsigned tree)
    {
        if (is_noted(end_meets_u2_or_u9(options_.theirs, theirs_.tree(tree))))
            rcu_of_theirs(tree, MapleOp::ClearRcu);
    }

    // ---- after a known difference

    void cursors_to(unsigned tree, const maple_ops_position &at)
    {
        const Step step{.op = MapleOp::CursorSet, .tree = tree, .first = at.first, .last = at.first};
        ours_.perform(step);
        theirs_.perform(step);
    }

    // Both trees anew from the model, by the same stores.
    std::string to_one_state(unsigned tree, const maple_ops_position &at)
    {
        const bool rcu = options_.theirs->in_rcu(theirs_.tree(tree));
        end_quietly(tree);
        refill(ours_, tree);
        refill(theirs_, tree);
        if (rcu)
            rcu_of_theirs(tree, MapleOp::SetRcu);
        cursors_to(tree, at);
        return compare_all(tree);
    }

    void refill(MapleTable &table, unsigned tree) const
    {
        const maple_ops *ops = table.ops();
        table.perform({.op = MapleOp::Destroy, .tree = tree});
        ops->lock(table.tree(tree));
        for (const auto &[first, range] : oracle_.map(tree).ranges()) {
            maple_ops_cursor cursor;
            ops->cursor_range(&cursor, table.tree(tree), first, range.last);
            ops->mas_store_gfp(&cursor, range.entry, MAPLE_OPS_KERNEL);
        }
        ops->unlock(table.tree(tree));
    }

    // ---- comparisons

    // Node allocations of a step, on both sides.
    class Counted {
    public:
        explicit Counted(const Pair &pair) : pair_(pair), ours_(ours()), theirs_(theirs()) {}
        std::string difference() const
        {
            if (!pair_.options_.same_shape || ours() - ours_ == theirs() - theirs_)
                return {};
            return "ours took " + std::to_string(ours() - ours_) + " nodes from the allocator, theirs " +
                   std::to_string(theirs() - theirs_);
        }

    private:
        unsigned long ours() const { return pair_.options_.ours->nr_tallocated(); }
        unsigned long theirs() const { return pair_.options_.theirs->nr_tallocated(); }

        const Pair &pair_;
        const unsigned long ours_, theirs_;
    };

    std::string compare_cursors(const Step &step, const Answer &expected, const maple_ops_position &before)
    {
        if (step.op < MapleOp::CursorSet)
            return {};
        const maple_ops_position a = ours_.position(step.tree), b = theirs_.position(step.tree);
        const bool same_place = !options_.same_shape || a.status != MAPLE_OPS_ACTIVE ||
                                (a.offset == b.offset && a.min == b.min && a.max == b.max);
        if (a.status == b.status && a.first == b.first && a.last == b.last && a.error == b.error && same_place)
            return {};
        if (known().note(Bug::D2, has_no_nodes(step.tree) && is_d2(a, b)) ||
            known().note(Bug::D3, is_d3(step, expected))) {
            cursors_to(step.tree, before);
            return {};
        }
        return "from " + place_of(before) + " our cursor went to " + place_of(a) + ", theirs to " + place_of(b);
    }

    bool has_no_nodes(unsigned tree) const
    {
        return options_.ours->height(ours_.tree(tree)) == 0 && options_.theirs->height(theirs_.tree(tree)) == 0;
    }

    std::string compare(unsigned tree)
    {
        const std::size_t cost = oracle_.map(tree).size() + 1;
        credit_ += kCreditPerStep;
        if (cost <= credit_) {
            credit_ -= cost;
            return compare_all(tree);
        }
        is_changed_[tree] = true;
        return compare_heights(tree);
    }

    std::string compare_heights(unsigned tree) const
    {
        const unsigned ours = options_.ours->height(ours_.tree(tree));
        const unsigned theirs = options_.theirs->height(theirs_.tree(tree));
        if (!options_.same_shape || ours == theirs)
            return {};
        return "our tree has " + std::to_string(ours) + " levels, theirs " + std::to_string(theirs);
    }

    std::string compare_all(unsigned tree)
    {
        is_changed_[tree] = false;
        counts_.compared++;
        std::string wrong = judge("ours", ours_, tree) + judge("theirs", theirs_, tree);
        const unsigned long ours = nodes_of(ours_, tree), theirs = nodes_of(theirs_, tree);
        if (options_.same_shape && ours != theirs)
            wrong += "our tree has " + std::to_string(ours) + " nodes, theirs " + std::to_string(theirs) + "\n";
        return wrong + compare_heights(tree);
    }

    std::string judge(const char *whose, const MapleTable &table, unsigned tree) const
    {
        const maple_ops *ops = table.ops();
        std::string wrong = oracle_.map(tree).differences(ops, table.tree(tree));
        ops->lock(table.tree(tree));
        if (ops->check(table.tree(tree), false)) {
            wrong += "the tree breaks its own rules\n";
            ops->check(table.tree(tree), true);
        }
        ops->unlock(table.tree(tree));
        return wrong.empty() ? wrong : std::string(whose) + ": " + wrong;
    }

    static unsigned long nodes_of(const MapleTable &table, unsigned tree)
    {
        table.ops()->lock(table.tree(tree));
        const unsigned long nodes = table.ops()->node_count(table.tree(tree));
        table.ops()->unlock(table.tree(tree));
        return nodes;
    }

    std::string report(const std::string &wrong, unsigned tree) const
    {
        if (options_.dumps) {
            dump("ours", ours_, tree);
            dump("theirs", theirs_, tree);
        }
        return wrong;
    }

    static void dump(const char *whose, const MapleTable &table, unsigned tree)
    {
        std::fflush(stdout);
        std::fprintf(stderr, "tree %u, %s (%s):\n", tree, whose, table.ops()->name);
        table.ops()->lock(table.tree(tree));
        table.ops()->dump(table.tree(tree), false);
        table.ops()->unlock(table.tree(tree));
    }

    Known &known() { return *options_.known; }

    const fuzz::Sequence &sequence_;
    const PairOptions &options_;
    PairCounts &counts_;
    const std::array<unsigned, kMapleTrees> kinds_;
    MapleTable ours_, theirs_;
    MapleOracle oracle_;
    std::size_t credit_ = 0;
    std::array<bool, kMapleTrees> is_changed_{};  // since it was compared as a whole
    unsigned last_tree_ = 0;
};

} // namespace

std::string run_pair(const fuzz::Sequence &sequence, const PairOptions &options, PairCounts &counts)
{
    return Pair(sequence, options, counts).go();
}

} // namespace kmirror::diff
