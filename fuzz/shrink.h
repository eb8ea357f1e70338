// SPDX-License-Identifier: GPL-2.0-only
//
// The smallest input that still fails the same way: first without whole operations (halves, quarters, single
// ones: delta debugging, Zeller and Hildebrandt 2002), then with smaller numbers.
//
// Owns     nothing.
// Bounds   kMostTries calls of the judge.
// Fails    never: what does not get smaller is returned as it was.
#ifndef KMIRROR_FUZZ_SHRINK_H
#define KMIRROR_FUZZ_SHRINK_H

#include "fuzz/sequence.h"

#include <functional>

namespace kmirror::fuzz {

inline constexpr unsigned kMostTries = 20000;

// True: this one fails, too.
using SequenceJudge = std::function<bool(const Sequence &)>;
using BytesJudge = std::function<bool(const std::vector<std::uint8_t> &)>;

Sequence shrink(const Grammar &grammar, Sequence sequence, const SequenceJudge &fails);
// An input without operations.
std::vector<std::uint8_t> shrink(std::vector<std::uint8_t> bytes, const BytesJudge &fails);

} // namespace kmirror::fuzz

#endif
