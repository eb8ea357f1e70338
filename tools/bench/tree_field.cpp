// SPDX-License-Identifier: GPL-2.0-only
//
// Filling maps and timing one loop, see tree_field.h.

#include "tools/bench/tree_field.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <random>

#include "tools/bench/tree_peers.h"

extern "C" void kmirror_tree_impl(tree_impl* impl);

// A place to count instructions in: nothing else happens inside.
extern "C" [[gnu::noinline]] std::uint64_t kmirror_counted_loop(tree_loop_fn loop, void* map, tree_work* work) {
    return loop(map, work);
}

namespace kmirror::bench {
namespace {

std::int64_t thread_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// 0 .. n - 1; in random order the same each time.
std::vector<std::uint32_t> order_of(std::size_t n, bool in_order) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    if (!in_order) std::shuffle(order.begin(), order.end(), std::mt19937(1));
    return order;
}

const std::vector<std::uint32_t>& shared_order(std::size_t n, bool in_order) {
    static std::vector<std::uint32_t> orders[2];
    std::vector<std::uint32_t>& order = orders[in_order];
    if (order.size() != n) order = order_of(n, in_order);
    return order;
}

tree_work work_of(const TreeRow& row, unsigned number) {
    tree_work work{};
    work.entries = row.entries;
    work.steps = work.operations = row.steps;
    work.seed = number + 1;
    work.least = row.least;
    work.most = row.most;
    work.order = shared_order(row.entries, row.in_order).data();
    return work;
}

}  // namespace

std::vector<TreeColumn> tree_columns() {
    tree_impl ours{};
    kmirror_tree_impl(&ours);
    std::vector<TreeColumn> columns = {{"kmirror", ours, 0, true}, {"kmirror RCU", ours, TREE_RCU, true}};
    for (const tree_impl& impl : kernel_trees()) columns.push_back({impl.name, impl});
    // What RCU mode costs the kernel's code, too; but the end of such a tree, see maple_end().
    std::vector<tree_impl> kernels = kernel_trees();
    for (tree_impl& impl : kernels) {
        if (std::string(impl.name).find("linux 7.3") != 0) continue;
        impl.loop[TREE_DESTROY] = nullptr;
        columns.push_back({std::string(impl.name) + " RCU", impl, TREE_RCU});
    }
    for (const tree_impl& impl : peer_maps()) columns.push_back({impl.name, impl});
    return columns;
}

bool TreeField::can(const TreeRow& row) const {
    const tree_loop_fn* loops = column_.impl.loop;
    return loops[row.loop] != nullptr || loops[row.instead] != nullptr;
}

void TreeField::call(void* map, tree_loop loop, tree_work& work) const { column_.impl.loop[loop](map, &work); }

TreeField::Handle TreeField::make(unsigned flags) const {
    Handle handle(column_.impl.make(flags | column_.flags), column_.impl.end);
    if (!handle) {
        std::fprintf(stderr, "kmirror-bench: %s: out of memory\n", column_.name.c_str());
        std::exit(1);
    }
    return handle;
}

// A process begins with twice as many steps as it has mappings.
void TreeField::fill(Filled& into, const TreeRow& row) const {
    TreeRow as = row;
    as.in_order = false;
    tree_work work = work_of(as, 0);
    if (row.map == Map::process) {
        into.live.assign(2 * row.entries, 0);
        for (std::size_t i = 0; i < row.entries; ++i) into.live[2 * i] = 1;
        work.live = into.live.data();
        work.steps = 2 * row.entries;
        call(into.handle.get(), TREE_VMA, work);
        return;
    }
    call(into.handle.get(), TREE_INSERT, work);
    if (row.map != Map::live) return;
    for (std::size_t i = 0; i < row.entries; ++i) into.live.push_back(tree_entry_first(i));
}

TreeField::Filled& TreeField::filled(const TreeRow& row) {
    const bool own = row.map == Map::live || row.map == Map::process;
    std::erase_if(maps_, [&](const Filled& map) { return map.entries != row.entries; });
    for (Filled& map : maps_)
        if (map.flags == row.flags() && map.map == (own ? row.map : Map::shared)) return map;
    Filled& map = maps_.emplace_back(
        Filled{row.flags(), row.entries, own ? row.map : Map::shared, make(row.flags()), {}});
    fill(map, row);
    return map;
}

Round TreeField::round(const TreeRow& row, unsigned number) {
    tree_work work = work_of(row, number);
    Handle fresh(nullptr, column_.impl.end);
    void* map = nullptr;
    if (row.map == Map::empty) {
        fresh = make(row.flags());
        map = fresh.get();
    } else {
        Filled& from = filled(row);
        work.live = from.live.data();
        map = from.handle.get();
        if (row.map == Map::copy || row.map == Map::target) {
            fresh = make(row.flags());
            work.other = fresh.get();
        }
        if (row.map == Map::copy) {
            tree_work copy = work;
            call(map, TREE_DUP, copy);
            map = fresh.get();
        }
    }
    const tree_loop_fn exact = column_.impl.loop[row.loop];
    const tree_loop_fn loop = exact != nullptr ? exact : column_.impl.loop[row.instead];

    Round result;
    const std::int64_t start = thread_ns();
    result.checksum = kmirror_counted_loop(loop, map, &work);
    const std::int64_t took = thread_ns() - start;
    result.operations = work.operations;
    result.ns = static_cast<double>(took) / static_cast<double>(work.operations);
    if (row.map == Map::target) map = fresh.get();
    // Mixed into the checksum: what is in the map now. Loads leave it alone.
    if (fresh || row.map == Map::live || row.map == Map::process || row.loop == TREE_CHURN ||
        row.loop == TREE_COVER || row.loop == TREE_MIXED)
        result.checksum = result.checksum * 31 + column_.impl.digest(map);
    fresh.reset();
    if (column_.impl.settle != nullptr) column_.impl.settle();
    return result;
}

std::size_t TreeField::bytes(const TreeRow& row) {
    return column_.impl.bytes != nullptr ? column_.impl.bytes(filled(row).handle.get()) : 0;
}

}  // namespace kmirror::bench
