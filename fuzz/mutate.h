// SPDX-License-Identifier: GPL-2.0-only
//
// Changes to a sequence that keep its operations whole: the custom mutator and crossover of every target that
// has a grammar. Deterministic in the seed.
//
// Owns     nothing.
// Bounds   the result encodes to at most `most_bytes`, and has at least one operation where that fits.
// Fails    never.
#ifndef KMIRROR_FUZZ_MUTATE_H
#define KMIRROR_FUZZ_MUTATE_H

#include "fuzz/sequence.h"

namespace kmirror::fuzz {

// splitmix64: small, and good enough to draw from.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t word()
    {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    std::uint64_t below(std::uint64_t limit) { return limit ? word() % limit : 0; }
    bool one_in(unsigned n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

void mutate(const Grammar &grammar, Sequence &sequence, std::size_t most_bytes, std::uint64_t seed);

// Operations of both, in the order they have there.
Sequence cross(const Sequence &one, const Sequence &other, std::size_t most_bytes, std::uint64_t seed);

// A sequence of `count` operations, all drawn.
Sequence draw(const Grammar &grammar, std::size_t count, std::uint64_t seed);

} // namespace kmirror::fuzz

#endif
