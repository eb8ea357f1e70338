// SPDX-License-Identifier: GPL-2.0-only
//
// The loop over a maple sequence, and its checks; see maple_run.h.
#include "fuzz/maple_run.h"

#include "fuzz/maple_print.h"

#include <kmirror/fault.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

namespace kmirror::fuzz {
namespace {

using model::Range;
using model::RangeMap;

class Run {
public:
    Run(const Sequence &sequence, const MapleRunOptions &options)
        : options_(options), sequence_(sequence), table_(options.ops, maple_kinds(sequence.setup)),
          oracle_(maple_kinds(sequence.setup))
    {
    }

    std::string go()
    {
        for (std::size_t i = 0; i < sequence_.operations.size(); i++)
            if (std::string wrong = one(sequence_.operations[i]); !wrong.empty())
                return "operation " + std::to_string(i + 1) + ", " +
                       to_text(*options_.grammar, sequence_.operations[i]) + ": " + wrong;
        for (unsigned tree = 0; tree < kMapleTrees; tree++)
            if (std::string wrong; is_changed_[tree] && !(wrong = compare_all(tree)).empty())
                return "at the end, tree " + std::to_string(tree) + ": " + wrong;
        return {};
    }

private:
    // A full comparison costs about as much as this many steps on its ranges.
    static constexpr std::size_t kCreditPerStep = 4;

    std::string one(const Operation &operation)
    {
        if (MapleOp(operation.kind) == MapleOp::Count) {
            armed_ = unsigned(operation.operand[0].number);
            return {};
        }
        Step step = oracle_.resolve(operation, table_);
        if (step.skipped)
            return {};
        step.fail_nth = can_fail(step) ? armed_ : 0;
        const maple_ops_position before = table_.position(step.tree);
        if (options_.listener)
            options_.listener(step, MapleOracle(oracle_).expect(step, before), table_);
        kmirror_fail_nth(step.fail_nth);
        Answer answer = table_.perform(step);
        const bool failed = kmirror_fail_nth(0) && answer.error == -ENOMEM;
        if (failed || (step.fail_nth && out_of_memory(step.tree)))
            return go_on_from(step);
        const Answer expected = oracle_.expect(step, before);
        armed_ = 0;
        if (!expected.has_range) {
            answer.has_range = false;
            answer.first = answer.last = 0;
        }
        // Of a store over more than one leaf mas_store() does not say what was there.
        if (step.op == MapleOp::CursorStore && !answer.entry)
            answer.entry = expected.entry;
        if (answer != expected)
            return "expected " + to_string(expected) + "; found " + to_string(answer);
        const bool copies = step.op == MapleOp::Dup;
        if (!may_change(step))
            return {};
        return compare(copies ? step.other : step.tree, step, expected);
    }

    // What only reads is judged by its answer.
    static bool may_change(const Step &step)
    {
        return step.op <= MapleOp::AllocCyclic || step.op == MapleOp::Destroy || step.op == MapleOp::Dup ||
               (step.op >= MapleOp::StoreRun && step.op <= MapleOp::ClearRun) || step.op >= MapleOp::CursorStore;
    }

    // Single operations that may answer -ENOMEM, and erasing, which must not.
    bool can_fail(const Step &step) const
    {
        return step.op <= MapleOp::AllocCyclic || step.op == MapleOp::Dup ||
               (step.op >= MapleOp::CursorStore && step.op <= MapleOp::CursorAllocCyclic);
    }

    // mas_store() says so by its cursor alone.
    bool out_of_memory(unsigned tree) const { return table_.position(tree).error == -ENOMEM; }

    // The operation ran out of memory: nothing has changed, and the oracle was not told of it.
    std::string go_on_from(const Step &step)
    {
        armed_ = 0;
        table_.perform({.op = MapleOp::CursorSet, .tree = step.tree, .first = step.first, .last = step.first});
        if (step.op == MapleOp::Erase || step.op == MapleOp::CursorErase)
            return "an erase has run out of memory";
        std::string wrong = compare_all(step.tree);
        return wrong.empty() && step.op == MapleOp::Dup ? compare_all(step.other) : wrong;
    }

    std::string compare(unsigned tree, const Step &step, const Answer &expected)
    {
        const bool every = options_.check == Check::Every;
        const std::size_t cost = oracle_.map(tree).size() + 1;
        credit_ += kCreditPerStep;
        if (every || cost <= credit_) {
            credit_ -= std::min(credit_, cost);
            return compare_all(tree);
        }
        is_changed_[tree] = true;
        return compare_near(tree, expected.has_range ? expected.first : step.first);
    }

    std::string compare_all(unsigned tree)
    {
        const maple_ops *ops = table_.ops();
        is_changed_[tree] = false;
        std::string wrong = oracle_.map(tree).differences(ops, table_.tree(tree));
        ops->lock(table_.tree(tree));
        if (ops->check(table_.tree(tree), false)) {
            wrong += "the tree breaks its own rules\n";
            ops->check(table_.tree(tree), true);
        }
        ops->unlock(table_.tree(tree));
        return wrong;
    }

    // The ranges around an index, up and down.
    std::string compare_near(unsigned tree, unsigned long index)
    {
        const maple_ops *ops = table_.ops();
        const RangeMap &map = oracle_.map(tree);
        maple_ops_cursor cursor;
        std::string wrong;
        ops->lock(table_.tree(tree));
        ops->cursor_init(&cursor, table_.tree(tree), index ? index - 1 : 0);
        void *entry = ops->mas_walk(&cursor);
        for (unsigned i = 0; i < 4 && wrong.empty(); i++) {
            maple_ops_position at;
            ops->cursor_get(&cursor, &at);
            const Range found{at.first, at.last, entry}, expected = map.at(at.first);
            if (found != expected)
                wrong = "expected " + to_string(expected) + ", found " + to_string(found);
            if (at.last == ULONG_MAX)
                break;
            entry = ops->mas_next_range(&cursor, ULONG_MAX);
        }
        ops->unlock(table_.tree(tree));
        return wrong;
    }

    const MapleRunOptions &options_;
    const Sequence &sequence_;
    MapleTable table_;
    MapleOracle oracle_;
    std::size_t credit_ = 0;
    std::array<bool, kMapleTrees> is_changed_{};  // since it was compared as a whole
    unsigned armed_ = 0;  // the request of the next operation that fails; 0: none
};

// Nodes that no tree holds any more. Freed ones may wait for a grace period, so they are counted only every so
// often, and in Check::Every after each input.
class NodeBalance {
public:
    NodeBalance(const Target &target, const MapleRunOptions &options)
        : target_(target), options_(options), ops_(options.ops),
          most_(options.check == Check::Every ? 1 : kSuspects)
    {
    }

    void settle(std::span<const std::uint8_t> input)
    {
        suspects_.emplace_back(input.begin(), input.end());
        if (suspects_.size() < most_)
            return;
        ops_->rcu_barrier();
        if (const unsigned long alive = ops_->nr_allocated())
            accuse(alive);
        suspects_.clear();
    }

private:
    static constexpr std::size_t kSuspects = 256;

    // Runs each of the last inputs once more, to tell which one loses nodes.
    void accuse(unsigned long alive)
    {
        for (const auto &suspect : suspects_) {
            const Sequence sequence = decode(*target_.grammar, suspect);
            const unsigned long before = ops_->nr_allocated();
            run_maple(sequence, options_);
            ops_->rcu_barrier();
            if (ops_->nr_allocated() == before && suspects_.size() > 1)
                continue;
            std::fputs(to_text(*target_.grammar, target_.name, sequence).c_str(), stderr);
            break;
        }
        fail(std::to_string(alive) + " nodes are lost" +
             (suspects_.size() > 1 ? ", by the sequence above or by all of the last ones together" : ""));
    }

    const Target &target_;
    const MapleRunOptions options_;
    const maple_ops *ops_;
    const std::size_t most_;
    std::vector<std::vector<std::uint8_t>> suspects_;
};

} // namespace

std::array<unsigned, kMapleTrees> maple_kinds(const Setup &setup)
{
    std::array<unsigned, kMapleTrees> kinds{};
    for (unsigned i = 0; i < kMapleTrees; i++)
        kinds[i] = unsigned(setup[i] & 1 ? MAPLE_OPS_ALLOC : 0) | unsigned(setup[i] & 2 ? MAPLE_OPS_RCU : 0) |
                   unsigned(setup[i] & 4 ? MAPLE_OPS_LOCK_EXTERN : 0);
    return kinds;
}

std::string run_maple(const Sequence &sequence, const MapleRunOptions &options)
{
    MapleRunOptions filled = options;
    if (!filled.ops)
        filled.ops = kmirror_maple_ops();
    if (!filled.grammar)
        filled.grammar = &maple_grammar();
    return Run(sequence, filled).go();
}

void run_maple_input(const Target &target, std::span<const std::uint8_t> input, const maple_ops *ops)
{
    static const Check check = std::getenv("KMIRROR_FUZZ_EVERY") ? Check::Every : Check::Budget;
    static const MapleRunOptions options{ops, check,
                                         verbosity() ? maple_narrator(verbosity()) : StepListener{},
                                         target.grammar};
    static NodeBalance balance(target, options);
    static Sequence sequence;
    decode_into(*target.grammar, input, sequence);
    if (const std::string wrong = run_maple(sequence, options); !wrong.empty())
        fail(wrong);
    if (const unsigned long warnings = new_warnings())
        fail(std::to_string(warnings) + " warnings, printed above");
    balance.settle(input);
}

} // namespace kmirror::fuzz
