// SPDX-License-Identifier: GPL-2.0-only
//
// Proves the rig: an implementation with a bug planted in it, which must be found. The bug: a store that ends
// on an index which is a multiple of 16 stops one index short of it, in trees that are two nodes high. So the
// engine has to grow a tree, and the model has to see one index.
#include "fuzz/maple_run.h"
#include "fuzz/target.h"

namespace kmirror::fuzz {
namespace {

int short_store(maple_ops_tree *tree, unsigned long first, unsigned long last, void *entry, unsigned gfp)
{
    const maple_ops *ops = kmirror_maple_ops();
    const bool strikes = last % 16 == 0 && first < last && ops->height(tree) >= 2;
    return ops->store_range(tree, first, strikes ? last - 1 : last, entry, gfp);
}

const maple_ops *canary_ops()
{
    static const maple_ops planted = [] {
        maple_ops ops = *kmirror_maple_ops();
        ops.name = "canary";
        ops.store_range = short_store;
        return ops;
    }();
    return &planted;
}

} // namespace

const Target canary_fuzz = {
    "canary_fuzz", &maple_grammar(),
    [](std::span<const std::uint8_t> input) { run_maple_input(canary_fuzz, input, canary_ops()); }, true};

} // namespace kmirror::fuzz
