// SPDX-License-Identifier: GPL-2.0-only
//
// One target as libFuzzer, AFL++ and OSS-Fuzz want it: compiled once for each, with KMIRROR_TARGET naming it.
//
// Inputs of targets with a grammar are changed by our own mutator and crossover, which keep operations whole;
// one change in eight is left to the engine, whose tables of compared values reach what ours does not.
#include "fuzz/mutate.h"
#include "fuzz/target.h"

#include <algorithm>

#ifndef KMIRROR_TARGET
#error "KMIRROR_TARGET names the target, as in -DKMIRROR_TARGET=maple_store_fuzz"
#endif

using namespace kmirror::fuzz;

namespace {

const Target &target = KMIRROR_TARGET;

std::span<const std::uint8_t> span_of(const std::uint8_t *data, std::size_t size) { return {data, size}; }

std::size_t write_back(const Sequence &sequence, std::uint8_t *data, std::size_t room)
{
    const std::vector<std::uint8_t> bytes = encode(sequence);
    const std::size_t size = std::min(bytes.size(), room);
    std::copy_n(bytes.begin(), size, data);
    return size;
}

} // namespace

// The engine's own mutator; AFL++'s driver and replay programs have none.
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t room);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    target.run(span_of(data, size));
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size, std::size_t room,
                                               unsigned seed)
{
    const bool engine = !target.grammar || Random(seed).one_in(8);
    if (engine && LLVMFuzzerMutate)
        return LLVMFuzzerMutate(data, size, room);
    if (!target.grammar)
        return size;
    Sequence sequence = decode(*target.grammar, span_of(data, size));
    mutate(*target.grammar, sequence, room, seed);
    return write_back(sequence, data, room);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t *one, std::size_t one_size,
                                                 const std::uint8_t *other, std::size_t other_size,
                                                 std::uint8_t *out, std::size_t room, unsigned seed)
{
    if (!target.grammar) {
        const std::size_t head = std::min(Random(seed).below(one_size + 1), room);
        std::copy_n(one, head, out);
        const std::size_t from = Random(~seed).below(other_size + 1);
        const std::size_t tail = std::min(other_size - from, room - head);
        std::copy_n(other + from, tail, out + head);
        return head + tail;
    }
    const Sequence crossed = cross(decode(*target.grammar, span_of(one, one_size)),
                                   decode(*target.grammar, span_of(other, other_size)), room, seed);
    return write_back(crossed, out, room);
}
