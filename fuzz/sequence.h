// SPDX-License-Identifier: GPL-2.0-only
//
// The input of a fuzz target: a setup and a sequence of operations, as bytes and as text.
//
//   bytes   8 of setup, then 40 for each operation: any bytes are a sequence, so nothing a mutator does is
//           lost, and a cut at a multiple of 40 keeps operations whole
//   text    where the first bytes are "target "
//           target maple_store_fuzz
//           setup kind0=rcu kind1=none
//           store_range tree=0 first=16 last=last(40)+1 value=3
//
// A Grammar names the fields of each operation and what they may hold. An operand is a number, or a place
// near what the target holds when the operation runs: first(x) and last(x) of the range that holds x, low(x)
// and high(x) of the leaf, with a distance from -16 to 15.
//
// Owns     a Sequence owns its operations; a Grammar is constant data of its target.
// Bounds   kMostOperations; what lies behind is ignored.
// Locking  none; everything belongs to the caller.
// Fails    bytes never. Text: one line that names the line of the file, what is wrong and what is allowed.
#ifndef KMIRROR_FUZZ_SEQUENCE_H
#define KMIRROR_FUZZ_SEQUENCE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kmirror::fuzz {

inline constexpr std::size_t kSetupBytes = 8;
inline constexpr std::size_t kOperationBytes = 40;
inline constexpr std::size_t kMostOperations = 4096;
inline constexpr unsigned kOperands = 4;

// How an operand becomes a number when its operation runs.
enum class Near : std::uint8_t { Number, First, Last, Low, High };

struct Operand {
    std::uint64_t number = 0;
    Near near = Near::Number;
    std::int8_t distance = 0;  // -16..15; 0 for Number

    bool operator==(const Operand &) const = default;
};

struct Operation {
    std::uint8_t kind = 0;  // index into Grammar::operations
    std::uint8_t place = 0;
    std::uint16_t value = 0;
    std::array<Operand, kOperands> operand;

    bool operator==(const Operation &) const = default;
};

using Setup = std::array<std::uint8_t, kSetupBytes>;

struct Sequence {
    Setup setup{};
    std::vector<Operation> operations;

    bool operator==(const Sequence &) const = default;
};

// ---- what a target's operations look like

enum class Slot : std::uint8_t { Place, Value, Operand0, Operand1, Operand2, Operand3 };

struct Field {
    const char *name;
    Slot slot;
    std::uint64_t limit = 0;  // the field is below; 0: an index, which may be a place
};

struct OperationKind {
    const char *name;
    std::vector<Field> fields;
    unsigned weight = 4;      // how often the mutator draws it
};

// One byte of the setup.
struct SetupField {
    const char *name;
    std::vector<const char *> choices;
};

struct Grammar {
    std::vector<SetupField> setup;  // at most kSetupBytes
    std::vector<OperationKind> operations;
    std::uint64_t unit = 1;         // indices are multiples of it, and their neighbours
    std::uint64_t top = UINT64_MAX; // the largest index that means something
};

// ---- bytes, or text: what is wrong with that is passed over

Sequence decode(const Grammar &grammar, std::span<const std::uint8_t> bytes);
// As decode(), into memory that is there already.
void decode_into(const Grammar &grammar, std::span<const std::uint8_t> bytes, Sequence &sequence);
std::vector<std::uint8_t> encode(const Sequence &sequence);
// Brings every field below its limit.
void normalise(const Grammar &grammar, Sequence &sequence);

// ---- text

std::string to_text(const Grammar &grammar, const Operation &operation);
std::string to_text(const Grammar &grammar, std::string_view target, const Sequence &sequence);
// Empty: read. `text` is without its first line, `line` counts from there on.
std::string from_text(const Grammar &grammar, std::string_view text, unsigned line, Sequence &sequence);
// The name in "target NAME", the first line that is no comment; `line` becomes the number of the one behind
// it, and `text` begins there. Empty: this is no sequence as text.
std::string_view target_of(std::string_view &text, unsigned &line);

} // namespace kmirror::fuzz

#endif
