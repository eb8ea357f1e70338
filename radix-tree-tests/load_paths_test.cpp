// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: mtree_load() and mtree_load_batch() give the same answers with each instruction set that the host has
// (KMIRROR_CPU), those of a model, in every kind of tree and while a writer works. mas_find_inside() leaves a cursor
// where mas_find() does.
#include <linux/maple_tree.h>
#include <linux/xarray.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tools/testing/harness.h"

namespace kmirror::testing {
namespace {

void *entry_of(unsigned long number) { return xa_mk_value(number & (ULONG_MAX >> 1)); }

// The instruction sets of this host.
std::vector<std::string> paths()
{
    std::vector<std::string> all = {"scalar"};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        all.push_back("avx2");
    if (__builtin_cpu_supports("avx512f"))
        all.push_back("avx512");
#endif
    return all;
}

// Runs `body` in a process of its own for each of them.
template <class Body>
void with_each_path(Body body)
{
    if (in_child())
        return body();
    for (const std::string &path : paths()) {
        const ChildResult result = rerun_this_test({"KMIRROR_CPU=" + path});
        EXPECT_TRUE(result.passed()) << path << "\n" << result.output;
    }
}

// A tree, and the same ranges by their last index.
class Pair {
public:
    explicit Pair(unsigned flags) { mt_init_flags(&tree_, flags); }
    ~Pair() { mtree_destroy(&tree_); }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;

    void store(unsigned long first, unsigned long last, void *entry)
    {
        ASSERT_EQ(mtree_store_range(&tree_, first, last, entry, GFP_KERNEL), 0);
        if (first != 0)
            ends_[first - 1] = at(first - 1);
        ends_[last] = entry;
        ends_.erase(ends_.lower_bound(first), ends_.find(last));
    }
    void *at(unsigned long index) const
    {
        const auto end = ends_.lower_bound(index);
        return end == ends_.end() ? nullptr : end->second;
    }
    // What a load shows of it.
    void *seen(unsigned long index) const
    {
        void *entry = at(index);
        return entry == XA_ZERO_ENTRY ? nullptr : entry;
    }
    // Every end of a range, and its neighbours.
    std::vector<unsigned long> borders() const
    {
        std::vector<unsigned long> all = {0, ULONG_MAX};
        for (const auto &[last, entry] : ends_)
            all.insert(all.end(), {last - 1, last, last + 1});
        return all;
    }
    maple_tree *tree() { return &tree_; }

private:
    maple_tree tree_;
    std::map<unsigned long, void *> ends_;
};

void expect_all(Pair &pair, std::vector<unsigned long> indices, std::mt19937_64 &random)
{
    std::shuffle(indices.begin(), indices.end(), random);
    for (const unsigned long index : indices)
        ASSERT_EQ(mtree_load(pair.tree(), index), pair.seen(index)) << index;
    for (std::size_t from = 0, count = 0; from + count <= indices.size(); from += count, count = (count + 1) % 20) {
        std::vector<void *> entries(count + 1, entry_of(77));
        mtree_load_batch(pair.tree(), &indices[from], entries.data(), count);
        for (std::size_t i = 0; i < count; i++)
            ASSERT_EQ(entries[i], pair.seen(indices[from + i])) << indices[from + i];
        ASSERT_EQ(entries[count], entry_of(77)) << "written behind the end";
    }
}

constexpr unsigned kKinds[] = {0, MT_FLAGS_ALLOC_RANGE, MT_FLAGS_USE_RCU, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU};

TEST(MaplePublicLoad, answers_as_a_model_with_each_instruction_set)
{
    with_each_path([] {
        std::mt19937_64 random(seed());
        for (const unsigned flags : kKinds)
            for (const unsigned long scale : {12ul, 40ul, 63ul}) {
                Pair pair(flags);
                expect_all(pair, {0, 1, 2, ULONG_MAX, 5, 6, 7, 8, 9}, random);
                for (unsigned long i = 0; i < 700; i++) {
                    const unsigned long first = random() >> (63 - scale);
                    const unsigned long size = random() >> (60 - (random() % 4) * scale / 4);
                    const unsigned long last = first + size < first ? ULONG_MAX : first + size;
                    void *entry = i % 5 == 0 ? nullptr : i % 7 == 0 ? XA_ZERO_ENTRY : entry_of(i);
                    pair.store(first, last, entry);
                    if (i < 20 || i % 100 == 0)
                        expect_all(pair, pair.borders(), random);
                }
                expect_all(pair, pair.borders(), random);
            }
    });
}

TEST(MaplePublicLoad, of_a_tree_without_nodes)
{
    Pair pair(0);
    std::mt19937_64 random(seed());
    pair.store(0, 0, entry_of(1));
    EXPECT_EQ(mt_height(pair.tree()), 0u);
    expect_all(pair, {0, 1, ULONG_MAX, 0, 0, 2, 3, 4, 0, 1, 0}, random);
}

// Blocks of 64 indices: the writer stores number n over a part of one, so a block holds no number that is not
// its own modulo the number of blocks, and numbers at an index never go down.
TEST(MaplePublicLoad, beside_a_writer_with_each_instruction_set)
{
    with_each_path([] {
        constexpr unsigned long kBlocks = 64, kWrites = 20000;
        maple_tree tree;
        mt_init_flags(&tree, MT_FLAGS_USE_RCU);
        bool done = false;
        std::thread writer([&] {
            std::mt19937_64 random(seed());
            for (unsigned long n = 0; n < kWrites; n++) {
                const unsigned long begin = n % kBlocks * 64 + random() % 60;
                mtree_store_range(&tree, begin, begin + random() % 4, entry_of(n), GFP_KERNEL);
            }
            __atomic_store_n(&done, true, __ATOMIC_RELEASE);
        });
        std::mt19937_64 random(seed() + 1);
        unsigned long wrong = 0;
        std::vector<unsigned long> newest(kBlocks * 64, 0);
        do {
            unsigned long indices[16];
            void *entries[16];
            for (unsigned long &index : indices)
                index = random() % (kBlocks * 64);
            mtree_load_batch(&tree, indices, entries, 16);
            for (unsigned i = 0; i < 16; i++) {
                if (!entries[i])
                    continue;
                const unsigned long number = xa_to_value(entries[i]);
                wrong += number % kBlocks != indices[i] / 64 || number < newest[indices[i]];
                newest[indices[i]] = number;
            }
        } while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE));
        writer.join();
        EXPECT_EQ(wrong, 0u);
        mtree_destroy(&tree);
    });
}

TEST(MaplePublicLoad, an_instruction_set_that_nobody_knows_is_refused)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    const ChildResult result = rerun_this_test({"KMIRROR_CPU=abacus"});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.output.find("KMIRROR_CPU"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("scalar"), std::string::npos) << result.output;
#else
    GTEST_SKIP() << "there is only one path";
#endif
}

TEST(MaplePublicFind, inside_a_leaf_and_across_leaves_as_mas_find)
{
    std::mt19937_64 random(seed());
    for (const unsigned flags : kKinds) {
        Pair pair(flags);
        for (unsigned long i = 0; i < 300; i++) {
            const unsigned long first = random() % 4000;
            pair.store(first, first + random() % 9, i % 4 == 0 ? nullptr : entry_of(i));
        }
        // Limits before, at and behind the end of a range: a third of them each.
        const std::vector<unsigned long> borders = pair.borders();
        for (std::size_t at = 0; at < borders.size(); at += at < 2 ? 1 : 7) {
            const unsigned long max = borders[at];
            for (const unsigned long from : {0ul, 1ul, 50ul, 103ul, 2000ul, 4100ul}) {
                MA_STATE(fast, pair.tree(), from, from);
                MA_STATE(slow, pair.tree(), from, from);
                rcu_read_lock();
                for (void *entry = &slow; entry;) {
                    entry = mas_find(&slow, max);
                    ASSERT_EQ(mas_find_inside(&fast, max), entry);
                    ASSERT_EQ(fast.index, slow.index);
                    ASSERT_EQ(fast.last, slow.last);
                    ASSERT_EQ(fast.status, slow.status);
                    ASSERT_EQ(fast.node, slow.node);
                    ASSERT_EQ(fast.offset, slow.offset);
                }
                rcu_read_unlock();
            }
        }
    }
}

} // namespace
} // namespace kmirror::testing
