// SPDX-License-Identifier: GPL-2.0-only
//
// The operations of the maple targets and their fields; see maple_step.h.
#include "fuzz/maple_step.h"

#include <cstdio>

namespace kmirror::fuzz {
namespace {

const Field kTree{"tree", Slot::Place, kMapleTrees};
const Field kIndex{"index", Slot::Operand0};
const Field kFirst{"first", Slot::Operand0};
const Field kLast{"last", Slot::Operand1};
const Field kMin{"min", Slot::Operand0};
const Field kMax{"max", Slot::Operand1};
const Field kSize{"size", Slot::Operand2, 4096};
const Field kStride{"stride", Slot::Operand1, 1u << 20};
const Field kCount{"count", Slot::Operand3, kMostRun + 1};
const Field kValue{"value", Slot::Value, kMapleValues};
const Field kGfp{"nowait", Slot::Operand3, 2};
const Field kLimit{"limit", Slot::Operand0};

std::vector<OperationKind> operations()
{
    return {
        {"store", {kTree, kIndex, kValue, kGfp}, 10},
        {"store_range", {kTree, kFirst, kLast, kValue, kGfp}, 12},
        {"clear", {kTree, kFirst, kLast, kGfp}, 6},
        {"insert", {kTree, kIndex, kValue, kGfp}, 4},
        {"insert_range", {kTree, kFirst, kLast, kValue, kGfp}, 4},
        {"erase", {kTree, kIndex}, 8},
        {"alloc", {kTree, kMin, kMax, kSize, kValue, kGfp}, 4},
        {"alloc_high", {kTree, kMin, kMax, kSize, kValue, kGfp}, 4},
        {"alloc_cyclic", {kTree, kMin, kMax, kValue, kGfp}, 3},
        {"load", {kTree, kIndex}, 2},
        {"find", {kTree, kIndex, kMax}, 2},
        {"find_after", {kTree, kIndex, kMax}, 1},
        {"next", {kTree, kIndex, kMax}, 2},
        {"prev", {kTree, kIndex, kMax}, 2},
        {"each", {kTree, kIndex, kMax}, 1},
        {"empty", {kTree}, 1},
        {"destroy", {kTree}, 1},
        {"dup", {kTree, {"to", Slot::Value, kMapleTrees}, kGfp}, 1},
        {"set_rcu", {kTree}, 1},
        {"clear_rcu", {kTree}, 1},
        {"cache_shrink", {}, 1},
        {"store_run", {kTree, kFirst, kStride, kSize, kCount, kValue}, 3},
        {"erase_run", {kTree, kFirst, kStride, kCount}, 2},
        {"clear_run", {kTree, kFirst, kStride, kSize, kCount}, 1},
        {"mas_set", {kTree, kFirst, kLast}, 6},
        {"mas_move", {kTree, kFirst, kLast}, 2},
        {"mas_pause", {kTree}, 2},
        {"mas_reset", {kTree}, 1},
        {"mas_walk", {kTree}, 2},
        {"mas_next", {kTree, kLimit}, 3},
        {"mas_next_range", {kTree, kLimit}, 2},
        {"mas_prev", {kTree, kLimit}, 3},
        {"mas_prev_range", {kTree, kLimit}, 2},
        {"mas_find", {kTree, kLimit}, 3},
        {"mas_find_range", {kTree, kLimit}, 2},
        {"mas_find_rev", {kTree, kLimit}, 3},
        {"mas_find_range_rev", {kTree, kLimit}, 2},
        {"mas_for_each", {kTree, kIndex, kMax}, 1},
        {"mas_for_each_rev", {kTree, kIndex, kMax}, 1},
        {"mas_empty_area", {kTree, kMin, kMax, kSize}, 3},
        {"mas_empty_area_rev", {kTree, kMin, kMax, kSize}, 3},
        {"mas_store", {kTree, kValue, {"null", Slot::Operand2, 2}}, 5},
        {"mas_store_gfp", {kTree, kValue, {"null", Slot::Operand2, 2}, kGfp}, 5},
        {"mas_store_prealloc", {kTree, kValue, {"null", Slot::Operand2, 2}, kGfp}, 5},
        {"mas_preallocate_and_destroy", {kTree, kValue, {"null", Slot::Operand2, 2}, kGfp}, 1},
        {"mas_erase", {kTree}, 3},
        {"mas_alloc_cyclic", {kTree, kMin, kMax, kValue, kGfp}, 2},
        {"mas_expected_entries", {kTree, kFirst, kStride, kSize, kCount, kValue}, 1},
    };
}

} // namespace

const Grammar &maple_grammar()
{
    static const std::vector<const char *> kinds = {"plain", "alloc", "rcu", "alloc-rcu",
                                                    "plain-extern", "alloc-extern", "rcu-extern",
                                                    "alloc-rcu-extern"};
    static const Grammar grammar = {{{"kind0", kinds}, {"kind1", kinds}, {"kind2", kinds}}, operations(), 1,
                                    UINT64_MAX};
    return grammar;
}

void *maple_value(unsigned value)
{
    // A pointer is never followed; that it is aligned is all that matters.
    return value < kPointersFrom ? maple_ops_value(value)
                                 : reinterpret_cast<void *>(std::uintptr_t{0x100000} + value * 256ul);
}

std::string to_string(const Answer &answer)
{
    char text[160];
    std::snprintf(text, sizeof(text), "error %d, entry %p", answer.error, answer.entry);
    std::string result = text;
    if (answer.has_range)
        result += ", [" + std::to_string(answer.first) + ", " + std::to_string(answer.last) + "]";
    if (answer.count || answer.visited)
        result += ", count " + std::to_string(answer.count) + " (hash " + std::to_string(answer.visited) + ")";
    return result;
}

} // namespace kmirror::fuzz
