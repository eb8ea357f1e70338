// SPDX-License-Identifier: GPL-2.0-only
//
// Sequences as bytes; see sequence.h.
//
//   byte of an operation   0 kind, 1 place, 2-3 value, 4-7 how each operand is meant, 8-39 four numbers
//   how                    low three bits: Near; high five bits: distance + 16
//
// Numbers are little endian on every machine, so a corpus may be shared.
#include "fuzz/sequence.h"

#include <algorithm>

namespace kmirror::fuzz {
namespace {

std::uint64_t load(const std::uint8_t *at, unsigned bytes)
{
    std::uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number |= std::uint64_t{at[i]} << 8 * i;
    return number;
}

void save(std::uint8_t *at, std::uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = std::uint8_t(number >> 8 * i);
}

constexpr unsigned kNears = 5;

Operand load_operand(std::uint8_t how, std::uint64_t number)
{
    const auto near = Near(how % 8 % kNears);
    const auto distance = near == Near::Number ? std::int8_t{0} : std::int8_t(int(how >> 3) - 16);
    return {number, near, distance};
}

std::uint8_t how_byte(const Operand &operand)
{
    return std::uint8_t(unsigned(operand.near) | unsigned(operand.distance + 16) << 3);
}

Operation load_operation(const std::uint8_t *at)
{
    Operation operation;
    operation.kind = at[0];
    operation.place = at[1];
    operation.value = std::uint16_t(load(at + 2, 2));
    for (unsigned i = 0; i < kOperands; i++)
        operation.operand[i] = load_operand(at[4 + i], load(at + 8 + 8 * i, 8));
    return operation;
}

void save_operation(const Operation &operation, std::uint8_t *at)
{
    at[0] = operation.kind;
    at[1] = operation.place;
    save(at + 2, operation.value, 2);
    for (unsigned i = 0; i < kOperands; i++) {
        at[4 + i] = how_byte(operation.operand[i]);
        save(at + 8 + 8 * i, operation.operand[i].number, 8);
    }
}

// Unused fields are zero, so that equal sequences are equal bytes.
void normalise(const Grammar &grammar, Operation &operation)
{
    Operation clean;
    clean.kind = std::uint8_t(operation.kind % grammar.operations.size());
    for (const Field &field : grammar.operations[clean.kind].fields) {
        const std::uint64_t limit = field.limit;
        switch (field.slot) {
        case Slot::Place:
            clean.place = std::uint8_t(operation.place % limit);
            break;
        case Slot::Value:
            clean.value = std::uint16_t(operation.value % limit);
            break;
        default:
            const auto i = std::size_t(field.slot) - std::size_t(Slot::Operand0);
            clean.operand[i] = limit ? Operand{operation.operand[i].number % limit} : operation.operand[i];
        }
    }
    operation = clean;
}

} // namespace

void normalise(const Grammar &grammar, Sequence &sequence)
{
    for (std::size_t i = 0; i < kSetupBytes; i++)
        sequence.setup[i] = i < grammar.setup.size()
                                ? std::uint8_t(sequence.setup[i] % grammar.setup[i].choices.size())
                                : std::uint8_t{0};
    if (sequence.operations.size() > kMostOperations)
        sequence.operations.resize(kMostOperations);
    for (Operation &operation : sequence.operations)
        normalise(grammar, operation);
}

void decode_into(const Grammar &grammar, std::span<const std::uint8_t> bytes, Sequence &sequence)
{
    std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (unsigned line = 0; text.starts_with("target ") && !target_of(text, line).empty()) {
        from_text(grammar, text, line, sequence);
        return normalise(grammar, sequence);
    }
    sequence.setup = {};
    sequence.operations.clear();
    std::copy_n(bytes.begin(), std::min(bytes.size(), kSetupBytes), sequence.setup.begin());
    for (std::size_t at = kSetupBytes; at + kOperationBytes <= bytes.size(); at += kOperationBytes)
        sequence.operations.push_back(load_operation(&bytes[at]));
    normalise(grammar, sequence);
}

Sequence decode(const Grammar &grammar, std::span<const std::uint8_t> bytes)
{
    Sequence sequence;
    decode_into(grammar, bytes, sequence);
    return sequence;
}

std::vector<std::uint8_t> encode(const Sequence &sequence)
{
    std::vector<std::uint8_t> bytes(kSetupBytes + sequence.operations.size() * kOperationBytes);
    std::copy(sequence.setup.begin(), sequence.setup.end(), bytes.begin());
    std::size_t at = kSetupBytes;
    for (const Operation &operation : sequence.operations) {
        save_operation(operation, &bytes[at]);
        at += kOperationBytes;
    }
    return bytes;
}

} // namespace kmirror::fuzz
