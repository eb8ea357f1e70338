// SPDX-License-Identifier: GPL-2.0-only
//
// Maple tree operations beside a std::map that holds the same ranges by their first index.
//
// The map takes no lock and knows no readers; the tree's stores lock and its loads are RCU reads. There is no
// column for the map where it has no such operation (lowest gap, preallocation).

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include <kmirror/maple_ops.h>

#include "tools/bench/bench.h"

namespace kmirror::bench {
namespace {

constexpr unsigned long kStride = 16;
constexpr unsigned long kSize = 10;  // of a range: 6 indices between two ranges are free

struct Span {
    unsigned long last;
    void* entry;
};
using Map = std::map<unsigned long, Span>;

// One tree per case, made when the case first runs and freed with it.
class Tree {
public:
    Tree() : ops_(*kmirror_maple_ops()), tree_(ops_.tree_new(MAPLE_OPS_ALLOC)) {
        if (tree_ == nullptr) std::abort();
    }
    ~Tree() { ops_.tree_free(tree_); }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    void fill(std::size_t n) {
        if (ops_.loop_store(tree_, 0, kStride, kSize, n) != n) std::abort();
    }
    void empty() { ops_.destroy(tree_); }
    const maple_ops& ops() const { return ops_; }
    maple_ops_tree* get() const { return tree_; }

private:
    const maple_ops& ops_;
    maple_ops_tree* tree_;
};

void fill(Map& map, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        map.insert_or_assign(i * kStride, Span{i * kStride + kSize - 1, maple_ops_value(i)});
}

void* load(const Map& map, unsigned long index) {
    auto it = map.upper_bound(index);
    if (it == map.begin()) return nullptr;
    --it;
    return it->second.last >= index ? it->second.entry : nullptr;
}

std::string name(const char* operation, std::size_t n, const char* who) {
    return std::string("tree/") + operation + "/" + std::to_string(n) + "/" + who;
}

void add_load(std::size_t n) {
    auto tree = std::make_shared<Tree>();
    auto map = std::make_shared<Map>();
    const auto fill_both = [tree, map, n] {
        if (!map->empty()) return;
        tree->fill(n);
        fill(*map, n);
    };
    add({name("load in order", n, kOurs), n, [=] { tree->ops().loop_load(tree->get(), 0, kStride, n); },
         fill_both});
    add({name("load in order", n, "std::map"), n,
         [=] {
             for (std::size_t i = 0; i < n; ++i) benchmark::DoNotOptimize(load(*map, i * kStride));
         },
         fill_both});
    add({name("load at random", n, kOurs), n,
         [=] { tree->ops().loop_random_load(tree->get(), n * kStride, n, 1); }, fill_both});
    add({name("load at random", n, "std::map"), n,
         [=] {
             unsigned long x = 1;
             for (std::size_t i = 0; i < n; ++i) {
                 x = x * 6364136223846793005ul + 1442695040888963407ul;
                 benchmark::DoNotOptimize(load(*map, (x >> 20) % (n * kStride)));
             }
         },
         fill_both});
    add({name("iterate", n, kOurs), n, [=] { tree->ops().loop_each(tree->get(), 1); }, fill_both});
    add({name("iterate", n, "std::map"), n,
         [=] {
             for (const auto& [first, span] : *map) benchmark::DoNotOptimize(span.entry);
         },
         fill_both});
    add({name("duplicate, per entry", n, kOurs), n, [=] { tree->ops().loop_dup(tree->get(), 1); },
         fill_both});
    add({name("duplicate, per entry", n, "std::map"), n,
         [=] {
             Map copy(*map);
             benchmark::DoNotOptimize(copy.size());
         },
         fill_both});
}

void add_store(std::size_t n) {
    auto tree = std::make_shared<Tree>();
    auto map = std::make_shared<Map>();
    const auto empty_both = [=] {
        tree->empty();
        map->clear();
    };
    add({name("store in order", n, kOurs), n, [=] { tree->fill(n); }, {}, empty_both});
    add({name("store in order", n, "std::map"), n, [=] { fill(*map, n); }, {}, empty_both});
    add({name("erase in order", n, kOurs), n, [=] { tree->ops().loop_erase(tree->get(), 0, kStride, n); },
         [=] { tree->fill(n); }});
    add({name("erase in order", n, "std::map"), n,
         [=] {
             for (std::size_t i = 0; i < n; ++i) map->erase(i * kStride);
         },
         [=] { fill(*map, n); }});
    add({name("preallocate and store", n, kOurs),
         n,
         [=] { tree->ops().loop_prealloc(tree->get(), 0, kStride, kSize, n); },
         {},
         empty_both});
    add({name("lowest gap and store", n, kOurs),
         n,
         [=] { tree->ops().loop_alloc(tree->get(), 0, n * kSize - 1, kSize, n); },
         {},
         empty_both});
}

}  // namespace

void add_tree_cases() {
    for (std::size_t n : {std::size_t{1000}, std::size_t{100000}}) {
        add_load(n);
        add_store(n);
    }
}

}  // namespace kmirror::bench
