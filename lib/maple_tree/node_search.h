// SPDX-License-Identifier: GPL-2.0-only
//
// Which slot of a node holds an index, once for each instruction set: the inner loop of mtree_load(). Walks that
// also need the range use walk_scan.h.
//
//   search   compares                    chosen by choose_load_paths() (load.cpp), once
//   scalar   three fences, then three    everywhere; always under the thread sanitizer and instrumentation, which
//                                        see into no vector load
//   avx2     16 words in 4 registers     x86-64 with AVX2
//   avx512   16 words in 2 registers     x86-64 with AVX-512F
//
// The vector forms load words 0 to 15 of a node, which are two whole cache lines: the parent word, and the pivots
// (in an arange_64 node nine of them, then slots). One comparison "is not below the index" gives a bit a word; the
// parent's is shifted out, one behind the last pivot is set, and the lowest one is the slot. An unused pivot is 0
// and below any index but 0, which slot 0 answers. A search is inlined only into functions of its own target.
//
// Concurrency  A vector load is not one atomic access, but each aligned word of it is one: the processor reads a
//              cache line in pieces of at least 8 bytes. So the vector forms may meet any mixture of old and new
//              pivots, in any order; the scalar one may, too, because its loads are relaxed. Pivots of a published
//              node change one at a time and stay in order (see walk_scan.h), so the slot that either finds
//              covered the index at some moment of the search; in a dead node it may be anything, and the caller's
//              look at the dead mark afterwards throws it away. Vector loads are ordered with the loads behind them
//              like all loads of x86.
#ifndef KMIRROR_LIB_MAPLE_TREE_NODE_SEARCH_H
#define KMIRROR_LIB_MAPLE_TREE_NODE_SEARCH_H

#include "lib/maple_tree/walk_scan.h"

#include <kmirror/config.h>

#if defined(__x86_64__) && !KMIRROR_TSAN_FLAG && !KMIRROR_INSTRUMENTED
#define KMIRROR_VECTOR_SEARCH 1
#include <immintrin.h>
#else
#define KMIRROR_VECTOR_SEARCH 0
#endif

namespace kmirror::maple {

#if KMIRROR_VECTOR_SEARCH

// `not_below`: bit i + 1 for pivot i.
[[gnu::always_inline]] inline unsigned slot_of_mask(const NodeView &here, unsigned not_below)
{
    const unsigned stop = 2u << here.nr_pivots();
    return static_cast<unsigned>(__builtin_ctz((not_below & ~1u) | stop)) - 1;
}

#define KMIRROR_TARGET_AVX2 [[gnu::target("avx2,bmi")]]
KMIRROR_TARGET_AVX2 [[gnu::always_inline]] inline unsigned search_avx2(const NodeView &here, unsigned long index)
{
    // There is no unsigned comparison: with the highest bit turned over the signed one is it.
    const __m256i turn = _mm256_set1_epi64x(static_cast<long long>(1ull << 63));
    const __m256i wanted = _mm256_xor_si256(_mm256_set1_epi64x(static_cast<long long>(index)), turn);
    unsigned below = 0;
    for (unsigned part = 0; part < 4; part++) {
        const __m256i words = _mm256_load_si256(reinterpret_cast<const __m256i *>(here.node) + part);
        const __m256i is_below = _mm256_cmpgt_epi64(wanted, _mm256_xor_si256(words, turn));
        below |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(is_below))) << 4 * part;
    }
    return slot_of_mask(here, ~below);
}

#define KMIRROR_TARGET_AVX512 [[gnu::target("avx512f,bmi")]]
KMIRROR_TARGET_AVX512 [[gnu::always_inline]] inline unsigned search_avx512(const NodeView &here, unsigned long index)
{
    const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(index));
    const auto *words = reinterpret_cast<const __m512i *>(here.node);
    const unsigned low = _mm512_cmpge_epu64_mask(_mm512_load_si512(words), wanted);
    const unsigned high = _mm512_cmpge_epu64_mask(_mm512_load_si512(words + 1), wanted);
    return slot_of_mask(here, low | high << 8);
}

#endif

} // namespace kmirror::maple

#endif
