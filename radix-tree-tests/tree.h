// SPDX-License-Identifier: GPL-2.0-only
//
// What the tests of the maple tree are written with: trees, cursors and locks over the table of operations, a
// tree with a std::map model at its side, and a fixture that insists on getting every node back.
//
// Owns     a Tree owns its tree, from construction to destruction; a Cursor only its own position.
// Locking  Tree's simple operations lock by themselves; a Cursor needs a Locked or Reading in scope.
// Fails    helpers report through GoogleTest (EXPECT), and go on.
#ifndef KMIRROR_RADIX_TREE_TESTS_TREE_H
#define KMIRROR_RADIX_TREE_TESTS_TREE_H

#include <gtest/gtest.h>

#include <kmirror/config.h>
#include <kmirror/maple_ops.h>
#include <kmirror/model.h>

#include "tools/testing/harness.h"

#include <climits>
#include <random>
#include <string>

namespace kmirror::testing {

using model::Range;
using model::RangeMap;

// The implementation under test: ours, unless the program was linked with a kernel's (make check IMPL=kernel).
extern "C" const maple_ops *kmirror_maple_ops_under_test(void);
inline const maple_ops *ops() { return kmirror_maple_ops_under_test(); }

// A stored value. Different numbers are different entries.
inline void *value(unsigned long n) { return maple_ops_value(n); }

// Kinds of trees, as numbers that combine.
inline constexpr unsigned kPlain = MAPLE_OPS_PLAIN;
inline constexpr unsigned kAlloc = MAPLE_OPS_ALLOC;
inline constexpr unsigned kRcu = MAPLE_OPS_RCU;
inline constexpr unsigned kAllocRcu = kAlloc | kRcu;
inline constexpr unsigned kExtern = MAPLE_OPS_LOCK_EXTERN;
inline constexpr unsigned kEveryKind[] = {kPlain, kAlloc, kRcu, kAllocRcu};

inline std::string kind_name(unsigned flags)
{
    std::string name = flags & kAlloc ? "Alloc" : "Plain";
    if (flags & kRcu)
        name += "Rcu";
    if (flags & kExtern)
        name += "Extern";
    return name;
}

class Tree {
public:
    explicit Tree(unsigned flags = kPlain) : flags_(flags), tree_(ops()->tree_new(flags)) {}
    ~Tree() { ops()->tree_free(tree_); }
    Tree(const Tree &) = delete;
    Tree &operator=(const Tree &) = delete;

    operator maple_ops_tree *() const { return tree_; }
    unsigned flags() const { return flags_; }

    int store(unsigned long first, unsigned long last, void *entry)
    {
        return ops()->store_range(tree_, first, last, entry, MAPLE_OPS_KERNEL);
    }
    int store(unsigned long index, void *entry)
    {
        return ops()->store(tree_, index, entry, MAPLE_OPS_KERNEL);
    }
    void *erase(unsigned long index) { return ops()->erase(tree_, index); }
    void *load(unsigned long index) const { return ops()->load(tree_, index); }
    unsigned height() const { return ops()->height(tree_); }
    bool empty() const { return ops()->empty(tree_); }
    void destroy() { ops()->destroy(tree_); }

    unsigned long node_count() const
    {
        ops()->lock(tree_);
        const unsigned long nodes = ops()->node_count(tree_);
        ops()->unlock(tree_);
        return nodes;
    }

    // Broken rules of the tree, by both checkers.
    void expect_sound() const
    {
        ops()->lock(tree_);
        EXPECT_EQ(ops()->check(tree_, true), 0u);
        EXPECT_EQ(ops()->validate(tree_), 0u);
        ops()->unlock(tree_);
    }

private:
    unsigned flags_;
    maple_ops_tree *tree_;
};

// The tree's lock, for a scope.
class Locked {
public:
    explicit Locked(maple_ops_tree *tree) : tree_(tree) { ops()->lock(tree_); }
    ~Locked() { ops()->unlock(tree_); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;

private:
    maple_ops_tree *tree_;
};

// An RCU read section, for a scope.
class Reading {
public:
    Reading() { ops()->read_lock(); }
    ~Reading() { ops()->read_unlock(); }
    Reading(const Reading &) = delete;
    Reading &operator=(const Reading &) = delete;
};

class Cursor {
public:
    Cursor(maple_ops_tree *tree, unsigned long index) : Cursor(tree, index, index) {}
    Cursor(maple_ops_tree *tree, unsigned long first, unsigned long last)
    {
        ops()->cursor_range(&cursor_, tree, first, last);
    }
    operator maple_ops_cursor *() { return &cursor_; }

    maple_ops_position at() const
    {
        maple_ops_position position;
        ops()->cursor_get(&cursor_, &position);
        return position;
    }
    unsigned long first() const { return at().first; }
    unsigned long last() const { return at().last; }
    maple_ops_status status() const { return at().status; }
    Range range(void *entry) const { return Range{first(), last(), entry}; }
    unsigned long reserved() const { return ops()->mas_reserved(&cursor_); }

    void *walk() { return ops()->mas_walk(&cursor_); }
    void *next(unsigned long max = ULONG_MAX) { return ops()->mas_next(&cursor_, max); }
    void *prev(unsigned long min = 0) { return ops()->mas_prev(&cursor_, min); }
    void *find(unsigned long max = ULONG_MAX) { return ops()->mas_find(&cursor_, max); }
    void *find_rev(unsigned long min = 0) { return ops()->mas_find_rev(&cursor_, min); }
    void *next_range(unsigned long max = ULONG_MAX) { return ops()->mas_next_range(&cursor_, max); }
    void *prev_range(unsigned long min = 0) { return ops()->mas_prev_range(&cursor_, min); }
    void *find_range(unsigned long max = ULONG_MAX) { return ops()->mas_find_range(&cursor_, max); }
    void *find_range_rev(unsigned long min = 0) { return ops()->mas_find_range_rev(&cursor_, min); }
    int empty_area(unsigned long min, unsigned long max, unsigned long size)
    {
        return ops()->mas_empty_area(&cursor_, min, max, size);
    }
    int empty_area_rev(unsigned long min, unsigned long max, unsigned long size)
    {
        return ops()->mas_empty_area_rev(&cursor_, min, max, size);
    }
    void set(unsigned long first, unsigned long last) { ops()->mas_set_range(&cursor_, first, last); }
    void pause() { ops()->mas_pause(&cursor_); }
    void reset() { ops()->mas_reset(&cursor_); }
    int store(void *entry) { return ops()->mas_store_gfp(&cursor_, entry, MAPLE_OPS_KERNEL); }
    void *erase() { return ops()->mas_erase(&cursor_); }
    int preallocate(void *entry, unsigned gfp = MAPLE_OPS_KERNEL)
    {
        return ops()->mas_preallocate(&cursor_, entry, gfp);
    }
    void store_prealloc(void *entry) { ops()->mas_store_prealloc(&cursor_, entry); }
    void give_back() { ops()->mas_destroy(&cursor_); }

private:
    maple_ops_cursor cursor_;
};

// A tree and what it must contain. Each operation happens to both, and their answers must agree.
class JudgedTree : public Tree {
public:
    using Tree::Tree;

    void store(unsigned long first, unsigned long last, void *entry)
    {
        EXPECT_EQ(Tree::store(first, last, entry), 0) << first << ".." << last;
        model.store(first, last, entry);
    }
    void store(unsigned long index, void *entry) { store(index, index, entry); }
    void insert(unsigned long first, unsigned long last, void *entry)
    {
        EXPECT_EQ(ops()->insert_range(*this, first, last, entry, MAPLE_OPS_KERNEL),
                  model.insert(first, last, entry))
            << first << ".." << last;
    }
    void erase(unsigned long index) { EXPECT_EQ(Tree::erase(index), model.erase(index)) << index; }

    // The store through a cursor, with and without a reservation, under the lock.
    void mas_store(unsigned long first, unsigned long last, void *entry)
    {
        const Locked locked(*this);
        Cursor cursor(*this, first, last);
        EXPECT_EQ(cursor.store(entry), 0) << first << ".." << last;
        model.store(first, last, entry);
    }
    void prealloc_store(unsigned long first, unsigned long last, void *entry)
    {
        const Locked locked(*this);
        Cursor cursor(*this, first, last);
        EXPECT_EQ(cursor.preallocate(entry), 0) << first << ".." << last;
        cursor.store_prealloc(entry);
        EXPECT_EQ(cursor.reserved(), 0u);
        model.store(first, last, entry);
    }
    void destroy()
    {
        Tree::destroy();
        model.clear();
    }

    // Same contents in both directions, and every rule of the tree holds. False: something was reported.
    bool agrees() const
    {
        const std::string differences = model.differences(ops(), *this);
        ops()->lock(*this);
        const unsigned long broken = ops()->check(*this, true);
        ops()->unlock(*this);
        EXPECT_EQ(differences, "");
        EXPECT_EQ(broken, 0u);
        return differences.empty() && broken == 0;
    }

    RangeMap model;
};

// Ranges [i * step, i * step + size - 1] = value(i), for i in [0, count).
inline void fill(JudgedTree &tree, unsigned long count, unsigned long step, unsigned long size)
{
    for (unsigned long i = 0; i < count; i++)
        tree.store(i * step, i * step + size - 1, value(i));
}

// Nodes alive, once those on their way out have gone.
inline unsigned long nodes_alive()
{
    ops()->rcu_barrier();
    return ops()->nr_allocated();
}

// Every node that a scope's trees took is back at its end, and the node cache is as sound as the trees were.
class Balance {
public:
    Balance() : before_(nodes_alive()) {}
    ~Balance()
    {
        EXPECT_EQ(nodes_alive(), before_) << "nodes were lost or freed twice";
        EXPECT_EQ(ops()->cache_check(), 0u);
    }
    Balance(const Balance &) = delete;
    Balance &operator=(const Balance &) = delete;

private:
    unsigned long before_;
};

class MapleTest : public ::testing::Test {
private:
    Balance balance_;
};

// The same for each kind of tree: TEST_P(Suite, name) { JudgedTree tree(GetParam()); ... }
class MapleKinds : public ::testing::TestWithParam<unsigned> {
private:
    Balance balance_;
};

// A test that makes allocations fail.
#define KMIRROR_NEEDS_FAULTS()                                                                               \
    if (!KMIRROR_FAULTS)                                                                                     \
    GTEST_SKIP() << "this build has FAULTS=0"

// A test in a process of its own, in the mode of the kernel's userspace harness: budgets, exact reservations.
#define KMIRROR_MOCK_TEST(Suite, Name)                                                                       \
    static void kmirror_body_##Suite##_##Name();                                                             \
    TEST(Suite, Name)                                                                                        \
    {                                                                                                        \
        KMIRROR_NEEDS_FAULTS();                                                                              \
        ::kmirror::testing::run_in_child({"KMIRROR_HARNESS=mock"}, &kmirror_body_##Suite##_##Name);          \
    }                                                                                                        \
    static void kmirror_body_##Suite##_##Name()

#define KMIRROR_EVERY_KIND(Suite)                                                                 \
    INSTANTIATE_TEST_SUITE_P(Every, Suite, ::testing::ValuesIn(::kmirror::testing::kEveryKind),   \
                             [](const auto &info) { return ::kmirror::testing::kind_name(info.param); })

} // namespace kmirror::testing

#endif
