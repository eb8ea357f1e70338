// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: every call of tree and allocator survives the failure of any of its allocations, changes nothing when
// it fails, and loses no object; and a sweep finds what does not. The whole, with pairs of failures, is `make sweep`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <linux/slab.h>

#include <kmirror/fault.h>
#include <kmirror/printk.h>
#include <kmirror/sweep.h>

#include "tools/sweep/cases.h"
#include "tools/sweep/sweep_test.h"

namespace {

using namespace kmirror::sweeping;
using ::testing::HasSubstr;

TEST_F(Sweep, TheTreesCallsSurviveEachFailure) { sweep_all(tree_cases(), 12, "height 4"); }

TEST_F(Sweep, TheAllocatorsCallsSurviveEachFailure) { sweep_all(slab_cases(), 24); }

// ---- the sweep itself finds what it must -----------------------------------------------------------------

// Two blocks; the body decides what goes wrong.
class Planted : public kmirror::SweepScene {
public:
    enum Bug { None, Leak, Change, Lie };
    explicit Planted(Bug bug) : bug_(bug) {}
    ~Planted() override { kfree(first_), kfree(second_); }
    int call() override {
        first_ = kmalloc(64, GFP_KERNEL | __GFP_NOWARN);
        if (first_ == nullptr) return -ENOMEM;
        changed_ = bug_ == Change;
        second_ = kmalloc(64, GFP_KERNEL | __GFP_NOWARN);
        if (second_ != nullptr) {
            changed_ = true;
            return 0;
        }
        if (bug_ == Leak) {
            leaked_ = first_;
            first_ = nullptr;
        }
        return bug_ == Lie ? 0 : -ENOMEM;
    }
    std::string check(int result) override {
        if (result < 0 && changed_) return "it changed something";
        return result == 0 && !changed_ ? "it changed nothing" : "";
    }
    static void free_leaked() {
        kfree(leaked_);
        leaked_ = nullptr;
    }

private:
    const Bug bug_;
    void *first_ = nullptr, *second_ = nullptr;
    bool changed_ = false;
    static inline void* leaked_ = nullptr;
};

kmirror_sweep_result sweep_planted(Planted::Bug bug, unsigned modes = KMIRROR_SWEEP_ONCE) {
    const auto result = kmirror::sweep([bug] { return std::make_unique<Planted>(bug); }, modes);
    Planted::free_leaked();
    return result;
}

TEST_F(Sweep, CountsRunsAndFailures) {
    const kmirror_sweep_result once = sweep_planted(Planted::None);
    EXPECT_EQ(once.requests, 2u);
    EXPECT_EQ(once.runs, 4u);   // nothing fails; the first, the second; no third
    EXPECT_EQ(once.injected, 2u);
    EXPECT_EQ(once.refused, 2u);
    EXPECT_EQ(once.survived, 0u);
    EXPECT_EQ(once.leaks + once.violations, 0u);
    EXPECT_STREQ(once.first, "");
}

TEST_F(Sweep, FindsALeak) {
    const kmirror_sweep_result result = sweep_planted(Planted::Leak);
    EXPECT_EQ(result.leaks, 1u);
    EXPECT_THAT(result.first, HasSubstr("with request 2 failing: objects are left over"));
}

TEST_F(Sweep, FindsAHalfDoneChange) {
    const kmirror_sweep_result result = sweep_planted(Planted::Change);
    EXPECT_EQ(result.violations, 1u);
    EXPECT_THAT(result.first, HasSubstr("with request 2 failing: it changed something"));
}

TEST_F(Sweep, FindsASuccessThatIsNone) {
    const kmirror_sweep_result result = sweep_planted(Planted::Lie, KMIRROR_SWEEP_FROM);
    EXPECT_EQ(result.violations, 1u);
    EXPECT_THAT(result.first, HasSubstr("with request 2 and all after it failing: it changed nothing"));
}

// A call that needs one of two blocks meets both failures only in pairs.
class OneOfTwo : public kmirror::SweepScene {
public:
    ~OneOfTwo() override { kfree(block_); }
    int call() override {
        block_ = kmalloc(64, GFP_KERNEL | __GFP_NOWARN);
        if (block_ == nullptr) block_ = kmalloc(64, GFP_KERNEL | __GFP_NOWARN);
        return block_ != nullptr ? 0 : -ENOMEM;
    }
    std::string check(int result) override { return result < 0 ? "both failed" : ""; }

private:
    void* block_ = nullptr;
};

TEST_F(Sweep, PairsMeetTwoFailures) {
    const auto make = [] { return std::make_unique<OneOfTwo>(); };
    EXPECT_EQ(kmirror::sweep(make, KMIRROR_SWEEP_ONCE).violations, 0u);
    const kmirror_sweep_result pairs = kmirror::sweep(make, KMIRROR_SWEEP_PAIRS);
    EXPECT_EQ(pairs.violations, 1u);
    EXPECT_THAT(pairs.first, HasSubstr("with requests 1 and 2 failing: both failed"));
}

}  // namespace
